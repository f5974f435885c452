"""The kinds of agent that can be called in this process, each as one function that answers a prompt."""

import inspect
import time
import traceback
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, nullcontext
from dataclasses import dataclass
from typing import Any

from ..core.threads import run_in_thread
from ..errors import UsageError, describe_error
from ..events import parse_event
from ..rebuild import Rebuild
from ..results import RunError, RunResult
from ._agent_results import read_result


@dataclass(frozen=True, slots=True)
class Answer:
    """What an agent made of a prompt; `is_timed` says that its timing was measured as it came."""

    result: RunResult
    is_timed: bool = False


Ask = Callable[[str, str, int], Awaitable[Answer]]


def make_ask(agent: Any) -> Ask:
    """Return what asks an agent `(prompt, session id, turn)`. Raises `UsageError` for what is no agent."""
    for method in ("arun", "run_sync"):
        if callable(getattr(agent, method, None)):
            return _call_with_text(getattr(agent, method))
    if inspect.isasyncgenfunction(agent) or inspect.isasyncgenfunction(_call_of(agent)):
        return _stream_of(agent)
    if callable(agent):
        return _call_with_text(agent)
    raise UsageError(
        f"a {type(agent).__name__} is no agent: give a callable (prompt) or (prompt, session), an async generator of "
        "events, an object with arun or run_sync, an ASGI app, or a factory of one of them"
    )


def is_factory(agent: Any) -> bool:
    """Say whether calling it without anything gives an agent, as a class or a function without parameters does."""
    if not callable(agent) or (hasattr(agent, "arun") and not inspect.isclass(agent)):
        return False
    parameters = _parameters(agent)
    required = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    takes_any = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return not required and (inspect.isclass(agent) or not (parameters or takes_any))


def is_asgi_app(agent: Any) -> bool:
    """Say whether an agent is called with `scope, receive, send`, as https://asgi.readthedocs.io defines."""
    positional = [p for p in _parameters(agent) if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return callable(agent) and len([p for p in positional if p.default is p.empty]) == 3


def _call_of(agent: Any) -> Any:
    """Return the method that is run when an object is called; a function has none that says how it runs."""
    return type(agent).__call__ if callable(agent) else None


def _parameters(function: Any) -> list[inspect.Parameter]:
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def _call_with_text(function: Callable[..., Any]) -> Ask:
    async def ask(prompt: str, session: str, turn: int) -> Answer:
        args, kwargs = _session_argument(function, session)
        is_async = inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)
        given = (
            function(prompt, *args, **kwargs) if is_async else await run_in_thread(function, prompt, *args, **kwargs)
        )
        given = await given if inspect.isawaitable(given) else given
        if isinstance(given, AsyncIterator):
            return await _read_events(given, turn)
        return Answer(read_result(given))

    return ask


def _stream_of(function: Callable[..., AsyncIterator[Any]]) -> Ask:
    async def ask(prompt: str, session: str, turn: int) -> Answer:
        args, kwargs = _session_argument(function, session)
        return await _read_events(function(prompt, *args, **kwargs), turn)

    return ask


def _session_argument(function: Callable[..., Any], session: str) -> tuple[list[str], dict[str, str]]:
    """Return how a function takes the session's id: as `thread_id` or `session`, as second argument, or not at all."""
    parameters = _parameters(function)
    named = next((p.name for p in parameters if p.name in ("thread_id", "session_id", "session")), None)
    if named:
        return [], {named: session}
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    needs_second = len(positional) > 1 and positional[1].default is inspect.Parameter.empty
    return ([session], {}) if needs_second else ([], {})


async def _read_events(events: AsyncIterator[Any], turn: int) -> Answer:
    """Rebuild the run from wire events, timed as they come."""
    rebuild, started = Rebuild(turn), time.perf_counter()
    failure: RunError | None = None
    try:
        async with aclosing(events) if isinstance(events, AsyncGenerator) else nullcontext():
            async for event in events:
                if not isinstance(event, Mapping):
                    raise UsageError(f"an agent must yield the events of the wire, as mappings, got {event!r}")
                rebuild.add(parse_event(event), (time.perf_counter() - started) * 1000)
                if rebuild.done:
                    break
    except UsageError:
        raise
    except Exception as error:  # what was seen before the agent broke is kept
        failure = as_run_error(error)
    run = rebuild.result(total_ms=(time.perf_counter() - started) * 1000)
    return Answer(
        run.model_copy(update={"finish_reason": "error", "error": failure}) if failure else run, is_timed=True
    )


def as_run_error(error: BaseException) -> RunError:
    """Return what an agent raised, with the place where it did."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""
    return RunError(name=type(error).__name__, message=describe_error(error).partition(": ")[2] + place)
