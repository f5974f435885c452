"""A fake deployment: the whole `/chat` protocol on a real socket, answered from a YAML script, broken on request."""

from fake_server._problems import ScriptError
from fake_server.requests import RecordedRequest
from fake_server.script import Script, load_script, parse_script
from fake_server.server import FakeServer

__all__ = ["FakeServer", "RecordedRequest", "Script", "ScriptError", "load_script", "parse_script"]
