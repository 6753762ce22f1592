"""What a report says about the data: what columns are taken for, and what is odd about them."""

from dataclasses import replace

import pandas as pd

from helpers.models import model_on
from helpers.report import Page, learned_run
from latree import as_table
from latree.facts.rows import data_facts
from latree.model import LatentTreeModel
from latree.report.render import report_html
from latree.table.checking import column_facts
from latree.table.findings import sentences
from latree.tree import Tree


def model_of(table):
    """Return a model in which one hidden variable explains all columns of a table."""
    n = table.n_columns
    tree = Tree(table.names, [(column, n) for column in range(n)])
    return LatentTreeModel(tree, table.columns, model_on(tree, [*table.n_states.tolist(), 2], 0).tables)


def mixed_table(n=60):
    answers = [(7 * row) % 3 + 1 for row in range(n)]
    frame = pd.DataFrame(
        {
            "q1": answers,
            "again": answers,
            "q2": [row % 2 + (row % 5 == 0) + 1 for row in range(n)],
            "length": [row / 7 for row in range(n)],
            "town": [None if row < 4 else "Bonn" if row % 3 else "Köln" for row in range(n)],
            "same": 1,
        }
    )
    return as_table(frame, bins=4)


def test_columns_are_taken_for_what_a_check_says():
    table = mixed_table()
    facts = data_facts(model_of(table), table)
    found = {column: kind["taken_for"] for kind in facts["kinds"] for column in kind["columns"]}
    checked = [one for one in column_facts(table) if one.states is not None]
    assert found == {node: one.taken_for for node, one in enumerate(checked)}
    # Columns with the same values are listed together.
    assert [(kind["text"], kind["columns"]) for kind in facts["kinds"] if kind["taken_for"] == "whole numbers"] == [
        ("1 < 2 < 3", [0, 1, 2])
    ]
    assert [kind["text"] for kind in facts["kinds"] if kind["taken_for"] == "texts"] == ["Bonn, Köln"]
    (bins,) = [kind["text"] for kind in facts["kinds"] if kind["taken_for"] == "number, 4 bins"]
    assert bins.startswith("cut at ")
    assert bins.count(", ") == 2
    assert facts["missing"] == [0, 0, 0, 0, 4]


def test_the_page_says_what_is_odd_and_what_columns_are_taken_for():
    table = mixed_table()
    model = model_of(table)
    page = Page(report_html(model, table))
    assert len(sentences(table.oddities)) == 2  # a duplicate and a constant column
    for text in [*sentences(table.oddities), "3 columns: whole numbers", "Bonn, Köln", "1 < 2 < 3"]:
        assert text in page.text
    assert "What looks odd" not in Page(report_html(model)).text  # there are no rows to look at


def test_what_a_fit_warned_of_is_not_said_twice():
    learned = learned_run()
    model = learned.model
    odd = replace(learned.table, findings=mixed_table().findings)
    said = sentences(odd.oddities)
    assert data_facts(model, odd)["odd"] == said
    warned = replace(model, record=replace(model.record, odd=tuple(said)))
    assert data_facts(warned, odd)["odd"] == []
