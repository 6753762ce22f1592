"""Texts for people: plurals, shares as whole numbers, and names that are safe to show."""

import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import floor

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
# Letters and symbols that look like a space: the Braille blank, and fillers of Hangul.
_BLANKS = "\u2800\u3164\u115f\u1160\uffa0"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"

# Names in the middle of a sentence are cut to this many characters, and those in a line of their own to this many.
_MAX_QUOTED = 40
_MAX_SHOWN = 80
# Longer names are refused: they are no names, but come from a file whose quotes or ends of lines are wrong.
MAX_NAME = 10_000


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 row" or "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(name: str) -> str:
    """Return a name without characters that XML forbids, that break a line, or that change the writing direction."""
    return "".join(map(_printable_letter, name))


def one_line(name: str) -> str:
    """Return a name that is safe to show, on one line; "(blank)" if nothing of it can be seen."""
    words = " ".join(printable(word) for word in name.split()).split()
    return " ".join(words) if any(word.strip(_JOINERS) for word in words) else "(blank)"


def shortened(name: str, max_length: int) -> str:
    """Return a name on one line; the end of a long name, from the end of a word if possible, becomes an ellipsis."""
    line = one_line(name)
    if len(line) <= max_length:
        return line
    kept = line[: max_length - 1]
    end = kept.rfind(" ") if line[max_length - 1] != " " else max_length
    return (kept[:end] if end > max_length // 2 else kept).rstrip() + "…"


def _printable_letter(letter: str) -> str:
    category = unicodedata.category(letter)
    if category == "Cf" and letter not in _JOINERS:  # invisible characters, such as marks of direction
        return ""
    if category == "Zs" or letter in _BLANKS:  # any kind of space
        return " "
    return _REPLACEMENT if category in ("Cc", "Cs", "Zl", "Zp") or letter in "\ufffe\uffff" else letter


def quoted(name: str) -> str:
    """Return a name in quotes, on one line and not too long, for the middle of a sentence."""
    return f"'{shortened(name, _MAX_QUOTED)}'"


def clipped(name: str) -> str:
    """Return a name for a line of its own or for a table: on one line, and not too long for a terminal."""
    return shortened(name, _MAX_SHOWN)


def listed(names: Sequence[str]) -> str:
    """Return names in quotes, such as "'a'", "'a' and 'b'" or "'a', 'b' and 'c'"."""
    *others, last = map(quoted, names)
    return f"{', '.join(others)} and {last}" if others else last


def did_you_mean(name: object, known: Iterable[str], most: int = 1, cutoff: float = 0.6) -> str:
    """Return a question such as "did you mean 'size'?" with the names most like one that is not known, if any are."""
    near = get_close_matches(str(name), list(dict.fromkeys(map(str, known))), most, cutoff)
    return f"did you mean {' or '.join(f'{one!r:.60}' for one in near)}?" if near else ""


# Shares that agree in so many decimals are the same: the last bits differ from machine to machine.
_DECIMALS = 9


def percent(share: float) -> int:
    """Return a share in whole per cent; a half is rounded up."""
    return floor(round(100 * share, _DECIMALS - 2) + 0.5)


def whole_shares(shares: Sequence[float], total: int = 100) -> list[int]:
    """Return shares as whole numbers that add up to a total: those with the largest remainders are rounded up.

    Parameters
    ----------
    shares : sequence of float
        At least 0; they need not add up to 1.
    total : int
        Such as 100 for per cent.
    """
    whole = sum(shares)
    exact = [round(total * share / whole, _DECIMALS - 2) if whole > 0 else 0.0 for share in shares]
    found = [floor(share) for share in exact]
    missing = total - sum(found) if whole > 0 else 0
    by_remainder = sorted(range(len(found)), key=lambda place: (found[place] - exact[place], place))
    for place in by_remainder[:missing]:
        found[place] += 1
    return found
