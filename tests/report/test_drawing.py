"""What the drawing shows, the heat map, and the JSON of both."""

import json
import re
from itertools import groupby

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, grouped_model, hostile_model
from latree import plot
from latree._util.words import one_line
from latree.export.trees import plain_newick, to_newick
from latree.interpret.groups import with_groups
from latree.report.drawing import MAX_CATEGORIES, CategoryList
from latree.report.heatmap import matrix_facts
from latree.report.payload import payload
from latree.report.render import page_facts
from latree.table import Column
from latree.tree import Tree


def test_support_is_rounded_once_for_the_whole_page():
    tree = Tree("abcdef", [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (5, 8), (6, 7), (7, 8)])
    supported = Tree(tree.names, tree.edges, support=np.array([np.nan] * 6 + [0.945, 0.5]))
    facts = page_facts(latree.random_model(supported, random_state=0))
    assert sorted(share for share in facts["tree"]["support"] if share is not None) == [50, 95]


def test_files_are_those_of_a_fit(monkeypatch):
    model = grouped_model([4, 3])
    files = page_facts(model)["files"]
    assert files["tree.nwk"] == plain_newick(model)
    assert (
        files["groups.csv"].splitlines()[0] == "column,group,loading,stability,elsewhere,elsewhere_share,parent,hidden"
    )
    assert files["loadings.csv"].splitlines()[0] == "column,group of item 0,group of item 4,what all share"
    # With many columns, loadings would be most of the page.
    monkeypatch.setattr("latree.report.drawing._MAX_LOADINGS", 7 * 3 - 1)
    assert "loadings.csv" not in page_facts(model)["files"]


def test_there_is_one_order_everywhere():
    model = grouped_model([3, 4, 5, 2])
    facts = page_facts(model)
    names = [model.tree.names[column] for column in model.leaves.columns]
    assert [facts["names"][column] for column in facts["order"]] == names
    assert [facts["names"][column] for column in facts["matrix"]["order"]] == names
    for text in (facts["drawing"], facts["files"]["tree.nwk"], to_newick(model), plot(model).to_svg()):
        assert re.findall(r"item \d+", text.replace("group of item", ""))[: len(names)] == names
    # Groups are whole, and the columns that depend most on their group come first.
    of_groups = {group["number"]: [column["node"] for column in group["columns"]] for group in facts["groups"]}
    number_of = {column: number for number, columns in of_groups.items() for column in columns}
    runs = [[*columns] for _, columns in groupby(facts["order"], key=number_of.get)]
    assert sorted(runs) == sorted(of_groups.values())


@pytest.mark.parametrize("name", SHAPES)
def test_rows_are_those_of_the_picture(name):
    tree = SHAPES[name]
    facts = page_facts(model_on(tree, [2] * tree.n_nodes, 0))
    assert sorted(facts["order"]) == list(range(tree.n_observed))
    assert facts["order"] == facts["matrix"]["order"]


def test_related_columns_have_the_correlations_of_the_heat_map():
    model = grouped_model([4, 3])
    facts = page_facts(model, model.sample(200, random_state=0))
    order, values = facts["matrix"]["order"], facts["matrix"]["values"]
    place = {column: i for i, column in enumerate(order)}
    for column, details in enumerate(facts["columns"]):
        related = details["related"]
        assert related
        assert [abs(value) for _, value in related] == sorted((abs(value) for _, value in related), reverse=True)
        for other, value in related:
            first, second = sorted((place[column], place[other]))
            assert values[first][second - first] - 100 == value


def test_states_are_in_order_and_their_sizes_add_up_to_100():
    for model in (grouped_model([4, 3]), latree.random_model(latree.random_tree(5), hidden_states=11, random_state=0)):
        for hidden in page_facts(model)["hidden"]:
            n_others, share = hidden["others"] or (0, 0)
            assert sum(hidden["sizes"]) + share == 100
            assert (len(hidden["states"]), n_others) in ((3, 0), (8, 3))
            # Those of a random model are steps or kinds.
            steps = hidden["states"][0].endswith("of 11")
            numbered = [f"{n} of 11" if steps else f"state {n}" for n in range(1, 12)]
            order = ["low", "middle", "high"] if not n_others else numbered
            assert hidden["states"] == [name for name in order if name in hidden["states"]]
            for column in hidden["columns"]:
                assert all(sum(shares) == 1000 for shares in column["shares"])


def symmetric(d, seed=0):
    values = np.random.default_rng(seed).uniform(-1, 1, (d, d))
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1)
    return values


def test_values_are_hundredths_in_the_order_of_the_tree():
    correlation, order = symmetric(4), [2, 0, 3, 1]
    facts = matrix_facts(correlation, order, [True] * 4)
    assert (facts["order"], facts["signed"]) == (order, True)
    for i in range(4):
        for j in range(i, 4):
            assert facts["values"][i][j - i] - 100 == round(100 * correlation[order[i], order[j]])


def test_only_two_ordered_columns_have_a_sign():
    for ordered, signed in (([True, True, False], True), ([True, False, False], False)):
        assert matrix_facts(symmetric(3), range(3), ordered)["signed"] is signed


def test_rare_categories_are_added_up():
    n = MAX_CATEGORIES + 5
    shares = np.arange(1, n + 1) / np.arange(1, n + 1).sum()
    categories = CategoryList.of(Column("x", "text", tuple(f"v{i:02}" for i in range(n))), shares)
    assert categories.names == (*(f"v{i:02}" for i in range(6, n)), "6 others")
    assert not categories.ordered
    assert sum(categories.per_mille(shares)) == pytest.approx(1000, abs=len(categories.names) / 2)
    assert categories.per_mille(shares)[-1] == round(1000 * shares[:6].sum())


def test_bins_are_named_by_their_bounds():
    column = latree.as_table(np.linspace(0, 10, 41)[:, None], bins=3).columns[0]
    assert column.categories == ("<= 3.125", "(3.125, 6.625]", "> 6.625")
    categories = CategoryList.of(column, np.ones(3))
    assert categories.names == ("≤ 3.125", "3.125 to 6.625", "> 6.625")
    assert categories.bounds == ("3.125", "6.625")
    assert categories.ordered
    halves = latree.as_table(np.array([0.5, 1.5] * 5)[:, None]).columns[0]  # too few values to part: they name the bins
    assert CategoryList.of(halves, np.ones(2)).names == halves.categories
    assert CategoryList.of(halves, np.ones(2)).bounds == ()
    text = Column("x", "text", ("(a, b]", "<= c"))
    assert CategoryList.of(text, np.ones(2)).names == ("(a, b]", "<= c")


def unpacked(text, width=2):
    return [int(text[i : i + width], 32) for i in range(0, len(text), width)]


def test_it_is_json_without_markup_and_with_names_that_can_be_shown():
    model = hostile_model()
    facts = page_facts(model, labels=dict(zip(model.tree.names, HOSTILE, strict=True)))
    text = str(payload(facts))
    assert not re.search("[<>&\u2028\u2029]", text)
    embedded = json.loads(text)
    assert embedded["names"][: len(HOSTILE)] == [one_line(name) for name in HOSTILE]
    assert sorted(embedded["labels"]["names"]) == sorted(one_line(name) for name in HOSTILE)


def test_long_lists_of_numbers_are_packed_without_loss():
    facts = page_facts(grouped_model([4, 3]))
    embedded = json.loads(str(payload(facts)))
    assert [unpacked(row) for row in embedded["matrix"]["values"]] == facts["matrix"]["values"]
    states, profiles, values, related = (embedded[key] for key in ("states", "profiles", "values", "related"))
    for number, plain in enumerate(facts["hidden"]):
        assert states["lists"][states["of"][number]] == plain["states"]
        assert states["sizes"][number] == plain["sizes"]
        for (column, loading, shares), expected in zip(profiles["columns"][number], plain["columns"], strict=True):
            assert (column, loading) == (expected["column"], expected["loading"])
            assert unpacked(shares) == [share for of_state in expected["shares"] for share in of_state]
    for column, plain in enumerate(facts["columns"]):
        assert unpacked(profiles["model"][column]) == plain["model"]
        assert unpacked(values["percent"][column]) == plain["percent"]
        assert values["of"][column] == plain["category_list"]
        others = unpacked(related["columns"][column], related["width"])
        correlations = [value - 100 for value in unpacked(related["values"][column])]
        assert list(map(list, zip(others, correlations, strict=True))) == plain["related"]


def test_branches_of_several_groups_are_named_by_these():
    sizes = {"joy": 4, "awe": 3, "woe": 3, "fun": 3}
    joy, awe, woe, fun = (f"({','.join(f'{name}_{i}' for i in range(n))})" for name, n in sizes.items())
    tree = Tree.from_newick(f"((({joy},{awe}),{woe}),{fun});")
    model = with_groups(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=0))
    facts = page_facts(model)
    groups = [group["name"] for group in facts["groups"]]
    assert set(groups) == set(sizes)
    named = facts["branch_names"]
    parent = facts["tree"]["parent"]
    for node in range(facts["n_columns"], len(parent)):
        inside = set()
        for column in range(facts["n_columns"]):
            above = column
            while above not in (-1, node):
                above = parent[above]
            inside |= {facts["names"][column][:3]} if above == node else set()
        if len(inside) == 1:
            assert str(node) not in named
        else:
            first = sorted(inside, key=groups.index)[:3]
            assert named[str(node)] == " · ".join([*first, "…"] if len(inside) > 3 else first)
    assert len(named) > 1
    renamed = model.rename({facts["names"][int(next(iter(named)))]: "moods"})
    assert len(page_facts(renamed)["branch_names"]) == len(named) - 1
    # A group that is named by columns is named by the first of them here.
    columns = model.groups[0].columns[:2]
    by_columns = page_facts(model.rename({groups[0]: ", ".join(columns) + " +2"}))["branch_names"]
    assert {name.split(" · ")[0] for name in by_columns.values()} <= {columns[0], *groups}
    assert by_columns.keys() == named.keys()
