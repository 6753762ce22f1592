"""Names as they can stand in a picture, and how wide they are."""

import unicodedata

from latree._util.text import printable

LONGEST = 40  # letters of a name that are shown

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


def shown(name: str) -> str:
    """Give what is shown of a name: :func:`printable`, and its middle left out if it is long."""
    clean = printable(name)
    if len(clean) <= LONGEST:
        return clean
    end = LONGEST // 3
    return f"{clean[: LONGEST - end - 1]}…{clean[-end:]}"


def width(text: str) -> float:
    """Give the width of a text in units of the font's size, rather too wide than too narrow."""
    return sum(_WIDTHS.get(letter) or _other_width(letter) for letter in text)


def _other_width(letter: str) -> float:
    kind = unicodedata.category(letter)
    if kind in ("Mn", "Me", "Cf"):
        return 0.0
    if kind == "So":  # emoji
        return 1.3
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.8
