"""A real web server in front of fake agents, as a process of its own, configured by nginx.conf."""

import os
import shutil
import socket
import string
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from fake_server import FakeServer
from tests.serving.deployments import REFUND, serve

PASSWORD = "passw0rd-of-nginx"
LOGIN_PAGE = "<!DOCTYPE html><title>Sign in</title>"

AGENTS: dict[str, list[dict[str, Any]]] = {
    "agent": [
        REFUND,
        {"when": {"input": "slowly"}, "text": "one two three four", "delay": "150ms"},
        {"text": "Turn {{turn}} by {{authorization}}."},
    ],
    "silent": [{"text": "never", "fault": "no-headers"}],
    "stalling": [{"text": "one two three", "fault": {"name": "silence", "after": 4}}],
    "breaking": [{"text": "one two three", "fault": {"name": "cut", "after": 4}}],
    "elsewhere": [{"text": "not the agent"}],
}


@dataclass(frozen=True)
class Nginx:
    """The URLs of a running nginx: plain, with TLS by a certificate of `bundle`, and as another origin.

    `agents` are the fake servers behind it, by their names in nginx.conf; "elsewhere" is behind the other origin.
    """

    url: str
    tls_url: str
    other_url: str
    bundle: Path
    agents: dict[str, FakeServer]


@contextmanager
def run_nginx(folder: Path) -> Iterator[Nginx]:
    """Run nginx with the agents behind it and all its files in `folder`; it listens when the block begins."""
    program = _find_program()
    with ExitStack() as stack:
        agents = {name: serve(*replies, base_path="/api/agent") for name, replies in AGENTS.items()}
        for agent in agents.values():
            stack.enter_context(agent)
        ports = {name: stack.enter_context(_hold_port()) for name in ("plain", "tls", "other", "closed")}
        _write_files(folder, ports | {name: agent.port for name, agent in agents.items()})
        process = stack.enter_context(subprocess.Popen([program, "-p", folder, "-c", "nginx.conf"]))
        stack.callback(process.terminate)
        for name in ("plain", "tls", "other"):
            _wait_until_listening(process, ports[name])
        at = {name: f"127.0.0.1:{port}" for name, port in ports.items()}
        yield Nginx(
            f"http://{at['plain']}", f"https://{at['tls']}", f"http://{at['other']}", folder / "authority.pem", agents
        )


def _find_program() -> str:
    # Debian installs it where only root looks.
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}{os.pathsep}/usr/sbin")
    if program:
        return program
    reason = "nginx is not installed; on Debian: apt-get install nginx-light"
    if os.environ.get("REMOTE_EVALS_REQUIRE_ALL") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def _hold_port() -> Iterator[int]:
    """Yield a free port that only a process with `reuseport`, as in nginx.conf, can listen on."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]


class _Template(string.Template):
    delimiter = "%"


def _write_files(folder: Path, ports: dict[str, int]) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(folder / "authority.pem"))
    certificate = authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem
    certificate.write_to_path(str(folder / "certificate.pem"))
    (folder / "users").write_text(f"me:{{PLAIN}}{PASSWORD}\n")
    (folder / "login.html").write_text(LOGIN_PAGE)
    (folder / "sorry.html").write_text("sorry ".ljust(100 * 1024, "!"))
    template = _Template((Path(__file__).parent / "nginx.conf").read_text("utf-8"))
    (folder / "nginx.conf").write_text(template.substitute(ports, folder=folder))


def _wait_until_listening(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.01)
        else:
            return
    pytest.fail(f"nginx ended with {process.returncode}; stderr says why")
