"""Evals in code: `define_eval`, as a decorator of a test, or in its classic form with a score function."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, overload

from ..core.durations import parse_duration
from ..core.prompts import Prompt, find_prompt_problem, render_prompt
from ..core.threads import run_in_thread
from ..errors import UsageError
from ..results import RunResult
from ..targets import Target, make_target
from .assertions.values import at_least
from .context import EvalContext
from .eval import Eval, find_repeat_problem
from .sync_context import run_function

Case = Mapping[str, Any]
Test = Callable[..., Any]
Score = Callable[..., Any]

# `take_collected` empties this after a file is imported, so even a definition that the file binds to no name counts.
_COLLECTED: list["EvalDefinition"] = []


@overload
def define_eval(
    *,
    name: str,
    tags: str | Iterable[str] = ...,
    agent: Any = ...,
    target: Target | None = ...,
    cases: Iterable[Case] = ...,
    timeout: str | float | None = ...,
    repeat: int | None = ...,
    pass_at: int | None = ...,
) -> Callable[[Test], "EvalDefinition"]: ...


@overload
def define_eval(
    *,
    name: str,
    tags: str | Iterable[str] = ...,
    agent: Any = ...,
    target: Target | None = ...,
    timeout: str | float | None = ...,
    repeat: int | None = ...,
    pass_at: int | None = ...,
    input: Prompt,
    score: Score,
    threshold: float = ...,
) -> "EvalDefinition": ...


def define_eval(
    *,
    name: str,
    tags: str | Iterable[str] = (),
    agent: Any = None,
    target: Target | None = None,
    cases: Iterable[Case] = (),
    timeout: str | float | None = None,
    repeat: int | None = None,
    pass_at: int | None = None,
    input: Prompt | None = None,  # noqa: A002 - the usual word in evals for what is sent
    score: Score | None = None,
    threshold: float = 0.5,
) -> "EvalDefinition | Callable[[Test], EvalDefinition]":
    """Define an eval, for `remote-evals run`, pytest or an `EvalRunner`. Raises `UsageError` if it cannot work.

    As a decorator, it makes `test(t)`, or `test(t, case)` if there are cases, an `EvalDefinition`; the test may be
    async or plain. A case is any mapping, named by its `label`, else its `name`, else its `input`. `agent` is an
    in-process agent, or a factory that is called for every session; `target` overrides it.

    With `input` and `score`, it returns the `EvalDefinition` itself: `score(reply)`, or `score(reply, result)`, returns
    a number from 0 to 1 or a bool, which must reach `threshold`. `timeout` is a duration such as "30s".
    """
    frame = inspect.stack(context=0)[1]
    _check_arguments(name, repeat, pass_at, input, score)
    make = partial(
        EvalDefinition,
        name=name,
        cases=_check_cases(name, tuple(cases)),
        tags=_as_tags(tags),
        target=target or (make_target(agent) if agent is not None else None),
        timeout_s=_parse_timeout(name, timeout),
        repeat=repeat,
        pass_at=pass_at,
        file=frame.filename,
        line=frame.lineno,
    )
    if input is None or score is None:
        return lambda test: _collect(make(test=test))
    return _collect(make(test=_make_scored_test(input, score, threshold)))


def take_collected() -> "list[EvalDefinition]":
    """Return the evals that were defined since the last call."""
    collected = list(_COLLECTED)
    _COLLECTED.clear()
    return collected


@dataclass(frozen=True, slots=True)
class EvalDefinition:
    """An eval in code, with all of its cases; `file` and `line` are the place of its `define_eval`."""

    name: str
    test: Test
    cases: Sequence[Case]
    tags: tuple[str, ...]
    target: Target | None
    timeout_s: float | None
    repeat: int | None
    pass_at: int | None
    file: str
    line: int

    def make_evals(self, suite: str = "", file: str = "") -> list[Eval]:
        """Return one eval per case, or a single one if there are no cases."""
        if not self.cases:
            return [self._make_eval(self.name, None, suite, file)]
        return [
            self._make_eval(f"{self.name} / {_shorten(_get_label(case))}", case, suite, file) for case in self.cases
        ]

    def place_in(self, file: str) -> str:
        """Return the file and line of the definition, with the file spelled as given: `evals/order_eval.py:12`."""
        is_own = Path(file).resolve() == Path(self.file).resolve()
        return f"{file if is_own else self.file}:{self.line}"

    def _make_eval(self, name: str, case: Case | None, suite: str, file: str) -> Eval:
        async def run(t: EvalContext) -> None:
            await run_function(self.test, t, *([] if case is None else [case]))

        tags = (*self.tags, *_as_tags(case.get("tags", ()) if case else ()))
        return Eval(
            name=name,
            run=run,
            group=self.name,
            tags=tuple(dict.fromkeys(tags)),
            suite=suite or self.name,
            file=file or self.file,
            place=self.place_in(file or self.file),
            timeout_s=self.timeout_s,
            target=self.target,
            repeat=self.repeat,
            pass_at=self.pass_at,
        )


def _check_arguments(
    name: str, repeat: int | None, pass_at: int | None, prompt: Prompt | None, score: Score | None
) -> None:
    if not name:
        raise UsageError("define_eval needs a name")
    if (prompt is None) != (score is None):
        raise UsageError(f"define_eval(name={name!r}): input and score belong together; a decorated test has neither")
    if problem := find_repeat_problem(repeat, pass_at):
        raise UsageError(f"define_eval(name={name!r}): {problem}")


def _check_cases(name: str, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    labels = [_get_label(case) for case in cases]
    duplicate = next((label for label in labels if labels.count(label) > 1), None)
    if duplicate is not None:
        raise UsageError(f"define_eval(name={name!r}): two cases are named {duplicate!r}; give each its own `label`")
    return cases


def _get_label(case: Case) -> str:
    if not isinstance(case, Mapping):
        raise UsageError(f"a case is a mapping, got {case!r}")
    label = next((case[key] for key in ("label", "name", "input") if case.get(key)), None)
    if label is None:
        raise UsageError(f"a case needs a `label`, a `name` or an `input` to be named by, got {dict(case)!r}")
    return " ".join((str(label) if find_prompt_problem(label) else render_prompt(label)).split())


def _shorten(label: str) -> str:
    """Return a label that fits on a line; a long one keeps its end too, which may be what distinguishes it."""
    return label if len(label) <= 80 else f"{label[:50]}…{label[-29:]}"


def _as_tags(tags: str | Iterable[str]) -> tuple[str, ...]:
    return (tags,) if isinstance(tags, str) else tuple(tags)


def _parse_timeout(name: str, timeout: str | float | None) -> float | None:
    try:
        return None if timeout is None else parse_duration(timeout)
    except ValueError as error:
        raise UsageError(f"define_eval(name={name!r}): timeout: {error}") from None


def _make_scored_test(prompt: Prompt, score: Score, threshold: float) -> Test:
    async def test(t: EvalContext) -> None:
        result: RunResult = await t.send(prompt)
        if not result.ended_normally:
            t.completed()
            return
        args = (result.reply, result) if _takes_result(score) else (result.reply,)
        value = await score(*args) if inspect.iscoroutinefunction(score) else await run_in_thread(score, *args)
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            raise ValueError(f"score() must return a number from 0 to 1, or a bool, got {value!r}")
        t.check("score", float(value), at_least(threshold))

    return test


def _takes_result(score: Score) -> bool:
    try:
        parameters = list(inspect.signature(score).parameters.values())
    except ValueError:  # some builtins have no signature
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and positional[1].default is inspect.Parameter.empty


def _collect(definition: EvalDefinition) -> EvalDefinition:
    _check_parameters(definition)
    _COLLECTED.append(definition)
    return definition


def _check_parameters(definition: EvalDefinition) -> None:
    """Reject a test that cannot be called, when it is defined rather than when it runs."""
    test, has_cases = definition.test, bool(definition.cases)
    try:
        inspect.signature(test).bind(*range(2 if has_cases else 1))
    except TypeError:
        call = f"{getattr(test, '__name__', 'test')}({'t, case' if has_cases else 't'})"
        why = "it has cases" if has_cases else "it has no cases"
        raise UsageError(f"define_eval(name={definition.name!r}): {why}, so its test must be {call}") from None
