"""Makes the characters visible that a terminal or a CI log would act on.

What an agent says is untrusted: an escape sequence in a reply could repaint the terminal.
"""

import re
from collections.abc import Sequence
from difflib import get_close_matches

# Agents of Azure, GitHub and TeamCity obey these wherever they stand in a line of a log.
LOG_COMMAND = r"(?<=#)#(?=(?i:vso|teamcity)?\[)"

_TERMINAL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]|{LOG_COMMAND}")


def escape_control_chars(text: str) -> str:
    r"""Return the text as one harmless line for a terminal or a log; ESC reads `\x1b`, a line break `\n`."""
    return _TERMINAL.sub(as_code_escape, text.replace("\n", r"\n").replace("\t", r"\t").replace("\r", r"\r"))


def as_code_escape(match: re.Match[str]) -> str:
    r"""Return the one character that was found as what stands for it in code, `\x1b` or `\u2028`."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


_XML = re.compile(
    rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]|{LOG_COMMAND}"
    # Jenkins and GitLab attach the file that such a mark names.
    r"|(?<=\[)\[(?=ATTACHMENT\|)"
)


def show_xml(text: str) -> str:
    r"""Return the text with nothing in it that XML 1.0 forbids or a log acts on; NUL reads `\x00`."""
    return _XML.sub(as_code_escape, text.replace("\r\n", "\n"))


MAX_MESSAGE_CHARS = 600


def make_printable(text: str, most: int = MAX_MESSAGE_CHARS) -> str:
    """Return at most so many characters of a text, U+FFFD for each that a terminal might act on."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in cut)


def suggest(word: str, valid: Sequence[str]) -> str:
    """Return "did you mean 'x'?" for the nearest valid word, or the list of valid ones where none is near."""
    near = get_close_matches(word, valid, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(sorted(valid)) or 'none'}"
