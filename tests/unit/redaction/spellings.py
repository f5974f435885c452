"""The ways in which a server that sends a secret back may spell it."""

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

# With every character that some spelling changes; already escaped; and like most tokens.
NASTY = 'tök/en+1 "&=~\\x'
ESCAPED = "a%41c&d-e/=&amp;g+&#65;h"
TOKEN = "sk-T0k/en+x_1=.~Zq9"

_NAMES = {"/": "sol", "+": "plus", "=": "equals", "&": "amp", '"': "quot", "_": "lowbar", ".": "period", "\\": "bsol"}


def quote_mixed(text: str) -> str:
    """Return the text percent-encoded, with the first hexadecimal digit of each byte in lower case."""
    return re.sub("%([0-9A-F])([0-9A-F])", lambda found: f"%{found[1].lower()}{found[2]}", quote(text, safe=""))


def format_each(form: str) -> Callable[[str], str]:
    """Return a function that formats the number of each character, or of each byte if it is percent-encoded."""
    return lambda text: "".join(form.format(one) for one in (text.encode() if "%" in form else map(ord, text)))


def name_entities(text: str) -> str:
    """Return the text with its punctuation as named HTML entities."""
    return "".join(f"&{_NAMES[one]};" if one in _NAMES else one for one in text)


def encode_base64(text: str) -> str:
    """Return the text in base64."""
    return base64.b64encode(text.encode()).decode()


def escape_json(text: str) -> str:
    """Return the text as it stands inside a JSON string."""
    return json.dumps(text)[1:-1]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "capitals": lambda text: text.replace("t", "T").replace("en", "EN"),
    "URL": lambda text: quote(text, safe=""),
    "URL path": quote,
    "URL form": quote_plus,
    "URL in lower case": lambda text: quote(text, safe="").lower(),
    "URL in mixed case": quote_mixed,
    "URL, each byte": format_each("%{:02x}"),
    "URL in a URL": lambda text: quote(quote(text, safe=""), safe=""),
    "URL, each byte in a URL": format_each("%25{:02X}"),
    "base64": encode_base64,
    "base64 without padding": lambda text: encode_base64(text).rstrip("="),
    "URL-safe base64": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 in a URL": lambda text: quote(encode_base64(text), safe=""),
    "base64 in JSON with escaped slashes": lambda text: encode_base64(text).replace("/", "\\/"),
    "JSON": escape_json,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON with escaped slashes": lambda text: escape_json(text).replace("/", "\\/"),
    "JSON in JSON": lambda text: escape_json(escape_json(text)),
    "JSON, each character": format_each("\\u{:04x}"),
    "JSON, each character in capitals": format_each("\\u{:04X}"),
    "JSON, each character in JSON": format_each("\\\\u{:04x}"),
    "JSON in JSON in a URL": lambda text: quote(escape_json(escape_json(text)), safe=""),
    "URL in JSON": lambda text: escape_json(quote(text, safe="")).replace("%", "\\u0025"),
    "JSON in a URL": lambda text: quote(format_each("\\u{:04x}")(text), safe=""),
    "code, in hexadecimal": format_each("\\x{:02x}"),
    "code, in octal": format_each("\\{:03o}"),
    "code, in braces": format_each("\\u{{{:x}}}"),
    "code, in braces with zeros": format_each("\\u{{{:06X}}}"),
    "code in JSON": format_each("\\\\x{:02x}"),
    "Markdown": lambda text: re.sub(r"([^\w\s])|(_)", r"\\\1\2", text),
    "HTML": html.escape,
    "HTML names": name_entities,
    "HTML, each character": format_each("&#{};"),
    "HTML, each character with zeros": format_each("&#{:07};"),
    "HTML, each character without its end": format_each("&#{}"),
    "HTML, each character in hexadecimal": format_each("&#x{:x};"),
    "HTML, each character in hexadecimal with zeros": format_each("&#X{:06X};"),
    "HTML in HTML": format_each("&amp;#{};"),
    "HTML in a URL": lambda text: quote(format_each("&#{};")(text), safe=""),
}
