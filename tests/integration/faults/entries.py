"""The expected outcome of every fault of the fake server at every place, and of an agent that fails by itself."""

from tests.integration.faults.matrix import (
    AFTER_END,
    END,
    FIRST,
    HEADERS,
    IN_STREAM,
    INSTEAD,
    NOWHERE,
    TEXT,
    TOOL,
    WHOLE,
    Entry,
    Json,
    Outcome,
    Place,
    breaks,
    fails,
    passes,
    refuses,
)


def _named(*names: str, **parameters: object) -> tuple[Json, ...]:
    return tuple({"name": name, **parameters} for name in names)


_STATUS, _STREAM, _TIMEOUT = "REMOTE_STATUS", "REMOTE_STREAM", "REMOTE_TIMEOUT"

BROKEN = "the connection is cut or reset, or the server is stopped"
NO_ANSWER = "no answer comes"
REFUSED = "the token is wrong"

_TURNED_AWAY = "429 or 503"
_NO_STREAM = "a login page, or another answer that is no stream"
_HUNG_UP = "the connection is cut or reset"
_SILENCE = "silence, with keep-alives or without"
_OPEN_END = "silence, a broken connection, or nothing more"
_UNFINISHED = "the stream ends inside a frame"
_LOST = "an event is lost that a check may need"
_TWICE = "an event comes twice"
_CROSSED = "events of another run come in between"
_LATE = "another `run.done`, or other events"

_STILL = (*_named("silence"), *_named("keep-alives", every="20ms"))
_STILL_A_WHILE = (*_named("silence", **{"for": "50ms"}), *_named("keep-alives", every="20ms", **{"for": "50ms"}))
_UNEVEN = (*_named("byte-at-a-time", "buffered", "compressed"), *_named("slow", every="5ms"))
_RATE_LIMITED = _named("rate-limited", retry_after=0)
_UNAVAILABLE = _named("unavailable", retry_after=0)
_FOR_TWO = _named("rate-limited", "unavailable", retry_after=0, times=2)
_OTHER_STATUS = (*_named("server-error"), *_named("status", status=404), *_named("status", status=504))
_TOO_LARGE = _named("huge-frame", size=17 * 2**20)

_MID_FRAME = breaks(_STREAM, "the stream ended {ended}, in the middle of a frame, before run.done")


def _instead(cause: str, faults: tuple[Json, ...], outcome: Outcome) -> Entry:
    return Entry(cause, faults, (INSTEAD,), outcome)


def _passes(cause: str, names: tuple[str, ...], places: tuple[Place, ...], warning: str) -> Entry:
    return Entry(cause, _named(*names), places, passes(warning))


AGENT = (
    Entry("nothing", ({},), (NOWHERE,), passes()),
    Entry("the agent's reply is wrong", ({},), (NOWHERE,), fails('the reply was "Lost."'), script={"text": "Lost."}),
    Entry(
        "the agent's run ends early",
        ({},),
        (NOWHERE,),
        fails("finish reason was 'length'"),
        script={"finish_reason": "length"},
    ),
)
_ANSWERS = (
    _instead(REFUSED, _named("unauthorized"), refuses("the token was refused (401: Unauthorized)")),
    _instead("the token lacks a right", _named("forbidden"), refuses("this caller is not allowed (403: Forbidden)")),
    _instead(_TURNED_AWAY, _RATE_LIMITED, breaks(_STATUS, "the answer was 429", tries=3)),
    _instead(_TURNED_AWAY, _UNAVAILABLE, breaks(_STATUS, "the answer was 503", tries=3)),
    _instead(f"{_TURNED_AWAY}, twice, and then all is well", _FOR_TWO, passes(tries=3)),
    _instead("404, 500 or 504", _OTHER_STATUS, breaks(_STATUS, "the answer was {status}")),
    _instead("a redirect", _named("redirect"), breaks(_STATUS, "the answer was 302, a redirect to")),
    _instead(_NO_STREAM, _named("html"), breaks(_STREAM, "the answer is text/html, not an event stream")),
    _instead(
        _NO_STREAM, _named("wrong-content-type"), breaks(_STREAM, "the answer is text/plain, not an event stream")
    ),
)
_BODIES = (
    Entry(
        NO_ANSWER, _named("no-headers"), (HEADERS,), breaks(_TIMEOUT, "no response headers within {limit}"), "headers_s"
    ),
    Entry(
        _HUNG_UP,
        _named("cut", before_headers=True),
        (HEADERS,),
        breaks(_STREAM, "the connection was closed before the first event"),
    ),
    Entry(
        _HUNG_UP,
        _named("reset", before_headers=True),
        (HEADERS,),
        breaks(_STREAM, "the connection broke before the first event"),
    ),
    Entry(BROKEN, _named("cut", "reset"), IN_STREAM, breaks(_STREAM, "the connection was closed {at}")),
    Entry(_SILENCE, _STILL, (FIRST,), breaks(_TIMEOUT, "no event within {limit} after the headers"), "first_event_s"),
    Entry(
        _SILENCE,
        _STILL,
        (TEXT, TOOL, END),
        breaks(_TIMEOUT, "no event for {limit}; the last event was {event}"),
        "silence_s",
    ),
    Entry("silence for a while", _STILL_A_WHILE, IN_STREAM, passes()),
    Entry("bytes come one by one, slowly, all at once or compressed", _UNEVEN, (WHOLE,), passes()),
    Entry(
        _OPEN_END, _STILL, (AFTER_END,), passes("the stream was still open 1s after run.done, without `event: done`")
    ),
    _passes(_OPEN_END, ("cut", "reset"), (AFTER_END,), "the stream broke off after run.done, without `event: done`"),
    _passes(
        _OPEN_END, ("half-frame", "no-done"), (AFTER_END,), "the stream ended after run.done, without `event: done`"
    ),
)
_FRAMES = (
    Entry(_UNFINISHED, _named("half-frame"), IN_STREAM, _MID_FRAME),
    Entry(_UNFINISHED, _named("no-last-blank-line"), (END,), _MID_FRAME),
    Entry(
        "the end never comes",
        _named("no-run-done", "seq-gap"),
        (END,),
        breaks(_STREAM, "the stream ended {ended}, before run.done"),
    ),
    Entry("a frame is not JSON", _named("not-json"), IN_STREAM, breaks(_STREAM, "an event is not JSON")),
    _passes(
        "a frame is not JSON", ("not-json",), (AFTER_END,), "what came after run.done is wrong: an event is not JSON"
    ),
    Entry("a frame is too large", _TOO_LARGE, IN_STREAM, breaks(_STREAM, "a single event is longer than 16 MiB")),
    _passes(
        "a byte is not UTF-8",
        ("invalid-utf8",),
        (FIRST, TEXT, TOOL),
        "is not UTF-8; U+FFFD replaces what cannot be decoded",
    ),
)
_ORDER = (
    Entry(_LOST, _named("seq-gap"), (FIRST, TEXT, TOOL), breaks(_STREAM, "events of the stream were lost on the way")),
    _passes(_TWICE, ("seq-repeat",), (FIRST, TEXT, TOOL), "was sent again, and left out"),
    _passes(_TWICE, ("seq-repeat",), (END,), "a second run.done came"),
    _passes(_CROSSED, ("crossed",), IN_STREAM, "a proxy may have crossed two answers"),
    _passes(_LATE, ("second-run-done",), (AFTER_END,), "a second run.done came"),
    _passes(_LATE, ("event-after-done",), (AFTER_END,), "came after run.done and is not part of the run"),
    _passes("events are of a newer version", ("newer-version",), (WHOLE,), "events are of version 2"),
    _passes(
        "a call ends that never started",
        ("unknown-call",),
        IN_STREAM,
        "for a call of 'unknown_tool' that had not started",
    ),
    _passes("a step never ends", ("no-step-done",), (FIRST, TEXT, TOOL), "1 step(s) started and never ended"),
    Entry(
        "the agent never stops talking",
        _named("endless", every="20ms"),
        IN_STREAM,
        breaks(_TIMEOUT, "the turn was not done within {limit}", more="(and on )*"),
        "turn_s",
    ),
)

FAULTS = (*_ANSWERS, *_BODIES, *_FRAMES, *_ORDER)
