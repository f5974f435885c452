"""How YAML, JSON and JSONL are parsed, with the line of each part."""

from collections.abc import Callable
from pathlib import Path

import pytest

from remote_evals.config.documents import Document, load_document, parse_json, parse_jsonl, parse_yaml
from remote_evals.config.problems import DocumentError, KeyPath

Parse = Callable[[str], Document]


def test_yaml_remembers_the_line_of_every_key() -> None:
    """Each part of a YAML file has the line of its key, even if its value is a block below."""
    document = parse_yaml("# a suite\ncases:\n  - name: a\n    tags:\n      - x\n      - y\n")
    assert document.data == {"cases": [{"name": "a", "tags": ["x", "y"]}]}
    paths: list[KeyPath] = [("cases",), ("cases", 0), ("cases", 0, "tags"), ("cases", 0, "tags", 1)]
    assert [document.line(path) for path in paths] == [2, 3, 4, 6]


def test_an_unknown_part_has_the_line_of_the_part_around_it() -> None:
    """A path that is not in the file has the line of the nearest part around it, or none in an empty document."""
    document = parse_yaml("a: 1\nb:\n  c: 2\n")
    assert (document.line(("b", "d", 0)), document.line(("x",))) == (2, 1)
    assert Document(1).line(("a",)) is None


def test_json_remembers_its_lines() -> None:
    """A JSON file has lines too, even with tabs between its tokens."""
    document = parse_json('{\t"a":\t[\n\t1,\n\t{"b": "x\\ty"}\n]}')
    assert document.data == {"a": [1, {"b": "x\ty"}]}
    assert (document.line(("a", 0)), document.line(("a", 1, "b"))) == (2, 3)


@pytest.mark.parametrize("text", ["a\\/b", "\\ud83d", "x\u007f", "x\u2028y", "\\u0000", "é"], ids=ascii)
def test_odd_strings_leave_json_its_lines(text: str) -> None:
    """After a string with any character that JSON allows, the parts below still have their lines."""
    document = parse_json('{"a": "%s",\n"b": 1}' % text)  # noqa: UP031 - braces
    assert document.line(("b",)) == 2


def test_jsonl_has_one_value_per_line() -> None:
    """Each line of a JSONL file is an item with that line; blank lines are skipped and CRLF is a line end."""
    document = parse_jsonl('{"a": 1}\r\n\n  \n[2]\n')
    assert document.data == [{"a": 1}, [2]]
    assert (document.line((0, "a")), document.line((1,))) == (1, 4)


def test_a_broken_line_of_jsonl_leaves_the_others() -> None:
    """A line that is not JSON is a problem of the document; the lines around it are read."""
    document = parse_jsonl('{"a": 1}\n\nnope\n[2]\n')
    assert document.data == [{"a": 1}, [2]]
    assert document.problems == [(3, "not JSON: Expecting value")]


def test_several_broken_lines_of_jsonl_leave_the_others() -> None:
    """Each line that is not JSON is a problem with its own line, and the other lines are still read."""
    document = parse_jsonl('{"a": 1}\n\nnope\n{"b": 1, "b": 2}\n[2]\n')
    assert document.data == [{"a": 1}, [2]]
    assert document.line((1,)) == 5
    assert list(document.problems) == [
        (3, "not JSON: Expecting value"),
        (4, "not JSON: the key 'b' is given twice"),
    ]


@pytest.mark.parametrize("keys", [("é", "ü"), ("\u2028", "\u2029"), ("a\\tb", "a b"), ("<<", "a")], ids=ascii)
def test_odd_keys_of_json_stay_different(keys: tuple[str, str]) -> None:
    """Keys with unusual characters stay different, and each has its line."""
    first, second = keys
    document = parse_json(f'{{"{first}": 1,\n"{second}": 2}}')
    assert len(document.data) == 2
    assert document.line((second,)) == 2


BROKEN: list[tuple[Parse, str, str, int | None]] = [
    (parse_yaml, "a: 1\nb: [\n", "not YAML: ", 3),
    (parse_yaml, "a:\n\t- b\n", "not YAML: found character '\\t'", 2),
    (parse_yaml, "a: 1\nb: 2\na: 3\n", "the key 'a' is given twice", 3),
    (parse_yaml, "a:\n  b: 1\n  b: 2\n", "the key 'b' is given twice", 3),
    (parse_yaml, "a: 1\n---\nb: 2\n", "not YAML: but found another document", 2),
    (parse_yaml, "a: *b\n", "not YAML: found undefined alias 'b'", 1),
    (parse_yaml, "a: 1\nb: !!python/name:os.system x\n", "python/name:os.system is not supported here; remove it", 2),
    (parse_yaml, "a: 1\nb: \0\n", "not YAML: special characters are not allowed", 2),
    (parse_yaml, "a: 1\n? [b]\n: c\n", "not YAML: ", 2),
    (parse_yaml, "a: 1\n{b: c}: d\n", "not YAML: ", 2),
    (parse_yaml, "a: 1\nb: !!bool maybe\n", "not YAML: ", None),
    (parse_yaml, "a: 1\nb: !!timestamp soon\n", "not YAML: ", None),
    (parse_yaml, "a: 1\nb: !!int ''\n", "not YAML: ", None),
    (parse_yaml, "&a [*a]\n", "not YAML: ", None),
    (parse_json, "", "not JSON: Expecting value", 1),
    (parse_json, '{"a": 1,\n"b": }', "not JSON: Expecting value", 2),
    (parse_json, '{"a": 1,\n"a": 2}', "the key 'a' is given twice", 2),
    (parse_json, '{"a": 1} x', "not JSON: Extra data", 1),
    (parse_json, "9" * 5000, "not JSON: Exceeds the limit", None),
]


@pytest.mark.parametrize(("parse", "text", "problem", "line"), BROKEN, ids=[repr(row[1])[:40] for row in BROKEN])
def test_a_broken_file_is_reported_with_its_line(parse: Parse, text: str, problem: str, line: int | None) -> None:
    """Text that cannot be parsed raises an error with what is wrong, on one line, and the line number if known."""
    with pytest.raises(DocumentError) as caught:
        parse(text)
    assert problem in caught.value.text
    assert line is None or caught.value.line == line
    assert "\n" not in caught.value.text


@pytest.mark.parametrize("parse", [parse_yaml, parse_json, parse_jsonl])
@pytest.mark.parametrize("depth", [50, 300, 900])
def test_deep_nesting_is_read_or_refused(parse: Parse, depth: int) -> None:
    """A deeply nested file is either parsed or raises `DocumentError`; a depth of 50 is parsed."""
    text = "[" * depth + "]" * depth
    try:
        document = parse(text)
    except DocumentError:
        assert depth > 50
    else:
        assert document.data[0][0][0]


def test_aliases_of_aliases_are_not_expanded() -> None:
    """The lines of anchors that double twelve times over are not expanded."""
    rows = "".join(f"  - &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 13))
    document = parse_yaml(f"a:\n  - &a0 [1, 2]\n{rows}b: 1\n")
    assert document.line(("b",)) == 15
    assert len(document.lines) < 200


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("", None),
        ("# nothing\n", None),
        ("a: &x {b: 1}\nc: *x\n", {"a": {"b": 1}, "c": {"b": 1}}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n", {"a": {"b": 1}, "c": {"b": 1, "d": 2}}),
        ("a: &x {b: 1}\nc:\n  <<: *x\n  b: 2\n", {"a": {"b": 1}, "c": {"b": 2}}),
        ("date: 2026-01-31\n", {"date": "2026-01-31"}),
        ("at: 2026-01-31T10:00:00Z\n", {"at": "2026-01-31T10:00:00Z"}),
        ("version: 2026-13-45\n", {"version": "2026-13-45"}),
    ],
    ids=["empty", "comment", "alias", "merge", "merge and own", "date", "time", "no date"],
)
def test_yaml_gives_what_json_could_hold(text: str, data: object) -> None:
    """Anchors, aliases and merges are resolved, and what looks like a date stays text."""
    assert parse_yaml(text).data == data


@pytest.mark.parametrize("ending", [".yaml", ".yml", ".json", ".jsonl"])
def test_a_file_is_read_by_its_ending(ending: str, tmp_path: Path) -> None:
    """The ending decides how a file is parsed; a byte order mark and CRLF line ends are ignored."""
    path = tmp_path / f"a{ending}"
    path.write_bytes(b'\xef\xbb\xbf{"a": "\xc3\xa9"}\r\n')
    expected = {"a": "é"}
    assert load_document(path).data == ([expected] if ending == ".jsonl" else expected)


def test_a_file_that_is_not_utf8_is_reported_with_its_line(tmp_path: Path) -> None:
    """A file in another encoding is refused, with the first wrong byte and its line."""
    path = tmp_path / "a.yaml"
    path.write_bytes(b"a: 1\nb: caf\xe9\n")
    with pytest.raises(DocumentError, match="not UTF-8 text: byte 0xe9") as caught:
        load_document(path)
    assert caught.value.line == 2


@pytest.mark.parametrize("name", ["missing.yaml", "folder.yaml", "loop.yaml", "x" * 300 + ".yaml"], ids=ascii)
def test_an_unreadable_file_is_reported(name: str, tmp_path: Path) -> None:
    """A missing file, a folder, a symlink to itself and a name that is too long raise `DocumentError`."""
    (tmp_path / "folder.yaml").mkdir()
    (tmp_path / "loop.yaml").symlink_to(tmp_path / "loop.yaml")
    with pytest.raises(DocumentError, match="cannot be read"):
        load_document(tmp_path / name)
