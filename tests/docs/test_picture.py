"""The README's picture shows what the product prints."""

from tests.docs.picture import PICTURE, draw


def test_the_picture_is_what_the_product_prints() -> None:
    """The picture is that of a real run, printed today; `python -m tests.docs.picture` makes it anew."""
    assert PICTURE.read_text("utf-8") == draw()


def test_the_picture_asks_for_nothing() -> None:
    """The picture loads no font and no image from anywhere."""
    picture = PICTURE.read_text("utf-8")
    assert "@font-face" not in picture
    assert "url(http" not in picture
    assert "href" not in picture
