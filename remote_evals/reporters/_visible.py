"""Makes the characters visible that a terminal, a CI log or an XML parser would act on or refuse.

What an agent says is untrusted: an escape sequence in a reply could repaint the terminal, NUL would break an XML file.
"""

import re

_TERMINAL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
    # Agents of Azure, GitHub and TeamCity obey these wherever they stand in a line of a log.
    r"|(?<=#)#(?=(?:vso|teamcity)?\[)"
)
_XML = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]"
    # Jenkins and GitLab attach the file that such a mark names.
    r"|(?<=\[)\[(?=ATTACHMENT\|)"
)


def show_line(text: str) -> str:
    r"""Return the text as one harmless line for a terminal or a log; ESC reads `\x1b`, a line break `\n`."""
    return _TERMINAL.sub(_escape, text.replace("\n", r"\n").replace("\t", r"\t").replace("\r", r"\r"))


def show_xml(text: str) -> str:
    r"""Return the text with nothing in it that XML 1.0 forbids; NUL reads `\x00`."""
    return _XML.sub(_escape, text.replace("\r\n", "\n"))


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
