"""How well groups match the labels that a user brings for columns: sectors, scales, chapters."""

from collections import Counter
from collections.abc import Sequence
from typing import Any


def compare_labels(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Tell how well groups of columns match the columns' labels.

    Parameters
    ----------
    labels : sequence of str
        Of each column; "" for none.
    groups : sequence of sequences of int
        Columns.

    Returns
    -------
    dict
        ``names`` of the labels, the commonest first; ``of`` each column, the number of its label or -1; ``groups``, for
        each the label that most of its columns have, how many these are, and how many have any; ``purity``, the share
        of labelled columns that have their group's commonest label.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: place for place, label in enumerate(names)}
    found, matching = [], 0
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        found.append({"label": common, "count": inside[common] if common else 0, "labelled": inside.total()})
        matching += inside[common] if common else 0
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": found,
        "purity": round(matching / counts.total(), 6) if counts else None,
    }
