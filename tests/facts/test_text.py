"""The groups of a model as text, as a table, and as plain data."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import chain_model, copying_model, model_on, star
from latree.facts import text
from latree.facts.found import facts_of, group_list
from latree.facts.groups import all_groups
from latree.interpret.columns import loading_matrix
from latree.interpret.groups import with_groups
from latree.interpret.order import order_states
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree


def group_lines(model, width=80):
    # What is told beside the groups has a test of its own.
    return text.group_lines(facts_of(model) | {"discoveries": []}, width)


def group_table(model):
    return text.group_table(facts_of(model))


def group_facts(model):
    return group_list(all_groups(view_of(model)))


STRENGTHS = (0.9, 0.8, 0.7, 0.6, 0.5)


def scales(*names, reversed_columns=(), between=(0.2,)):
    """A model of a chain of scales with ordered columns, each weaker than the one before; some are reversed."""
    columns = [f"{name}{number}" for name in names for number in range(3)]
    d = len(columns)
    edges = [(column, d + column // 3) for column in range(d)]
    edges += [(d + number, d + number + 1) for number in range(len(names) - 1)]
    tree = Tree(columns, edges)
    drawn = copying_model(tree, lambda u, v: STRENGTHS[min(u, v) % 3] if min(u, v) < d else between[min(u, v) - d])
    ordered = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in columns)
    tables = tuple(
        table[::-1] if node < d and columns[node] in reversed_columns else table
        for node, table in enumerate(drawn.tables)
    )
    return with_groups(order_states(LatentTreeModel(tree, ordered, tables)).model)


def test_lines_have_the_finding_first_and_mark_reversed_columns():
    assert group_lines(scales("a", "bcd")) == ["2 groups in 6 columns", "", "a    a0, a1, a2", "bcd  bcd0, bcd1, bcd2"]
    assert group_lines(scales("a", "b", reversed_columns=("b1",))) == [
        "2 groups in 6 columns",
        "",
        "a  a0, a1, a2",
        "b  b0, b1 (−), b2",
        "",
        "(−) falls when its group rises",
    ]


def three_kinds(n_columns=6):
    """A model of one group with three states, each of which has columns of its own."""
    tree = star(n_columns)
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in tree.names)
    high = 0.1 + 0.8 * np.eye(3)[np.arange(n_columns) % 3]
    tables = (*(np.array([1 - shares, shares]) for shares in high), np.array([[0.3], [0.3], [0.4]]))
    return with_groups(order_states(LatentTreeModel(tree, columns, tables)).model)


def test_kinds_are_not_called_steps():
    model = three_kinds()
    (group,) = model.groups
    *lines, last, end = group_lines(model)
    assert f"{last} {end}" == (
        f"The states of '{group.name}' are kinds of rows, not steps from low to high: read the state, not the score."
    )
    # Some loadings are negative, but no column is said to fall from kind to kind.
    ((*found,),) = view_of(model).group_columns
    assert any(column.loading < -0.3 for column in found)
    assert {column.direction for column in found} == {0}
    assert not any("(−)" in line for line in lines)
    assert [facts["states"] for facts in group_facts(model)] == ["kinds"]
    assert [facts["states"] for facts in group_facts(scales("a", "b"))][:2] == ["steps", "steps"]
    unordered = replace(model, columns=tuple(replace(column, ordered=False) for column in model.columns))
    assert [facts["states"] for facts in group_facts(unordered)] == [None]
    assert not any("kinds" in line for line in group_lines(unordered))


def test_a_column_that_does_not_follow_the_states_is_not_marked():
    # Seven columns rise over three states; the mean of the last one is lowest in the middle, and falls on the whole.
    tree = star(8)
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in tree.names)
    shares = [*[[0.1, 0.5, 0.9]] * 7, [0.6, 0.1, 0.5]]
    tables = (*(np.array([[1 - x for x in row], row]) for row in shares), np.full((3, 1), 1 / 3))
    model = with_groups(order_states(LatentTreeModel(tree, columns, tables)).model)
    (found,) = view_of(model).group_columns
    directions = {column.name: column.direction for column in found}
    assert directions == {f"x{i}": int(i < 7) for i in range(8)}
    assert {column.name: column.loading < 0 for column in found}["x7"]
    assert not any("(−)" in line for line in group_lines(model))


def with_stability(model, *shares):
    """The model, whose main groups have columns of these stabilities; others have none."""
    groups = [
        replace(group, column_stability=found, stability=sum(found) / len(found)) if found else group
        for group, found in zip(model.groups, (*shares, *[None] * len(model.groups)), strict=False)
    ]
    return replace(model, groups=tuple(groups))


def test_what_was_discovered_stands_below_the_groups():
    facts = facts_of(scales("a", "b", between=(0.4,)))
    (line,) = facts["discoveries"]
    assert line.startswith("Rows that are high on a are often high on b: no two groups depend on each other more (corr")
    assert " ".join(text.group_lines(facts)).endswith(line)


def test_lines_show_how_sure_groups_and_columns_are():
    model = with_stability(scales("a", "bcd", reversed_columns=("bcd1",)), (1.0, 1.0, 0.995), (0.5, 0.49, 0.2))
    assert group_lines(model) == [
        "2 groups in 6 columns",
        "",
        "group  stability  columns",
        "a          100 %  a0, a1, a2",
        "bcd         40 %  bcd0, bcd1 (−) (?), bcd2 (?)",
        "",
        "(−) falls when its group rises",
        "(?) in this group in fewer than half of the searches on parts of the rows",
    ]
    # A group without a stability has none, and names of pairs say it all.
    pairs = with_groups(copying_model(Tree("abcde", [(0, 1), (2, 3)]), lambda *_: 0.5))
    assert group_lines(with_stability(pairs, (1.0, 1.0)))[2:] == [
        "group        stability  columns",
        "a, b             100 %",
        "c, d",
        "in no group             e",
    ]


@pytest.mark.parametrize(
    ("length", "lines"),
    [
        (17, ["group              stability  columns", f"{'x' * 17}       89 %  a0, a1, a2"]),
        (18, [f"{'x' * 18}   stability 89 %", "    a0, a1, a2"]),
        (63, [f"{'x' * 63}   stability 89 %", "    a0, a1, a2"]),
        (64, ["x" * 64, "    stability 89 %", "    a0, a1, a2"]),
    ],
)
def test_the_stability_stands_beside_the_name_if_there_is_room(length, lines):
    model = with_stability(scales("a", "b"), (1.0, 1.0, 0.67)).rename({"a": "x" * length})
    assert group_lines(model)[2 : 2 + len(lines)] == lines
    assert max(map(len, group_lines(model))) <= 80


def test_columns_come_in_the_same_order_everywhere():
    tree = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    model = with_groups(copying_model(tree, lambda u, v: (0.5, 0.9, 0.7)[min(u, v)]))
    assert model.groups[0].columns == ("a", "b", "c")
    assert group_lines(model)[2] == "b, c +1  b, c, a"
    assert [row[0] for row in group_table(model)[1:]] == group_facts(model)[0]["columns"] == ["b", "c", "a"]
    # Parts and unions of groups, too: by the loadings on their own hidden variable.
    model = scales("a", "b", "c", "d", between=(0.4, 0.1, 0.4))
    for group, columns in zip(model.groups, view_of(model).group_columns, strict=True):
        sizes = [abs(column.loading) for column in columns]
        assert sizes == sorted(sizes, reverse=True)
        assert sorted(column.name for column in columns) == sorted(group.columns)
    assert {group.level for group in model.groups} == {"main", "broad"}


def test_columns_without_a_group():
    tree = Tree("abcdefgh", [(0, 8), (1, 8), (2, 8), (3, 4)])
    model = with_groups(copying_model(tree, lambda *_: 0.5))
    assert group_lines(model) == ["2 groups in 8 columns", "", "a, b +1      a, b, c", "d, e", "in no group  f, g, h"]
    assert [row[:2] for row in group_table(model)[-3:]] == [("f", ""), ("g", ""), ("h", "")]
    assert {row[2] for row in group_table(model)[4:]} == {""}  # columns that are connected directly have no loading
    assert group_lines(with_groups(model_on(Tree("ab", []), [2, 2], 0))) == [
        "no groups in 2 columns",
        "The 2 columns are independent of each other, as far as the rows show.",
    ]
    assert group_lines(model_on(Tree("a", []), [2], 0)) == ["no groups in 1 column"]
    assert group_lines(model_on(Tree("ab", [(0, 1)]), [2, 2], 0)) == ["no groups in 2 columns"]


@pytest.mark.parametrize(("name", "beside"), [("x" * 28, True), ("x" * 29, False)])
def test_long_names_stand_above_their_columns(name, beside):
    model = scales("a", "b").rename({"a": name})
    lines = group_lines(model)[2:]
    expected = (
        [f"{name}  a0, a1, a2", f"{'b'.ljust(30)}b0, b1, b2"]
        if beside
        else [name, "    a0, a1, a2", "b", "    b0, b1, b2"]
    )
    assert lines == expected


@pytest.mark.parametrize(("length", "shown"), [(40, "x" * 40), (41, "x" * 26 + "…" + "x" * 13)])
def test_long_names_of_columns_are_cut(length, shown):
    model = with_groups(copying_model(Tree(["x" * length, "b", "c"], [(0, 3), (1, 3), (2, 3)]), lambda *_: 0.6))
    assert group_lines(model)[2:] == [f"b, c +1  b, c, {shown}"]


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("d", [5, 30, 400])
def test_lines_are_wrapped_and_long_groups_are_cut(width, d):
    model = with_groups(copying_model(star(d), lambda *_: 0.6), labels={f"x{i}": "all of them" for i in range(d)})
    lines = group_lines(model, width)[2:]
    assert len(lines) <= 3
    assert all(len(line) <= width for line in lines)
    assert all(line.startswith(" " * 13 + "x") for line in lines[1:])
    shown = " ".join(lines).removeprefix("all of them").split(", ")
    n_hidden = int(shown.pop().split()[1]) if shown[-1].strip().startswith("and ") else 0
    assert len(shown) + n_hidden == d
    assert (n_hidden > 0) == (d == 400 or (d == 30 and width == 60 and n_hidden > 0))
    # The room is used: another name would not have fitted.
    if n_hidden:
        assert len(lines) == 3
        assert len(lines[0]) > width - len(", x399")


def test_at_most_forty_groups_are_shown():
    def lines_of(n_groups):
        tree = Tree([f"x{i}" for i in range(2 * n_groups)], [(2 * i, 2 * i + 1) for i in range(n_groups)])
        return group_lines(with_groups(copying_model(tree, lambda *_: 0.6)))

    assert len(lines_of(40)) == 42
    assert len(lines_of(41)) == 43
    assert lines_of(41)[-1] == "and 1 more groups"


def test_rows_have_loadings_with_sign_stability_and_the_group_above():
    model = scales("a", "b", "c", "d", reversed_columns=("b1",), between=(0.4, 0.1, 0.4))
    groups = [
        replace(
            group, column_stability=(0.5, 1.0, 0.25), stability=7 / 12, column_elsewhere=((1, 0.5), None, (2, 0.75))
        )
        if group.name == "a"
        else group
        for group in model.groups
    ]
    model = replace(model, groups=tuple(groups))
    rows = {row[0]: row[1:] for row in group_table(model)[1:]}
    assert list(rows) == [f"{name}{number}" for name in "abcd" for number in range(3)]
    matrix = loading_matrix(model)
    for node, name in enumerate(model.tree.names):
        group = "abcd".index(name[0])
        assert rows[name][0] == name[0]
        assert float(rows[name][1]) == pytest.approx(matrix[node, group], abs=6e-5)
        assert rows[name][6] == f"H{group + 1}"
    assert float(rows["b1"][1]) < -0.7 < 0.7 < float(rows["a1"][1])
    assert [rows[f"a{number}"][2] for number in range(3)] == ["0.5000", "1.0000", "0.2500"]
    assert [rows[f"a{number}"][3:5] for number in range(3)] == [("b", "0.5000"), ("", ""), ("c", "0.7500")]
    assert rows["b0"][2:5] == ("", "", "")
    assert sum(group.level == "broad" for group in model.groups) == 2
    above = {group.name: model.groups[group.parent].name for group in model.groups if group.parent is not None}
    assert {name: rows[name][5] for name in rows} == {name: above.get(name[0], "") for name in rows}
    facts = group_facts(model)
    assert [(fact["name"], fact["hidden"], fact["stability"]) for fact in facts if fact["level"] == "main"][:2] == [
        ("a", "H1", 7 / 12),
        ("b", "H2", None),
    ]
    assert all(fact["parent"] == above.get(fact["name"]) for fact in facts)
    assert facts[0]["columns"] == ["a0", "a1", "a2"]


def test_a_chain_of_columns_is_a_group_without_loadings():
    given_before = [[0.9, 0.1], [0.1, 0.9]]
    model = with_groups(chain_model(given_before, [[0.5], [0.5]], given_before, given_before))
    assert [row[2] for row in group_table(model)[1:]] == [""] * 4


def test_descriptions_are_one_more_column():
    given_before = [[0.9, 0.1], [0.1, 0.9]]
    model = with_groups(chain_model(given_before, [[0.5], [0.5]], given_before, given_before))
    assert "description" not in group_table(model)[0]
    first = replace(model.columns[0], description="The first question")
    table = group_table(replace(model, columns=(first, *model.columns[1:])))
    assert table[0] == (*group_table(model)[0], "description")
    assert {row[0]: row[-1] for row in table[1:]} == {
        column.name: "The first question" if column.name == first.name else "" for column in model.columns
    }


def test_columns_with_descriptions_have_lines_of_their_own():
    model = with_stability(scales("a", "bcd", reversed_columns=("bcd1",)), (1.0, 1.0, 0.2))
    texts = {"a0": "I  like\nparties", "a2": "I talk a lot. " * 9, "bcd1": "I worry"}
    model = replace(model, columns=tuple(replace(c, description=texts.get(c.name, "")) for c in model.columns))
    assert group_lines(model) == [
        "2 groups in 6 columns",
        "",
        "a   stability 73 %",
        "    a0      I like parties",
        "    a1",
        "    a2 (?)  I talk a lot. I talk a lot. I talk a lot. I talk a lot. I talk a…",
        "bcd",
        "    bcd0",
        "    bcd1 (−)  I worry",
        "    bcd2",
        "",
        "(−) falls when its group rises",
        "(?) in this group in fewer than half of the searches on parts of the rows",
    ]


@pytest.mark.parametrize(("d", "last"), [(20, "x9"), (21, "and 1 more")])
def test_twenty_columns_with_descriptions_are_shown(d, last):
    model = with_groups(copying_model(star(d), lambda *_: 0.6))
    model = replace(model, columns=tuple(replace(c, description="text") for c in model.columns))
    assert group_lines(model)[-1].split("  ")[-2 if d == 20 else -1].strip() == last


def test_unsure_columns_that_are_not_shown_are_counted():
    model = with_groups(copying_model(star(400), lambda *_: 0.6))
    share = [0.2 if name in ("x0", "x399") else 1.0 for name in model.groups[0].columns]
    group = replace(model.groups[0], column_stability=tuple(share), stability=0.996)
    *_, last, _, _ = group_lines(replace(model, groups=(group,)))
    assert last.endswith(" more (1 with (?))")
