"""Evals in code: `define_eval`, as a decorator of a test, or with a score function in its classic form."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from ..core.durations import parse_duration
from ..core.threads import run_in_thread
from ..errors import UsageError
from ..results import RunResult
from ..targets import Target, make_target
from .assertions.values import at_least
from .context import EvalContext
from .eval import Eval, find_repeat_mistake
from .sync_context import run_function

Case = Mapping[str, Any]
Test = Callable[..., Any]
Score = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class EvalDefinition:
    """An eval as it was defined, with all of its cases; `file` and `line` are where it was."""

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
        """Return one eval a case, or one in all where there are no cases."""
        if not self.cases:
            return [self._eval(self.name, None, suite, file)]
        return [self._eval(f"{self.name} / {_shorten(_label(case))}", case, suite, file) for case in self.cases]

    def place_in(self, file: str) -> str:
        """Return where it is defined, in the file as somebody names it: `evals/order_eval.py:12`."""
        is_own = Path(file).resolve() == Path(self.file).resolve()
        return f"{file if is_own else self.file}:{self.line}"

    def _eval(self, name: str, case: Case | None, suite: str, file: str) -> Eval:
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
) -> Callable[[Test], EvalDefinition]: ...


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
    input: str,
    score: Score,
    threshold: float = ...,
) -> EvalDefinition: ...


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
    input: str | None = None,  # noqa: A002 - the word that evals use for what is sent
    score: Score | None = None,
    threshold: float = 0.5,
) -> EvalDefinition | Callable[[Test], EvalDefinition]:
    """Define an eval, for `remote-evals run`, pytest or an `EvalRunner`.

    As a decorator it makes the decorated `test(t)`, or `test(t, case)` where there are cases, an `EvalDefinition`; a
    plain function works as well as an async one. A case is any mapping: its `label`, else its `name`, else its `input`
    names it. `agent` is an in-process agent, or a factory called freshly for every session; `target` comes before it.

    With `input` and `score` it returns the `EvalDefinition` itself: `score(reply)`, or `score(reply, result)`, gives a
    number from 0 to 1 or a bool, which must reach `threshold`. `timeout` is a duration such as "30s". Raises
    `UsageError` for a definition that cannot work.
    """
    frame = inspect.stack(context=0)[1]
    _check(name, repeat, pass_at, input, score)
    timeout_s = _parse_timeout(name, timeout)
    given_cases = _check_cases(name, tuple(cases))

    def define(test: Test) -> EvalDefinition:
        _check_parameters(name, test, has_cases=bool(given_cases))
        definition = EvalDefinition(
            name=name,
            test=test,
            cases=given_cases,
            tags=_as_tags(tags),
            target=target or (make_target(agent) if agent is not None else None),
            timeout_s=timeout_s,
            repeat=repeat,
            pass_at=pass_at,
            file=frame.filename,
            line=frame.lineno,
        )
        _COLLECTED.append(definition)
        return definition

    if input is not None and score is not None:
        return define(_scored(input, score, threshold))
    return define


# What the loading of a file collects: a definition counts even where its name is not kept.
_COLLECTED: list[EvalDefinition] = []


def take_collected() -> list[EvalDefinition]:
    """Return the evals that were defined since the last call."""
    taken = list(_COLLECTED)
    _COLLECTED.clear()
    return taken


def _scored(prompt: str, score: Score, threshold: float) -> Test:
    async def test(t: EvalContext) -> None:
        result: RunResult = await t.send(prompt)
        if not result.ended_normally:
            t.completed()
            return
        given = (result.reply, result) if _takes_result(score) else (result.reply,)
        value = await score(*given) if inspect.iscoroutinefunction(score) else await run_in_thread(score, *given)
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            raise ValueError(f"score() must return a number from 0 to 1, or a bool, got {value!r}")
        t.check("score", float(value), at_least(threshold))

    return test


def _takes_result(score: Score) -> bool:
    try:
        parameters = list(inspect.signature(score).parameters.values())
    except ValueError:  # some builtins do not say what they take
        return False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return len(positional) > 1 and positional[1].default is inspect.Parameter.empty


def _check(name: str, repeat: int | None, pass_at: int | None, prompt: str | None, score: Score | None) -> None:
    if not name:
        raise UsageError("define_eval needs a name")
    if (prompt is None) != (score is None):
        raise UsageError(f"define_eval(name={name!r}): input and score belong together; a decorated test has neither")
    if mistake := find_repeat_mistake(repeat, pass_at):
        raise UsageError(f"define_eval(name={name!r}): {mistake}")


def _parse_timeout(name: str, timeout: str | float | None) -> float | None:
    try:
        return None if timeout is None else parse_duration(timeout)
    except ValueError as error:
        raise UsageError(f"define_eval(name={name!r}): timeout: {error}") from None


def _check_parameters(name: str, test: Test, *, has_cases: bool) -> None:
    """Refuse a test that its runs could not call, where it is defined and not when it is too late."""
    wanted = 2 if has_cases else 1
    try:
        inspect.signature(test).bind(*range(wanted))
    except TypeError:
        call = f"{getattr(test, '__name__', 'test')}({'t, case' if has_cases else 't'})"
        why = "it has cases" if has_cases else "it has no cases"
        raise UsageError(f"define_eval(name={name!r}): {why}, so its test must take {call}") from None


def _check_cases(name: str, cases: tuple[Case, ...]) -> tuple[Case, ...]:
    labels = [_label(case) for case in cases]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice is not None:
        raise UsageError(f"define_eval(name={name!r}): two cases are named {twice!r}; give each its own `label`")
    return cases


def _as_tags(tags: str | Iterable[str]) -> tuple[str, ...]:
    return (tags,) if isinstance(tags, str) else tuple(tags)


def _label(case: Case) -> str:
    if not isinstance(case, Mapping):
        raise UsageError(f"a case is a mapping, got {case!r}")
    named = next((case[key] for key in ("label", "name", "input") if case.get(key)), None)
    if named is None:
        raise UsageError(f"a case needs a `label`, a `name` or an `input` to be named by, got {dict(case)!r}")
    return " ".join(str(named).split())


def _shorten(label: str) -> str:
    """Return a label that fits a line; a long one keeps its end too, which may be what tells it apart."""
    return label if len(label) <= 80 else f"{label[:50]}…{label[-29:]}"
