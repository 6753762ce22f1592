"""Words and numbers in messages, and how messages name a setting."""

import shlex
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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


def counted(number: int, noun: str) -> str:
    """Return a number with its noun and commas between thousands, such as "1,000 rows"."""
    return plural(number, noun).replace(str(number), f"{number:,}", 1)


def printable(name: str) -> str:
    """Return a name without characters that XML forbids, that break a line, or that change the writing direction."""
    return "".join(map(_printable_letter, name))


def one_line(name: str) -> str:
    """Return a name that is safe to show, on one line; "(blank)" if nothing of it can be seen."""
    words = " ".join(printable(word) for word in name.split()).split()
    return " ".join(words) if any(word.strip(_JOINERS) for word in words) else "(blank)"


def shortened(name: str, max_length: int) -> str:
    """Return a name on one line; of a long name, the middle becomes an ellipsis, because many names begin alike.

    Words are kept whole if possible.
    """
    line = one_line(name)
    if len(line) <= max_length:
        return line
    last = max_length // 3
    return _first_words(line, max_length - last - 1) + "…" + _first_words(line[::-1], last)[::-1]


def beginning(text: str, max_length: int) -> str:
    """Return a text on one line; the end of a long text, from the end of a word if possible, becomes an ellipsis."""
    line = one_line(text)
    return line if len(line) <= max_length else _first_words(line, max_length - 1) + "…"


def _first_words(line: str, max_length: int) -> str:
    """Return at most so many of a longer line's letters; the last word is whole unless too little would be left."""
    kept = line[:max_length]
    end = kept.rfind(" ") if line[max_length] != " " else max_length
    return (kept[:end] if end > max_length // 2 else kept).rstrip()


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


# Options of the command line whose names differ from those of the arguments.
SHELL_NAMES = {
    "identifier": "id",
    "key": "groups",
    "kinds": "kind",
    "n_items": "items",
    "n_states": "states",
    "random_state": "seed",
}

# How many commands are running in this process. It is not a ContextVar, because threads write messages, too.
_n_commands = 0


@contextmanager
def as_in_shell() -> Iterator[None]:
    """Spell settings as options of the command line."""
    global _n_commands
    _n_commands += 1
    try:
        yield
    finally:
        _n_commands -= 1


def in_shell() -> bool:
    """Return whether a command is running."""
    return _n_commands > 0


def setting(name: str, value: object = None) -> str:
    """Return how to choose a setting where the reader is: in Python by default, or on the command line.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
        Its value; a list is separated by commas on the command line. None for the name alone.

    Examples
    --------
    >>> from latree._util.words import as_in_shell, setting
    >>> setting("n_states", 4), setting("drop", ["day", "shop, street"]), setting("identifier", "person")
    ('n_states=4', "drop=['day', 'shop, street']", "identifier='person'")
    >>> with as_in_shell():
    ...     print(setting("n_states", 4), setting("drop", ["day", "shop, street"]), setting("identifier", "person"))
    --states 4 --drop 'day,"shop, street"' --id person
    """
    if not in_shell():
        return name if value is None else f"{name}={value!r}"
    option = f"--{SHELL_NAMES.get(name, name).replace('_', '-')}"
    if value is None:
        return option
    text = ",".join(_cell(str(one)) for one in value) if isinstance(value, list) else str(value)
    return f"{option} {shlex.quote(text)}"


def settings_in_a_row(texts: Sequence[str]) -> str:
    """Return several settings, as they are typed one after the other."""
    return (" " if in_shell() else ", ").join(texts)


def _cell(name: str) -> str:
    """Return a name as a cell of a list that is separated by commas."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
