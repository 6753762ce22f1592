"""Questions by name against enumeration; pyAgrum as a judge on a larger tree."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bins import bins_at
from helpers.models import copying_model, model_on, naive_joint, small_models, star
from helpers.report import learned_run
from latree import LatentTree
from latree.errors import FitWarning, InputError
from latree.model import LatentTreeModel, fit_model
from latree.model.query import PairDependence, correlation_by_chance, pair_dependence
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, as_table
from latree.tree import Tree

with warnings.catch_warnings():  # its compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    import pyagrum as gum

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


def naive_query(model, wanted, evidence):
    """The distribution of some nodes, from the joint distribution of all."""
    joint = naive_joint(model)
    for node, state in evidence.items():
        joint = joint * (np.arange(joint.shape[node]) == state).reshape(
            [-1 if a == node else 1 for a in range(joint.ndim)]
        )
    kept = joint.sum(axis=tuple(set(range(joint.ndim)) - set(wanted)))
    return (kept / kept.sum()).transpose(np.argsort(np.argsort(wanted)))


def shaped(distribution, model, wanted):
    return np.array(list(distribution.values())).reshape([len(model.tables[node]) for node in wanted])


@every_model
def test_queries_equal_enumeration(model):
    names, rng = model.node_names, np.random.default_rng(0)
    for _ in range(30):
        nodes = rng.permutation(model.tree.n_nodes).tolist()
        wanted, known = nodes[: rng.integers(1, 4)], nodes[3 : 3 + rng.integers(0, 4)]
        evidence = {node: int(rng.integers(len(model.tables[node]))) for node in known}
        found = model.query([names[v] for v in wanted], given={names[v]: x for v, x in evidence.items()})
        np.testing.assert_allclose(
            shaped(found, model, wanted), naive_query(model, wanted, evidence), rtol=1e-10, atol=1e-14
        )


def test_one_variable_has_plain_keys_and_several_have_tuples():
    model = MODELS[0]
    one, same = model.query("b"), model.query(["b"])
    assert list(one) == [0, 1, 2]
    assert list(same) == [(0,), (1,), (2,)]
    assert list(model.query(["a", "H1"])) == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize("seed", range(3))
def test_queries_on_a_larger_tree_equal_those_of_pyagrum(seed):
    tree = random_tree(20, 0.5, seed)
    model = random_model(tree, n_states=3, hidden_states=3, random_state=seed)
    network = gum.BayesNet()
    for node, name in enumerate(model.node_names):
        network.add(gum.LabelizedVariable(name, name, len(model.tables[node])))
    for node, (table, parent) in enumerate(zip(model.tables, model.network.parent.tolist(), strict=True)):
        if parent >= 0:
            network.addArc(parent, node)
        network.cpt(node).fillWith(table.T.ravel().tolist())  # the node's own state runs fastest
    rng = np.random.default_rng(seed)
    for _ in range(10):
        target, *known = rng.permutation(len(model.node_names))[:8].tolist()
        evidence = {model.node_names[node]: int(rng.integers(len(model.tables[node]))) for node in known}
        judge = gum.LazyPropagation(network)
        judge.setEvidence(evidence)
        expected = judge.posterior(model.node_names[target]).toarray()
        found = model.query(model.node_names[target], given=evidence)
        np.testing.assert_allclose(list(found.values()), expected, rtol=1e-9)


@given(st.integers(0, 2**31), st.data())
@settings(deadline=None, max_examples=30)
def test_queries_are_distributions_that_agree_with_each_other(seed, data):
    model = model_on(MODELS[0].tree, [2, 3, 2, 4, 3, 2, 3, 2], seed)
    names = data.draw(st.permutations(model.node_names))
    wanted, known = names[:2], names[2 : 2 + data.draw(st.integers(0, 4))]
    evidence = {name: data.draw(st.integers(0, len(model.tables[model.node(name)]) - 1)) for name in known}
    both = model.query(wanted, given=evidence)
    assert sum(both.values()) == pytest.approx(1)
    # The order of what is given does not matter.
    assert model.query(wanted, given=dict(reversed(evidence.items()))) == both
    # Summing out a variable gives the distribution of the other one.
    first = model.query(wanted[0], given=evidence)
    for value, probability in first.items():
        assert probability == pytest.approx(sum(p for (a, _), p in both.items() if a == value))
    # P(a, b) = P(a) P(b | a)
    for (a, b), probability in both.items():
        given_a = model.query(wanted[1], given=evidence | {wanted[0]: a})
        assert probability == pytest.approx(first[a] * given_a[b])


def test_without_evidence_it_is_the_marginal():
    model = MODELS[1]
    for name, marginal in model.marginals().items():
        np.testing.assert_allclose(list(model.query(name).values()), marginal, rtol=1e-12)


def test_a_known_variable_is_certain():
    assert MODELS[0].query("b", given={"b": 2}) == {0: 0, 1: 0, 2: 1}


def test_much_evidence_does_not_underflow():
    model = copying_model(star(2000), lambda u, v: 0.2)
    found = model.query("H1", given={f"x{j}": j % 2 for j in range(2000)})
    np.testing.assert_allclose(list(found.values()), [0.5, 0.5])


def mixed_model():
    """Columns of every kind, all of which copy a hidden variable of two states."""
    columns = (
        Column("mood", "text", ("bad", "good")),
        Column("grade", "integer", ("1", "5"), ordered=True),
        Column("size", "number", ("<= 2.5", "> 2.5"), **bins_at((2.5,), (1.0, 4.0)), ordered=True),
        Column("member", "boolean", ("False", "True"), ordered=True),
        Column("share", "number", ("0.5", "1"), ordered=True),
    )
    tree = Tree([column.name for column in columns], [(j, 5) for j in range(5)])
    copy = np.array([[0.9, 0.2], [0.1, 0.8]])
    return LatentTreeModel(tree, columns, (copy,) * 5 + (np.array([[0.5], [0.5]]),)).rename({"H1": "well-being"})


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("mood", ["bad", " bad "], ["good", np.str_("good")]),
        ("grade", [1, "1", 1.0, np.int64(1), np.float64(1)], [5, "5.0"]),
        ("size", [2.5, -1e9, "1", "<= 2.5", np.float32(1)], [2.6, 3, "> 2.5"]),
        ("member", [False, "False", np.bool_(False), 0, "0"], [True, 1, 1.0]),
        ("share", [0.5, "0.50"], [1, 1.0, "1"]),
        ("well-being", [0, 0.0, "0", np.int8(0)], [1]),
        ("H1", [0], [1]),
    ],
)
def test_values_are_given_as_in_the_data(name, low, high):
    model = mixed_model()
    other = "mood" if name != "mood" else "grade"
    for state, values in enumerate((low, high)):
        node = model.node(name)
        expected = model.joint([node, model.node(other)])[state]
        for value in values:
            found = model.query(other, given={name: value})
            np.testing.assert_allclose(list(found.values()), expected / expected.sum(), rtol=1e-12)


@pytest.mark.parametrize("nothing", [None, float("nan"), "", "NA", np.nan])
def test_a_missing_value_says_nothing(nothing):
    model = mixed_model()
    assert model.query("mood", given={"grade": nothing, "size": nothing}) == model.query("mood")
    if nothing != "NA":
        assert model.query("mood", given={"H1": nothing}) == model.query("mood")


def test_answers_have_the_values_of_the_data():
    model = mixed_model()
    assert [list(model.query(name)) for name in model.tree.names] == [
        ["bad", "good"],
        [1, 5],
        ["<= 2.5", "> 2.5"],
        [False, True],
        [0.5, 1.0],
    ]
    assert list(model.query("well-being")) == list(model.query("H1")) == [0, 1]


@pytest.mark.parametrize(
    ("variables", "known", "message"),
    [
        ("moood", {}, "no variable 'moood'; did you mean 'mood'?"),
        ("mood", {"grades": 1}, "no variable 'grades'; did you mean 'grade'"),
        ("grade", {"mood": "goood"}, "column 'mood' has no value 'goood': did you mean 'good'? it has 'bad', 'good'"),
        ("mood", {"grade": "x"}, "column 'grade' has no value 'x': it has 1, 5"),
        ("mood", {"size": "large"}, "column 'size' has bins: 'large' is neither one of them nor a number"),
        ("mood", {"well-being": 2}, "hidden variable 'well-being' has no value 2: it has 0, 1"),
        ("mood", {"H1": 0, "well-being": 1}, "'well-being' is given twice"),
        ([], {}, "name one variable"),
        (["mood", "mood"], {}, "name one variable, or several that differ"),
        (["H1", "well-being"], {}, "several that differ"),
    ],
)
def test_what_is_unknown_is_named_with_what_is_near(variables, known, message):
    with pytest.raises(InputError) as caught:
        mixed_model().query(variables, given=known)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_impossible_evidence_is_refused():
    sure = np.eye(2)
    tree = Tree.from_newick("(a,b,c);")
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in tree.names)
    model = LatentTreeModel(tree, columns, (sure, sure, sure, np.array([[0.5], [0.5]])))
    with pytest.raises(InputError, match="impossible"):
        model.query("c", given={"a": 0, "b": 1})


def test_too_many_combinations_are_refused(monkeypatch):
    monkeypatch.setattr("latree.model.query._MAX_COMBINATIONS", 5)
    assert len(MODELS[1].query("a")) == 3
    with pytest.raises(InputError, match="6 combinations"):
        MODELS[1].query(["a", "b"])


@every_model
def test_joints_by_name_are_those_by_number(model):
    names = model.node_names
    np.testing.assert_array_equal(model.joint([names[1], names[-1]]), model.joint([1, len(names) - 1]))
    with pytest.raises(InputError, match="must differ"):
        model.joint([names[1], 1])


def test_a_row_of_a_frame_is_given():
    model = mixed_model()
    row = pd.DataFrame({"grade": [5], "size": [np.nan], "member": [True]}).iloc[0]
    assert model.query("mood", given=row) == model.query("mood", given={"grade": 5, "member": True})


def test_what_is_given_must_be_a_mapping():
    model = random_model(Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=1)
    with pytest.raises(InputError, match=r"given must be a mapping such as \{'N2': 3\}, not \['b'\]"):
        model.query("a", given=["b"])


def contradictory_rows(n=2000):
    """Two scales of opposite directions, x and y, and a column g that rises with both.

    A tree that puts g beside x has g fall with y, because x does.
    """
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    y = -0.6 * x + 0.8 * rng.normal(size=n)
    g = 0.55 * x + 0.55 * y + rng.normal(size=n) > 0
    items = {
        f"{name}{i}": np.digitize(f + 0.5 * rng.normal(size=n), [-0.7, 0.7])
        for name, f in zip("xy", (x, y), strict=True)
        for i in range(3)
    }
    return {"g": g.astype(int), **items}


@pytest.fixture(scope="module")
def contradicted():
    """A model whose tree has g beside x, and the rows."""
    rows = contradictory_rows()
    table = as_table(np.column_stack(list(rows.values())), names=list(rows))
    tree = Tree.from_newick("((g,x0,x1,x2),(y0,y1,y2));")
    return fit_model(table, tree, 3, random_state=0).model, table


def test_the_rows_contradict_the_wrong_sign(contradicted):
    model, table = contradicted
    with pytest.warns(
        FitWarning, match="'y0' and 'g' is 0.1. in the rows, but -0.0. in the model.*the other sign"
    ) as caught:
        answer = model.query("y0", {"g": 1}, table)
    assert [one.filename for one in caught] == [__file__]
    assert answer.warning == str(caught[0].message)
    (pair,) = answer.dependence
    assert pair.columns == ("y0", "g")
    rows = table.codes()
    assert pair.in_rows == pytest.approx(np.corrcoef(rows[:, 0], rows[:, 4])[0, 1], abs=1e-9)
    joint = model.joint(["g", "y0"])
    g, y0 = (axis - axis.astype(float).ravel() @ joint.ravel() for axis in np.indices((2, 3)))
    expected = (g * y0 * joint).sum() / np.sqrt((g**2 * joint).sum() * (y0**2 * joint).sum())
    assert pair.in_model == pytest.approx(expected, abs=1e-9)
    # The answer itself is what it was, and other pairs agree with the rows.
    np.testing.assert_allclose(list(answer.values()), joint[1] / joint[1].sum(), atol=1e-12)
    assert model.query("x1", {"x0": 2, "H1": 0}, table).warning == ""
    # All pairs with a wanted column are compared, those of given columns are not.
    with pytest.warns(FitWarning, match="1 more of its pairs"):
        answer = model.query(["x0", "g"], {"y0": 2, "y1": 1, "x0": 2, "H1": 1, "y2": None}, table)
    assert {frozenset(pair.columns) for pair in answer.dependence} == {
        frozenset(pair) for pair in (("x0", "g"), ("x0", "y0"), ("x0", "y1"), ("g", "y0"), ("g", "y1"))
    }


def test_a_model_without_rows_says_so_if_it_was_fitted(contradicted):
    model, table = contradicted
    assert model.query("y0", {"g": 1}).dependence[0].in_rows is None  # a model that nobody fitted is the truth
    record = learned_run().model.record
    fitted = replace(model, record=replace(record, n_missing=(0,) * 7, correlations=None, reliability=()))
    with pytest.warns(FitWarning, match="not kept in this model.*pass the rows"):
        fitted.query("y0", {"g": 1})
    for answer in (fitted.query("y0"), fitted.query("y0", {"H1": 0}), model.query("H1", {"y0": 1}, table)):
        assert (answer.dependence, answer.warning) == ((), "")  # no pair of columns: nothing was compared
    with pytest.warns(FitWarning, match="the other sign"):
        fitted.query("y0", {"g": 1}, table)


@pytest.mark.parametrize(
    ("in_model", "in_rows", "by_chance", "expected"),
    [
        (0.12, 0.2, 0.05, False),
        (0.08, 0.2, 0.05, True),  # less than half
        (-0.3, 0.2, 0.05, True),
        (0.3, -0.2, 0.05, True),
        (-0.3, -0.2, 0.05, False),
        (-0.3, 0.09, 0.05, False),  # negligible
        (-0.3, 0.2, 0.25, False),  # chance
        (-0.3, None, 0.05, False),
    ],
)
def test_doubtful_answers(in_model, in_rows, by_chance, expected):
    assert PairDependence(("a", "b"), in_model, in_rows, by_chance).is_doubtful is expected


@pytest.mark.parametrize("ordered", [True, False])
def test_independent_columns_are_seldom_beyond_chance(ordered):
    rng = np.random.default_rng(1)
    column = Column("a", "integer" if ordered else "text", tuple("0123"), ordered=ordered)
    limit = correlation_by_chance(200, (column, column))
    counts = [np.histogram2d(*rng.integers(0, 4, (2, 200)), bins=4)[0] for _ in range(400)]
    found = [abs(pair_dependence(one, 200, (column, column))) for one in counts]
    assert 0.005 < np.mean(np.array(found) > limit) < 0.1
    assert pair_dependence(np.zeros((4, 4)), 0, (column, column)) is None


def test_a_learned_model_remembers_what_the_rows_show(tmp_path):
    frame = pd.DataFrame(contradictory_rows())
    model = LatentTree("chow-liu").fit(frame)
    with pytest.warns(FitWarning, match=r"'y0' and 'g' is 0\.1. in the rows, but -0\.") as caught:
        answer = model.query("y0", {"g": 1})
    assert [one.filename for one in caught] == [__file__]
    model.save(tmp_path / "model.json")
    loaded = LatentTree.load(tmp_path / "model.json")
    with pytest.warns(FitWarning, match=r"'y0' and 'g' is 0\.1. in the rows, but -0\."):
        again = loaded.query("y0", {"g": 1})
    assert (again, again.dependence) == (answer, answer.dependence)
    # Other rows decide, if there are some: here, g has no relation to y.
    rng = np.random.default_rng(1)
    assert loaded.query("y0", {"g": 1}, frame.assign(g=rng.permutation(frame["g"]))).warning == ""


def test_correlations_of_very_many_columns_are_not_kept(monkeypatch):
    monkeypatch.setattr("latree.learn._MAX_CORRELATED", 6)
    model = LatentTree("chow-liu").fit(pd.DataFrame(contradictory_rows(200)))
    assert model.model_.record.correlations is None
    with pytest.warns(FitWarning, match="not kept"):
        model.query("y0", {"g": 1})
