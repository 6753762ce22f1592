"""How well the groups match the labels that a user gives to columns, such as sectors, scales or chapters."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from latree.model import LatentTreeModel


def labels_of_fit(model: LatentTreeModel) -> dict[str, Any] | None:
    """Return how well the main groups match the labels of the model's fit, as plain data; None without labels."""
    labels = dict(model.record.labels) if model.record else {}
    if not labels:
        return None
    groups = [group for group in model.groups if group.level == "main"]
    columns = [[model.node(name) for name in group.columns] for group in groups]
    facts = compare_labels([labels.get(name, "") for name in model.tree.names], columns)
    return {
        "match": label_match(facts) or None,
        "purity": facts["purity"],
        # Of a label that is divided, columns are in several groups, or in none.
        "labels": {
            name: "exact" if exact else "whole" if whole else "divided"
            for name, whole, exact in zip(facts["names"], facts["whole"], facts["exact"], strict=True)
        },
        "groups": {
            group.name: match
            | {"others": {(name := model.tree.names[column]): labels[name] for column in match["others"]}}
            for group, match in zip(groups, facts["groups"], strict=True)
        },
    }


def label_match(facts: Mapping[str, Any]) -> str:
    """Return how many labels come out as groups, in words; nothing if that says little.

    Parameters
    ----------
    facts : mapping
        From :func:`compare_labels`.
    """
    n_labels, n_groups = len(facts["names"]), len(facts["groups"])
    n_whole, n_exact = sum(facts["whole"]), sum(facts["exact"])
    if n_labels < 2 or n_groups < 2:
        return ""
    if n_exact == n_labels == n_groups:
        return f"exactly your {n_labels} labels"
    if not n_whole:
        return ""
    return f"{n_whole} of your {n_labels} labels {'is' if n_whole == 1 else 'are'} whole, {n_exact or 'none'} exact"


def label_meaning(match: str) -> str:
    """Return what the words of :func:`label_match` mean; nothing if they need no explanation."""
    if "whole" not in match:
        return ""
    return "A label is whole if all its columns are in one group, and exact if that group has no others."


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
        ``groups``: for each group its most common label, how many of its columns have that label, how many have any
        label, and which have another label. ``whole``: for each label, whether all its columns are in one group.
        ``exact``: for each label, whether that group has no other columns, with or without a label. ``purity``: the
        share of labelled columns that have the most common label of their group.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: position for position, label in enumerate(names)}
    matches, n_matching = [], 0
    whole: set[str] = set()
    exact: set[str] = set()
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        most_common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        n_most_common = inside[most_common] if most_common else 0
        others = [column for column in columns if labels[column] not in ("", most_common)]
        matches.append({"label": most_common, "count": n_most_common, "labelled": inside.total(), "others": others})
        n_matching += n_most_common
        whole |= {label for label in inside if inside[label] == counts[label]}
        exact |= {label for label in inside if inside[label] == counts[label] == len(columns)}
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": matches,
        "whole": [name in whole for name in names],
        "exact": [name in exact for name in names],
        "purity": round(n_matching / counts.total(), 6) if counts else None,
    }
