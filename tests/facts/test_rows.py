"""Unusual rows and their cells, compared with sums over the joint distribution."""

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.models import naive_joint, small_models, table_of
from helpers.report import grouped_model
from latree._util.words import percent
from latree.facts.rows import row_facts
from latree.interpret.groups import with_groups
from latree.interpret.scores import row_scores
from latree.table import as_table

MODELS = small_models()


def test_unusual_rows_and_their_least_expected_cells():
    model = MODELS[3]
    codes = model.sample(40, random_state=1).codes()
    codes[7, 2] = -1
    table = table_of(model, codes)
    facts = row_facts(model, table, 5)
    scores = model.log_likelihood_rows(table)
    assert [int(row["row"]) for row in facts["unusual"]] == (np.argsort(scores, kind="stable")[:5] + 1).tolist()
    joint = naive_joint(model).sum(axis=5)
    for row in facts["unusual"]:
        cells = codes[int(row["row"]) - 1]
        shares = {}
        for column in np.flatnonzero(cells >= 0).tolist():
            index = tuple(slice(None) if node == column or cells[node] < 0 else cells[node] for node in range(5))
            missing = [node for node in range(5) if node != column and cells[node] < 0]
            kept = [node for node in range(5) if node == column or cells[node] < 0]
            given = joint[index].sum(axis=tuple(kept.index(node) for node in missing))
            shares[column] = given[given <= given[cells[column]] * (1 + 1e-9)].sum() / given.sum()
            expected = str(int(np.searchsorted(np.cumsum(given) / given.sum(), 0.5)))
            shown = [cell for cell in row["cells"] if cell["column"] == column]
            assert all(cell["expected"] == expected for cell in shown)
        for cell in row["cells"]:
            assert cell["probability"] == pytest.approx(shares[cell["column"]], rel=0.06)
        assert {cell["column"] for cell in row["cells"]} == set(sorted(shares, key=shares.get)[:4])


def test_rows_are_described_by_the_states_that_say_most_about_them():
    tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    model = with_groups(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5))
    shares = [model.network.marginals()[group.centre] for group in model.groups]
    table = model.sample(50, random_state=1)
    expected = row_scores(model, table)
    for number, row in enumerate(row_facts(model, table, 50)["spaced"]):
        parts = [(part["state"], group) for part in row["standing"] for group in part["groups"]]
        shown = {group["name"]: (state, group["probability"]) for state, group in parts}
        for j, name in enumerate(expected.names):
            state, p = expected.states[number, j], expected.probabilities[number, j]
            says_something = p * np.log(p / shares[j][state]) >= 0.1
            assert shown.get(name) == ((expected.state_names[j][state], percent(p)) if says_something else None)


def test_rows_have_the_names_of_the_table():
    model = MODELS[3]
    codes = model.sample(30, random_state=1).decode()
    names = [f"person {number}" for number in range(30)]
    table = as_table(pd.DataFrame({"who": names, **codes}), columns=model.columns, identifier="who")
    scores = model.log_likelihood_rows(table)
    facts = row_facts(model, table, 3)
    assert facts["unusual"][0]["row"] == names[int(np.argmin(scores))]
    assert [row["row"] for row in facts["spaced"]] == ["person 0", "person 14", "person 29"]


def test_unusual_cells_do_not_depend_on_how_many_copies_are_in_memory(monkeypatch):
    model = grouped_model([5, 4, 3])
    table = model.sample(60, random_state=0)
    expected = row_facts(model, table, 4)
    monkeypatch.setattr("latree.model.explain._MAX_COPIED", 30)
    assert row_facts(model, table, 4) == expected
