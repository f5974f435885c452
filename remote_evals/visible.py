"""Makes the characters visible that a terminal or a CI log would act on.

What an agent says is untrusted: an escape sequence in a reply could repaint the terminal.
"""

import re

# Agents of Azure, GitHub and TeamCity obey these wherever they stand in a line of a log.
LOG_COMMAND = r"(?<=#)#(?=(?i:vso|teamcity)?\[)"

_TERMINAL = re.compile(rf"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]|{LOG_COMMAND}")


def show_line(text: str) -> str:
    r"""Return the text as one harmless line for a terminal or a log; ESC reads `\x1b`, a line break `\n`."""
    return _TERMINAL.sub(write_out, text.replace("\n", r"\n").replace("\t", r"\t").replace("\r", r"\r"))


def write_out(match: re.Match[str]) -> str:
    r"""Return the one character that was found as what stands for it in code, `\x1b` or `\u2028`."""
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
