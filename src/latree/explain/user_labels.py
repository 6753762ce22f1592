"""How well the groups match the labels that a user gives to columns, such as sectors, scales or chapters."""

from collections import Counter
from collections.abc import Sequence
from typing import Any


def compare_labels(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return how well groups of columns match the labels of the columns.

    Parameters
    ----------
    labels : sequence of str
        The label of each column; "" for none.
    groups : sequence of sequences of int
        The columns of each group.

    Returns
    -------
    dict
        ``names``: the labels, the most common first. ``of``: for each column the number of its label, or -1.
        ``groups``: for each group its most common label, how many of its columns have that label, and how many have
        any label. ``whole``: for each label, whether its columns are all in one group, without columns of other labels.
        ``purity``: the share of labelled columns that have the most common label of their group.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: position for position, label in enumerate(names)}
    matches, n_matching = [], 0
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        most_common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        n_most_common = inside[most_common] if most_common else 0
        matches.append({"label": most_common, "count": n_most_common, "labelled": inside.total()})
        n_matching += n_most_common
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": matches,
        "whole": [
            any(
                (match["label"], match["count"], match["labelled"]) == (name, counts[name], counts[name])
                for match in matches
            )
            for name in names
        ],
        "purity": round(n_matching / counts.total(), 6) if counts else None,
    }
