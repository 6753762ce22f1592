"""What was found, in one sentence, and how sure it is."""

from collections.abc import Sequence
from typing import Any

from latree._util.words import percent, plural
from latree.interpret.groups import label_match

# An edge is sure from this support on, in per cent, and likely from this one on.
SURE, LIKELY = 90, 50


def finding(n_edges: int, n_hidden: int, n_groups: int) -> str:
    """Return what kind of story a report tells.

    Returns
    -------
    {"independent", "one hidden variable", "groups", "no groups"}
        No column depends on another; one hidden variable explains all of one group; there are groups; columns depend on
        each other, but too few of them to form a group.
    """
    if not n_edges:
        return "independent"
    if n_hidden == 1 and n_groups == 1:
        return "one hidden variable"
    return "groups" if n_groups else "no groups"


def headline(facts: dict[str, Any]) -> str:
    """Return the title of a report: what was found, and how it compares with the labels of the user."""
    n_columns, n_groups = facts["n_columns"], len(facts["groups"])
    if facts["finding"] == "independent":
        return "No dependence found"
    if facts["finding"] == "one hidden variable":
        n_states = plural(facts["groups"][0]["n_states"], "state")
        return f"One hidden variable with {n_states} explains {plural(n_columns, 'column')}"
    if facts["finding"] == "no groups":
        return f"{plural(n_columns, 'column')} form no groups"
    verb = "fall into" if n_groups > 1 else "form"
    found = f"{plural(n_columns, 'column')} {verb} {plural(n_groups, 'group')}"
    match = label_match(facts["labels"]) if facts["labels"] else ""
    return found + (f": {match}" if match else "")


def certainty(
    support: Sequence[int | None], groups: Sequence[dict[str, Any]], stability: float | None
) -> dict[str, Any]:
    """Return how many edges are sure, likely and unsure, and how stable the groups are.

    Parameters
    ----------
    support : sequence of int or None
        Of each edge in per cent; None for edges without support.
    groups : sequence of dict
        The cards of the groups.
    stability : float or None
        The mean stability of the groups.
    """
    known = [share for share in support if share is not None]
    sure = sum(share >= SURE for share in known)
    likely = sum(LIKELY <= share < SURE for share in known)
    least = min((card for card in groups if card["stability"] is not None), key=_stability_of, default=None)
    return {
        "n_edges": len(known),
        "sure": sure,
        "likely": likely,
        "unsure": len(known) - sure - likely,
        "stability": None if stability is None else percent(stability),
        "least_stable": None if least is None else least["number"],
    }


def _stability_of(card: dict[str, Any]) -> int:
    return int(card["stability"])
