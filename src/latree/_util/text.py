"""Texts for people: plurals, and names that are safe to show."""

import unicodedata

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_JOINERS = "\N{ZERO WIDTH JOINER}\N{ZERO WIDTH NON-JOINER}"


def plural(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 row" or "2 rows"."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def printable(name: str) -> str:
    """Return a name without characters that XML forbids, that break a line, or that change the writing direction."""
    return "".join(map(_printable_letter, name))


def one_line(name: str) -> str:
    """Return a name that is safe to show, on one line; "(blank)" if nothing of it can be seen."""
    words = (printable(word) for word in name.split())
    return " ".join(word for word in words if word) or "(blank)"


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
    if category == "Zs":  # any kind of space
        return " "
    return _REPLACEMENT if category in ("Cc", "Cs", "Zl", "Zp") or letter in "\ufffe\uffff" else letter


def option(name: str, value: object) -> str:
    """Return how to choose a setting, on the command line and in Python."""
    return f"--{name.replace('_', '-')} {value} ({name}={value!r} in Python)"
