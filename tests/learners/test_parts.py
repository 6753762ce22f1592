"""Wide tables: parts of columns, subtrees that parts keep, and the search that puts them together."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import latree
from latree._util.progress import WHOLE, stages_shown_by
from latree.learn import learn_model
from latree.learners import parts as module
from latree.learners.parts import parts_of, subtrees
from latree.learners.parts import search_in_parts as search
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree


def scales(n_scales: int, n_rows: int, seed: int = 0) -> Table:
    """Return scales of five items with four answers; ten scales make a domain, and domains depend on each other."""
    rng = np.random.default_rng(seed)

    def copied(above: np.ndarray, agreement: float, n_states: int) -> np.ndarray:
        return np.where(rng.random(above.shape) < agreement, above, rng.integers(0, n_states, above.shape))

    domain = copied(np.repeat(rng.integers(0, 3, (n_rows, 1)), -(-n_scales // 10), axis=1), 0.6, 3)
    scale = copied(domain[:, np.arange(n_scales) // 10], 0.7, 3)
    return latree.as_table(copied(np.repeat(scale, 5, axis=1), 0.6, 4))


def search_in_parts(table, parts, seed):
    """Search one table, in this process."""
    return search([table], parts, seed, None, lambda function, items: list(map(function, items)))[0]


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_PART", 24)
    monkeypatch.setattr(module, "_SUBTREE", 8)


@pytest.mark.usefixtures("small_parts")
def test_every_column_is_in_one_part_and_scales_are_mostly_whole():
    table = scales(20, 1000)
    parts = parts_of(table, 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(100))
    assert max(map(len, parts)) <= 24
    whole = [scale for scale in range(20) if any({*range(5 * scale, 5 * scale + 5)} <= {*part} for part in parts)]
    assert len(whole) >= 16


@given(st.integers(2, 40), st.integers(3, 12), st.integers(0, 10**6))
@settings(deadline=None, max_examples=30)
def test_parts_have_between_half_of_the_most_columns_and_the_most(d, most, seed):
    alike = np.random.default_rng(seed).random((d, d))
    alike += alike.T
    found = module._clustered(alike, most)
    assert sorted(np.concatenate(found).tolist()) == list(range(d))
    sizes = sorted(map(len, found))
    assert sizes[-1] <= most
    assert all(2 * size >= most for size in sizes[1:])


def test_very_many_columns_are_first_divided_by_a_sketch(monkeypatch):
    monkeypatch.setattr(module, "_MAX_PAIRS_OF", 40)
    monkeypatch.setattr(module, "_BLOCK", 25)
    monkeypatch.setattr(module, "MAX_PART", 24)
    parts = parts_of(scales(20, 1000), 0)
    assert sorted(np.concatenate(parts).tolist()) == list(range(100))
    # Columns of a scale are mostly in the same part.
    label = np.empty(100, dtype=int)
    for number, part in enumerate(parts):
        label[part] = number
    together = [np.bincount(label[5 * scale : 5 * scale + 5]).max() for scale in range(20)]
    assert np.mean(together) >= 4


@given(st.integers(4, 40), st.integers(2, 10), st.integers(0, 10**6))
@settings(deadline=None, max_examples=40)
def test_subtrees_are_disjoint_and_connected(d, most, seed):
    tree = latree.random_tree(d, random_state=seed)
    found = subtrees(tree, most)
    nodes = [node for inside in found.values() for node in inside]
    assert len(nodes) == len({*nodes})
    for top, inside in found.items():
        assert top in inside
        edges = [edge for edge in tree.edges.tolist() if {*edge} <= {*inside}]
        assert len(edges) == len(inside) - 1
        assert 2 <= sum(node < d for node in inside) <= max(most, 2)


def test_everything_is_one_subtree_if_it_is_small_enough():
    tree = Tree.from_newick("((a,b),(c,d),(e,f));")
    assert [sorted(inside) for inside in subtrees(tree, 6).values()] == [list(range(tree.n_nodes))]
    assert sorted(map(len, subtrees(tree, 2).values())) == [3, 3, 3]


@pytest.mark.usefixtures("small_parts")
def test_scales_of_a_wide_table_are_found_in_parts():
    table = scales(20, 1500)
    model = search_in_parts(table, parts_of(table, 0), 0)
    found = np.full(100, -1)
    for node in range(model.tree.n_observed, model.tree.n_nodes):
        found[[u for u, _ in model.tree.neighbors[node] if u < 100]] = node
    assert adjusted_rand_score(np.arange(100) // 5, found) > 0.95
    again = search_in_parts(table, parts_of(table, 0), 0)
    assert again.tree.splits == model.tree.splits
    assert all(np.array_equal(*pair) for pair in zip(again.tables, model.tables, strict=True))


@pytest.mark.usefixtures("small_parts")
def test_parts_keep_everything_where_a_whole_would_be_too_wide(monkeypatch):
    # Half of the columns depend on nothing: the table of what the parts have in common is hardly smaller.
    noise = np.random.default_rng(9).integers(0, 4, (1500, 100))
    table = latree.as_table(np.column_stack([scales(20, 1500).codes(), noise]))
    levels = []
    monkeypatch.setattr(module, "_LARGEST_SHARE", 0.5)
    monkeypatch.setattr(module, "_LARGEST_WHOLE", 50)
    monkeypatch.setattr(module, "parts_of", lambda rows, seed: levels.append(rows.n_columns) or parts_of(rows, seed))
    model = search_in_parts(table, parts_of(table, 0), 0)
    assert max(levels[1:]) < 30  # columns without any other one do not go on
    near = [model.tree.neighbors[column] for column in range(200)]
    assert np.mean([not edges for edges in near[100:]]) > 0.95
    found = [edges[0][0] if edges else -1 for edges in near[:100]]
    assert adjusted_rand_score(np.arange(100) // 5, found) > 0.9
    assert len(model.tree.components) <= 105


@pytest.mark.usefixtures("small_parts")
def test_the_tree_of_a_wide_table_is_as_right_as_that_of_a_search_in_one_piece():
    tree = latree.random_tree(60, random_state=3)
    rows = latree.random_model(
        tree, n_states=4, hidden_states=3, start="identity", perturbation=0.2, random_state=3
    ).sample(2000, random_state=3)
    found = search_in_parts(rows, parts_of(rows, 0), 0).tree
    assert found.robinson_foulds(tree) <= 0.1 * len(tree.splits)


@pytest.mark.usefixtures("small_parts")
def test_noise_stays_independent():
    table = latree.as_table(np.random.default_rng(0).integers(0, 3, (500, 60)))
    assert not search_in_parts(table, parts_of(table, 0), 0).tree.n_hidden


@pytest.mark.usefixtures("small_parts")
def test_progress_of_a_wide_table_never_goes_back(monkeypatch):
    monkeypatch.setattr("latree.learners.explain.WIDE", 40)
    stages: dict[str, list[tuple[int, int]]] = {}
    with stages_shown_by(lambda name, at_most=False: lambda *numbers: stages.setdefault(name, []).append(numbers)):
        learn_model(scales(9, 200), Settings(n_resamples=1, random_state=0))
    building = stages["Building the tree"]
    assert {total for _, total in building} == {WHOLE}
    assert building == sorted(building)
    assert building[-1][0] > 0.9 * WHOLE


@pytest.mark.usefixtures("small_parts")
def test_columns_that_depend_on_nothing_take_no_part_in_the_search(monkeypatch):
    noise = np.random.default_rng(9).integers(0, 4, (800, 60))
    table = latree.as_table(np.column_stack([noise[:, :30], scales(8, 800).codes(), noise[:, 30:]]))
    searched = []
    original = module.Search
    monkeypatch.setattr(module, "Search", lambda rows, *rest: searched.append(rows.names) or original(rows, *rest))
    model = search_in_parts(table, parts_of(table, 0), 0)
    of_scales = {f"x{column}" for column in range(30, 70)}
    assert {name for names in searched for name in names if name.startswith("x")} <= of_scales
    assert set(searched[-1]) == of_scales  # the whole tree
    found = [model.tree.neighbors[column] for column in range(100)]
    assert [column for column in range(100) if found[column]] == list(range(30, 70))
    assert adjusted_rand_score(np.arange(40) // 5, [edges[0][0] for edges in found[30:70]]) > 0.9
    for column in (0, 99):
        counts = np.bincount(noise[:, 0 if column == 0 else 59], minlength=4)
        np.testing.assert_allclose(model.tables[column][:, 0], counts / 800, atol=0.01)
