"""Event streams and the frames that section 9.2 of WHATWG HTML finds in them, by what they test."""

Frames = list[tuple[str, str]]

BOM = "\ufeff".encode()


def messages(*datas: str) -> Frames:
    """Return frames without an event name."""
    return [("message", data) for data in datas]


LINE_ENDS: dict[str, tuple[bytes, Frames]] = {
    "LF": (b"data: a\ndata: b\n\ndata: c\n\n", messages("a\nb", "c")),
    "CR": (b"data: a\rdata: b\r\rdata: c\r\r", messages("a\nb", "c")),
    "CRLF": (b"data: a\r\ndata: b\r\n\r\ndata: c\r\n\r\n", messages("a\nb", "c")),
    "LF, then CRLF": (b"data: a\n\r\ndata: b\n\r\n", messages("a", "b")),
    "CRLF, then LF": (b"data: a\r\n\ndata: b\r\n\n", messages("a", "b")),
    "CR, then CRLF": (b"data: a\r\r\ndata: b\r\r\n", messages("a", "b")),
    "CRLF, then CR": (b"data: a\r\n\rdata: b\r\n\r", messages("a", "b")),
    "LF, then CR": (b"data: a\n\rdata: b\n\r", messages("a", "b")),
    "CR and LF are one line end": (b"data: a\r\ndata: b\r\n\n", messages("a\nb")),
    "LF and CR are two": (b"data: a\n\rdata: b\n\n", messages("a", "b")),
    "a different end for every line": (
        b"event: x\rdata: a\ndata: b\r\ndata: c\r\r\ndata: d\n\r",
        [("x", "a\nb\nc"), *messages("d")],
    ),
    "blank lines alone": (b"\n\r\r\n\n\r\n", []),
    "blank lines first": (b"\r\n\ndata: a\n\n", messages("a")),
    "blank lines between": (b"data: a\n\n\n\r\n\r\r\ndata: b\n\n\n\n", messages("a", "b")),
    "no other line ends": (
        "data: a\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029b\n\n".encode(),
        messages("a\v\f\x1c\x1d\x1e\x1f\x85\u2028\u2029b"),
    ),
    "no other blank lines": ("data: a\n\u2028\n\x85\n\v\n \n\t\ndata: b\n\n".encode(), messages("a\nb")),
}

DATA: dict[str, tuple[bytes, Frames]] = {
    "a space after the colon": (b"data: a\n\n", messages("a")),
    "no space after the colon": (b"data:a\n\n", messages("a")),
    "only one space is dropped": (b"data:   a\n\ndata:  \n\n", messages("  a", " ")),
    "a tab stays": (b"data:\ta\n\ndata: \ta\n\n", messages("\ta", "\ta")),
    "trailing spaces stay": (b"data: a  \t\n\n", messages("a  \t")),
    "a colon in the value": (b"data: a: b:c\n\ndata::\n\n", messages("a: b:c", ":")),
    "several lines, written differently": (b"data:a\ndata: b\ndata\ndata:\ndata: c\n\n", messages("a\nb\n\n\nc")),
    "empty, with a colon": (b"data:\n\ndata: \n\n", messages("", "")),
    "empty, without a colon": (b"data\n\n", messages("")),
    "empty twice is one line end": (b"data\ndata\n\ndata:\ndata:\n\n", messages("\n", "\n")),
    "empty between whole ones": (b"data: a\n\ndata: \n\ndata: b\n\n", messages("a", "", "b")),
    "ends with an empty line": (b"data: a\ndata\n\n", messages("a\n")),
    "the text of another frame": (b"data: data: a\n\ndata: event: x\n\n", messages("data: a", "event: x")),
    "NUL": (b"data: a\0b\n\ndata: \0\n\n", messages("a\0b", "\0")),
    "many in one": (b"data: a\n\n" * 100, messages(*"a" * 100)),
    "long": (b"data: %b\n\ndata: b\n\n" % (b"a" * 500), messages("a" * 500, "b")),
}

FIELDS: dict[str, tuple[bytes, Frames]] = {
    "an event name": (b"event: x\ndata: a\n\n", [("x", "a")]),
    "an event name after the data": (b"data: a\nevent: x\n\n", [("x", "a")]),
    "an event name of one frame only": (b"event: x\ndata: a\n\ndata: b\n\n", [("x", "a"), ("message", "b")]),
    "the last of two event names": (b"event: x\nevent: y\ndata: a\n\n", [("y", "a")]),
    "an empty event name": (b"event: x\nevent:\ndata: a\n\nevent\ndata: b\n\n", messages("a", "b")),
    "an event name with its spaces": (b"event:  x \ndata: a\n\n", [(" x ", "a")]),
    "an event name beyond ASCII": ("event: é\ndata: a\n\n".encode(), [("é", "a")]),
    "an event name without data": (b"event: x\n\ndata: a\n\n", messages("a")),
    "an id": (b"id: 1\ndata: a\n\nid\ndata: b\n\n", messages("a", "b")),
    "an id without data": (b"data: a\n\nid: 1\n\n\n\ndata: b\n\n", messages("a", "b")),
    "an id with NUL": (b"id: a\0b\ndata: a\n\n", messages("a")),
    "a retry": (b"retry: 1000\ndata: a\n\n", messages("a")),
    "a retry alone": (b"retry: 1000\n\ndata: a\n\n", messages("a")),
    "a retry that is no number": (b"retry\nretry: 1x\nretry: -1\nretry: 1_0\ndata: a\n\n", messages("a")),
    "a retry in other digits": ("retry: ١٢\nretry: 9²\ndata: a\n\n".encode(), messages("a")),
    "a retry beyond all numbers": (b"retry: %b\ndata: a\n\n" % (b"9" * 300), messages("a")),
    "unknown fields": (b"foo: bar\nbaz\ndata: a\n::\n\n", messages("a")),
    "a field that starts like another": (b"dat: x\ndatas: x\ndata-x: y\nevents: z\ndata: a\n\n", messages("a")),
    "a field of another case": (b"Data: x\nDATA: x\nEvent: y\ndata: a\n\n", messages("a")),
    "a space before a field": (b" data: x\n event: y\ndata: a\n\n", messages("a")),
    "a space before the colon": (b"data : x\ndata: a\n\n", messages("a")),
    "a tab before a field": (b"\tdata: x\ndata: a\n\n", messages("a")),
    "NUL in the name of a field": (b"data\0: x\n\0data: x\ndata: a\n\n", messages("a")),
    "no field, but a value": (b": data: x\n:data: x\ndata: a\n\n", messages("a")),
    "all fields in any order": (b"retry: 1\ndata: a\nid: 1\nevent: x\ndata: b\n\n", [("x", "a\nb")]),
}

COMMENTS: dict[str, tuple[bytes, Frames]] = {
    "alone": (b": a\n\n", []),
    "empty": (b":\n\n:\ndata: a\n:\n\n", messages("a")),
    "before, inside and after a frame": (b": x\ndata: a\n:x\ndata: b\n:\n\n: x\n\n", messages("a\nb")),
    "without blank lines": (b": x\n: y\n: z\ndata: a\n\n", messages("a")),
    "with the text of a frame": (b":data: a\n:\rdata: b\n\n", messages("b")),
    "beyond ASCII": (": ♥ 日本\n\ndata: ✔\n\n".encode(), messages("✔")),
    "long": (b":%b\ndata: a\n\n" % (b"x" * 500), messages("a")),
    "with other line ends": (b": x\r: y\r\n\r\ndata: a\r\n: z\r\n\r\n", messages("a")),
}

MARKS: dict[str, tuple[bytes, Frames]] = {
    "at the start": (BOM + b"data: a\n\ndata: b\n\n", messages("a", "b")),
    "alone": (BOM, []),
    "before a blank line": (BOM + b"\ndata: a\n\n", messages("a")),
    "before an event name": (BOM + b"event: x\ndata: a\n\n", [("x", "a")]),
    "before a comment": (BOM + b": x\ndata: a\n\n", messages("a")),
    "before CR": (BOM + b"\rdata: a\r\r", messages("a")),
    "only one is dropped": (BOM + BOM + b"data: a\n\ndata: b\n\n", messages("b")),
    "not after a blank line": (b"\n" + BOM + b"data: a\n\ndata: b\n\n", messages("b")),
    "not in a later frame": (b"data: a\n\n" + BOM + b"data: x\n\ndata: b\n\n", messages("a", "b")),
    "not in a value": (BOM + b"data: " + BOM + b"a" + BOM + b"\n\n", messages("\ufeffa\ufeff")),
    "not in UTF-16": (b"\xff\xfedata: a\n\ndata: b\n\n", messages("b")),
}

TEXTS: dict[str, tuple[bytes, Frames]] = {
    "characters of two, three and four bytes": ("data: é 日本 🎉\n\n".encode(), messages("é 日本 🎉")),
    "combined characters": ("data: e\u0301 👩\u200d💻 🇯🇵\n\n".encode(), messages("e\u0301 👩\u200d💻 🇯🇵")),
    "private and last characters": ("data: \ue000\uffff\U0010ffff\n\n".encode(), messages("\ue000\uffff\U0010ffff")),
    "an invalid byte": (b"data: a\xffb\n\n", messages("a\ufffdb")),
    "a character cut by a line end": (b"data: \xe6\x97\ndata: \xf0\x9f\x8e\n\n", messages("\ufffd\n\ufffd")),
    "a character cut by a blank line": (b"data: \xe6\x97\n\n\xa5data: b\n\ndata: c\n\n", messages("\ufffd", "c")),
    "a surrogate": (b"data: \xed\xa0\x80\n\n", messages("\ufffd\ufffd\ufffd")),
    "a line end in too many bytes": (
        b"data: a\xc0\x8ab\xe0\x80\x8ac\n\n",
        messages("a\ufffd\ufffdb\ufffd\ufffd\ufffdc"),
    ),
    "Latin-1": ("data: é\n\n".encode("latin-1"), messages("\ufffd")),
}

UNFINISHED: dict[str, tuple[bytes, Frames]] = {
    "no blank line": (b"data: a\n\ndata: b\n", messages("a")),
    "no line end": (b"data: a\n\ndata: b", messages("a")),
    "only CR": (b"data: a\n\ndata: b\r", messages("a")),
    "only CRLF": (b"data: a\n\ndata: b\r\n", messages("a")),
    "one letter": (b"d", []),
    "a name without data": (b"data: a\n\nevent: x\n", messages("a")),
    "an id": (b"id: 1", []),
    "a comment, then data": (b": x\ndata: b\n: x", []),
    "half a character": (b"data: \xe6\x97", []),
    "half a byte-order mark": (BOM[:2], []),
}

FINISHED: dict[str, tuple[bytes, Frames]] = {
    "nothing": (b"", []),
    "a whole frame": (b"data: a\n\n", messages("a")),
    "more blank lines": (b"data: a\r\n\r\n\r\n\r", messages("a")),
    "a comment": (b"data: a\n\n: bye\n", messages("a")),
    "half a comment": (b"data: a\r\r\n:: b", messages("a")),
    "comments in CR": (b": x\r: y\r", []),
}

VECTORS: dict[str, tuple[bytes, Frames]] = {
    f"{room}: {name}": vector
    for room, vectors in {
        "line ends": LINE_ENDS,
        "data": DATA,
        "fields": FIELDS,
        "comments": COMMENTS,
        "byte-order marks": MARKS,
        "texts": TEXTS,
        "unfinished": UNFINISHED,
        "finished": FINISHED,
    }.items()
    for name, vector in vectors.items()
}
