"""Selects the evals to run, by tag and by name."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from ..core.text import suggest
from ..evals.eval import Eval


def select_evals(evals: Sequence[Eval], *, tags: Sequence[str] = (), only: Sequence[str] = ()) -> list[Eval]:
    """Return the evals that have any of the `tags` and whose name is, or matches as a glob, any of `only`.

    Empty `tags` or `only` select every eval. The order is kept.
    """
    return [
        eval_
        for eval_ in evals
        if (not tags or not set(tags).isdisjoint(eval_.tags))
        and (not only or any(_has_name(eval_, name) for name in only))
    ]


def explain_unmatched(evals: Sequence[Eval], *, tags: Sequence[str], only: Sequence[str]) -> list[str]:
    """Return what is wrong with a selection: each tag and name that no eval has, with the nearest valid one.

    If each of them has a match but together they select nothing, that is the one message.
    """
    if not evals:
        return ["there is no case to run"]
    known_tags = sorted({tag for eval_ in evals for tag in eval_.tags})
    known_names = [eval_.name for eval_ in evals]
    unmatched = [
        f"no case has the tag {tag!r}; {suggest(tag, known_tags)}" for tag in tags if tag not in known_tags
    ] + [
        f"no case is named {name!r}; {suggest(name, known_names)}"
        for name in only
        if not any(_has_name(eval_, name) for eval_ in evals)
    ]
    if not unmatched and not select_evals(evals, tags=tags, only=only):
        return ["no case has both the chosen tag and the chosen name"]
    return unmatched


def _has_name(eval_: Eval, name: str) -> bool:
    """Return whether a name or glob matches the eval; the name of a group matches each of its cases."""
    return name in (eval_.name, eval_.group) or fnmatchcase(eval_.name, name)
