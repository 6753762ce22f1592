"""The tree as a picture for paper and without JavaScript."""

import re
from html import unescape
from xml.etree import ElementTree

import pytest

from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, grouped_model, hostile_model
from latree._util.words import one_line
from latree.figure.picture import shortened
from latree.report.picture import convergence_chart, gain_bars, tree_picture
from latree.report.render import page_facts


def strips(picture):
    return [ElementTree.fromstring(text) for text in re.findall(r"<svg.*?</svg>", str(picture), flags=re.DOTALL)]


def test_strips_follow_each_other_and_no_row_is_cut():
    found = strips(tree_picture(page_facts(grouped_model([8, 6, 5, 3, 2]))))
    end = 0.0
    for strip in found:
        _, top, _, height = map(float, strip.get("viewBox").split())
        assert top == end
        end = top + height
        names = [text for text in strip.iter("text") if text.get("class") is None]
        assert names
        assert all(top + 6 < float(text.get("y")) < end - 2 for text in names)
    assert end == 24 * 16


def test_every_column_group_and_support_is_there_once():
    picture = tree_picture(page_facts(grouped_model([8, 6, 5, 3, 2])))
    texts = {kind: set() for kind in ("group-name", "ring-text", "support", None)}
    for strip in strips(picture):
        for text in strip.iter("text"):
            texts[text.get("class")].add("".join(text.itertext()))
    assert texts[None] == {f"item {number}" for number in range(24)}
    assert texts["ring-text"] == set("12345")
    assert texts["group-name"] == {
        f"{number} group of item {first}" for number, first in enumerate((0, 8, 14, 19, 22), 1)
    }
    assert texts["support"] <= {"40", "55", "70", "85", "100"}
    kinds = [word for word in ("sure", "likely", "unsure") if re.search(rf'class="link [^"]*\b{word}"', picture)]
    assert kinds == ["sure", "likely", "unsure"]


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_has_a_picture(name):
    tree = SHAPES[name]
    picture = tree_picture(page_facts(model_on(tree, [2] * tree.n_nodes, 0)))
    assert "nan" not in picture
    found = {"".join(text.itertext()) for strip in strips(picture) for text in strip.iter("text")}
    assert set(tree.names) <= found


def test_names_stay_text():
    picture = str(tree_picture(page_facts(hostile_model())))
    assert set(re.findall(r"<(\w+)", picture)) <= {"svg", "g", "path", "circle", "text", "rect"}
    shown = unescape(picture)
    assert all(shortened(one_line(name))[:8] in shown for name in HOSTILE)


def test_bars_of_gains_start_at_independence():
    def ends(*gains):
        return [(bar["start"], bar["end"]) for bar in gain_bars([{"name": "a", "gain": gain} for gain in gains])]

    assert ends(1.0, 4.0) == [(0, 25), (0, 100)]
    assert ends(-1.0, 3.0) == [(0, 25), (25, 100)]
    assert ends(0.0) == [(0, 0)]
    assert gain_bars([]) == ends(None, 1.0) == []


def test_the_line_of_em_starts_where_it_can_be_seen():
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))
