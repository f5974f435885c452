"""Makes the characters visible that a terminal, a CI log or an XML parser would act on or refuse.

What an agent says is untrusted: NUL would break an XML file, and a mark in it could make a CI system read another.
"""

import re

from ..visible import LOG_COMMAND, write_out

_XML = re.compile(
    rf"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff\ufffe\uffff]|{LOG_COMMAND}"
    # Jenkins and GitLab attach the file that such a mark names.
    r"|(?<=\[)\[(?=ATTACHMENT\|)"
)


def show_xml(text: str) -> str:
    r"""Return the text with nothing in it that XML 1.0 forbids or a log acts on; NUL reads `\x00`."""
    return _XML.sub(write_out, text.replace("\r\n", "\n"))
