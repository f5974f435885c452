"""What the far side sent, as a message may quote it."""

MAX_MESSAGE_CHARS = 600


def make_printable(text: str, most: int = MAX_MESSAGE_CHARS) -> str:
    """Return at most so many characters of a text, U+FFFD for each that a terminal might act on."""
    cut = text if len(text) <= most else f"{text[: most - 1]}…"
    return cut if cut.isprintable() else "".join(one if one.isprintable() else "\ufffd" for one in cut)
