"""What the drawing shows."""

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.report import SHAPES, grouped_model
from latree.interpret.view import View
from latree.report.drawing_facts import drawing_facts
from latree.tree import Tree


def test_support_is_rounded_once_for_the_whole_page():
    tree = Tree("abcdef", [(0, 6), (1, 6), (2, 7), (3, 7), (4, 8), (5, 8), (6, 7), (7, 8)])
    supported = Tree(tree.names, tree.edges, support=np.array([np.nan] * 6 + [0.945, 0.5]))
    facts = drawing_facts(View(latree.random_model(supported, random_state=0)), None)
    assert sorted(share for share in facts["tree"]["support"] if share is not None) == [50, 95]


def test_files_are_those_of_a_fit(monkeypatch):
    model = grouped_model([4, 3])
    files = drawing_facts(View(model), None)["files"]
    assert files["tree.nwk"] == model.tree.to_newick()
    assert files["groups.csv"].splitlines()[0] == "column,group,loading,stability,parent,hidden"
    assert files["loadings.csv"].splitlines()[0] == "column,group of item 0,group of item 4,what all share"
    # With many columns, loadings would be most of the page.
    monkeypatch.setattr("latree.report.drawing_facts._MAX_LOADINGS", 7 * 3 - 1)
    assert "loadings.csv" not in drawing_facts(View(model), None)["files"]


@pytest.mark.parametrize("name", SHAPES)
def test_rows_are_those_of_the_picture(name):
    tree = SHAPES[name]
    facts = drawing_facts(View(model_on(tree, [2] * tree.n_nodes, 0)), None)
    rows = facts["places"]["row"]
    assert sorted(rows[: tree.n_observed]) == list(range(tree.n_observed))
    assert facts["matrix"]["order"] == np.argsort(rows[: tree.n_observed]).tolist()
    assert max(facts["places"]["along"]) == (1 if len(tree.edges) else 0)


def test_related_columns_have_the_correlations_of_the_heat_map():
    model = grouped_model([4, 3])
    facts = drawing_facts(View(model), model.sample(200, random_state=0))
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
        for hidden in drawing_facts(View(model), None)["hidden"]:
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
