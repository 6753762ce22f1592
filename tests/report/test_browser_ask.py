"""The page of `latree ask` in a real browser: it asks and scores as Python does, and can be used by everybody."""

import csv
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.report import HOSTILE, grouped_model, hostile_model
from latree.interpret.asking import next_question
from latree.interpret.scores import row_scores
from latree.learn import learn_model
from latree.model import LatentTreeModel
from latree.report.ask import ask_html
from latree.settings import Settings
from latree.table import Column
from latree.tree import Tree

EXACT = 1e-9


def scales_model():
    """Three groups; one of them has a tree of three hidden variables, and a column that is an inner node."""
    edges = [(0, 12), (1, 12), (2, 12), (12, 13), (3, 13), (4, 13), (13, 14), (5, 14), (6, 14), (6, 7)]
    edges += [(8, 15), (9, 15), (10, 15), (11, 15), (15, 13)]
    tree = Tree([f"q{number}" for number in range(12)], edges)
    return model_on(tree, [3, 4, 2, 5, 3, 2, 3, 3, 4, 3, 2, 3, 3, 4, 2, 3], 7)


def mixed_model():
    """Columns of numbers in bins, of categories without an order, and of booleans."""
    rng = np.random.default_rng(3)
    kind = rng.integers(3, size=400)
    columns = {
        "length": kind + rng.normal(size=400) * 0.5,
        "weight": 2 * kind + rng.normal(size=400),
        "colour": np.array(["red", "green", "blue"])[np.where(rng.random(400) < 0.7, kind, rng.integers(3, size=400))],
        "shape": np.array(["round", "flat", "long"])[np.where(rng.random(400) < 0.7, kind, rng.integers(3, size=400))],
        "new": (kind == 2) ^ (rng.random(400) < 0.2),
    }
    pandas = pytest.importorskip("pandas")
    table = latree.as_table(pandas.DataFrame(columns), {"bins": 3})
    return learn_model(table, Settings(method="lcm", n_states=3, random_state=0)).model


MODELS = {
    "scales": scales_model,
    "mixed": mixed_model,
    "groups": lambda: grouped_model([6, 5, 4]),
    "hostile": hostile_model,
}


@pytest.fixture(scope="module")
def models():
    made = {}

    def model(name):
        if name not in made:
            made[name] = MODELS[name]()
        return made[name]

    return model


@pytest.fixture
def asked(open_file, tmp_path, models):
    """Open the page of a model by its name."""

    def open_page(name, how=None, **options):
        path = tmp_path / "ask.html"
        path.write_text(ask_html(models(name), **(how or {})), encoding="utf-8")
        return open_file(path, **options)

    return open_page


def shown_scores(page):
    """Return scores and errors, with all their digits."""
    items = page.locator("#scores li")
    found = items.evaluate_all("items => items.map(item => [item.dataset.score, item.dataset.error])")
    return np.array([[float(score), float(error)] for score, error in found])


def question(page):
    """Return the name of the column that is asked: there are no descriptions here."""
    return page.locator("#text").inner_text()


def choose(page, code):
    page.locator("#answers button").nth(code).click()


def frame_of(model, answers):
    """Return a table with one row."""
    codes = np.full((1, len(model.columns)), -1)
    for name, code in answers.items():
        codes[0, model.node(name)] = code
    return latree.Table.from_codes(model.columns, codes)


@pytest.mark.parametrize(("name", "seed"), [("scales", 0), ("scales", 1), ("mixed", 0), ("groups", 0)])
def test_it_asks_and_scores_as_python_does(asked, models, name, seed):
    page, model, rng, codes = asked(name).page, models(name), np.random.default_rng(seed), {}
    while True:
        rows = row_scores(model, frame_of(model, codes))
        shown = shown_scores(page)
        np.testing.assert_allclose(shown[:, 0], rows.scores[0], rtol=0, atol=EXACT)
        # A standard error near 0 is the root of a difference; compare the variances.
        np.testing.assert_allclose(shown[:, 1] ** 2, rows.errors[0] ** 2, rtol=0, atol=EXACT)
        given = {column: label_of(model, column, code) for column, code in codes.items()}
        expected = next_question(model, given)
        assert page.locator("#asking").is_visible() == (expected is not None)
        if expected is None:
            break
        assert question(page) == expected.column
        codes[expected.column] = int(rng.integers(model.columns[model.node(expected.column)].n_states))
        choose(page, codes[expected.column])
    assert len(codes) >= 4


def label_of(model, name, code):
    column = model.columns[model.node(name)]
    return column.categories[code] if column.cuts is not None else column.decode(code)


def test_a_number_means_its_bin_and_stays_in_the_file(asked, models):
    opened = asked("mixed")
    page, model = opened.page, models("mixed")
    while not page.locator("#number").is_visible():
        page.click("#skip")
    column = model.columns[model.node(question(page))]
    page.fill("#typed", "many")
    page.press("#typed", "Enter")
    assert page.locator("#wrong").is_visible()
    page.fill("#typed", str(column.cuts[0]))  # the last number of the first bin
    page.press("#typed", "Enter")
    rows = row_scores(model, frame_of(model, {column.name: 0}))
    np.testing.assert_allclose(shown_scores(page)[:, 0], rows.scores[0], atol=EXACT)
    assert float(saved(page)[0][column.name]) == column.cuts[0]


def saved(page):
    page.click("#finish")
    with page.expect_download() as download:
        page.locator("#done .download").click()
    text = download.value.path().read_text(encoding="utf-8")
    return list(csv.DictReader(StringIO(text)))


def test_names_come_back_in_the_file(asked, models):
    (row,) = saved(asked("hostile").page)
    assert list(row)[: len(HOSTILE)] == HOSTILE


@pytest.mark.parametrize("name", ["scales", "mixed"])
def test_the_file_has_the_scores_that_python_gives_it(asked, models, name, tmp_path):
    page, model = asked(name).page, models(name)
    for code in (1, 0, 1):
        choose(page, code)
    with page.expect_download() as download:
        page.click("#finish")
        page.locator("#done .download").click()
    path = tmp_path / "answers.csv"
    download.value.save_as(path)
    rows = row_scores(model, path)
    np.testing.assert_allclose(shown_scores(page)[:, 0], rows.scores[0], atol=EXACT)


def test_answers_can_be_changed_and_questions_skipped(asked, models):
    page, model = asked("groups").page, models("groups")
    assert page.locator("#back").is_disabled()
    first = question(page)
    choose(page, 0)
    second = question(page)
    page.click("#skip")
    assert question(page) not in (first, second)
    page.click("#back")
    assert question(page) == second
    page.click("#back")
    assert question(page) == first
    assert page.locator("#answers button[aria-pressed=true]").inner_text() == label(model, first, 0)
    choose(page, 2)
    rows = row_scores(model, frame_of(model, {first: 2}))
    np.testing.assert_allclose(shown_scores(page)[:, 0], rows.scores[0], atol=EXACT)
    assert question(page) == next_question(model, {first: model.columns[0].decode(2), second: None}).column
    page.click("#so-far summary")
    page.locator("#given button").nth(1).click()
    assert question(page) == second
    choose(page, 1)
    rows = row_scores(model, frame_of(model, {first: 2, second: 1}))
    np.testing.assert_allclose(shown_scores(page)[:, 0], rows.scores[0], atol=EXACT)


def label(model, name, code):
    return model.columns[model.node(name)].categories[code]


def test_it_stops_after_the_items_or_when_scores_are_reliable_and_goes_on_if_asked(asked, models):
    page, model = asked("groups", {"items": 3}).page, models("groups")
    assert page.locator("#progress").inner_text() == "Question 1 of at most 3"
    for _ in range(3):
        choose(page, 1)
    assert page.locator("#done").is_visible()
    page.click("#more")
    assert page.locator("#progress").inner_text() == "Question 4"
    page = asked("groups", {"reliability": 0.5}).page
    given = {}
    while (expected := next_question(model, given, reliability=0.5)) is not None:
        assert question(page) == expected.column
        given[expected.column] = model.columns[0].decode(1)
        choose(page, 1)
    assert page.locator("#done").is_visible()
    assert len(given) < len(model.columns)
    page.click("#again")
    assert question(page) == next_question(model).column


def test_names_are_text(asked, models):
    page = asked("hostile").page
    for _ in HOSTILE:
        if page.locator("#asking").is_visible():
            choose(page, 0)
    assert page.evaluate("window.canary") is None
    assert page.locator("#app img, #app i").count() == 0


def test_the_keyboard_is_enough_and_the_focus_follows(asked, models):
    page = asked("groups").page
    first = question(page)
    page.locator("#text").focus()
    page.keyboard.press("2")
    assert page.evaluate("document.activeElement.id") == "text"
    assert question(page) != first
    assert "plus or minus" in page.locator("#status").inner_text()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator("#given li").count() == 2
    names = page.locator("button:visible").evaluate_all("all => all.map(b => b.ariaLabel || b.innerText)")
    assert all(names)


@pytest.mark.parametrize("name", ["groups", "mixed", "hostile"])
def test_it_fits_on_a_phone(asked, name):
    opened = asked(name, width=360, height=740, has_touch=True, is_mobile=True)
    assert opened.overflow() <= 0
    choose(opened.page, 0)
    assert opened.overflow() <= 0
    heights = opened.page.locator("#answers button").evaluate_all("all => all.map(b => b.offsetHeight)")
    assert min(heights) >= 44  # what a thumb hits


def test_descriptions_are_the_questions(open_file, tmp_path):
    model = grouped_model([5, 4])
    columns = tuple(replace(column, description=f"How often <{column.name}>?") for column in model.columns)
    model = replace(model, columns=columns)
    path = tmp_path / "ask.html"
    path.write_text(ask_html(model, title="A <b>title</b>"), encoding="utf-8")
    opened = open_file(path)
    name = next_question(model).column
    assert question(opened.page) == f"How often <{name}>?"
    assert opened.page.locator("#name").inner_text() == name
    assert opened.page.locator("h1").inner_text() == "A <b>title</b>"


def test_thousands_of_columns_with_many_states_are_refused():
    tree = Tree([f"x{number}" for number in range(400)], [(number, 400) for number in range(400)])
    tables = [np.full((60, 8), 1 / 60)] * 400 + [np.full((8, 1), 1 / 8)]
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.ones(len(table)), table.shape[1]).T for table in tables]
    columns = tuple(Column(name, "integer", tuple(map(str, range(60))), ordered=True) for name in tree.names)
    model = LatentTreeModel(tree, columns, tuple(tables))
    with pytest.raises(latree.InputError, match=r"the page would have \d+\.\d MB for 400 columns in 1 groups"):
        ask_html(model)
