"""Reliability of scores: beside direct formulas, with missing cells and weights."""

import warnings

import numpy as np
import pytest

from latree import FitWarning, LatentTree, LatentTreeModel, Tree
from latree.datasets import make_questionnaire
from latree.interpret.order import order_states
from latree.interpret.reliability import few_rows, reliability
from latree.interpret.scores import row_scores
from latree.table import Column, Table

EXACT = 1e-9


def model_of(ordered="abcdef", reversed_columns=""):
    """Two groups of three columns, which copy their hidden variable more often than not."""
    tree = Tree.from_newick("((a,b,c),d,e,f);")
    columns = tuple(Column(name, "integer", tuple("0123"), ordered=name in ordered) for name in "abcdef")
    copied = 0.6 * np.eye(4)[:, :3] + 0.1
    tables = [copied[::-1] if name in reversed_columns else copied for name in "abcdef"]
    between = [np.full((3, 1), 1 / 3) if parent < 0 else 0.4 * np.eye(3) + 0.2 for parent in tree.rooted().parent[6:]]
    return order_states(LatentTreeModel(tree, columns, (*tables, *between))).model


def naive_alpha(items):
    """Cronbach's alpha of complete items, as textbooks write it."""
    k = items.shape[1]
    return k / (k - 1) * (1 - items.var(axis=0, ddof=1).sum() / items.sum(axis=1).var(ddof=1))


def test_reliability_is_the_share_of_variance_that_is_not_error():
    model = model_of()
    table = model.sample(500, random_state=0)
    rows = row_scores(model, table)
    variance, error = rows.scores.var(axis=0), (rows.errors**2).mean(axis=0)
    found = reliability(model, table)
    assert [one.name for one in found] == list(rows.names)
    assert [one.n_columns for one in found] == [3, 3]
    assert [one.reliability for one in found] == pytest.approx(variance / (variance + error), rel=EXACT)


@pytest.mark.parametrize("reversed_columns", ["", "be"])
def test_alpha_is_that_of_the_textbook(reversed_columns):
    model = model_of(reversed_columns=reversed_columns)
    table = model.sample(500, random_state=0)
    codes = table.codes().astype(float)
    for name in reversed_columns:
        codes[:, "abcdef".index(name)] = 3 - codes[:, "abcdef".index(name)]
    found = {one.name: one.alpha for one in reliability(model, table)}
    for j, name in enumerate(row_scores(model, table).names):
        assert found[name] == pytest.approx(naive_alpha(codes[:, 3 * j : 3 * j + 3]), rel=EXACT)
        assert found[name] > 0.3


def test_alpha_of_rows_with_missing_cells_uses_pairs():
    model = model_of()
    codes = model.sample(400, random_state=0).codes()
    codes[np.random.default_rng(0).random(codes.shape) < 0.2] = -1
    cells = np.ma.masked_less(codes.astype(float), 0)
    for j, one in enumerate(reliability(model, Table.from_codes(model.columns, codes))):
        own = cells[:, 3 * j : 3 * j + 3]
        covariances = np.array([[np.ma.cov(own[:, a], own[:, b], bias=True)[0, 1] for b in range(3)] for a in range(3)])
        expected = 1.5 * (1 - np.trace(covariances) / covariances.sum())
        assert one.alpha == pytest.approx(expected, abs=0.02)  # np.ma.cov takes means over one cell


def test_alpha_needs_ordered_columns_and_pairs_of_cells():
    table = model_of().sample(200, random_state=0)
    one, other = reliability(model_of("abcd"), Table.from_codes(model_of("abcd").columns, table.codes()))
    assert one.alpha is not None
    assert other.alpha is None
    codes = table.codes()
    codes[:100, 0], codes[100:, 1] = -1, -1
    assert reliability(model_of(), Table.from_codes(model_of().columns, codes))[0].alpha is None


def test_a_row_of_weight_three_counts_as_three():
    model = model_of()
    codes = model.sample(100, random_state=0).codes()
    weights = np.arange(100) % 4
    weighted = reliability(model, Table.from_codes(model.columns, codes, weights.astype(float)))
    repeated = reliability(model, Table.from_codes(model.columns, np.repeat(codes, weights, axis=0)))
    for one, other in zip(weighted, repeated, strict=True):
        assert (one.reliability, one.alpha) == pytest.approx((other.reliability, other.alpha), rel=EXACT)


def test_what_is_not_defined_is_none():
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in "abc")
    certain = np.eye(2)
    model = LatentTreeModel(Tree.from_newick("(a,b,c);"), columns, (certain, certain, certain, np.full((2, 1), 0.5)))
    (found,) = reliability(model, np.array([[0, 0, 0], [0, 0, 0]]))
    assert (found.reliability, found.alpha) == (None, None)
    (found,) = reliability(
        model, np.array([[0, 0, 0], [1, 1, 1], [0, 1, 0]])
    )  # an impossible row counts for alpha only
    assert found.reliability == 1.0
    (found,) = reliability(model, np.array([[0, 1, 0]]))
    assert found.reliability is None


def test_impossible_rows_do_not_count():
    model = model_of()
    never = np.vstack([model.tables[0][:3] / model.tables[0][:3].sum(axis=0), np.zeros((1, 3))])
    model = LatentTreeModel(model.tree, model.columns, (never, *model.tables[1:]))
    codes = model.sample(100, random_state=0).codes()
    impossible = np.concatenate([codes, np.full((50, 6), 3)])
    assert np.isneginf(row_scores(model, Table.from_codes(model.columns, impossible)).log_density[100:]).all()
    one, other = (reliability(model, Table.from_codes(model.columns, rows)) for rows in (codes, impossible))
    assert [r.reliability for r in one] == pytest.approx([r.reliability for r in other], rel=EXACT)


@pytest.mark.parametrize(("n_rows", "said"), [(1, "of 1 row is"), (29, "of 29 rows is"), (30, None)])
def test_few_rows_are_warned_about(n_rows, said):
    assert [said in text for text in few_rows(n_rows)] == [True] * (said is not None)
    fitted = LatentTree("lcm", n_states=2, random_state=0).fit(make_questionnaire(60).data)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted.reliability(make_questionnaire(60).data[:n_rows])
    assert [str(one.message) for one in caught if one.category is FitWarning] == few_rows(n_rows)
