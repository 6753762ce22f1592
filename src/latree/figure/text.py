"""Names as they are shown in a picture, and how wide they are."""

import unicodedata

from latree._util.words import printable

MAX_LETTERS = 40  # longer names are shortened to this many letters

# Widths of letters in units of the font's size, rounded up: those of DejaVu Sans, the widest of the common fonts.
_LETTERS = {
    0.30: "'IJijl",
    0.35: " ,./:;\\|",
    0.40: "()-[]ft",
    0.45: "!r",
    0.50: '"*_`',
    0.55: "?csz",
    0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.70: "ABCKRVXZ",
    0.75: "NU",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~",
    0.90: "M",
    1.00: "%@Wm",
}
_WIDTHS = {letter: width for width, letters in _LETTERS.items() for letter in letters}


def shortened(name: str) -> str:
    """Return a name as it is shown: :func:`printable`, and without its middle if it is long."""
    clean = printable(name)
    if len(clean) <= MAX_LETTERS:
        return clean
    end = MAX_LETTERS // 3
    return f"{clean[: MAX_LETTERS - end - 1]}…{clean[-end:]}"


def text_width(text: str) -> float:
    """Return the width of a text in units of the font's size; an upper bound for common fonts."""
    return sum(_WIDTHS.get(letter) or _other_width(letter) for letter in text)


def _other_width(letter: str) -> float:
    kind = unicodedata.category(letter)
    if kind in ("Mn", "Me", "Cf"):  # marks on other letters, and invisible letters
        return 0.0
    if kind == "So":  # emoji
        return 1.3
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.8
