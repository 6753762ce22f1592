"""What a notebook shows of a model."""

from dataclasses import replace

import latree
from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, grouped_model, hostile_model
from latree.figure.colours import colour_of
from latree.interpret.groups import with_groups
from latree.report.notebook import notebook_html
from latree.tree import Tree


def test_it_says_what_the_report_says():
    tree = Tree.from_newick("((a,b,c)0.95,(d,e,f));")
    model = with_groups(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5))
    model = replace(model, groups=tuple(replace(group, stability=0.945) for group in model.groups))
    html = notebook_html(model, dict(zip("abcdef", "xxxyyy", strict=True)))
    for text in ("6 columns fall into 2 groups: exactly", "1 of 1 edges sure.", "depend on each other", "95 %", "<svg"):
        assert text in html
    assert all(f"color:{colour_of(number)}" in html for number in (0, 1))
    assert "style='color" in html
    assert "<script" not in html


def test_names_stay_text():
    html = notebook_html(with_groups(hostile_model()), dict.fromkeys(HOSTILE, "<i>"))
    assert "<script" not in html
    assert "<img" not in html


def test_every_shape_has_a_display():
    for tree in SHAPES.values():
        html = notebook_html(with_groups(model_on(tree, [2] * tree.n_nodes, 0)), None)
        assert ("<svg" in html) == (len(tree.edges) > 0)


def test_a_large_tree_is_folded():
    small, large = (notebook_html(grouped_model([4] * n), None) for n in (15, 16))
    drawn = [html[html.index("<svg") :].count(">item ") for html in (small, large)]
    assert drawn[0] == 60
    assert drawn[1] == 0
    assert len(large) < 1.5 * len(small)
