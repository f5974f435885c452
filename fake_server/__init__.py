"""A fake deployment: the whole `/chat` protocol on a real socket, answered from a YAML script, with faults on request.

In: a script (see reference.yaml), from a file or as text, and the HTTP requests of a client.
Out: a running server, the events of its runs, and every request that it got.
"""

from fake_server.requests import RecordedRequest
from fake_server.script import Script, load_script, parse_script
from fake_server.script_errors import ScriptError
from fake_server.server import FakeServer

__all__ = ["FakeServer", "RecordedRequest", "Script", "ScriptError", "load_script", "parse_script"]
