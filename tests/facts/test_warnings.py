"""Warnings, each of them on both sides of its threshold."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import copying_model, model_on, star
from helpers.report import learned_run
from latree.facts.warnings import (
    coarse_scores,
    scores_without_direction,
    unused_states,
    warnings_of,
    worse_than_independent,
)
from latree.interpret.groups import with_groups
from latree.model import LatentTreeModel
from latree.model.record import Worth
from latree.table import Column
from latree.tree import Tree

NAMES = ("a", "b", "c")
COLUMNS = tuple(Column(name, "text", ("x", "y")) for name in NAMES)


def one_hidden(yes, shares):
    """A model of three columns and one hidden variable, given P(y | state) and P(state)."""
    leaf = np.array([1 - np.array(yes), yes])
    return LatentTreeModel(Tree(NAMES, star(3).edges), COLUMNS, (leaf, leaf, leaf, np.array(shares)[:, None]))


FEWER = "For fewer states, use n_states=2."


def test_states_that_are_empty_or_mean_the_same_are_named():
    alike = [0.1, 0.9, 0.9]
    assert unused_states(one_hidden(alike, [0.5, 0.495, 0.005]), 100) == [
        f"No row is in 1 of the 3 states of 'H1'. {FEWER}"
    ]
    assert unused_states(one_hidden(alike, [0.4, 0.3, 0.3]), 100) == [
        f"Another state means the same as 1 of the 3 states of 'H1': read them as one. {FEWER}"
    ]
    assert unused_states(one_hidden([0.1, 0.9, 0.7], [0.4, 0.3, 0.3]), 100) == []


def test_hidden_variables_have_their_names_for_people():
    model = one_hidden([0.1, 0.9, 0.9], [0.5, 0.495, 0.005]).rename({"H1": "mood"})
    assert unused_states(model, 100) == [f"No row is in 1 of the 3 states of 'mood'. {FEWER}"]


@pytest.mark.parametrize(
    ("n_stars", "said"),
    [
        (2, "No row is in 1 of the 3 states of 'H1' and 1 of the 3 states of 'H2'. "),
        (4, "No row is in some states of 4 hidden variables, such as 'H1', 'H2' and 'H3'. "),
    ],
)
def test_many_variables_with_empty_states_are_counted(n_stars, said):
    part = one_hidden([0.1, 0.9, 0.9], [0.5, 0.495, 0.005])
    n_columns = 3 * n_stars
    tree = Tree([f"x{i}" for i in range(n_columns)], [(i, n_columns + i // 3) for i in range(n_columns)])
    columns = tuple(Column(name, "text", ("x", "y")) for name in tree.names)
    tables = (*[part.tables[0]] * n_columns, *[part.tables[3]] * n_stars)
    assert unused_states(LatentTreeModel(tree, columns, tables), 100) == [said + FEWER]


@pytest.mark.parametrize(("difference", "warned"), [(0.005, True), (0.02, False)])
def test_states_mean_the_same_if_no_probability_differs_by_a_hundredth(difference, warned):
    model = one_hidden([0.1, 0.5, 0.5 + difference], [0.4, 0.3, 0.3])
    assert bool(unused_states(model, 1000)) is warned


@pytest.mark.parametrize(("rows", "warned"), [(0.5, True), (1.5, False)])
def test_a_state_of_less_than_one_row_is_empty(rows, warned):
    model = one_hidden([0.1, 0.5, 0.9], [0.5, 0.5 - rows / 1000, rows / 1000])
    assert any(warning.startswith("No row is in") for warning in unused_states(model, 1000)) is warned


def test_fewer_states_for_all_are_not_recommended_if_one_hidden_variable_needs_them():
    tree = Tree("abcd", [(0, 4), (1, 4), (4, 5), (5, 2), (5, 3)])
    model = model_on(tree, [3, 3, 3, 3, 3, 3], 0)
    parent = tree.rooted().parent
    root = int(np.flatnonzero(parent < 0)[0])
    child = 9 - root
    tables = list(model.tables)
    tables[child] = np.array([[0.8, 0.1, 0.4], [0.2, 0.9, 0.6], [0.0, 0.0, 0.0]])
    model = LatentTreeModel(tree, model.columns, tuple(tables))
    empty = f"No row is in 1 of the 3 states of '{tree.node_names[child]}'."
    assert unused_states(model, 1000) == [f"{empty} You can ignore such states."]


INSTEAD = (
    "have no direction: use the states instead. If the values have an order, code them as 1, 2, 3, or give it with "
    "kinds."
)


@pytest.mark.parametrize(
    ("n_groups", "said"),
    [
        (1, "The values of 'x0', 'x1' and 'x2' are texts without an order, so scores of group 'x0, x1 +1' "),
        (
            2,
            "The values of all columns of 2 groups ('x0, x1 +1' and 'x3, x4 +1') are texts without an order, so scores "
            "of these groups ",
        ),
        (
            4,
            "The values of all columns of 4 groups (such as 'x0, x1 +1', 'x3, x4 +1' and 'x6, x7 +1') are texts "
            "without an order, so scores of these groups ",
        ),
    ],
)
def test_groups_of_texts_without_an_order_have_scores_without_direction(n_groups, said):
    n_columns = 3 * n_groups
    tree = Tree([f"x{i}" for i in range(n_columns)], [(i, n_columns + i // 3) for i in range(n_columns)])
    model = with_groups(copying_model(tree, lambda *_: 0.7))

    def warnings_if(is_ordered):
        columns = [Column(name, "text", ("x", "y"), ordered=is_ordered(i)) for i, name in enumerate(tree.names)]
        changed = replace(model, columns=tuple(columns))
        found = scores_without_direction(changed, changed.groups)
        assert warnings_of(fitted(changed)) == found
        return found

    assert warnings_if(lambda _: False) == [said + INSTEAD]
    assert warnings_if(lambda i: i % 3 == 2) == []  # one column with an order is enough


def test_a_model_that_predicts_may_have_states_to_spare():
    model = one_hidden([0.1, 0.9, 0.9], [0.4, 0.3, 0.3])
    assert any("means the same" in warning for warning in warnings_of(fitted(model)))
    assert warnings_of(fitted(model, goal="predict")) == []


def fitted(model, converged=True, goal="explain"):
    """Return a model with a record of a fit to 200 rows, about which nothing else is odd."""
    record = learned_run().model.record
    settings = replace(record.settings, goal=goal)
    plain = {"odd": (), "labels": (), "worth": None, "order_cost": None, "total_weight": 200.0}
    return replace(model, record=replace(record, settings=settings, converged=converged, **plain))


def test_a_fit_without_trouble_has_no_warnings():
    model = model_on(Tree("abc", []), [4] * 3, 0)
    assert warnings_of(fitted(model)) == warnings_of(model) == []


def test_what_was_known_at_the_fit_comes_again():
    model = fitted(model_on(Tree("abc", []), [4] * 3, 0))
    odd = replace(model.record, odd=("It is odd.",), labels=(("d", "x"),), order_cost=0.31)
    first, labels, order = warnings_of(replace(model, record=odd))
    assert (first, "'d', which is not a column" in labels) == ("It is odd.", True)
    assert order.startswith("The rows are in an order that matters: a row is 0.31 nats less probable")


def test_em_that_did_not_converge():
    assert warnings_of(fitted(model_on(Tree("abc", []), [4] * 3, 0), converged=False)) == [
        "EM was stopped after 200 iterations before it converged, so that a longer fit may change the probabilities. "
        "For that, use max_iter=400."
    ]


@pytest.mark.parametrize(
    ("letters", "said"), [("ACGT", False), ("ACGU", False), ("ABCD", True), ("ACDEFGHI", False), ("ACDEFGH", True)]
)
def test_nobody_expects_an_order_of_aligned_sequences(letters, said):
    tree = Tree(["x0", "x1", "x2"], [(0, 3), (1, 3), (2, 3)])
    model = with_groups(copying_model(tree, lambda *_: 0.7, [len(letters)] * 4))
    columns = tuple(Column(name, "text", tuple(letters)) for name in tree.names)
    changed = replace(model, columns=columns)
    assert bool(scores_without_direction(changed, changed.groups)) == said


@pytest.mark.parametrize(
    ("n_coarse", "n_groups", "n_states", "n_answers", "ordered", "said"),
    [
        (1, 1, 2, 4, True, "The group 'x0, x1 +1' has only 2 states"),
        (2, 3, 2, 5, True, "2 groups have only 2 states"),
        (1, 2, 2, 5, True, None),  # not most of them
        (1, 1, 3, 5, True, None),
        (1, 1, 2, 3, True, None),
        (1, 1, 2, 5, False, None),
    ],
)
def test_scores_with_two_states_rank_rows_less_finely_than_the_columns(
    n_coarse, n_groups, n_states, n_answers, ordered, said
):
    d = 3 * n_groups
    tree = Tree([f"x{i}" for i in range(d)], [(i, d + i // 3) for i in range(d)])
    sizes = [n_answers] * d + [n_states] * n_coarse + [4] * (n_groups - n_coarse)
    columns = tuple(Column(name, "integer", tuple("12345"[:n_answers]), ordered=ordered) for name in tree.names)
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(sizes[i]), sizes[d + i // 3]).T for i in range(d)]
    tables += [np.full((sizes[d + group], 1), 1 / sizes[d + group]) for group in range(n_groups)]
    model = with_groups(LatentTreeModel(tree, columns, tuple(tables)))
    found = coarse_scores(model)
    assert len(found) == (said is not None)
    if said is not None:
        names = sorted(group.name for group in model.groups)
        assert found[0].startswith(said if n_groups > 1 else f"The group '{names[0]}' has only 2 states")
        assert found[0].endswith("To rank rows, use n_states=4, or that mean.")
        assert found[0] in warnings_of(fitted(model))
        assert found[0] not in warnings_of(fitted(model, goal="predict"))


@pytest.mark.parametrize(("gain", "said"), [(-0.5, True), (-0.1, False), (0.5, False), (None, False)])
def test_models_that_predict_worse_than_none_are_named(gain, said):
    worth = Worth("latent tree", 200, gain, None if gain is None else 0.1, ())
    found = worse_than_independent(worth)
    assert bool(found) == said
    if said:
        assert found[0].startswith("New rows are less probable than under independent columns, by 0.50 ± 0.10 nats")
    assert worse_than_independent(None) == []
    # A model of independent columns loses nothing but rounding errors.
    assert worse_than_independent(worth._replace(gain=-1e-12, error=0.0)) == []


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (40, 0, "'a' has no edge in the tree, although its correlation with 'b' is 0.40 in the rows, and so"),
        (0, -30, "'b' has no edge in the tree, although its correlation with 'c' is 0.30 in the rows, and so"),
        (15, 0, None),  # of 200 rows: the largest of three may be so large by chance
    ],
)
def test_columns_that_a_model_to_predict_leaves_out_are_named(first, last, said):
    model = fitted(model_on(Tree("abc", []), [4] * 3, 0), goal="predict")
    columns = tuple(Column(name, "integer", tuple("1234"), ordered=True) for name in "abc")
    record = replace(model.record, correlations=(100 + first, 100, 100 + last), n_missing=(0, 0, 0), n_rows=200)
    found = warnings_of(replace(model, columns=columns, record=record))
    assert len(found) == (said is not None)
    if said is not None:
        assert found[0].startswith(said)
