"""What the script of a page knows, and what is left out of a page that would be too large."""

import json
import re

import numpy as np
import pytest

import latree
from helpers.report import grouped_model, hostile_model, wide_model
from latree._util.words import percent
from latree.learn import learn_model
from latree.report.payload import has_table, letters_within, payload
from latree.report.render import page_facts, render
from latree.settings import Settings

DETAILS = ["cards", "values", "profiles", "related"]


@pytest.fixture(scope="module")
def facts():
    return page_facts(wide_model(90, 9))


def embedded_in(html):
    return json.loads(re.search(r'<script type="application/json" id="facts">(.*?)</script>', html)[1])


def test_details_that_do_not_fit_are_left_out(facts, monkeypatch):
    whole = embedded_in(render(facts))
    size = len(render(facts).encode())
    found = {}
    for too_large in (0, 1, 20_000, 40_000):
        monkeypatch.setattr("latree.report.render.MAX_PAGE", size - too_large)
        page = render(facts)
        assert len(page.encode()) <= size - too_large
        embedded = embedded_in(page)
        found[too_large] = [key for key in DETAILS if key in embedded]
        assert embedded == {key: value for key, value in whole.items() if key in embedded}
        assert set(whole) - set(embedded) <= set(DETAILS)
    # The card of a group is wanted most, related columns least.
    assert found == {0: DETAILS, 1: DETAILS[:-1], 20_000: DETAILS[:2], 40_000: DETAILS[1:2]}


def test_a_page_of_a_thousand_columns_is_small():
    model = wide_model(200, 20)
    assert 950 < model.tree.n_observed < 1050
    page = render(page_facts(model))
    assert len(page.encode()) < 500_000
    assert [key for key in DETAILS if key in embedded_in(page)] == DETAILS


def test_long_names_are_cut_if_all_are_too_long():
    assert letters_within(["abc", "de"], 5) is None
    assert letters_within(["x" * 100] * 10, 500) == 50
    assert letters_within(["ж" * 100] * 10, 500) == 25  # two bytes each
    assert letters_within(["x" * 100] * 1000, 500) == 16
    names = json.loads(str(payload(page_facts(hostile_model()))))["names"]
    assert "x" * 5000 in names


def test_only_many_groups_have_cards_in_the_data(facts):
    assert has_table(facts)
    few = page_facts(grouped_model([4, 3]))
    assert not has_table(few)
    assert json.loads(str(payload(few)))["cards"] is None


def test_numbers_of_groups_are_those_of_the_facts(facts):
    groups, cards = (json.loads(str(payload(facts)))[key] for key in ("groups", "cards"))
    for number, group in enumerate(facts["groups"]):
        columns = group["columns"]
        assert groups["columns"][number] == [column["node"] for column in columns]
        assert groups["stability"][number] == percent(group["stability"])
        assert groups["mean_loading"][number] == percent(
            sum(abs(column["loading"]) for column in columns) / len(columns)
        )
        text = cards["loadings"][number]
        codes = [int(text[i : i + 2], 32) for i in range(0, len(text), 2)]
        assert [code % 101 for code in codes] == [percent(abs(column["loading"])) for column in columns]
        for code, column in zip(codes, columns, strict=True):
            mark = code // 101
            in_words = column["node"] in (*group["meaning"]["more"], *group["meaning"]["less"])
            direction = {0: 0, 1: 1, 2: -1, 3: 0, 4: 1, 5: -1, 6: 1, 7: -1}[mark]
            assert (direction, 3 <= mark <= 5, mark >= 6) == (column["direction"], column["unsure"], in_words)
        cells = [[cell[0] for cell in column["cells"]] for column in columns if column["cells"]]
        assert cards["cells"][number] == cells
        shades = [cell[1] for column in columns for cell in column["cells"]]
        assert [int(digit, 32) for digit in cards["shades"][number]] == shades
    unsure = {str(column["node"]) for group in facts["groups"] for column in group["columns"] if column["unsure"]}
    assert set(cards["unsure"]) == unsure != set()


def test_bins_are_embedded_by_their_bounds():
    length = np.random.default_rng(0).normal(size=(400, 1))
    table = latree.as_table(length + 0.4 * np.random.default_rng(1).normal(size=(400, 3)), names=list("abc"))
    facts = page_facts(learn_model(table, Settings(method="lcm")).model, table)
    values = json.loads(str(payload(facts)))["values"]
    for embedded, plain in zip(values["lists"], facts["category_lists"], strict=True):
        assert embedded == [float(f"{float(bound):.3g}") for bound in plain["bounds"]]
        assert len(embedded) == len(plain["names"]) - 1 > 2
