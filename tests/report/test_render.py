"""The HTML of a report, as a parser sees it."""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256

import numpy as np
import pytest

import latree
from helpers.models import model_on, small_models
from helpers.report import HOSTILE, SHAPES, Page, grouped_model, hostile_model, learned_run
from latree._util.words import counted, one_line
from latree.facts.found import facts_of
from latree.facts.text import group_lines
from latree.facts.words import worth_facts
from latree.interpret.topics import find_topics
from latree.interpret.worth import measure_worth
from latree.model import LatentTreeModel
from latree.report.render import decimal, in_percent, report_html
from latree.table import Column
from latree.tree import Tree

MODELS = small_models()


# The sections of a report with rows, from top to bottom.
SECTIONS = ("groups", "tree", "heatmap", "rows", "fit", "made", "data", "help")


def test_names_stay_text():
    plain_page, page = (
        Page(report_html(latree.random_model(latree.random_tree(12)))),
        Page(report_html(hostile_model())),
    )
    assert len(page.scripts) == len(plain_page.scripts) == 3
    assert page.scripts[1:] == plain_page.scripts[1:]
    assert set(page.tags) - {"li", "ul"} == set(plain_page.tags) - {"li", "ul"}
    assert not [attribute for attribute in page.attributes if attribute[1].startswith("on")]
    names = json.loads(page.scripts[0])["names"][: len(HOSTILE)]
    assert names == [one_line(name) for name in HOSTILE]
    assert [name for name, shown in zip(HOSTILE, names, strict=True) if name != shown] == [
        "\u202eright to left",
        "two\nlines\tand a tab",
        "\u2028\u2029",
    ]
    assert not re.search("[<>&\u2028\u2029]", page.scripts[0])
    assert "{{ 7 * 7 }}" in page.text
    assert "<script>window.canary" in page.text


def test_nothing_but_the_pages_own_scripts_and_style_may_run():
    page = Page(report_html(MODELS[0]))
    (policy,) = [value for tag, name, value in page.attributes if tag == "meta" and value.startswith("default-src")]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    def hashes(texts):
        return " ".join(f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts)

    assert rules["default-src"] == "'none'"
    assert rules["script-src"] == hashes(page.scripts[1:])
    assert rules["style-src"] == hashes(page.styles)
    assert "unsafe" not in policy
    assert not [value for _, name, value in page.attributes if name in ("src", "style", "srcset")]
    links = [value for _, name, value in page.attributes if name == "href"]
    assert all(link.startswith(("#", "data:")) for link in links)
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(", page.scripts[2])


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_of_tree_has_a_report(name):
    tree = SHAPES[name]
    model = model_on(tree, [2] * tree.n_nodes, 0)
    table = model.sample(50, random_state=0)
    html = report_html(model, table, rows=2, test=table, labels={tree.names[0]: "x"})
    page = Page(html)
    assert ("No dependence found" in page.text) == (len(tree.edges) == 0)
    # Without dependence, there is nothing but how the model was made.
    ids = [value for tag, name, value in page.attributes if tag == "section" and name == "id"]
    assert ids == (["made"] if not len(tree.edges) else [*SECTIONS])
    assert html == report_html(model, table, rows=2, test=table, labels={tree.names[0]: "x"})


def test_variables_of_one_state_have_a_report():
    model = model_on(SHAPES["parts"], [1, 2, 3, 1, 2, 1, 1], 0)
    page = report_html(model, model.sample(20, random_state=0), rows=2)
    assert "nan" not in json.loads(Page(page).scripts[0])["tree"]["strength"]


def test_the_file_stays_small():
    model = latree.random_model(
        latree.random_tree(60, random_state=0), n_states=10, hidden_states=12, start="identity", random_state=0
    )
    table = model.sample(100, random_state=0)
    assert len(report_html(model, table, rows=10).encode()) < 400_000


def test_categories_and_labels_are_embedded_without_invisible_characters():
    model = hostile_model()
    page = Page(report_html(model, labels=dict(zip(model.tree.names, HOSTILE, strict=True))))
    embedded = json.loads(page.scripts[0])
    names = [*embedded["labels"]["names"], *(name for names in embedded["values"]["lists"] for name in names["names"])]
    assert len(names) > 2 * len(HOSTILE)
    assert names == [one_line(name) for name in names]


def tile_of(page):
    """Return the tile about usefulness as a parser sees it."""
    (tile,) = re.findall(r'<section class="card tile" aria-labelledby="usefulness.*?</section>', page, flags=re.DOTALL)
    return " ".join(Page(tile).text.split())


def test_the_first_screen_has_the_gain_on_new_rows_and_not_that_of_fitted_ones():
    tree = latree.random_tree(6, random_state=0)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=0)
    table = model.sample(300, random_state=0)
    worth = measure_worth(model, table)
    tile = tile_of(report_html(model, table))
    assert f"{worth.gain:.2f} ± {worth.error:.2f} nats per row" in tile
    assert worth_facts(worth, "explain")["verdict"] in tile
    assert "test rows" not in tile
    tile = tile_of(report_html(model, table, test=model.sample(50, random_state=3)))
    assert re.search(r"The 50 test rows are \d\.\d\d nats more probable than under independence\.", tile)
    independent = [probabilities.mean(axis=1, keepdims=True) + 0 * probabilities for probabilities in model.tables]
    poor = latree.LatentTreeModel(tree, model.columns, tuple(independent))
    page = report_html(poor, table, test=model.sample(50, random_state=3))
    assert re.search(r"The 50 test rows are \d\.\d\d nats less probable", page)


def test_a_report_says_why_it_has_no_gain():
    model = hostile_model()
    assert "too few rows to measure how well" in report_html(model, model.sample(29, random_state=0))
    assert "The comparison needs the data" in report_html(model)
    assert "The comparison needs the data" not in report_html(model, model.sample(60, random_state=0))


def test_the_goal_and_the_edges_that_are_kept_are_named():
    model = learned_run().model
    goals = {
        "explain": ("chosen by BIC", "to minimise BIC", "This value is the default"),
        "predict": (
            "predict new rows",
            "chosen by held-out likelihood",
            "The number was chosen to maximise the held-out",
            "This value was chosen to maximise the held-out",
        ),
    }
    edges = {
        "tested": "those between hidden variables that the rows show",
        "all": "all of the fully resolved tree",
    }
    for goal, texts in goals.items():
        for resolve, kept in edges.items():
            for method in ("auto", "nj"):
                settings = replace(model.record.settings, method=method, goal=goal, resolve=resolve)
                page = Page(report_html(replace(model, record=replace(model.record, settings=settings))))
                found = {one for one in (*goals["explain"], *goals["predict"], *edges.values()) if one in page.text}
                assert found == {*texts, *([kept] if method == "auto" else [])}


def test_support_is_explained_as_it_was_computed():
    model = learned_run().model
    texts = {3: "the percentage of new trees that contain it", 0: "how much of it comes again in other rows"}
    for bootstrap in texts:
        settings = replace(model.record.settings, bootstrap=bootstrap)
        page = Page(report_html(replace(model, record=replace(model.record, settings=settings))))
        assert [text for text in texts.values() if text in page.text] == [texts[bootstrap]]


def test_numbers_are_written_for_readers():
    assert [counted(number, "row") for number in (0, 1, 1000)] == ["0 rows", "1 row", "1,000 rows"]
    assert [in_percent(share) for share in (None, 0, 9e-9, 0.004, 0.5, 1)] == [
        "–",
        "0\u00a0%",
        "<\u00a00.001\u00a0%",
        "0.4\u00a0%",
        "50\u00a0%",
        "100\u00a0%",
    ]
    assert [decimal(value) for value in (None, -0.004, -0.006, 1234.5)] == ["–", "0.00", "−0.01", "1,234.50"]


def test_the_key_of_the_printed_tree_comes_before_it():
    # The tree may be several pages long: a key below it would be on a page of its own.
    html = report_html(grouped_model([4, 3]))
    assert 0 < html.index("<figcaption>") < html.index('<div class="strips">')


def test_independent_columns_without_a_name_of_the_data():
    model = model_on(SHAPES["independent"], [2] * 4, 0)
    words = "The 4 columns are independent of each other, as far as the rows show."
    assert words in " ".join(Page(report_html(model)).text.split())
    # The terminal has the same words.
    assert group_lines(facts_of(model))[-1] == words


def test_topics_are_listed_where_rows_look_like_documents():
    tree = Tree.from_newick("((moon,orbit,nasa),(god,bible,jesus));")
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)

    def page(there):
        """The page of a model in which words occur in this share of the documents about them."""
        tables = []
        for node, parent in enumerate(tree.rooted().parent.tolist()):
            low, high = (0.01, there) if node < len(columns) else (0.1, 0.5)
            tables.append(np.array([[1 - low, 1 - high], [low, high]] if parent >= 0 else [[0.8], [0.2]]))
        return report_html(LatentTreeModel(tree, columns, tuple(tables)))

    text = page(0.5)
    section = text.partition('<section id="topics"')[2].partition("</section>")[0]
    assert 'href="#topics"' in text
    assert re.findall(r'<a [^>]*href="#group-\d"><bdi>([^<]*)</bdi></a><bdi class="muted">([^<]*)<', section) == [
        ("moon, nasa", ", orbit"),
        ("bible, god", ", jesus"),
    ]
    assert len(re.findall(r"<b>\d+\xa0%</b>", section)) == section.count("<li") == 2
    columns = tuple(replace(column, kind="text", categories=("no", "yes")) for column in columns)
    assert 'id="topics"' not in page(0.5)


def test_answers_that_are_mostly_right_are_no_topics():
    tree = Tree.from_newick("((a,b,c),(d,e,f));")
    model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=0)
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    assert len(find_topics(replace(model, columns=columns))) > 0
    assert 'id="topics"' not in report_html(replace(model, columns=columns))
