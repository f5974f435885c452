"""Makes untrusted text safe to show, and suggests the word that was meant.

What an agent or a server says is untrusted: an escape sequence could repaint the terminal, NUL would break an XML
file, and a marker in it could make a CI system run a command or attach a file.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

_MAX_MESSAGE_CHARS = 600

# DEL, the C1 controls, line separators, bidirectional controls, the BOM, lone surrogates and noncharacters.
_INVISIBLE = r"\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff"
# The log agents of Azure, GitHub and TeamCity obey these anywhere in a line.
_LOG_COMMAND = r"(?<=#)#(?=(?i:vso|teamcity)?\[)"
# Jenkins and GitLab attach the file that such a marker names.
_ATTACHMENT = r"(?<=\[)\[(?=ATTACHMENT\|)"

_UNSAFE_IN_TERMINAL = re.compile(rf"[\x00-\x1f{_INVISIBLE}]|{_LOG_COMMAND}")
_UNSAFE_IN_XML = re.compile(rf"[\x00-\x08\x0b-\x1f{_INVISIBLE}]|{_LOG_COMMAND}|{_ATTACHMENT}")


def escape_control_chars(text: str) -> str:
    r"""Return the text as one line that is harmless in a terminal or a log; ESC becomes `\x1b`, a line break `\n`."""
    return _UNSAFE_IN_TERMINAL.sub(_as_code_escape, text.replace("\n", r"\n").replace("\t", r"\t").replace("\r", r"\r"))


def escape_xml_chars(text: str) -> str:
    r"""Return the text without what XML 1.0 forbids or a CI system acts on; NUL becomes `\x00`."""
    return _UNSAFE_IN_XML.sub(_as_code_escape, text.replace("\r\n", "\n"))


def make_printable(text: str, limit: int = _MAX_MESSAGE_CHARS) -> str:
    """Return the text cut to `limit` characters, with U+FFFD for each that is not printable."""
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return cut if cut.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in cut)


def suggest(word: str, valid: Sequence[str]) -> str:
    """Return "did you mean 'x'?" for the valid word closest to `word`, or the list of valid words if none is close."""
    close = get_close_matches(word, valid, n=1, cutoff=0.6)
    return f"did you mean {close[0]!r}?" if close else f"valid are {', '.join(sorted(valid)) or 'none'}"


def _as_code_escape(match: re.Match[str]) -> str:
    r"""Return the one character that was matched as its escape in code, `\x1b` or `\u2028`."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
