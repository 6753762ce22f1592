"""Words for people: plurals, and names that are safe to show."""

import unicodedata

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 row" or "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(name: str) -> str:
    """Return a name without characters that XML forbids, that break a line, or that change the writing direction."""
    return "".join(map(_harmless, name))


def _harmless(letter: str) -> str:
    kind = unicodedata.category(letter)
    if kind == "Cf" and letter not in _JOINERS:  # invisible: marks of direction and the like
        return ""
    if kind == "Zs":
        return " "
    return _UNKNOWN if kind in ("Cc", "Cs", "Zl", "Zp") or letter in "\ufffe\uffff" else letter
