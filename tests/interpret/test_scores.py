"""Scores of rows: beside brute force, in order, for every kind of model."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import all_rows, naive_joint, small_models
from latree import InputError, LatentTree, LatentTreeModel, Tree
from latree.interpret.groups import find_groups
from latree.interpret.order import order_states
from latree.interpret.scores import row_scores, scored_groups, state_names, with_state_numbers
from latree.interpret.view import view_of
from latree.model import Group
from latree.table import Column, Table

EXACT = 1e-10


def values_of_states(model):
    return {node: score.values for node, score in view_of(model).scores.items()}


def likert_model(newick="((a,b,c),d,e,f);", reversed_columns=(), n_states=3, seed=0, ordered=True, between=0.6):
    """A model whose variables copy each other more or less often; some columns are upside down."""
    tree, rng = Tree.from_newick(newick), np.random.default_rng(seed)
    tables = []
    for name, parent in zip(tree.node_names, tree.rooted().parent.tolist(), strict=True):
        n = n_states if name in tree.names else 3
        above = n_states if 0 <= parent < tree.n_observed else 3
        share = rng.uniform(0.6, 0.7) if name in tree.names else between
        copied = share * np.eye(n)[:, np.minimum(np.arange(above), n - 1)] + (1 - share) / n
        table = copied if parent >= 0 else rng.dirichlet(np.full(n, 20))[:, None]
        tables.append(table[::-1] if name in reversed_columns else table)
    kind, categories = "integer" if ordered else "text", tuple(map(str, range(n_states)))
    columns = tuple(Column(name, kind, categories, ordered=ordered) for name in tree.names)
    return order_states(LatentTreeModel(tree, columns, tuple(tables))).model


def naive_score(model, group, row):
    """Return score and error of a group by visiting every combination of states, and its most probable state."""
    joint, tree, scores = naive_joint(model), model.tree, values_of_states(model)
    marginals = model.network.marginals()
    total, lowest, highest = np.zeros(joint.shape), 0.0, 0.0
    for node in group.nodes:
        if node < tree.n_observed:
            continue
        weight = 0.0
        for column, _ in tree.neighbors[node]:
            if column < tree.n_observed:
                codes = np.arange(len(marginals[column])) - np.arange(len(marginals[column])) @ marginals[column]
                codes /= np.sqrt(codes**2 @ marginals[column])
                weight += abs(scores[node] @ model.joint([node, column]) @ codes)
        sign = 1.0
        if node != group.centre:
            sign = np.sign(scores[node] @ model.joint([node, group.centre]) @ scores[group.centre])
        value = sign * weight * scores[node]
        lowest, highest = lowest + value.min(), highest + value.max()
        shape = [1] * joint.ndim
        shape[node] = -1
        total = total + value.reshape(shape)
    total = (total - lowest) / (highest - lowest)
    own = [code if tree.names[column] in group.columns else -1 for column, code in enumerate(row)]
    mean, variance = _moments(joint, total, own)
    posterior = _chosen(joint, row).sum(axis=tuple(axis for axis in range(joint.ndim) if axis != group.centre))
    return mean, np.sqrt(variance), int(posterior.argmax()), posterior.max() / posterior.sum(), np.log(posterior.sum())


def _chosen(joint, row):
    return joint[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in row)]


def _moments(joint, total, row):
    chosen, values = _chosen(joint, row), _chosen(np.broadcast_to(total, joint.shape), row)
    chosen = chosen / chosen.sum()
    mean = (chosen * values).sum()
    return mean, (chosen * (values - mean) ** 2).sum()


CHAIN = "((((a,b),c),d),e);"


@pytest.mark.parametrize("newick", ["((a,b,c),d,e,f);", CHAIN, "(a,b,c,d);"])
@pytest.mark.parametrize("reversed_columns", [(), ("b", "c")])
def test_scores_are_those_of_brute_force(newick, reversed_columns):
    model = likert_model(newick, reversed_columns, n_states=2)
    rows = np.random.default_rng(0).permutation(all_rows(model))[:25]
    found = row_scores(model, Table.from_codes(model.columns, rows))
    groups = scored_groups(model)
    assert found.names == tuple(group.name for group in groups)
    for j, group in enumerate(groups):
        for i, row in enumerate(rows):
            score, error, state, probability, log_likelihood = naive_score(model, group, row)
            assert found.scores[i, j] == pytest.approx(score, abs=EXACT)
            assert found.errors[i, j] == pytest.approx(error, abs=1e-8)
            assert found.states[i, j] == state
            assert found.probabilities[i, j] == pytest.approx(probability, abs=EXACT)
            assert found.log_density[i] == pytest.approx(log_likelihood, abs=EXACT)


def test_hidden_variables_that_point_the_other_way_are_turned():
    model = likert_model(reversed_columns=("H2",), between=0.5)
    one, other = values_of_states(model).values()
    assert one @ model.joint([6, 7]) @ other < -0.2  # each keeps the direction of its own three columns
    group = Group("H1", "main", model.tree.names, "H1", None, None, tuple(range(8)), 6)
    model = replace(model, groups=(group,))
    rows = np.random.default_rng(0).permutation(all_rows(model))[:6]
    found = row_scores(model, Table.from_codes(model.columns, rows))
    expected = [naive_score(model, group, row)[0] for row in rows]
    np.testing.assert_allclose(found.scores[:, 0], expected, atol=EXACT)


def test_a_chain_is_one_group_and_every_column_of_it_counts():
    model = likert_model(CHAIN, between=0.8)
    (group,) = scored_groups(model)
    assert sum(node >= 5 for node in group.nodes) >= 2
    rows = model.sample(2000, random_state=1)
    found, codes = row_scores(model, rows), rows.codes()
    correlations = [np.corrcoef(found.scores[:, 0], codes[:, column])[0, 1] for column in range(5)]
    assert min(correlations) > 0.5
    central = row_scores(model, rows, "hidden").scores[:, group.centre - 5]
    total = codes.sum(axis=1)
    assert np.corrcoef(found.scores[:, 0], total)[0, 1] > np.corrcoef(central, total)[0, 1] + 0.01


@pytest.mark.parametrize("of", ["groups", "hidden"])
def test_scores_rise_from_low_to_high_cells(of):
    model = likert_model(reversed_columns=("b",))
    low, high = [0, 2, 0, 0, 0, 0], [2, 0, 2, 2, 2, 2]
    found = row_scores(model, np.array([low, high], dtype=float), of)
    assert (found.scores[0] < 0.35).all()
    assert (found.scores[1] > 0.65).all()
    assert found.states.tolist() == [[0, 0], [2, 2]]
    assert found.state_names == (("low", "middle", "high"),) * 2


def test_other_columns_do_not_pull_a_score_but_a_state():
    model = likert_model()
    rows = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 1, 2, 2, 2]], dtype=float)
    found = row_scores(model, rows)
    j = next(j for j, group in enumerate(scored_groups(model)) if "a" in group.columns)
    assert found.scores[0, j] == found.scores[1, j]
    hidden = row_scores(model, rows, "hidden")
    assert (hidden.scores[0] < hidden.scores[1]).all()


def test_a_row_without_cells_gets_the_mean_and_a_large_error():
    model = likert_model()
    full = row_scores(model, model.sample(3000, random_state=0))
    empty = row_scores(model, np.full((1, 6), np.nan))
    np.testing.assert_allclose(empty.scores[0], full.scores.mean(axis=0), atol=0.03)
    assert (empty.errors[0] > full.errors.mean(axis=0) * 1.2).all()
    assert empty.log_density.tolist() == [pytest.approx(0, abs=EXACT)]


def test_the_mean_variance_and_error_agree_with_each_other():
    # Var(T) = Var(E[T | row]) + E[Var(T | row)]; T has the variance of the score of a row without cells.
    model = likert_model(CHAIN)
    found = row_scores(model, model.sample(20_000, random_state=0))
    prior = row_scores(model, np.full((1, 5), np.nan)).errors[0] ** 2
    np.testing.assert_allclose(found.scores.var(axis=0) + (found.errors**2).mean(axis=0), prior, rtol=0.03)


@given(seed=st.integers(0, 50), n_states=st.integers(2, 4))
@settings(deadline=None, max_examples=20)
def test_scores_lie_between_0_and_1_and_permuted_columns_change_nothing(seed, n_states):
    model = likert_model(CHAIN, n_states=n_states, seed=seed)
    table = model.sample(30, random_state=seed)
    for of in ("groups", "hidden"):
        found = row_scores(model, table, of)
        assert found.scores.min(initial=0) >= 0
        assert found.scores.max(initial=0) <= 1 + EXACT
        assert found.errors.max(initial=0) <= 0.5 + EXACT  # the largest standard deviation between 0 and 1
        assert (found.probabilities >= 1 / 3 - EXACT).all()


def test_states_of_columns_without_order_are_numbered_by_size():
    model = likert_model(ordered=False)
    found = row_scores(model, model.sample(500, random_state=0))
    assert found.state_names[0] == ("state 1", "state 2", "state 3")
    sizes = model.network.marginals()[scored_groups(model)[0].centre]
    assert sizes.tolist() == sorted(sizes, reverse=True)
    whole = row_scores(model, model.sample(500, random_state=0), "hidden")
    posteriors = model.posteriors(model.sample(500, random_state=0))
    np.testing.assert_allclose(whole.scores[:, 0], posteriors["H1"] @ [0, 0.5, 1], atol=EXACT)


@pytest.mark.parametrize(
    ("n_hidden", "names"),
    [
        (2, ("low", "high")),
        (4, ("low", "rather low", "rather high", "high")),
        (5, ("low", "rather low", "middle", "rather high", "high")),
        (6, ("1 of 6", "2 of 6", "3 of 6", "4 of 6", "5 of 6", "6 of 6")),
    ],
)
def test_names_of_states(n_hidden, names):
    tree = Tree.from_newick("(a,b,c,d);")
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in tree.names)
    steps = np.linspace(0.2, 0.8, n_hidden)
    tables = (*[np.array([1 - steps, steps])] * 4, np.full((n_hidden, 1), 1 / n_hidden))
    model = order_states(LatentTreeModel(tree, columns, tables)).model
    assert state_names(model) == {"H1": names}
    assert state_names(model.rename({"H1": "mood"})) == {"mood": names}


def test_kinds_are_numbered():
    tree = Tree.from_newick("(a,b,c);")
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in tree.names)
    # Each column is high in one of three states.
    tables = [np.array([1 - shares, shares]) for shares in 0.1 + 0.8 * np.eye(3)]
    model = order_states(LatentTreeModel(tree, columns, (*tables, np.full((3, 1), 1 / 3)))).model
    assert state_names(model) == {"H1": ("state 1", "state 2", "state 3")}
    assert set(row_scores(model, model.sample(9, random_state=0), "hidden").state_names) == {state_names(model)["H1"]}


def test_states_may_be_given_by_their_names():
    model = likert_model().rename({"H1": "mood"})
    known = {"a": "2", "mood": "middle", "H2": "high", "b": 1}
    assert with_state_numbers(model, known) == {"a": "2", "mood": 1, "H2": 2, "b": 1}
    assert with_state_numbers(model, {"H1": "low"}) == {"H1": 0}
    # Columns keep their values, and what is no name of a state is left to the model.
    assert with_state_numbers(model, {"a": "low", "mood": "1"}) == {"a": "low", "mood": "1"}
    with pytest.raises(InputError, match="hidden variable 'mood' has no value 'lo'"):
        model.query("a", with_state_numbers(model, {"mood": "lo"}))
    fitted = LatentTree("lcm", n_states=2, random_state=0).fit(model.sample(300, random_state=0))
    assert fitted.query("a", {"H1": "high"}) == fitted.query("a", {"H1": 1}) != fitted.query("a", {"H1": "low"})


def test_names_of_states_follow_their_values_in_a_model_that_is_not_in_order():
    model = likert_model()
    hidden = model.tree.n_nodes - 1
    turned = [table[::-1] if node == hidden else table for node, table in enumerate(model.tables)]
    turned = [
        table[:, ::-1] if parent == hidden else table
        for table, parent in zip(turned, model.network.parent.tolist(), strict=True)
    ]
    turned = LatentTreeModel(model.tree, model.columns, tuple(turned))
    assert state_names(turned)[model.tree.node_names[hidden]] == ("high", "middle", "low")
    rows = model.sample(50, random_state=0)
    np.testing.assert_allclose(row_scores(turned, rows).scores, row_scores(model, rows).scores, atol=EXACT)


@pytest.mark.parametrize("model", small_models())
@pytest.mark.parametrize("of", ["groups", "hidden"])
def test_every_shape_of_tree_is_scored(model, of):
    rows = Table.from_codes(model.columns, all_rows(model))
    found = row_scores(model, rows, of)
    assert np.isfinite(found.scores).all()
    assert found.scores.shape == (len(all_rows(model)), len(found.names))
    if of == "hidden":
        assert found.names == model.tree.node_names[model.tree.n_observed :]
        for j, posterior in enumerate(model.posteriors(rows).values()):
            assert found.probabilities[:, j] == pytest.approx(posterior.max(axis=1))


@pytest.mark.parametrize("method", ["chow-liu", "independent"])
def test_groups_without_hidden_variables_have_no_score(method):
    data = likert_model().sample(300, random_state=0)
    model = LatentTree(method, random_state=0).fit(data).model_
    assert bool(find_groups(model)) == (method == "chow-liu")
    for of in ("groups", "hidden"):
        found = row_scores(model, data, of)
        assert (found.names, found.scores.shape, len(found.log_density)) == ((), (300, 0), 300)


def test_impossible_rows_have_no_score():
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in "abc")
    certain = np.eye(2)
    model = LatentTreeModel(Tree.from_newick("(a,b,c);"), columns, (certain, certain, certain, np.full((2, 1), 0.5)))
    found = row_scores(model, np.array([[0, 0, 0], [0, 1, 0]]))
    assert found.log_density.tolist() == [pytest.approx(np.log(0.5)), -np.inf]
    assert np.isnan(found.scores).tolist() == np.isnan(found.probabilities).tolist() == [[False], [True]]
    assert found.states.tolist() == [[0], [-1]]
    assert found.errors[0, 0] == 0


def test_only_groups_and_hidden_variables_can_be_scored():
    with pytest.raises(InputError, match="of must be 'groups' or 'hidden', not 'columns'"):
        row_scores(likert_model(), np.zeros((1, 6)), "columns")
