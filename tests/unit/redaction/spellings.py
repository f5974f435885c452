"""The ways in which somebody who echoes a secret may spell it."""

import base64
import html
import json
import re
from collections.abc import Callable
from urllib.parse import quote, quote_plus

# With every character that some way spells differently, as what is escaped itself, and as most tokens are.
NASTY = 'tök/en+1 "&=~\\x'
ESCAPED = "a%41c&d-e/=&amp;g+&#65;h"
TOKEN = "sk-T0k/en+x_1=.~Zq9"

_NAMES = {"/": "sol", "+": "plus", "=": "equals", "&": "amp", '"': "quot", "_": "lowbar", ".": "period", "\\": "bsol"}


def mixed_case(text: str) -> str:
    """Return the text with every other hexadecimal digit of its percent-encodings in small letters."""
    return re.sub("%([0-9A-F])([0-9A-F])", lambda found: f"%{found[1].lower()}{found[2]}", quote(text, safe=""))


def each_character(form: str) -> Callable[[str], str]:
    """Return what writes each character, or byte where it is percent-encoded, in a form of its number."""
    return lambda text: "".join(form.format(one) for one in (text.encode() if "%" in form else map(ord, text)))


def named(text: str) -> str:
    """Return the text with its punctuation as HTML's names."""
    return "".join(f"&{_NAMES[one]};" if one in _NAMES else one for one in text)


def encoded(text: str) -> str:
    """Return the text in base64."""
    return base64.b64encode(text.encode()).decode()


def in_json(text: str) -> str:
    """Return the text as it stands in JSON."""
    return json.dumps(text)[1:-1]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "capitals": lambda text: text.replace("t", "T").replace("en", "EN"),
    "URL": lambda text: quote(text, safe=""),
    "URL path": quote,
    "URL form": quote_plus,
    "URL in lower case": lambda text: quote(text, safe="").lower(),
    "URL in mixed case": mixed_case,
    "URL, each byte": each_character("%{:02x}"),
    "URL in a URL": lambda text: quote(quote(text, safe=""), safe=""),
    "URL, each byte in a URL": each_character("%25{:02X}"),
    "base64": encoded,
    "base64 without padding": lambda text: encoded(text).rstrip("="),
    "URL-safe base64": lambda text: base64.urlsafe_b64encode(text.encode()).decode(),
    "base64 in a URL": lambda text: quote(encoded(text), safe=""),
    "base64 in JSON with escaped slashes": lambda text: encoded(text).replace("/", "\\/"),
    "JSON": in_json,
    "JSON in UTF-8": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON with escaped slashes": lambda text: in_json(text).replace("/", "\\/"),
    "JSON in JSON": lambda text: in_json(in_json(text)),
    "JSON, each character": each_character("\\u{:04x}"),
    "JSON, each character in capitals": each_character("\\u{:04X}"),
    "JSON, each character in JSON": each_character("\\\\u{:04x}"),
    "JSON in JSON in a URL": lambda text: quote(in_json(in_json(text)), safe=""),
    "URL in JSON": lambda text: in_json(quote(text, safe="")).replace("%", "\\u0025"),
    "JSON in a URL": lambda text: quote(each_character("\\u{:04x}")(text), safe=""),
    "code, in hexadecimal": each_character("\\x{:02x}"),
    "code, in octal": each_character("\\{:03o}"),
    "code, in braces": each_character("\\u{{{:x}}}"),
    "code, in braces with zeros": each_character("\\u{{{:06X}}}"),
    "code in JSON": each_character("\\\\x{:02x}"),
    "Markdown": lambda text: re.sub(r"([^\w\s])|(_)", r"\\\1\2", text),
    "HTML": html.escape,
    "HTML names": named,
    "HTML, each character": each_character("&#{};"),
    "HTML, each character with zeros": each_character("&#{:07};"),
    "HTML, each character without its end": each_character("&#{}"),
    "HTML, each character in hexadecimal": each_character("&#x{:x};"),
    "HTML, each character in hexadecimal with zeros": each_character("&#X{:06X};"),
    "HTML in HTML": each_character("&amp;#{};"),
    "HTML in a URL": lambda text: quote(each_character("&#{};")(text), safe=""),
}
