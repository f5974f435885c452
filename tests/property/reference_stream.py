"""A second decoder of event streams, written from section 9.2 of WHATWG HTML: slow, and for whole streams only."""

from dataclasses import dataclass, field


@dataclass
class Stream:
    """The content of a stream; `unfinished` means that it ended inside something other than a comment."""

    frames: list[tuple[str, str]] = field(default_factory=list)
    invalid_utf8_at: int | None = None
    unfinished: bool = False


def read_stream(body: bytes) -> Stream:
    """Return the content of a stream."""
    stream = Stream(invalid_utf8_at=find_invalid_utf8(body))
    *lines, rest = split_lines(body.decode("utf-8", "replace").removeprefix("\ufeff"))
    data = name = ""
    for line in lines:
        if line == "":
            if data != "":
                stream.frames.append((name if name != "" else "message", data[:-1]))
            data = name = ""
            stream.unfinished = False
            continue
        if line[0] == ":":
            continue
        stream.unfinished = True
        if ":" in line:
            key, value = line[: line.index(":")], line[line.index(":") + 1 :]
            if value != "" and value[0] == " ":
                value = value[1:]
        else:
            key, value = line, ""
        if key == "event":
            name = value
        elif key == "data":
            data += value + "\n"
    stream.unfinished = stream.unfinished or (rest != "" and rest[0] != ":")
    return stream


def split_lines(text: str) -> list[str]:
    """Return the lines that end, and what follows the last of them."""
    lines = [""]
    for index, character in enumerate(text):
        if character == "\r" or (character == "\n" and (index == 0 or text[index - 1] != "\r")):
            lines.append("")
        elif character != "\n":
            lines[-1] += character
    return lines


def find_invalid_utf8(body: bytes) -> int | None:
    """Return the offset of the first byte that is not UTF-8, or None."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return None
