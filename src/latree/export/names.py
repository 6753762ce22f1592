"""Names that a format accepts: cleaned, different from each other, and kept as they are where that is possible."""

import re
import unicodedata
from collections.abc import Callable, Sequence

from latree._util.words import printable

# Words that mean something in a BIF file.
_BIF_WORDS = {"network", "variable", "probability", "property", "type", "discrete", "default", "table"}
# pgmpy reads the name table1 as the word "table" and the number 1.
_BIF_TABLE = re.compile(r"(table|default)(?=[0-9eE])")
_SIGNS = {"<=": " le ", ">=": " ge ", "<": " lt ", ">": " gt "}


def unique_names(
    names: Sequence[str], clean: Callable[[str], str], same: Callable[[str], str] = str.casefold
) -> list[str]:
    """Return a clean name for each name, all different: names that need no cleaning first, then others with numbers.

    Parameters
    ----------
    names : sequence of str
    clean : callable
        Returns a name that the format accepts, also with ``_2`` added.
    same : callable
        Two clean names are the same for the format if this function returns the same for both. By default upper and
        lower case are not told apart.
    """
    cleaned = [clean(name) for name in names]
    found: dict[int, str] = {}
    taken: set[str] = set()
    next_number: dict[str, int] = {}
    for position in sorted(range(len(names)), key=lambda position: cleaned[position] != names[position]):
        base = candidate = cleaned[position]
        while same(candidate) in taken:
            number = next_number.get(same(base), 2)
            next_number[same(base)] = number + 1
            candidate = f"{base}_{number}"
        taken.add(same(candidate))
        found[position] = candidate
    return [found[position] for position in range(len(names))]


def one_line(name: str) -> str:
    """Return a name for XML and NEXUS: without control characters, with single spaces, and not empty."""
    return " ".join(printable(name).split()) or "_"


def identifier(name: str) -> str:
    """Return a name for BIF: ASCII letters, digits and underscores, no digit first, not a word of the format."""
    for sign, word in _SIGNS.items():
        name = name.replace(sign, word)
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"\W+", "_", ascii_name.strip(), flags=re.ASCII)
    if not re.match("[A-Za-z_]", word):
        word = f"_{word}"
    word = _BIF_TABLE.sub(r"\1_", word)
    return f"{word}_" if word.lower() in _BIF_WORDS else word


def state_identifier(label: str) -> str:
    """Return the name of a state for BIF: a whole number, or an identifier."""
    return label if re.fullmatch(r"-?[0-9]{1,9}", label) else identifier(label)
