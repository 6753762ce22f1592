"""Names as they are shown, and how wide they are."""

import string

import pytest
from matplotlib.font_manager import findfont, get_font

from latree.figure.picture import MAX_LETTERS, shortened, text_width


@pytest.mark.parametrize("letter", string.ascii_letters + string.digits + string.punctuation + " ")
def test_widths_are_those_of_dejavu_sans_rounded_up(letter):
    font = get_font(findfont("DejaVu Sans"))
    font.set_size(100, 72)
    advance = font.load_char(ord(letter)).linearHoriAdvance / 65536 / 100
    assert text_width(letter) - 0.08 < advance <= text_width(letter)


def test_marks_have_no_width_and_wide_letters_are_wide():
    assert text_width("é") == text_width("é" + "\u0301" * 50)
    assert text_width("统") == 1.0
    assert text_width("👩") == 1.3


def test_long_names_lose_their_middle():
    name = "a" * 30 + "b" * 1000 + "c" * 30
    found = shortened(name)
    assert len(found) == MAX_LETTERS
    assert found.startswith("aaa")
    assert found.endswith("ccc")
    assert "…" in found
    assert shortened("a" * MAX_LETTERS) == "a" * MAX_LETTERS
    assert shortened("a\nb") == "a\ufffdb"
