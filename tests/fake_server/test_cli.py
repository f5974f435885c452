"""`python -m fake_server` as a real process."""

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from fake_server import FakeServer
from fake_server import __main__ as command_line

HANGING = "replies:\n- text: hi\n  fault: silence\n"


def start(*arguments: str) -> "subprocess.Popen[str]":
    """Start the command with `arguments`."""
    command = [sys.executable, "-W", "error", "-m", "fake_server", *arguments]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@contextmanager
def running(script: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    """Run the command with a script; yields its process and URL."""
    with start(str(script), "--port", "0") as process:
        assert process.stdout
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """Return the path of a script whose stream never ends."""
    path = tmp_path / "hanging.yaml"
    path.write_text(HANGING, "utf-8")
    return path


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_prints_its_url_serves_and_ends_cleanly(script: Path, number: signal.Signals) -> None:
    """The command prints its URL, serves, and exits with 0 on a signal even while a stream hangs."""
    with running(script) as (process, url):
        assert httpx.get(f"{url}/health").text == "ok"
        with httpx.stream("POST", f"{url}/chat", json={"sessionId": "s", "input": "hi"}) as answer:
            assert answer.status_code == 200
            process.send_signal(number)
            assert process.wait(5) == 0
        assert process.communicate() == ("", "")


def test_a_script_with_mistakes_is_told_on_stderr(tmp_path: Path) -> None:
    """A problem in the script is printed on stderr, and the exit code is 2."""
    path = tmp_path / "bad.yaml"
    path.write_text("replies:\n- txt: hi\n", "utf-8")
    with start(str(path)) as process:
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (2, "")
    assert err == f"{path}:2: replies[0]: unknown key 'txt'. Did you mean 'text'?\n"


def test_a_port_in_use_is_told_on_stderr(script: Path) -> None:
    """A port in use is reported on stderr without a traceback, and the exit code is 2."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        process = start(str(script), "--port", str(taken.getsockname()[1]))
        out, err = process.communicate(timeout=10)
    assert (process.returncode, out) == (2, "")
    assert "in use" in err
    assert "Traceback" not in err


@pytest.fixture
def handlers() -> Iterator[None]:
    """Restore the signal handlers after the test."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


@pytest.mark.usefixtures("handlers")
def test_it_waits_for_the_signal(
    script: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`main` serves until a signal arrives, and returns 0."""

    def start_and_signal(server: FakeServer) -> None:
        start_server(server)
        threading.Timer(0.03, signal.raise_signal, [signal.SIGINT]).start()

    start_server = FakeServer.start
    monkeypatch.setattr(FakeServer, "start", start_and_signal)
    monkeypatch.setattr(command_line, "SIGNAL_POLL_S", 0.01)
    assert command_line.main([str(script)]) == 0
    assert capsys.readouterr().out.startswith("http://127.0.0.1:")


@pytest.mark.usefixtures("handlers")
def test_a_script_that_is_not_there_is_exit_code_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A script file that does not exist is reported, and the exit code is 2."""
    assert command_line.main([str(tmp_path / "nowhere.yaml")]) == 2
    assert "cannot be read" in capsys.readouterr().err


def test_the_reference_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`--reference` prints the reference script and exits with 0."""
    with pytest.raises(SystemExit) as exit_:
        command_line.main(["--reference"])
    assert exit_.value.code == 0
    assert capsys.readouterr().out == command_line.REFERENCE.read_text("utf-8")


def test_help_shows_a_script_that_works(tmp_path: Path) -> None:
    """The example script in `--help` runs as it is printed."""
    with start("--help") as process:
        out, _ = process.communicate(timeout=10)
    path = tmp_path / "help.yaml"
    path.write_text(out.partition("example script:\n\n")[2], "utf-8")
    with running(path) as (_, url):
        body = {"sessionId": "s", "input": "weather"}
        answer = httpx.post(f"{url}/chat", json=body, headers={"authorization": "Bearer demo-token"})
    assert "It is 21C in Paris." in answer.text
