"""The group cards, compared with what the model says about columns and states."""

import re
from dataclasses import replace

import numpy as np
import pytest

import latree
from helpers.report import Page
from latree.facts.found import facts_of, report_facts
from latree.facts.groups import _meaning, state_profiles, two_digits, yes_of
from latree.interpret.columns import profiles
from latree.interpret.groups import with_groups
from latree.interpret.order import order_states
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.report.render import page_facts, report_html
from latree.table import Column
from latree.tree import Tree


def group_cards(model):
    return report_facts(model)["groups"]


def two_groups(columns, seed=5):
    """Return a model of two groups of columns, with any kind of columns of three values or two."""
    half = len(columns) // 2
    first, second = range(half), range(half, len(columns))
    edges = [*((i, len(columns)) for i in first), *((i, len(columns) + 1) for i in second)]
    tree = Tree([column.name for column in columns], [*edges, (len(columns), len(columns) + 1)])
    n_states = {column.n_states for column in columns}
    (n,) = n_states
    drawn = latree.random_model(tree, n_states=n, hidden_states=n, start="identity", random_state=seed)
    return with_groups(order_states(LatentTreeModel(tree, tuple(columns), drawn.tables)).model)


def answers(names):
    return [Column(name, "integer", ("1", "2", "3"), ordered=True) for name in names]


def test_cells_are_the_means_of_columns_in_states_from_low_to_high():
    model = two_groups(answers("abcdef"))
    # Column b is reversed: its probabilities are those of the other end.
    model = replace(model, tables=tuple(t[::-1] if node == 1 else t for node, t in enumerate(model.tables)))
    cards = group_cards(model)
    frame = profiles(model, backend="pandas")
    for card, group in zip(cards, model.groups, strict=True):
        assert [state["name"] for state in card["states"]] == ["low", "middle", "high"]
        assert sum(state["size"] for state in card["states"]) == 100
        assert card["scale"] == "Cells are means, on a scale from 1 to 3."
        for column in card["columns"]:
            name = model.tree.names[column["node"]]
            own = frame[(frame.hidden == group.name) & (frame.column == name)].drop_duplicates("state_name")
            means = own.set_index("state_name")["mean"]
            assert [cell[0] for cell in column["cells"]] == [
                f"{means[state]:.1f}" for state in ("low", "middle", "high")
            ]
            shades = [cell[1] for cell in column["cells"]]
            assert shades == [round(5 * (means[state] - 1)) for state in ("low", "middle", "high")]
            assert shades == sorted(shades, reverse=column["direction"] < 0)
    directions = {column["node"]: column["direction"] for card in cards for column in card["columns"]}
    assert directions == {0: 1, 1: -1, 2: 1, 3: 1, 4: 1, 5: 1}
    (of_b,) = [card for card in cards if 1 in [column["node"] for column in card["columns"]]]
    assert of_b["meaning"]["less"] == [1]
    assert set(of_b["meaning"]["more"]) == {0, 2}
    # A column that may not belong to the group does not say what a high score means.
    unsure = [column | {"unsure": column["node"] == 1} for column in of_b["columns"]]
    assert _meaning(unsure) == {"more": of_b["meaning"]["more"], "less": []}


def test_weak_columns_and_those_out_of_order_do_not_say_what_a_high_score_means():
    shares = {"a": [0.1, 0.5, 0.9], "b": [0.1, 0.4, 0.9], "c": [0.2, 0.5, 0.8], "d": [0.2, 0.4, 0.8]}
    shares |= {"out of order": [0.5, 0.2, 0.9], "weak": [0.4, 0.5, 0.6], "flat": [0.5, 0.5, 0.5]}
    tree = Tree(list(shares), [(i, len(shares)) for i in range(len(shares))])
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in shares)
    tables = (*(np.array([[1 - x for x in row], row]) for row in shares.values()), np.full((3, 1), 1 / 3))
    model = with_groups(order_states(LatentTreeModel(tree, columns, tables)).model)
    (card,) = group_cards(model)
    facts = {model.tree.names[column["node"]]: (column["direction"], column["loading"]) for column in card["columns"]}
    assert {name: direction for name, (direction, _) in facts.items()} == dict.fromkeys("abcd", 1) | {
        "out of order": 0,
        "weak": 1,
        "flat": 0,
    }
    assert facts["out of order"][1] > 0.3 > facts["weak"][1] > facts["flat"][1] == 0
    assert card["states_are"] == "steps"
    # Even if there is room, because other columns may not belong to the group.
    unsure = [column | {"unsure": model.tree.names[column["node"]] in ("a", "b", "c")} for column in card["columns"]]
    assert _meaning(unsure) == {"more": [model.node("d")], "less": []}


def test_kinds_are_called_so():
    tree = Tree(list("abcdef"), [(i, 6) for i in range(6)])
    high = 0.1 + 0.8 * np.eye(3)[np.arange(6) % 3]
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in "abcdef")
    tables = (*(np.array([1 - shares, shares]) for shares in high), np.array([[0.3], [0.3], [0.4]]))
    model = with_groups(order_states(LatentTreeModel(tree, columns, tables)).model)
    (card,) = group_cards(model)
    assert card["states_are"] == "kinds"
    assert [state["name"] for state in card["states"]] == ["state 1", "state 2", "state 3"]
    assert {column["direction"] for column in card["columns"]} == {0}
    assert card["meaning"] == {"more": [], "less": []}
    # Nor has a loading a sign beside the tree.
    (hidden,) = page_facts(model)["hidden"]
    assert min(column["loading"] for column in hidden["columns"]) > 0


def test_reliability_has_its_condition_beside_it():
    model = two_groups(answers("abcdef"))
    text = " ".join(Page(report_html(model, model.sample(100, random_state=0))).text.split())
    assert len(re.findall(r"reliability ?0\.\d\d ?if the model is right", text)) == len(model.groups) == 2


def test_columns_come_by_loading_and_are_marked():
    model = two_groups(answers("abcdef"))
    n_columns = len(model.groups[0].columns)
    groups = (
        replace(model.groups[0], column_stability=(0.4,) + (0.5,) * (n_columns - 1), stability=0.466),
        *model.groups[1:],
    )
    model = replace(model, groups=groups)
    cards, listed = group_cards(model), view_of(model).group_columns
    for card, columns in zip(cards, listed, strict=True):
        assert [model.tree.names[column["node"]] for column in card["columns"]] == [column.name for column in columns]
        assert [column["loading"] for column in card["columns"]] == [round(column.loading, 9) for column in columns]
    unsure = [model.tree.names[column["node"]] for column in cards[0]["columns"] if column["unsure"]]
    assert unsure == [model.groups[0].columns[0]]
    assert cards[0]["stability"] == 0.466
    assert cards[1]["stability"] is None
    assert [card["number"] for card in cards] == [1, 2]


def test_labels_of_variables_are_shown():
    columns = [replace(column, description=f"I like <{column.name}>") for column in answers("abcdef")]
    assert "I like &lt;c&gt;" in report_html(two_groups(columns))


def test_columns_without_an_order_show_their_most_frequent_value():
    columns = [Column(name, "text", ("blue", "green", "red")) for name in "abcdef"]
    model = two_groups(columns)
    for card in group_cards(model):
        assert [state["name"] for state in card["states"]] == ["state 1", "state 2", "state 3"]
        sizes = [state["size"] for state in card["states"]]
        assert sizes == sorted(sizes, reverse=True)
        assert card["meaning"] == {"more": [], "less": []}
        assert card["scale"] == "Cells have the most frequent value and its share."
        for column in card["columns"]:
            assert all(cell[0].split()[0] in ("blue", "green", "red") for cell in column["cells"])


def test_two_values_show_the_share_of_yes():
    assert yes_of(Column("x", "text", ("no", "yes"))) == 1
    assert yes_of(Column("x", "text", ("Yes", "nope"))) == 0
    assert yes_of(Column("x", "integer", ("0", "1"), ordered=True)) == 1
    assert yes_of(Column("x", "boolean", ("False", "True"), ordered=True)) == 1
    assert yes_of(Column("x", "text", ("female", "male"))) is None
    assert yes_of(Column("x", "text", ("a", "b", "yes"))) is None
    columns = [Column(name, "text", ("no", "yes")) for name in "abcdef"]
    model = two_groups(columns)
    card = group_cards(model)[0]
    ((_, conditionals),) = view_of(model).columns_given({card["centre"]: range(model.tree.n_observed)})
    most = max(conditionals[column["node"]][1].max() for column in card["columns"])
    scale = f"Cells are shares of rows with “yes”, from 0 (pale) to {round(100 * most)}\u00a0% (strong)."
    assert card["scale"] == scale
    first = card["columns"][0]
    shares = conditionals[first["node"]][1]
    assert [cell[0] for cell in first["cells"]] == [f"{round(100 * share)}\u00a0%" for share in shares]


def test_a_long_group_shows_its_strongest_columns():
    shown = {}
    for n in (14, 15):
        tree = Tree([f"x{i:02}" for i in range(n)], [(i, n) for i in range(n)])
        drawn = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        (card,) = group_cards(with_groups(drawn))
        shown[n] = sum(bool(column["cells"]) for column in card["columns"])
        assert len(card["columns"]) == n
    assert shown == {14: 14, 15: 12}


def test_cards_of_many_groups_are_small():
    shown = {}
    for n_groups in (20, 21):
        n_columns = 8 * n_groups
        edges = [(column, n_columns + column // 8) for column in range(n_columns)]
        tree = Tree([f"x{column:03}" for column in range(n_columns)], edges)
        model = with_groups(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1))
        cards = group_cards(model)
        shown[len(cards)] = {card["n_shown"] for card in cards}
    assert shown == {20: {8}, 21: {5}}


@pytest.mark.parametrize(("n_groups", "n_cards"), [(20, 20), (21, 0), (42, 0), (70, 0)])
def test_groups_have_a_card_each_or_are_the_lines_of_a_table(n_groups, n_cards):
    n_columns = 3 * n_groups
    tree = Tree([f"x{column:03}" for column in range(n_columns)], [(c, n_columns + c // 3) for c in range(n_columns)])
    model = with_groups(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1))
    page = report_html(model)
    assert page.count("<article") == n_cards
    assert ('id="group-table"' in page) == (n_cards == 0)
    # Every group has a place: a card, a line, or an entry of the list of smaller groups, which a table of 60 needs.
    assert all(page.count(f'id="group-{number}"') == 1 for number in range(1, n_groups + 1))
    assert ('id="other-groups"' in page) == (n_groups > 60)


def test_many_states_are_cut_to_the_largest():
    tree = Tree("abcd", [(i, 4) for i in range(4)])
    model = with_groups(latree.random_model(tree, n_states=9, hidden_states=9, start="identity", random_state=1))
    (card,) = group_cards(model)
    assert card["n_states"] == 9
    assert len(card["states"]) == 8
    assert len(card["columns"][0]["cells"]) == 8


def test_columns_in_no_group_are_known():
    model = with_groups(latree.random_model(Tree("abcde", [(0, 5), (1, 5), (2, 5)]), start="identity", random_state=0))
    assert facts_of(model)["alone"] == [3, 4]


@pytest.mark.parametrize(
    ("value", "span", "text"),
    [
        (4.94, 5, "4.9"),
        (4.96, 5, "5.0"),
        (1234, 2500, "1,200"),
        (0.01234, 0.05, "0.012"),
        (-0.04, 5, "0.0"),
        (3, 0, "3.0"),
    ],
)
def test_two_digits(value, span, text):
    assert two_digits(value, span) == text
    assert two_digits(-1.26, 5) == "−1.3"


def topics():
    """Return a model of documents in two topics: three words, an ordered answer, and a column without an order."""
    columns = (
        Column("space", "integer", ("0", "1"), ordered=True),
        Column("car", "integer", ("0", "1"), ordered=True),
        Column("the", "integer", ("0", "1"), ordered=True),
        Column("length", "integer", ("1", "2", "3"), ordered=True),
        Column("colour", "text", ("blue", "red", "white")),
    )
    tables = (
        np.array([[0.4, 0.98], [0.6, 0.02]]),
        np.array([[0.95, 0.5], [0.05, 0.5]]),
        np.array([[0.1, 0.1], [0.9, 0.9]]),
        np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]]),
        np.array([[0.2, 0.2], [0.7, 0.1], [0.1, 0.7]]),
        np.array([[0.255], [0.745]]),
    )
    return LatentTreeModel(Tree([c.name for c in columns], [(i, 5) for i in range(5)]), columns, tables)


def test_profiles_name_what_is_typical_of_each_state():
    model = topics()
    found = state_profiles(view_of(model), 5)
    assert sorted(state["size"] for state in found) == [26, 74]  # 25.5 and 74.5 would both be rounded up
    (space,) = [state for state in found if state["size"] == 26]
    shown = {model.tree.names[one["node"]]: (one["value"], one["text"], one["overall"]) for one in space["typical"]}
    assert shown["space"] == ("", "60\u00a0%", "17\u00a0%")
    assert shown["car"] == ("", "5\u00a0%", "39\u00a0%")
    assert shown["length"] == ("low", "1.4", "2.3")
    assert shown["colour"] == ("red", "70\u00a0%", "25\u00a0%")
    assert "the" not in shown  # it is as frequent as everywhere
    # What is rarer than elsewhere comes last.
    assert model.tree.names[space["typical"][-1]["node"]] == "car"
