"""What a column of a table is: its name, its states, and how raw values become codes and back."""

from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, TypeAlias, TypeGuard

from latree.errors import InputError
from latree.table.factors import parse_number

Kind: TypeAlias = Literal["text", "boolean", "integer", "number"]
Value: TypeAlias = str | bool | int | float

KINDS: tuple[Kind, ...] = ("text", "boolean", "integer", "number")
MAX_STATES = 65_535
DEFAULT_MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")


@dataclass(frozen=True)
class Column:
    """A column's name and states.

    Attributes
    ----------
    name : str
        The column's name.
    kind : {"text", "boolean", "integer", "number"}
        What a decoded value is.
    categories : tuple of str
        The label of each state; a cell's code is the position of its label.
    missing : tuple of str
        Cells that mean missing, beside empty ones.
    cuts : tuple of float or None
        For a numeric column that was cut into bins: a value ``x`` falls in the first bin ``b`` with ``x <= cuts[b]``,
        and in the last bin if it is above all of them.
    centers : tuple of float or None
        For such a column: the median of the values that fell in each bin, which stands for the bin when a code is
        turned back into a number.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...]
    missing: tuple[str, ...] = DEFAULT_MISSING
    cuts: tuple[float, ...] | None = None
    centers: tuple[float, ...] | None = None

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.categories)

    def decode(self, code: int) -> Value:
        """Give the value that a code stands for."""
        if self.centers is not None:
            return int(self.centers[code]) if self.kind == "integer" else self.centers[code]
        label = self.categories[code]
        if self.kind == "text":
            return label
        if self.kind == "boolean":
            return label == "True"
        return int(label) if self.kind == "integer" else float(label)

    def to_dict(self) -> dict[str, Any]:
        """Give the column as plain data for JSON."""
        plain: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "categories": list(self.categories),
            "missing": list(self.missing),
        }
        if self.cuts is not None and self.centers is not None:
            plain |= {"cuts": list(self.cuts), "centers": list(self.centers)}
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "Column":
        """Read a column from plain data, trusting none of it."""
        if not isinstance(plain, dict):
            raise InputError("a column is not an object")
        keys = ("name", "kind", "categories", "missing", "cuts", "centers")
        name, kind, categories, missing, cuts, centers = (plain.get(key) for key in keys)
        if not is_text(name):
            raise InputError(f"a column's name is not text: {name!a:.60}")
        if kind not in KINDS:
            raise InputError(f"column {name!r:.60}: unknown kind {kind!r:.60}")
        if not _are_texts(categories) or not _are_texts(missing):
            raise InputError(f"column {name!r:.60}: its categories or missing cells are not a list of texts")
        if not 1 <= len(categories) <= MAX_STATES or len(set(categories)) != len(categories):
            raise InputError(f"column {name!r:.60}: its categories are empty, repeated or too many")
        if cuts is None and centers is None:
            column = cls(name, kind, tuple(categories), tuple(missing))
            _check_decodes(column)
            return column
        if kind not in ("integer", "number") or not _rises(cuts, len(categories) - 1, strictly=True):
            raise InputError(f"column {name!r:.60}: its cuts are not {len(categories) - 1} rising numbers")
        if not _rises(centers, len(categories), strictly=False):
            raise InputError(f"column {name!r:.60}: its centers are not {len(categories)} rising numbers")
        return cls(name, kind, tuple(categories), tuple(missing), tuple(map(float, cuts)), tuple(map(float, centers)))


def is_number(x: Any) -> bool:
    """Tell whether a JSON value is a finite number that a float can hold."""
    return (type(x) is int and abs(x) < 2**63) or (type(x) is float and isfinite(x))


def is_text(value: Any) -> TypeGuard[str]:
    """Tell whether a JSON value is text that can be written again."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" for letter in value)


def _are_texts(values: Any) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(map(is_text, values))


def _rises(numbers: Any, length: int, strictly: bool) -> TypeGuard[list[float]]:
    if not isinstance(numbers, list) or len(numbers) != length:
        return False
    if not all(map(is_number, numbers)):
        return False
    return all(a < b or (a == b and not strictly) for a, b in pairwise(numbers))


def _check_decodes(column: Column) -> None:
    for label in column.categories:
        number = parse_number(label)
        fits = {
            "text": True,
            "boolean": label in ("False", "True"),
            "integer": isinstance(number, int),
            "number": number is not None and isfinite(number),
        }
        if not fits[column.kind]:
            raise InputError(f"column {column.name!r:.60}: {label!r:.60} is not of kind {column.kind}")
