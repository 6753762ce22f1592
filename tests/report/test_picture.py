"""The tree as a picture for paper and without JavaScript."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, grouped_model, hostile_model
from latree._util.words import one_line
from latree.figure.picture import shortened
from latree.report.picture import convergence_chart, first_picture, tree_picture
from latree.report.render import page_facts


def strips(picture):
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", str(picture), flags=re.DOTALL)]


def written(picture):
    return [text.text or text[0].tail for strip in strips(picture) for text in strip.iter("text")]


def test_a_tree_that_fits_a_page_is_one_strip_and_others_are_cut_between_rows():
    assert len(strips(tree_picture(page_facts(grouped_model([8, 6, 5, 3, 2]))))) == 1
    facts = page_facts(grouped_model([30, 25, 20]))
    found = strips(tree_picture(facts))
    assert len(found) == 8
    end, texts = 0.0, []
    for strip in found:
        _, top, _, height = map(float, strip.get("viewBox").split())
        assert top == pytest.approx(end, abs=0.02)
        end = top + height
        for text in strip.iter("text"):
            # A text is whole in one strip: its baseline is above the end of its letters.
            size = float(text.get("font-size"))
            if top + size / 2 < float(text.get("y")) < end + size / 4:
                texts.append(text.text)
    columns = [text for text in texts if text and text.startswith("item")]
    assert columns == [facts["names"][column] for column in facts["order"]]


def test_every_column_group_and_support_is_there_once():
    texts = written(tree_picture(page_facts(grouped_model([8, 6, 5, 3, 2]))))
    for number in range(24):
        assert texts.count(f"item {number}") == 1
    for number, first in enumerate((0, 8, 14, 19, 22), 1):
        assert texts.count(str(number)) == 2  # in the circle and at the bracket
        assert f"group of item {first}" in texts
    assert {"40", "55", "70", "85", "100"} <= set(texts)


def test_the_colours_are_those_of_the_page():
    picture = str(tree_picture(page_facts(grouped_model([8, 6, 5, 3, 2]))))
    assert not re.findall(r"#[0-9a-f]{3,6}", picture)
    assert {f"var(--c{number})" for number in range(5)} <= set(re.findall(r"var\(--c\d+\)", picture))


def test_the_first_screen_has_all_columns_or_the_groups():
    few = written(first_picture(page_facts(grouped_model([8, 6, 5, 3, 2]))))
    assert {f"item {number}" for number in range(24)} <= set(few)
    many = written(first_picture(page_facts(grouped_model([12, 10, 9, 8, 7, 6, 5, 4]))))
    assert "1 group of item 0 (12)" in many
    assert not [text for text in many if text.startswith("item")]
    # Of many groups, some stand for others.
    assert len(written(first_picture(page_facts(grouped_model([3] * 60))))) <= 2 * 26


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_a_picture(name):
    tree = SHAPES[name]
    facts = page_facts(model_on(tree, [2] * tree.n_nodes, 0))
    picture = tree_picture(facts)
    assert "nan" not in picture
    assert "nan" not in first_picture(facts)
    assert set(tree.names) <= set(written(picture))


def test_names_stay_text():
    picture = str(tree_picture(page_facts(hostile_model()))) + str(first_picture(page_facts(hostile_model())))
    assert set(re.findall(r"<(\w+)", picture)) <= {"svg", "polyline", "polygon", "circle", "text", "title"}
    shown = unescape(picture)
    assert all(shortened(one_line(name))[:8] in shown for name in HOSTILE)


def test_the_line_of_em_starts_where_it_can_be_seen():
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))
