"""Tags as marks, and names as parts of a node id."""

import re
from collections.abc import Iterable

import pytest

from ..core.text import show_line

# What `-m` reads as one name, without the colon, behind which a registered mark has its description.
_NOT_IN_A_MARK = re.compile(r"[^\w.+/-]")
# Words of `-m` itself, and marks by which pytest acts: a tag is only a word.
_TAKEN = {"and", "or", "not", "filterwarnings", "parametrize", "skip", "skipif", "usefixtures", "xfail"}


def mark_of(tag: str) -> str:
    """Return the name of the mark for a tag: `needs review` is `needs_review`, and `skip` is `skip_`."""
    name = _NOT_IN_A_MARK.sub("_", tag).lstrip("_") or "tag"
    return f"{name}_" if name in _TAKEN else name


def add_marks(item: pytest.Item, tags: Iterable[str]) -> None:
    """Mark an item with its tags, each registered, so that `--strict-markers` knows it."""
    for tag in tags:
        name = mark_of(tag)
        known = {line.split(":")[0].split("(")[0].strip() for line in item.config.getini("markers")}
        if name not in known:
            item.config.addinivalue_line("markers", f"{name}: a tag of evals")
        item.add_marker(getattr(pytest.mark, name))


def name_items(names: Iterable[str]) -> list[str]:
    """Return names that can stand in node ids, each once: on one line, and without `::`, which parts node ids."""
    taken: dict[str, int] = {}
    unique = []
    for name in names:
        shown = show_line(" ".join(name.split())).replace("::", ":")
        taken[shown] = taken.get(shown, 0) + 1
        unique.append(shown if taken[shown] == 1 else f"{shown} ({taken[shown]})")
    return unique
