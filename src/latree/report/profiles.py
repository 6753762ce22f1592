"""The states of a single hidden variable as profiles: what is typical of the rows in each state."""

from typing import Any

import numpy as np
from scipy.special import rel_entr

from latree._util.arrays import FloatArray
from latree._util.words import percent, whole_shares
from latree.interpret.columns import column_numbers
from latree.interpret.view import View
from latree.report.cards import states_in_order, two_digits, yes_of
from latree.report.node_details import category_name
from latree.table import Column

# The number of states that have a profile, the largest of them, and the number of columns in a profile.
MAX_STATES = 24
_MAX_COLUMNS = 8
# A column is typical of a state if it tells at least so many nats about the state.
_MIN_INFORMATION = 0.02


def state_profiles(view: View, hidden: int) -> list[dict[str, Any]]:
    """Return the size of each state of a hidden variable, and the columns that are most typical of it.

    A column is typical of a state if its distribution there differs from that in all rows: by the relative entropy.
    """
    model = view.model
    ((_, conditionals),) = view.columns_given([hidden])
    marginal = view.marginals[hidden]
    names = view.state_names(hidden)
    states = states_in_order(len(marginal), view.scores[hidden].values if hidden in view.scores else None)
    sizes = whole_shares([float(marginal[state]) for state in states])
    kept = sorted(sorted(range(len(states)), key=lambda place: (-sizes[place], place))[:MAX_STATES])
    found = []
    for place in kept:
        state = states[place]
        typical = []
        for node in range(model.tree.n_observed):
            inside, overall = conditionals[node][:, state], view.marginals[node]
            information = round(float(rel_entr(inside, overall).sum()), 9)
            if information >= _MIN_INFORMATION:
                typical.append((information, {"node": node, **_typical(model.columns[node], inside, overall)}))
        # What is more frequent says more than what is missing: words of a topic come before words of other topics.
        typical.sort(key=lambda one: (not one[1]["more"], -one[0], one[1]["node"]))
        shown = [facts for _, facts in typical[:_MAX_COLUMNS]]
        found.append({"name": names[state], "size": sizes[place], "typical": shown})
    return found


def _typical(column: Column, inside: FloatArray, overall: FloatArray) -> dict[str, Any]:
    """Return what is typical of a column in a state, in words, beside the same figure for all rows."""
    if (yes := yes_of(column)) is not None:
        value, share, of_all = "", float(inside[yes]), float(overall[yes])
        return {"value": value, "text": _percent(share), "overall": _percent(of_all), "more": share >= of_all}
    numbers = column_numbers(column)
    if numbers is None:
        contributions = np.round(rel_entr(inside, overall), 9)
        best = int(contributions.argmax())
        texts = {"text": _percent(float(inside[best])), "overall": _percent(float(overall[best]))}
        return {"value": category_name(column, best), **texts, "more": True}
    span = float(np.ptp(numbers))
    mean, of_all = float(numbers @ inside), float(numbers @ overall)
    texts = {"text": two_digits(mean, span), "overall": two_digits(of_all, span)}
    return {"value": "high" if mean >= of_all else "low", **texts, "more": True}


def _percent(share: float) -> str:
    return f"{percent(share)}\u00a0%"
