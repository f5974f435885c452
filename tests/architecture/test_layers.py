"""How the rooms of the package may know each other: the table in remote_evals/README.md is the plan."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.architecture.source import PACKAGE, SOURCES, Import, Source


class Room(NamedTuple):
    """One row of the table: a folder with its files, or a file at the top."""

    floor: int
    name: str
    files: tuple[str, ...]


class Rank(NamedTuple):
    """Where a file stands: on which floor, in which row of the table, and how far from that row's start."""

    floor: int
    row: int
    place: int


def read_table() -> Iterator[Room]:
    text = (PACKAGE / "README.md").read_text("utf-8")
    for floor, name, files in re.findall(r"^\| (\d) \| `([\w/.]+)` \|[^|]*\|([^|]*)\|$", text, re.MULTILINE):
        yield Room(int(floor), name.removesuffix(".py"), tuple(re.findall(r"`(\w+)`", files)))


ROOMS = [Room(0, "_version", ()), *read_table(), Room(9, "", ("__init__", "__main__"))]
ROW_OF = {room.name: row for row, room in enumerate(ROOMS)}


def rank(parts: tuple[str, ...]) -> Rank:
    """Return the rank of a file or a folder; a folder stands behind its files, since its face hands their names on."""
    name = "/".join(parts).removesuffix("/__init__")
    if name in ROW_OF:
        row = ROW_OF[name]
        return Rank(ROOMS[row].floor, row, len(ROOMS[row].files))
    row = ROW_OF["/".join(parts[:-1])]
    return Rank(ROOMS[row].floor, row, ROOMS[row].files.index(parts[-1]))


def list_imported_files(imported: Import) -> Iterator[tuple[str, ...]]:
    """Yield what an import reads: the module itself, or the modules that it takes from a folder."""
    for name in imported.names:
        deeper = (*imported.module, name)
        is_module = PACKAGE.joinpath(*deeper).is_dir() or PACKAGE.joinpath(*deeper).with_suffix(".py").exists()
        yield deeper if is_module else imported.module


def is_allowed(importer: tuple[str, ...], imported: tuple[str, ...]) -> bool:
    mine, other = rank(importer), rank(imported)
    # A folder inside a folder belongs to the same room: the rows' order says which of the two knows the other.
    return other.floor < mine.floor or (importer[0] == imported[0] and other < mine)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_a_file_imports_only_lower_floors_and_earlier_files(source: Source) -> None:
    """A file imports only rooms on lower floors, or files before it in its own room, lazily or not."""
    imported = {parts for one in source.list_imports() for parts in list_imported_files(one)}
    wrong = ["/".join(parts) for parts in imported if not is_allowed(source.parts, parts)]
    assert not wrong, f"{source.name} must not import {wrong}"


def test_the_table_names_every_file() -> None:
    """The table names every file of the package once, and none that is gone."""
    named = [f"{room.name}/{file}".lstrip("/") for room in ROOMS for file in room.files]
    alone = [room.name for room in ROOMS if room.name and not room.files]
    assert Counter([*named, *alone]) == Counter(
        source.name for source in SOURCES if source.parts[-1] != "__init__" or source.parts == ("__init__",)
    )


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.name)
def test_no_private_name_leaves_its_room(source: Source) -> None:
    """Between rooms only public names are imported."""
    private = [
        name
        for imported in source.list_imports()
        for name in (*imported.module, *imported.names)
        if imported.module[:1] != source.parts[:1] and name.startswith("_") and not name.startswith("__")
    ]
    assert [name for name in private if name != "_version"] == []
