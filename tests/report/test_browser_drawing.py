"""The drawing, its panel, search, downloads and heat map in a real browser."""

import csv
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from helpers.report import HOSTILE, SHAPES, grouped_model
from latree.export.trees import plain_newick

NAMES = "[...document.querySelectorAll('#drawing .name')].map(text => text.textContent)"
PATHS = "[...document.querySelectorAll('#drawing .link, #drawing .leader')].map(path => path.getAttribute('d'))"
HASH = "window.location.hash"
N_FOLDED = "document.querySelectorAll('#drawing .mark.folded').length"


def still(opened):
    """Wait until nothing moves any more."""
    opened.settled("!document.querySelector('#drawing.moving')")


def drag_support(page, value):
    page.evaluate(
        "value => { const slider = document.getElementById('support'); slider.value = value;"
        " slider.dispatchEvent(new Event('input')); }",
        value,
    )


# ---- names and layouts ----


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize(("name", "n"), [("nine", 9), ("groups", 24), ("hostile", len(HOSTILE))])
def test_all_names_are_drawn_in_one_line_without_overlap(visit, name, n, width):
    opened = visit(name, width=width)
    boxes = opened.page.evaluate(
        "[...document.querySelectorAll('#drawing .name')].map(text => { const box = text.getBoundingClientRect();"
        " return [box.left, box.top, box.right, box.bottom]; })"
    )
    stage = opened.page.locator("#stage").bounding_box()
    assert len(boxes) == n
    boxes = np.array(sorted(boxes, key=lambda box: box[1]))
    assert np.ptp(boxes[:, 0]) < 1.5
    assert (boxes[1:, 1] >= boxes[:-1, 3] - 4).all()
    assert boxes[:, 2].max() <= stage["x"] + stage["width"]
    strips = opened.page.locator("#drawing .strip").count()
    assert strips == {"nine": 8, "groups": 24, "hostile": len(HOSTILE)}[name]


def test_the_drawing_grows_with_its_columns_and_nothing_scrolls_inside(visit):
    opened = visit("many")
    opened.page.click("button[data-fold=none]")
    still(opened)
    assert len(opened.page.evaluate(NAMES)) == 136
    heights = opened.page.evaluate(
        "[document.querySelector('#stage').clientHeight, document.querySelector('#stage').scrollHeight]"
    )
    assert heights[0] == heights[1] > 136 * 15


@pytest.mark.parametrize("name", [name for name, tree in SHAPES.items() if len(tree.edges)])
def test_every_shape_is_drawn(visit, name):
    opened = visit(name)
    tree = SHAPES[name]
    assert opened.stage("shown") == str(tree.n_nodes)
    for layout in ("radial", "horizontal"):
        opened.page.click(f"button[data-layout={layout}]")
        still(opened)
        assert opened.page.evaluate(NAMES) != []
        drawn = opened.page.evaluate(PATHS)
        assert len(drawn) == len(tree.edges) + tree.n_observed
        assert not [path for path in drawn if not path or "NaN" in path or "Infinity" in path]
    for node in range(tree.n_nodes):
        opened.find(tree.node_names[node])
        assert opened.stage("selected") == str(node)


def test_layouts_and_lengths(visit):
    opened = visit("groups")
    page = opened.page
    assert opened.stage("layout") == "horizontal"
    seen = {str(page.evaluate(PATHS))}
    for button, key, value in (("layout=radial", "layout", "radial"), ("lengths=equal", "lengths", "equal")):
        page.click(f"button[data-{button}]")
        assert opened.stage(key) == value
        assert page.get_attribute(f"button[data-{button}]", "aria-pressed") == "true"
        still(opened)
        seen.add(str(page.evaluate(PATHS)))
    assert len(seen) == 3
    assert page.evaluate(HASH) == "#layout=radial&lengths=equal"
    page.reload()
    assert (opened.stage("layout"), opened.stage("lengths")) == ("radial", "equal")


# ---- groups, colours, support ----


def test_groups_fold_to_one_circle_each_with_an_area_by_columns(visit):
    opened = visit("groups")
    page = opened.page
    page.click("button[data-fold=groups]")
    still(opened)
    assert page.evaluate(N_FOLDED) == 5
    assert opened.stage("rows") == "5"
    radii = page.evaluate("[...document.querySelectorAll('.mark.folded circle')].map(c => Number(c.getAttribute('r')))")
    np.testing.assert_allclose(np.square(sorted(radii)) / max(radii) ** 2, np.array([2, 3, 5, 6, 8]) / 8, atol=0.02)
    page.click("button[data-fold=none]")
    assert page.evaluate(N_FOLDED) == 0
    # A bracket folds by a double click, its circle unfolds by another one.
    page.locator("#drawing .group").first.dblclick()
    assert page.evaluate(N_FOLDED) == 1
    still(opened)
    page.locator("#drawing .mark.folded circle").dblclick()
    assert page.evaluate(N_FOLDED) == 0


def test_more_than_a_hundred_columns_start_as_exactly_their_groups(visit):
    opened = visit("many")
    page = opened.page
    assert page.evaluate(N_FOLDED) == int(opened.stage("rows")) == 34
    assert sum(name.endswith("(4)") for name in page.evaluate(NAMES)) == 34
    # Twelve groups have a colour of their own, the others are grey, and the legend says so.
    colours = page.evaluate("[...document.querySelectorAll('.mark.folded')].map(m => m.getAttribute('class'))")
    numbers = [re.search(r"\bc(\d+)\b", one)[1] for one in colours]
    assert sorted(numbers.count(str(colour)) for colour in range(13)) == [1] * 12 + [22]
    assert "groups from 13 on have no colour of their own" in page.locator("#legend").inner_text()
    opened.find("item 77")
    assert page.evaluate(N_FOLDED) == 33  # what is found is unfolded
    assert "item 77" in page.evaluate(NAMES)


def test_columns_and_labels_have_the_colours_of_their_groups(visit):
    page = visit("groups").page
    of_labels = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.chip')].map(chip => "
        "[chip.textContent, getComputedStyle(chip.querySelector('.square')).backgroundColor]))"
    )
    strips = page.evaluate(
        "[...document.querySelectorAll('#drawing .strip')].map(strip => getComputedStyle(strip).fill)"
    )
    names = page.evaluate(NAMES)
    assert sorted(of_labels) == [f"scale {number}" for number in range(1, 6)]
    assert len(set(of_labels.values())) == 5
    assert strips[names.index("item 1")] == of_labels["scale 1"]
    assert strips[names.index("item 0")] == of_labels["scale 2"]  # the one that is in another group
    brackets = page.evaluate("[...document.querySelectorAll('.bracket')].map(one => getComputedStyle(one).stroke)")
    assert set(brackets) == set(of_labels.values())


def test_the_legend_is_complete_and_not_cut_off(visit):
    for width in (1280, 390):
        opened = visit("groups", width=width)
        if width == 390:
            # On a phone, it is behind a button, with all tools but the search.
            assert not opened.page.locator(".meanings").is_visible()
            opened.page.click("#more-tools")
        legend = opened.page.locator("#legend")
        text = legend.inner_text()
        for words in ("thick", "long", "hidden variable", "colours are groups", "sure", "likely", "unsure", "support"):
            assert words in text
        assert legend.evaluate("box => box.scrollWidth - box.clientWidth") <= 0
        assert opened.overflow() <= 0


def test_the_slider_leaves_out_edges_with_less_support(visit):
    opened = visit("groups")
    page = opened.page
    everything = int(opened.stage("shown"))
    support = np.linspace(0.4, 1, 5).round(2)
    for least in (0, 45, 60, 100):
        drag_support(page, least)
        left_out = int((100 * support < least).sum())
        assert int(opened.stage("shown")) == everything - left_out
        assert opened.stage("rows") == "24"
    assert page.locator("#support-text").inner_text() == "100\u00a0%, −4 edges"
    assert page.evaluate(HASH) == "#support=100"
    shown = [int(text) for text in page.locator("#drawing .support").all_text_contents()]
    assert all(number >= 100 for number in shown)


def test_numbers_on_edges_are_those_of_the_page(visit):
    opened = visit("groups")
    shown = {int(text) for text in opened.page.locator("#drawing .support").all_text_contents()}
    assert shown <= {40, 55, 70, 85, 100}
    assert shown
    opened.find("group of item 19")
    opened.page.locator("#panel a", has_text="group of item 19").click()
    neighbours = opened.page.locator("#panel table").last.inner_text()
    assert "what all share" in neighbours
    assert "85" in neighbours


# ---- the panel ----


def test_a_column_shows_its_values_as_parts_of_all_rows(visit):
    opened = visit("groups")
    opened.find("item 3")
    page = opened.page
    headings = page.locator("#panel h4").all_inner_texts()
    assert [heading.lower() for heading in headings] == ["values", "most related columns", "neighbours"]
    shares = [int(text.split()[0]) for text in page.locator("#panel .distribution td.figure").all_inner_texts()]
    assert sum(shares) == 100
    widths = page.evaluate(
        "[...document.querySelectorAll('#panel .distribution .front')].map(bar => Number(bar.getAttribute('width')))"
    )
    assert widths == shares  # of a track of 100
    page.locator("#panel section:nth-of-type(2) a").first.click()
    assert opened.stage("selected") not in ("3", "")


def test_a_binned_column_shows_no_bars_of_equal_bins(visit):
    opened = visit("binned")
    opened.find("length")
    text = opened.page.locator("#panel").inner_text()
    assert re.search(r"\b\d+ bins with about as many rows each", text)
    assert all(word in text for word in ("Low", "Middle", "High"))
    assert opened.page.locator("#panel .distribution .front").count() == 0


def test_a_hidden_variable_shows_its_states_from_low_to_high(visit):
    opened = visit("groups")
    page = opened.page
    opened.find("H2")
    assert page.locator("#panel .kind").inner_text() == "Hidden variable H2"
    assert page.locator("#panel h3").inner_text() == "group of item 8"
    assert page.locator("#panel .states-list .state").all_inner_texts() == ["low", "middle", "high"]
    sizes = [int(text.split()[0]) for text in page.locator("#panel .states-list .figure").all_inner_texts()]
    assert sum(sizes) == 100
    assert page.locator("#panel .profile").count() == 5
    everything = int(opened.stage("shown"))
    page.click("#fold")
    assert page.locator("#fold").inner_text() == "Unfold"
    assert int(opened.stage("shown")) == everything - 6
    page.click("#fold")
    assert int(opened.stage("shown")) == everything


def test_clicking_in_the_drawing_selects_what_is_there(visit):
    opened = visit("groups")
    page = opened.page
    page.locator("#drawing .name", has_text="item 5").first.click()
    assert opened.stage("selected") == "5"
    page.locator("#drawing .mark.badge-mark").nth(1).click()
    assert page.locator("#panel .kind").inner_text().startswith("Hidden variable")
    page.locator("#drawing .group").first.click()
    number = page.locator("#drawing .group").first.locator(".group-number").text_content()
    assert opened.stage("group") == number
    assert page.locator("#panel .kind").inner_text() == f"Group {number}"
    assert page.locator("#drawing .name.dim").count() > 0
    page.locator("#drawing .strip").first.click()
    assert page.locator("#panel .kind").inner_text() == "Your label"
    page.locator("#drawing").click(position={"x": 5, "y": 5})
    assert (opened.stage("selected"), opened.stage("group")) == ("", "")
    page.locator("#drawing .name").first.hover()
    assert "Edge to" in page.locator("#tip").inner_text()


# ---- search ----


def test_search_knows_columns_groups_labels_and_states(visit):
    opened = visit("groups")
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("item")
    assert page.get_attribute("#search", "aria-expanded") == "true"
    found = page.locator("#results [role=option]").all_inner_texts()
    assert found == [f"item {i}" for i in range(12)]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#results [aria-selected=true]").inner_text() == "item 2"
    page.keyboard.press("Enter")
    assert opened.stage("selected") == "2"
    assert page.locator("#results").is_hidden()
    for text, kind, name in (
        ("scale 3", "Your label", "scale 3"),
        ("group of item 8", "Group 2", "group of item 8"),
        ("h1", "Hidden variable H1", "group of item 0"),
        ("high item 14", "Hidden variable H3", "group of item 14"),
    ):
        opened.find(text)
        assert page.locator("#panel .kind").inner_text() == kind
        assert page.locator("#panel h3").inner_text() == name
    page.fill("#search", "nothing like this")
    assert page.locator("#results").inner_text() == "Nothing has this name"
    page.press("#search", "Escape")
    assert page.locator("#results").is_hidden()
    assert page.locator("#panel h3").inner_text() == "group of item 14"  # the first Escape closes the search alone


# ---- the address, Back, Escape, F, the wheel ----


def test_back_returns_to_what_was_shown_before(visit):
    opened = visit("groups")
    page = opened.page
    start = page.url
    opened.find("item 4")
    opened.find("item 9")
    assert page.evaluate(HASH) == "#node=9"
    page.go_back()
    opened.settled("document.getElementById('stage').dataset.selected === '4'")
    page.go_back()
    opened.settled("document.getElementById('stage').dataset.selected === ''")
    assert page.url == start
    page.go_forward()
    opened.settled("document.getElementById('stage').dataset.selected === '4'")


def test_an_address_shows_the_same_again(visit):
    opened = visit("groups")
    page = opened.page
    page.click("button[data-layout=radial]")
    drag_support(page, 60)
    opened.find("group of item 8")
    page.keyboard.press("f")
    address = page.evaluate(HASH)
    assert address == "#group=2&support=60&layout=radial&fold=2"
    other = visit("groups")
    other.page.evaluate("hash => { window.location.hash = hash; }", address)
    other.settled("document.getElementById('stage').dataset.group === '2'")
    assert [other.stage(key) for key in ("layout", "support", "folded")] == ["radial", "60", "1"]
    other.page.reload()
    assert [other.stage(key) for key in ("layout", "support", "folded")] == ["radial", "60", "1"]


def test_a_wrong_address_does_no_harm(visit):
    opened = visit("groups")
    everything = "node=99999&group=0&fold=b999.x.-1&support=1e9&layout=<b>"
    for wrong in (everything, "node=-1", "fold=", "=", "%E0%A4%A", "tree"):
        opened.page.evaluate("hash => { window.location.hash = hash; }", wrong)
        opened.page.reload()
        assert opened.stage("rows") == "24", wrong
        assert opened.stage("selected") == "", wrong


def test_escape_and_f_work_from_everywhere(visit):
    opened = visit("groups")
    page = opened.page

    def focus(where):
        if where == "body":
            page.evaluate("document.activeElement.blur()")
        else:
            page.focus(where)

    for where in ("#drawing", "#panel", "#search", "button[data-layout=radial]", "#support", "body"):
        opened.find("group of item 8")
        if where != "#search":  # there F is a letter
            for key, n_folded in (("f", 1), ("F", 0)):
                focus(where)
                page.keyboard.press(key)
                assert page.evaluate(N_FOLDED) == n_folded, where
        focus(where)
        page.keyboard.press("Escape")
        assert opened.stage("group") == "", where
        assert page.evaluate(HASH) == "", where


def test_the_wheel_always_scrolls_the_page(visit):
    opened = visit("groups")
    page = opened.page
    page.locator("#drawing .name").first.click()
    assert page.evaluate("document.activeElement.id") == "drawing"
    page.hover("#drawing")
    before = page.evaluate("window.scrollY")
    drawn = page.evaluate(PATHS)
    page.mouse.wheel(0, 150)
    opened.settled(f"window.scrollY > {before} + 20")
    assert page.evaluate(PATHS) == drawn


def test_arrow_keys_walk_along_the_tree(visit):
    opened = visit("groups")
    page = opened.page
    page.focus("#drawing")
    page.keyboard.press("ArrowRight")
    root = opened.stage("selected")
    page.keyboard.press("ArrowRight")
    child = opened.stage("selected")
    assert child != root
    page.keyboard.press("ArrowDown")
    assert opened.stage("selected") not in (root, child)
    page.keyboard.press("ArrowUp")
    assert opened.stage("selected") == child
    page.keyboard.press("ArrowLeft")
    assert opened.stage("selected") == root
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "panel"
    page.keyboard.press("Escape")
    assert opened.stage("selected") == ""
    assert page.evaluate("document.activeElement.id") == "drawing"


# ---- downloads ----


def download(page, name):
    page.locator(".downloads summary").click()
    with page.expect_download() as waiting:
        page.click(f"button[data-download='{name}']")
    page.locator(".downloads summary").click()
    assert waiting.value.suggested_filename == name
    return waiting.value.path().read_bytes()


def test_files_are_made_without_a_server(visit):
    page = visit("groups").page
    model = grouped_model([8, 6, 5, 3, 2])
    assert download(page, "tree.nwk").decode() == plain_newick(model)
    groups = list(csv.DictReader(io.StringIO(download(page, "groups.csv").decode())))
    assert {row["column"] for row in groups} == set(model.tree.names)
    loadings = list(csv.reader(io.StringIO(download(page, "loadings.csv").decode())))
    assert len(loadings) == 25
    picture = ElementTree.fromstring(download(page, "tree.svg"))
    texts = {"".join(text.itertext()) for text in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert set(model.tree.names) <= texts
    assert "scale 1" in texts  # the key to the colours
    assert not [one for one in picture.iter() if "class" in one.attrib or "var(" in str(one.attrib)]
    assert download(page, "tree.png").startswith(b"\x89PNG")


def test_the_tree_can_be_copied(visit):
    opened = visit("groups", permissions=["clipboard-read", "clipboard-write"])
    opened.page.locator(".downloads summary").click()
    opened.page.click("button[data-copy=newick]")
    opened.settled("document.querySelector('button[data-copy=newick]').textContent === 'Copied'")


# ---- the heat map ----


def test_the_heat_map_names_and_selects_columns(visit):
    opened = visit("groups")
    page = opened.page
    canvas = page.locator("#heatmap-canvas")
    canvas.scroll_into_view_if_needed()
    page.focus("#heatmap-canvas")
    readout = page.locator("#heatmap-readout")
    page.keyboard.press("ArrowRight")
    first, second = re.fullmatch(r"(item \d+) and (item \d+): −?\d\.\d\d", readout.inner_text()).groups()
    order = page.evaluate(NAMES)
    assert (first, second) == (order[0], order[1])
    page.keyboard.press("Enter")
    assert page.locator("#panel h3").inner_text() == first
    box = canvas.bounding_box()
    canvas.hover(position={"x": box["width"] - 10, "y": box["height"] - 10})
    assert readout.inner_text() == order[-1]  # the diagonal: a column and itself
    pairs = page.locator("#heatmap-pairs tr").all_inner_texts()
    values = [abs(float(text.split()[-1].replace("−", "-"))) for text in pairs]
    assert values[:5] == sorted(values[:5], reverse=True)
    assert len(values) == 10


def test_the_heat_map_follows_the_theme_and_is_light_on_paper(visit):
    opened = visit("groups", color_scheme="dark")
    page = opened.page
    picture = "document.getElementById('heatmap-canvas').toDataURL()"
    dark = page.evaluate(picture)
    page.click("#theme")
    opened.settled(f"{picture} !== '{dark}'")
    light = page.evaluate(picture)
    page.click("#theme")
    opened.settled(f"{picture} === '{dark}'")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(picture) == light
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(picture) == dark


# ---- paper, phones, no script, many columns, hostile names ----


@pytest.mark.parametrize(("name", "n"), [("groups", 24), ("many", 136)])
@pytest.mark.parametrize("scripts", [True, False])
def test_paper_and_pages_without_javascript_have_the_whole_tree(visit, name, n, scripts):
    opened = visit(name, java_script_enabled=scripts)
    page = opened.page
    if scripts:
        assert page.locator(".static-tree").is_hidden()
        page.emulate_media(media="print")
    assert page.locator(".static-tree").is_visible()
    assert page.locator("#app").is_hidden()
    texts = page.locator(".static-tree text").all_text_contents()
    assert {f"item {number}" for number in range(n)} <= set(texts)
    words = " ".join(texts)
    assert all(f"of item {first}" in words for first in (0, 4 if n > 24 else 8))
    if name == "groups":
        assert "scale 5" in texts


def test_a_phone_shows_no_names_of_hidden_variables(visit):
    opened = visit("groups", width=390, height=844, has_touch=True, is_mobile=True)
    page = opened.page
    assert page.locator("#drawing .hidden-name, #drawing .group-name").count() == 0
    assert page.locator(".chip .badge").count() == 5  # groups are named by numbers
    assert page.locator("#panel").is_hidden()
    page.locator("#drawing .name").first.tap()
    assert page.locator("#panel").is_visible()
    assert opened.overflow() <= 0
    page.click("#close")
    assert page.locator("#panel").is_hidden()


def test_a_thousand_columns_draw_at_once(visit, reports):
    assert reports("thousand").stat().st_size < 1_500_000
    opened = visit("thousand")
    page = opened.page
    folded = int(opened.stage("rows"))
    assert folded < 1000
    assert float(opened.stage("milliseconds")) < 3000  # under a second on an idle machine
    opened.find("x777")
    assert "x777" in page.evaluate(NAMES)
    page.click("button[data-fold=none]")
    assert len(page.evaluate(NAMES)) == 1000
    page.click("button[data-layout=radial]")
    assert "Too many columns for their names here" in page.locator("#legend").inner_text()


def test_hostile_names_run_nothing_and_break_nothing(visit):
    opened = visit("hostile")
    page = opened.page
    for name in HOSTILE:
        opened.find(name.strip()[:40] if name.strip() else "(blank)")
    for number in range(len(HOSTILE), 2 * len(HOSTILE) - 2):
        opened.find(f"H{number - len(HOSTILE) + 1}")
        assert opened.stage("selected") == str(number)
    page.click("button[data-layout=radial]")
    ElementTree.fromstring(download(page, "tree.svg"))
    assert page.evaluate("window.canary") is None
    assert page.evaluate("document.querySelectorAll('#panel img, #panel script, svg script, img').length") == 0
    assert opened.overflow() <= 0
    assert page.locator("bdi").count() > 20


@pytest.mark.parametrize("width", [390, 1280])
def test_long_names_that_begin_alike_can_be_told_apart(visit, width):
    opened = visit("german", width=width, is_mobile=width == 390)
    names = opened.page.locator("#drawing .name").all_text_contents()
    assert len(set(names)) == 6
    assert all("…" in name for name in names)


def test_a_selected_name_covers_no_bracket(visit):
    opened = visit("german")
    for node in range(6):
        opened.page.evaluate(f"location.hash = '#node={node}'")
        opened.settled(f"document.querySelector('#drawing .name.selected')?.dataset.id === '{node}'")
        beyond = """() => {
          const name = document.querySelector("#drawing .name.selected").getBoundingClientRect();
          return Math.max(...[...document.querySelectorAll("#drawing .bracket")].map(
            (bracket) => name.right - bracket.getBoundingClientRect().left));
        }"""
        assert opened.page.evaluate(beyond) <= 0
    assert opened.page.locator("#drawing .name.selected").count() == 1


def test_the_tools_are_in_one_line_and_on_a_phone_the_search_stays_wide(visit):
    tops = "[...document.querySelectorAll('.toolbar > *')].filter(e => e.offsetWidth).map(e => e.offsetTop)"
    found = visit("many", width=1280).page.evaluate(tops)
    assert max(found) - min(found) < 10
    phone = visit("many", width=390, is_mobile=True).page
    phone.click("#more-tools")
    assert phone.locator("#search").bounding_box()["width"] > 200


def test_the_name_of_a_group_is_whole_whatever_its_number(visit):
    opened = visit("many", width=1280)
    opened.find("item 135")
    opened.settled("document.querySelector('#drawing .group-name')")
    assert opened.page.locator("#drawing .group").all_text_contents() == ["34group of item 132"]
