"""How TOML is parsed, with the line of each key."""

from pathlib import Path

import pytest

from remote_evals.config.documents import load_toml, parse_toml
from remote_evals.config.problems import DocumentError

TEXT = '''# a comment
top = 1
list = [
  1,
  2,
]

[a."b.c"]
text = """
[not.a.table]
key = 1
"""
x.y = {z = 2}

[[rows]]
one = 1
[[rows]]
one = 2

[last]
day = 2026-10-07
'''


def test_every_key_has_its_line() -> None:
    """Each key and table has the line where it is written, even after texts and lists that look like keys."""
    lines = parse_toml(TEXT).lines
    assert {".".join(map(str, path)): line for path, line in lines.items()} == {
        "top": 2,
        "list": 3,
        "a": 8,
        "a.b.c": 8,
        "a.b.c.text": 9,
        "a.b.c.x": 13,
        "a.b.c.x.y": 13,
        "a.b.c.x.y.z": 13,
        "rows": 15,
        "rows.one": 16,
        "last": 20,
        "last.day": 21,
    }


def test_what_has_no_line_has_that_of_what_is_around_it() -> None:
    """An item of a list and a row of an array of tables have the line of their array."""
    document = parse_toml(TEXT)
    assert [document.line(path) for path in (("list", 1), ("rows", 1, "one"), ("elsewhere",))] == [3, 15, None]


def test_line_ends_and_marks_of_windows_change_nothing(tmp_path: Path) -> None:
    """A file with a byte order mark and Windows line ends gives the same document."""
    path = tmp_path / "a.toml"
    path.write_bytes(("\ufeff" + TEXT.replace("\n", "\r\n")).encode())
    assert load_toml(path).lines == parse_toml(TEXT).lines
    assert load_toml(path).data == parse_toml(TEXT).data


def test_a_date_is_text() -> None:
    """Dates become text, as in suites."""
    assert parse_toml(TEXT).data["last"] == {"day": "2026-10-07"}


@pytest.mark.parametrize(
    ("content", "text", "line"),
    [
        (b"a = 1\nb =", "not TOML: Invalid value", None),
        (b"a = 1\nb = ]\n", "not TOML: Invalid value", 2),
        (b"a = 1\na = 2\n", "not TOML: Cannot overwrite a value", 2),
        (b"a = 1\nb = '\xff'\n", "not UTF-8 text: byte 0xff", 2),
        (b"a = " + b"[" * 5000, "cannot be read as TOML: it is nested too deeply", None),
    ],
    ids=["at the end", "in a line", "given twice", "encoding", "depth"],
)
def test_a_broken_file_is_reported_with_its_line(content: bytes, text: str, line: int | None, tmp_path: Path) -> None:
    """Broken TOML is reported with the line where the parser stopped, if the parser reports one."""
    path = tmp_path / "a.toml"
    path.write_bytes(content)
    with pytest.raises(DocumentError) as caught:
        load_toml(path)
    assert caught.value.text == text
    assert caught.value.line in (line, None if line is None else line + 1)


def test_a_missing_file_is_reported(tmp_path: Path) -> None:
    """A missing file raises `DocumentError`."""
    with pytest.raises(DocumentError, match="cannot be read: No such file"):
        load_toml(tmp_path / "none.toml")
