"""Groups of columns: right on exact models, at each level, and no matter how columns are numbered."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latree
from helpers.models import copying_model, model_on, on_tree, small_models, star
from helpers.strategies import mixed_tree
from latree.interpret.groups import find_groups, group_labels
from latree.model import LatentTreeModel
from latree.tree import Tree

# Low loadings, for which the correlation of two-state columns is exactly their product, to two decimal places.
LOADING = 0.2


def stars(sizes, hidden_edges, strengths, loading=LOADING):
    """A model of hidden variables with columns of their own, and the strengths of the edges between them.

    A hidden variable may have no columns. Latent correlations are products of strengths.
    """
    d = sum(sizes)
    home = np.repeat(np.arange(len(sizes)), sizes).tolist()
    edges = [(column, d + number) for column, number in enumerate(home)]
    edges += [(d + one, d + other) for one, other in hidden_edges]
    strength = {
        frozenset((d + one, d + other)): share for (one, other), share in zip(hidden_edges, strengths, strict=True)
    }
    tree = Tree([f"{chr(ord('a') + number)}{column}" for column, number in enumerate(home)], edges)
    return copying_model(tree, lambda node, parent: strength.get(frozenset((node, parent)), loading))


def found(model, level, table=None):
    """The columns of the groups of a level, by the first letters of their names."""
    groups = [group for group in find_groups(model, table) if group.level == level]
    return sorted("".join(sorted({name[0] for name in group.columns})) for group in groups)


def test_two_clear_groups():
    groups = find_groups(stars((4, 3), [(0, 1)], [0.3]))
    assert [(group.level, group.hidden, group.parent, group.stability) for group in groups] == [
        ("main", "H1", None, None),
        ("main", "H2", None, None),
    ]
    assert [set(group.columns) for group in groups] == [{"a0", "a1", "a2", "a3"}, {"b4", "b5", "b6"}]
    assert [group.name for group in groups] == ["a", "b"]


def test_three_levels_know_their_parents():
    # Eight hidden variables of three columns each; two make a main group, and two of these a broad one.
    pairs = [(0, 8), (1, 8), (2, 9), (3, 9), (4, 10), (5, 10), (6, 11), (7, 11), (8, 12), (9, 12), (10, 13), (11, 13)]
    model = stars((3,) * 8 + (0,) * 6, [*pairs, (12, 13)], [0.87] * 8 + [0.7] * 4 + [0.3])
    groups = find_groups(model)
    assert [group.level for group in groups] == ["main"] * 4 + ["broad"] * 2 + ["fine"] * 8
    assert found(model, "main") == ["ab", "cd", "ef", "gh"]
    assert found(model, "broad") == ["abcd", "efgh"]
    assert found(model, "fine") == list("abcdefgh")
    for group in groups:
        above = groups[group.parent] if group.parent is not None else None
        assert (above.level if above else None) == {"fine": "main", "main": "broad", "broad": None}[group.level]
        assert above is None or (set(group.columns) < set(above.columns) and set(group.nodes) < set(above.nodes))
    labels = group_labels(groups, model.tree.names)
    assert labels.tolist() == np.repeat(np.arange(4), 6).tolist()
    assert len({group.name for group in groups}) == len(groups)


@pytest.mark.parametrize("n_groups", [2, 8, 20, 27])
@pytest.mark.parametrize("general", [0.1, 0.6])
def test_there_is_no_largest_number_of_groups(n_groups, general):
    """Groups around a general factor; their latent correlation is the square of its loadings."""
    hub = n_groups
    model = stars((4,) * n_groups + (0,), [(number, hub) for number in range(n_groups)], [general] * n_groups)
    groups = find_groups(model)
    assert [(group.level, len(group.columns)) for group in groups] == [("main", 4)] * n_groups
    # The general factor is in the middle of all groups, and belongs to none.
    assert all(model.tree.n_observed + hub not in group.nodes for group in groups)


def test_a_star_is_one_group_and_independent_columns_are_none():
    (group,) = find_groups(copying_model(star(6), lambda *_: LOADING))
    assert (group.hidden, len(group.columns), group.parent) == ("H1", 6, None)
    lonely = copying_model(Tree("abc", []), None)
    assert find_groups(lonely) == []
    assert group_labels([], lonely.tree.names).tolist() == [-1, -1, -1]


def test_parts_of_a_forest_are_groups_and_a_lonely_column_is_in_none():
    tree = Tree("abcdefghi", [(0, 9), (1, 9), (2, 9), (3, 10), (4, 10), (5, 10), (6, 7)])
    groups = find_groups(copying_model(tree, lambda *_: LOADING))
    assert [group.columns for group in groups] == [("a", "b", "c"), ("d", "e", "f"), ("g", "h")]
    assert [group.hidden for group in groups] == ["H1", "H2", None]
    assert group_labels(groups, tree.names).tolist() == [0, 0, 0, 1, 1, 1, 2, 2, -1]


@pytest.mark.parametrize("size", [3, 4, 5, 10])
@pytest.mark.parametrize("loading", [0.2, 0.1])
def test_two_groups_are_apart_below_a_latent_correlation_that_depends_on_their_size(size, loading):
    """Below 1 - 1/a for groups of a columns, whatever their loadings."""
    for correlation, n_groups in ((1 - 1 / size - 0.02, 2), (1 - 1 / size + 0.02, 1)):
        main = [g for g in find_groups(stars((size, size), [(0, 1)], [correlation], loading)) if g.level == "main"]
        assert len(main) == n_groups


# Three hidden variables in a chain, a and b at some latent correlation and c far from both.
@pytest.mark.parametrize(
    ("correlation", "main", "broad", "fine"),
    [
        (0.12, ["a", "b", "c"], [], []),
        (0.36, ["a", "b", "c"], ["ab"], []),
        (0.74, ["a", "b", "c"], ["ab"], []),
        (0.76, ["ab", "c"], [], ["a", "b"]),
        (0.86, ["ab", "c"], [], ["a", "b"]),
        (0.89, ["ab", "c"], [], []),
    ],
)
def test_levels_by_latent_correlation(correlation, main, broad, fine):
    model = stars((4, 4, 4), [(0, 1), (1, 2)], [correlation, 0.1])
    assert (found(model, "main"), found(model, "broad"), found(model, "fine")) == (main, broad, fine)


@pytest.mark.parametrize("strengths", [(0.3, 0.9), (0.9, 0.3)])
def test_rows_decide_which_groups_are_apart(strengths):
    """A model that is wrong about the correlation of two factors: groups are those of the rows, if they are given."""
    fitted, true = (stars((4, 4, 4), [(0, 1), (1, 2)], [strength, 0.1], loading=0.7) for strength in strengths)
    rows = true.sample(2000, random_state=0)
    expected = {0.3: ["a", "b", "c"], 0.9: ["ab", "c"]}
    assert found(fitted, "main") == expected[strengths[0]]
    assert found(fitted, "main", rows) == expected[strengths[1]]


def test_rows_of_the_model_itself_change_nothing():
    model = stars((4, 4, 4), [(0, 1), (1, 2)], [0.4, 0.2], loading=0.7)
    assert find_groups(model, model.sample(5000, random_state=0)) == find_groups(model)


def test_rows_must_be_encoded_with_the_columns_of_the_model():
    with pytest.raises(latree.InputError, match="not encoded"):
        find_groups(stars((3, 3), [(0, 1)], [0.3]), latree.as_table([[0, 1], [1, 0]]))


@pytest.mark.parametrize("n_lonely", [0, 1])
def test_a_broad_group_of_all_groups_is_not_shown(n_lonely):
    """Whether or not there is another column that is in no group."""
    joined = stars((4, 4), [(0, 1)], [0.55]).tree
    names = [*joined.names, *["lonely"] * n_lonely]
    edges = np.where(joined.edges < 8, joined.edges, joined.edges + n_lonely)
    model = copying_model(Tree(names, edges), lambda node, parent: 0.55 if min(node, parent) >= len(names) else LOADING)
    assert [(group.level, len(group.columns)) for group in find_groups(model)] == [("main", 4), ("main", 4)]


def test_two_columns_are_a_main_group_if_they_have_little_to_do_with_others_but_one_is_not():
    assert found(stars((5, 2), [(0, 1)], [0.6]), "main") == ["a", "b"]
    assert found(stars((5, 2), [(0, 1)], [0.7]), "main") == ["ab"]
    assert found(stars((5, 1, 0), [(0, 2), (1, 2)], [0.6, 0.6]), "main") == ["ab"]


@pytest.mark.parametrize("model", [*small_models(), model_on(mixed_tree(14, 5), [2] * 60, 5)])
def test_groups_are_connected_pieces_and_levels_are_nested(model):
    tree = model.tree
    groups = find_groups(model)
    main = [name for group in groups if group.level == "main" for name in group.columns]
    assert len(main) == len(set(main))
    for group in groups:
        reached, waiting = {group.nodes[0]}, [group.nodes[0]]
        while waiting:
            near = {other for other, _ in tree.neighbors[waiting.pop()]} & set(group.nodes) - reached
            reached |= near
            waiting.extend(near)
        assert reached == set(group.nodes)
        assert group.centre in group.nodes
        assert {tree.names[node] for node in group.nodes if node < tree.n_observed} == set(group.columns)
        assert (group.parent is None) or set(group.columns) < set(groups[group.parent].columns)
    labels = group_labels(groups, tree.names)
    assert [name for name, label in zip(tree.names, labels, strict=True) if label < 0] == [
        name for name in tree.names if name not in main
    ]
    assert all(name in groups[label].columns for name, label in zip(tree.names, labels, strict=True) if label >= 0)


@given(seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None, max_examples=25)
def test_groups_do_not_depend_on_the_order_of_columns(seed, data):
    model = latree.random_model(
        latree.random_tree(10, random_state=seed), n_states=3, start="identity", perturbation=0.2, random_state=seed
    )
    names = data.draw(st.permutations(model.tree.names))
    other = on_tree(model, model.tree.reordered(names))
    assert {(group.level, frozenset(group.columns)) for group in find_groups(other)} == {
        (group.level, frozenset(group.columns)) for group in find_groups(model)
    }


def test_groups_are_those_of_the_model_file(tmp_path):
    model = stars((4, 3, 3), [(0, 1), (1, 2)], [0.3, 0.5])
    model.save(tmp_path / "model.json")
    assert find_groups(LatentTreeModel.load(tmp_path / "model.json")) == find_groups(model)
