"""Text of others made harmless for GitHub: in a table of Markdown, in a fenced block, in a workflow command."""

import re

from ..core.text import show_line, show_xml
from ._evidence import cut

_BACKTICKS = re.compile("`+")
# Whatever Markdown or GitHub's own filters act on: links, mentions, issues, emphasis, code, tables, HTML, math, emoji.
_ACTIVE = re.compile(r"[&<>|`*_\[\]()\\~#@:$]|(?<=www)\.", re.IGNORECASE)


def escape_cell(text: str, limit: int) -> str:
    """Return one line for a table or a heading that shows as the text, cut to `limit` characters, and does nothing."""
    # A mention is looked for in what Markdown made of the entities; a character of no width breaks it apart.
    return _ACTIVE.sub(_to_entity, cut(show_line(text), limit)).replace("&#64;", "&#64;&#8203;")


def code_cell(text: str, limit: int) -> str:
    """Return the text as code; GitHub's filters for mentions and issues pass over that."""
    return f"<code>{escape_cell(text, limit)}</code>"


def fence(text: str, limit: int) -> str:
    """Return the text, cut to `limit` characters, as a block that nothing in it ends."""
    body = cut(show_xml(text), limit)
    longest = max((len(found) for found in _BACKTICKS.findall(body)), default=0)
    marks = "`" * max(3, longest + 1)
    return f"{marks}text\n{body}\n{marks}"


def escape_data(text: str) -> str:
    """Return the message of a workflow command; line breaks stay line breaks."""
    shown = "\n".join(show_line(line.removesuffix("\r")) for line in text.split("\n"))
    return shown.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Return the value of a property of a workflow command."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def _to_entity(match: re.Match[str]) -> str:
    return f"&#{ord(match[0])};"
