"""What items add to their scales, beside an independent computation with pandas, and the verdicts."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import latree
from latree.datasets import make_questionnaire
from latree.facts.items import item_facts, item_lines
from latree.interpret.items import item_groups
from latree.interpret.reliability import reliability
from latree.interpret.scores import row_scores

N_ROWS = 400
# The columns of a scale with their directions.
WORRY = {"worry_1": 1, "worry_2": 1, "worry_3": 1, "worry_4": 1, "worry_5": -1}


@pytest.fixture(scope="module")
def rows():
    """Two scales with a redundant item, one that nearly all answer alike, and one of chance; some holes."""
    rng = np.random.default_rng(0)
    answers = make_questionnaire(N_ROWS, random_state=0).data
    rows = answers[[name for name in answers if name.startswith(("worry", "social"))]].astype(float)
    rows["social_6"] = np.where(rng.random(N_ROWS) < 0.6, rows["social_2"], rng.integers(1, 6, N_ROWS))
    rows["social_4"] = np.where(rows["social_4"] < 5, 1, rows["social_4"])
    rows["dice"] = rng.integers(1, 7, N_ROWS).astype(float)
    return rows.where(rng.random(rows.shape) > 0.05)


@pytest.fixture(scope="module")
def model(rows):
    return latree.LatentTree(random_state=0, n_resamples=0).fit(rows)


@pytest.fixture(scope="module")
def items(model, rows):
    return model.items(rows).set_index("column")


def naive_covariances(cells):
    """Return the covariances of columns, each over the rows that have both cells."""
    pairs = {
        (one, other): cells[[one, other]].dropna().to_numpy().T for one in cells for other in cells if one != other
    }
    found = pd.DataFrame({name: {name: cells[name].var(ddof=0)} for name in cells}, index=cells.columns)
    for (one, other), values in pairs.items():
        found.loc[one, other] = np.cov(values, ddof=0)[0, 1]
    return found.to_numpy()


def naive_alpha(cells):
    covariances = naive_covariances(cells)
    k = len(covariances)
    return k / (k - 1) * (1 - np.trace(covariances) / covariances.sum())


def naive_item_rest(cells, name):
    weights = np.stack([cells.columns == name, cells.columns != name], axis=1).astype(float)
    both = weights.T @ naive_covariances(cells) @ weights
    return both[0, 1] / np.sqrt(both[0, 0] * both[1, 1])


def test_classical_figures_are_those_of_another_computation(items, rows):
    cells = rows[list(WORRY)] * list(WORRY.values())
    for name in WORRY:
        assert items.loc[name, "item_rest"] == pytest.approx(naive_item_rest(cells, name), abs=1e-6)
        assert items.loc[name, "alpha_without"] == pytest.approx(naive_alpha(cells.drop(columns=name)), abs=1e-6)


def test_without_holes_the_item_rest_correlation_is_that_with_the_sum(model, rows):
    whole = rows.fillna(3)
    found = model.items(whole).set_index("column")
    cells = whole[list(WORRY)] * list(WORRY.values())
    for name in WORRY:
        sum_of_others = cells.drop(columns=name).sum(axis=1)
        assert found.loc[name, "item_rest"] == pytest.approx(np.corrcoef(cells[name], sum_of_others)[0, 1], abs=1e-6)


def test_the_reliability_without_a_column_is_that_of_rows_without_it(model, rows, items):
    for name in ("worry_1", "social_3"):
        found = row_scores(model.model_, model.model_.encode(rows.assign(**{name: np.nan})))
        group = found.names.index(items.loc[name, "group"])
        variance, error = found.scores[:, group].var(), (found.errors[:, group] ** 2).mean()
        assert items.loc[name, "reliability_without"] == pytest.approx(variance / (variance + error), abs=1e-6)


def test_the_whole_group_has_the_figures_that_it_has_elsewhere(model, rows):
    table = model.model_.encode(rows)
    known = {one.name: one for one in reliability(model.model_, table)}
    groups = item_groups(model.model_, table)
    assert [group.name for group in groups] == [*known, ""]
    for group in groups[:-1]:
        assert group.reliability == pytest.approx(known[group.name].reliability)
        assert group.alpha == pytest.approx(known[group.name].alpha)


def test_shares_of_answers(items, rows):
    assert items["missing"].to_dict() == pytest.approx(rows.isna().mean().to_dict(), abs=1e-6)
    lowest = {name: (rows[name].dropna() == 1).mean() for name in rows}
    highest = {name: (rows[name].dropna() == rows[name].max()).mean() for name in rows}
    assert items["floor"].to_dict() == pytest.approx(lowest, abs=1e-6)
    assert items["ceiling"].to_dict() == pytest.approx(highest, abs=1e-6)


def test_verdicts(items):
    verdicts = items["verdict"].to_dict()
    assert verdicts["dice"] == "says little"
    assert items.loc["dice", "because"] == "in no group"
    assert verdicts["worry_5"] == verdicts["social_5"] == "keep, reversed"
    assert verdicts["social_4"] == "keep"
    assert f"{100 * items.loc['social_4', 'floor']:.0f} % give the lowest answer" in items.loc["social_4", "remark"]
    pair = {"social_2": "redundant with social_6", "social_6": "redundant with social_2"}
    assert [name for name in pair if verdicts[name] == pair[name]] == ["social_6"]
    assert items.loc["social_2", "redundant_with"] == "social_6"
    assert {verdicts[name] for name in ("worry_1", "worry_2", "social_1", "social_2")} == {"keep"}


def test_columns_without_a_group_are_listed_last(model, rows):
    text = "\n".join(item_lines(item_facts(model.model_, model.model_.encode(rows))))
    heads = [line.partition(":")[0] for line in text.split("\n\n")[1:-2] for line in [line.splitlines()[0]]]
    assert heads[-1] == "in no group"
    assert "dice: says little (in no group)" in text
    assert "social_4: keep (86 % give the lowest answer; alpha" in text


def test_an_item_with_a_low_item_rest_correlation_says_little():
    rng = np.random.default_rng(0)
    rows = make_questionnaire(300, random_state=0).data.filter(like="worry")
    rows["worry_4"] = np.where(rng.random(300) < 0.3, rows["worry_4"], rng.integers(1, 6, 300))
    items = latree.LatentTree("lcm", n_states=3, random_state=0).fit(rows).items(rows).set_index("column")
    correlations = items["item_rest"]
    assert [name for name in rows if items.loc[name, "verdict"] == "says little"] == ["worry_4"]
    assert correlations["worry_4"] < 0.3 < correlations.drop("worry_4").min()
    assert items.loc["worry_4", "because"] == f"item-rest correlation {correlations['worry_4']:.2f}"


@pytest.mark.parametrize(
    ("own", "share", "verdict", "because"),
    [
        (0.3, 0.6, "belongs to social", "found there in 60 % of the searches"),
        (1 / 6, 2 / 6, "fits no group clearly", "in worry in 17 % of the searches, in social in 33 %"),
        (0.5, 0.5, "keep", ""),
    ],
)
def test_a_column_that_goes_elsewhere_belongs_there_if_it_does_so_mostly(model, rows, own, share, verdict, because):
    fitted = model.model_
    places = {group.name: number for number, group in enumerate(fitted.groups)}
    group = fitted.groups[places["worry"]]
    moved = [name == "worry_1" for name in group.columns]
    unsure = replace(
        group,
        column_stability=tuple(own if move else 1.0 for move in moved),
        column_elsewhere=tuple((places["social"], share) if move else None for move in moved),
    )
    groups = tuple(unsure if one is group else one for one in fitted.groups)
    facts = item_facts(replace(fitted, groups=groups), fitted.encode(rows))
    item = next(one for one in facts["items"] if one["column"] == "worry_1")
    assert (item["verdict"], item["because"]) == (verdict, because)
    text = " ".join("\n".join(item_lines(facts)).split())
    assert ("worry_1 (?)" in text) == (own < 0.5)
    assert because in text


def test_that_alpha_rises_without_an_item_is_said(items, rows):
    cells = rows[["social_1", "social_2", "social_3", "social_4", "social_5", "social_6"]] * [1, 1, 1, 1, -1, 1]
    whole = naive_alpha(cells)
    for name in cells:
        without = naive_alpha(cells.drop(columns=name))
        rises = round(without, 2) > round(whole, 2)
        assert (f"alpha rises to {without:.2f} without it" in items.loc[name, "remark"]) == rises


def test_a_key_says_where_a_column_belongs():
    answers = make_questionnaire(300, random_state=1)
    rows = answers.data[[name for name in answers.data if name.startswith(("worry", "social"))]]
    key = {name: answers.labels[name] for name in rows} | {"worry_2": "social"}
    model = latree.LatentTree(key=key, random_state=0, n_resamples=0).fit(rows)
    items = model.items(rows).set_index("column")
    assert items.loc["worry_2", "group"] == "social"
    assert items.loc["worry_2", "verdict"] == "belongs to worry"
    assert "nats per row" in items.loc["worry_2", "because"]


def test_kinds_of_columns_without_an_order_have_no_classical_figures():
    rows = make_questionnaire(200, random_state=0).data.filter(like="worry")
    rows["worry_1"] = rows["worry_1"].map({1: "e", 2: "b", 3: "d", 4: "a", 5: "c"})
    rows["worry_2"] = rows["worry_2"] + np.random.default_rng(0).random(len(rows))
    model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(rows)
    items = model.items(rows).set_index("column")
    assert items["item_rest"].isna().all()
    assert items.loc[["worry_1", "worry_2"], "floor"].isna().all()
    assert items["reliability_without"].notna().all()
    assert items.loc["worry_1", "verdict"] == "keep"
