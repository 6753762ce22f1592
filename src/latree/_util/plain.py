"""Plain data from JSON text, which may be damaged or made to do harm."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from latree._util.words import did_you_mean
from latree.errors import InputError


def parse_json(text: str) -> Any:
    """Return the data of JSON text; raise an InputError if it is not JSON, or if an object has a field twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except InputError:
        raise
    except (ValueError, RecursionError):  # ValueError also for a number with more digits than Python reads
        raise InputError("not a JSON file: it is damaged or cut off") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # JSON leaves open which of two values counts, so that two programs would read two different files.
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise InputError(f"the field {name!a:.60} appears twice in one object; remove one of them")
        found[name] = value
    return found


def check_fields(plain: Mapping[str, Any], known: Collection[str], where: str) -> None:
    """Raise if an object of a file has a field that the format does not have."""
    for name in plain:
        if name not in known:
            advice = did_you_mean(name, known) or "remove it, or use the latree that wrote the file"
            raise InputError(f"{where} has an unknown field {name!a:.60}; {advice}")
