"""The report in a real browser: Chromium opens the file, and does what a reader does."""

import shutil
from pathlib import Path

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, hostile_model
from latree.model import LatentTreeModel
from latree.report import report_html
from latree.tree import Tree

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: apt-get install chromium")
VISIBLE = "[...document.querySelectorAll('.dot')].filter(dot => dot.style.display !== 'none').length"
PATHS = "[...document.querySelectorAll('.links path, .dots path')].map(path => path.getAttribute('d'))"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Reports by name, written once."""
    folder = tmp_path_factory.mktemp("reports")
    made = {}

    def path(name):
        if name not in made:
            made[name] = folder / f"{name.replace(' ', '-')}.html"
            made[name].write_text(MAKERS[name](), encoding="utf-8")
        return made[name]

    return path


def nine():
    tree = latree.random_tree(9, random_state=1)
    inner = [float(min(edge) >= 9) for edge in tree.edges.tolist()]
    supported = Tree(tree.names, tree.edges, support=np.where(inner, np.linspace(0.3, 1, len(inner)), np.nan))
    drawn = latree.random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.2, random_state=1)
    model = LatentTreeModel(supported, drawn.columns, drawn.tables)
    table = model.sample(300, random_state=1)
    return report_html(
        model, table, rows=4, test=table, labels=dict(zip(model.tree.names, ["odd", "even"] * 4, strict=False))
    )


def thousand():
    tree = latree.random_tree(1000, random_state=1)
    return report_html(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1))


def hostile():
    model = hostile_model()
    return report_html(
        model, model.sample(100, random_state=0), rows=3, labels=dict(zip(model.tree.names, HOSTILE, strict=True))
    )


MAKERS = {
    "nine": nine,
    "hostile": hostile,
    "thousand": thousand,
    **{name: lambda tree=tree: report_html(model_on(tree, [2] * tree.n_nodes, 0)) for name, tree in SHAPES.items()},
}


class Visit:
    """A page that was opened, with all that it asked for and complained about."""

    def __init__(self, browser, path, *, width=1280, height=900, **options):
        self.context = browser.new_context(viewport={"width": width, "height": height}, **options)
        self.page = self.context.new_page()
        self.asked, self.errors = [], []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("console", lambda message: self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.path = path
        self.page.goto(path.as_uri())

    def stage(self, key):
        return self.page.get_attribute("#stage", f"data-{key}")

    def settled(self, condition):
        """Wait until a condition holds; the page's policy forbids what Playwright's own waiting does."""
        for _ in range(400):
            if self.page.evaluate(condition):
                return
            self.page.wait_for_timeout(50)
        pytest.fail(f"never came true: {condition}")

    def find(self, text):
        self.page.fill("#search", text)
        self.page.press("#search", "Enter")

    def overflow(self):
        return self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")


@pytest.fixture
def visit(browser, reports):
    visits = []

    def open_report(name, **options):
        visits.append(Visit(browser, reports(name), **options))
        return visits[-1]

    yield open_report
    for opened in visits:
        opened.context.close()
        assert opened.errors == []
        assert {url for url in opened.asked if not url.startswith("data:image/svg+xml")} == {opened.path.as_uri()}


def selected_label(page):
    return page.evaluate("[...document.querySelectorAll('text.label.selected')].map(text => text.textContent)")


def test_search_finds_a_column_and_shows_the_path(visit):
    opened = visit("nine")
    page = opened.page
    page.keyboard.press("/")
    page.keyboard.type("x")
    assert page.get_attribute("#search", "aria-expanded") == "true"
    found = page.locator("#results [role=option]").all_inner_texts()
    assert found[:9] == [f"x{i}" for i in range(9)]
    assert all("hidden variable H" in name for name in found[9:])  # named by their columns, and so after these
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#results [aria-selected=true]").inner_text() == "x2"
    page.keyboard.press("Enter")
    assert opened.stage("selected") == "2"
    assert page.locator("#results").is_hidden()
    assert page.locator("#panel h3").inner_text() == "x2"
    opened.settled("document.querySelector('text.label.selected')")
    assert "x2" in selected_label(page)
    assert page.locator(".link.on-path").count() >= 1
    page.fill("#search", "nothing like this")
    assert page.locator("#results").inner_text() == "No column or hidden variable has this name"
    page.press("#search", "Escape")
    assert page.locator("#results").is_hidden()


def test_a_click_on_a_column_shows_its_details(visit):
    opened = visit("nine")
    opened.find("x3")
    headings = opened.page.locator("#panel h4").all_inner_texts()
    assert [heading.lower() for heading in headings] == ["distribution", "most related columns", "neighbours"]
    shares = opened.page.locator("#panel section:nth-of-type(1) td.figure").all_inner_texts()
    assert sum(int(share.split()[0]) for share in shares) == pytest.approx(100, abs=2)
    opened.page.locator("#panel section:nth-of-type(2) button.link").first.click()
    assert opened.stage("selected") not in ("3", "")


def test_a_hidden_variable_shows_its_details_and_folds(visit):
    opened = visit("nine")
    page = opened.page
    opened.find("H3")
    number = int(opened.stage("selected"))
    assert page.locator("#panel .kind").inner_text().lower() == "hidden variable h3"
    name = page.locator("#panel h3").inner_text()
    assert name != "H3"
    opened.find(name)  # by its name for people, too
    assert int(opened.stage("selected")) == number
    assert page.locator("#panel .states-list li").count() == 3
    assert page.locator("#panel .profile").count() == 8
    assert page.locator("#panel .profile svg.stacked").count() == 24
    everything = int(opened.stage("shown"))
    assert everything == 16
    page.click("#fold")
    assert page.locator("#fold").inner_text() == "Unfold branch"
    fewer = int(opened.stage("shown"))
    assert fewer < everything
    opened.settled(f"{VISIBLE} === {fewer}")
    page.focus("#drawing")
    page.keyboard.press("f")
    assert int(opened.stage("shown")) == everything
    page.click("#fold-all")
    folded = int(opened.stage("folded"))
    assert folded > 0
    opened.find("x2")  # what is found is unfolded
    assert int(opened.stage("folded")) <= folded
    opened.settled("document.querySelectorAll('.dot')[2].style.display === ''")
    page.click("#unfold-all")
    assert (opened.stage("folded"), opened.stage("shown")) == ("0", str(everything))
    assert number >= 9


def test_clicking_in_the_drawing_selects_what_is_there(visit):
    opened = visit("nine")
    page = opened.page
    opened.settled("document.querySelector('text.label.column')")
    label = page.locator("text.label.column", has_text="x5")
    label.click()
    assert opened.stage("selected") == "5"
    box = [page.locator(".dot").nth(10).bounding_box()[side] + 3 for side in "xy"]
    page.mouse.click(*box)
    assert opened.stage("selected") == "10"
    shown = int(opened.stage("shown"))
    page.mouse.dblclick(*box)
    assert int(opened.stage("shown")) < shown
    page.mouse.move(*box)
    assert "column" in page.locator("#tip").inner_text() or page.locator("#tip").is_hidden()
    page.keyboard.press("Tab")
    page.focus("#drawing")
    page.keyboard.press("Escape")
    assert opened.stage("selected") == ""


def test_zoom_by_wheel_buttons_and_keys(visit):
    opened = visit("nine")
    page = opened.page
    start = float(opened.stage("scale"))
    page.hover("#drawing")
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")  # the page is not held up
    assert float(opened.stage("scale")) == start
    page.evaluate("window.scrollTo({top: 0, behavior: 'instant'})")
    page.hover("#drawing")
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    opened.settled(f"Number(document.getElementById('stage').dataset.scale) > {start} + 0.01")
    bigger = float(opened.stage("scale"))
    page.click("#zoom-out")
    opened.settled(f"Number(document.getElementById('stage').dataset.scale) < {bigger} - 0.01")
    page.focus("#drawing")
    page.keyboard.press("+")
    page.keyboard.press("0")
    opened.settled(f"Math.abs(Number(document.getElementById('stage').dataset.scale) - {start}) < 0.001")
    page.wait_for_timeout(600)  # until the flight is over
    page.hover("#drawing", position={"x": 20, "y": 20})
    before = page.get_attribute("g.view", "transform")
    page.mouse.down()
    page.mouse.move(300, 500, steps=3)
    page.mouse.up()
    assert page.get_attribute("g.view", "transform") != before
    assert opened.stage("selected") is None  # moving the drawing selects nothing


def test_arrow_keys_walk_along_the_tree(visit):
    opened = visit("nine")
    opened.page.focus("#drawing")
    opened.page.keyboard.press("ArrowRight")
    root = opened.stage("selected")
    opened.page.keyboard.press("ArrowRight")
    child = opened.stage("selected")
    assert child != root
    opened.page.keyboard.press("ArrowDown")
    assert opened.stage("selected") not in (root, child)
    opened.page.keyboard.press("ArrowUp")
    opened.page.keyboard.press("ArrowLeft")
    assert opened.stage("selected") == root
    opened.page.keyboard.press("Enter")
    assert opened.page.evaluate("document.activeElement.id") == "panel"


def test_layouts_lengths_and_colours(visit):
    opened = visit("nine")
    page = opened.page
    assert opened.stage("layout") == "horizontal"
    seen = {str(page.evaluate(PATHS))}
    for button, key, value in (("layout=radial", "layout", "radial"), ("lengths=equal", "lengths", "equal")):
        page.click(f"button[data-{button}]")
        assert opened.stage(key) == value
        assert page.get_attribute(f"button[data-{button}]", "aria-pressed") == "true"
        page.wait_for_timeout(400)
        seen.add(str(page.evaluate(PATHS)))
    assert len(seen) == 3
    chips = page.locator(".chip").all_inner_texts()
    assert chips == ["even", "odd"]
    page.click("button[data-colours=groups]")
    assert page.locator(".chip").all_inner_texts() != chips
    page.locator(".chip").first.click()
    assert page.locator(".chip").first.get_attribute("aria-pressed") == "true"
    assert page.locator(".dot.dim").count() > 0


def test_labels_do_not_overlap(visit):
    for name in ("nine", "thousand"):
        opened = visit(name)
        opened.settled("document.querySelectorAll('text.label').length > 3")
        shown = opened.page.evaluate(
            "[...document.querySelectorAll('text.label')].filter(t => t.style.display !== 'none').map(t => {"
            " const b = t.getBBox(), m = t.getScreenCTM();"
            " const p = (x, y) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f];"
            " const y = b.y + b.height / 2;"
            " return Array.from({length: 9}, (_, i) => p(b.x + b.width * i / 8, y)); })"
        )
        middles = [np.array(points) for points in shown]
        for number, points in enumerate(middles[1:], start=1):
            others = np.concatenate(middles[:number])
            assert np.hypot(*(points[:, None] - others).transpose(2, 0, 1)).min() > 8


def test_names_of_hidden_variables_are_not_cut_off(visit):
    opened = visit("nine", width=390)
    starts = (
        "Object.fromEntries([...document.querySelectorAll('text.label.hidden')].filter(t => t.style.display !== 'none')"
        ".map(t => [t.dataset.id, t.getBoundingClientRect().left]))"
    )
    opened.settled("document.querySelectorAll('text.label').length > 3")
    left = opened.page.evaluate("document.querySelector('#stage').getBoundingClientRect().left")
    shown = opened.page.evaluate(starts)
    assert shown
    assert all(start >= left for start in shown.values())
    missing = [node for node in map(str, range(9, 16)) if node not in shown]
    assert missing
    for node in missing:  # where there is no room, the selected one has its name all the same
        opened.find(f"H{int(node) - 8}")
        opened.settled(f"{starts}[{node}] >= {left}")


def test_the_theme_follows_the_system_and_the_button(visit):
    opened = visit("nine", color_scheme="dark")
    colour = "getComputedStyle(document.body).backgroundColor"
    dark = opened.page.evaluate(colour)
    opened.page.click("#theme")
    light = opened.page.evaluate(colour)
    assert opened.page.get_attribute("html", "data-theme") == "light"
    assert light != dark
    opened.page.click("#theme")
    assert opened.page.evaluate(colour) == dark
    assert visit("nine", color_scheme="light").page.evaluate(colour) == light


def test_hostile_names_run_nothing_and_break_nothing(visit):
    opened = visit("hostile")
    page = opened.page
    for name in HOSTILE:
        opened.find(name.strip()[:40] if name.strip() else "(blank)")
    for number in range(len(HOSTILE), 2 * len(HOSTILE) - 2):
        opened.find(f"H{number - len(HOSTILE) + 1}")
        assert opened.stage("selected") == str(number)
    page.click("button[data-layout=radial]")
    assert page.evaluate("window.canary") is None
    assert page.evaluate("document.querySelectorAll('#panel img, #panel script, svg script, img').length") == 0
    assert opened.overflow() <= 0
    assert page.locator("bdi").count() > 20


@pytest.mark.parametrize("name", SHAPES)
def test_every_shape_is_drawn(visit, name):
    opened = visit(name)
    tree = SHAPES[name]
    assert opened.stage("shown") == str(tree.n_nodes)
    for layout in ("radial", "horizontal"):
        opened.page.click(f"button[data-layout={layout}]")
        drawn = opened.page.evaluate(PATHS)
        assert len(drawn) == tree.n_nodes + len(tree.edges)
        assert not [path for path in drawn if not path or "NaN" in path or "Infinity" in path]
    for node in range(tree.n_nodes):
        opened.find(tree.node_names[node])
        assert opened.stage("selected") == str(node)


def test_a_thousand_columns_draw_at_once_and_stay_lively(visit):
    opened = visit("thousand")
    page = opened.page
    assert opened.stage("shown") == "1998"
    assert float(opened.stage("milliseconds")) < 3000  # under a second on an idle machine
    page.hover("#drawing")
    quickest = page.evaluate(
        """() => new Promise(done => {
          const svg = document.getElementById("drawing"), box = svg.getBoundingClientRect(), times = [];
          const turn = () => {
            const began = performance.now();
            const there = {clientX: box.x + 300, clientY: box.y + 300, cancelable: true};
            svg.dispatchEvent(new WheelEvent("wheel", {deltaY: -60, ctrlKey: true, ...there}));
            requestAnimationFrame(() => {
              times.push(performance.now() - began);
              times.length < 12 ? turn() : done(Math.min(...times));
            });
          };
          turn();
        })"""
    )
    assert quickest < 250  # of twelve turns of the wheel: the others wait for other work on a busy machine
    opened.find("x777")
    assert opened.stage("selected") == "777"
    opened.settled("[...document.querySelectorAll('text.label.selected')].some(t => t.textContent === 'x777')")
    page.click("#fold-all")
    assert int(opened.stage("shown")) < 1000  # a random tree has hundreds of small groups


def test_without_javascript_every_section_can_be_read(visit):
    opened = visit("nine", java_script_enabled=False)
    page = opened.page
    for section in ("groups", "fit", "rows", "data", "help"):
        assert page.locator(f"#{section} h2").is_visible()
    assert "─" in page.locator("noscript pre").inner_text()
    assert page.locator("#app").is_hidden()
    assert page.locator("#theme").is_hidden()
    assert page.locator("svg.chart").first.is_visible()


@pytest.mark.parametrize("name", ["nine", "hostile", "thousand"])
@pytest.mark.parametrize("scripts", [True, False])
def test_a_phone_shows_it_without_sideways_scrolling(visit, name, scripts):
    opened = visit(name, width=390, height=844, has_touch=True, is_mobile=True, java_script_enabled=scripts)
    assert opened.overflow() <= 0 if scripts else True
    if scripts:
        opened.find("H1")
        assert opened.page.locator("#panel").is_visible()
        assert opened.overflow() <= 0


def test_it_prints(visit):
    opened = visit("nine")
    opened.page.emulate_media(media="print")
    assert opened.page.locator(".toolbar").is_hidden()
    assert opened.page.locator(".page-head").is_hidden()
    assert opened.page.locator("#drawing").is_visible()
    assert opened.page.locator("#fit table").first.is_visible()
    assert len(opened.page.pdf()) > 10_000


def test_everything_can_be_reached_by_keyboard(visit):
    opened = visit("nine")
    reached = []
    for _ in range(30):
        opened.page.keyboard.press("Tab")
        reached.append(opened.page.evaluate("document.activeElement.id || document.activeElement.dataset.layout || ''"))
    assert {"theme", "search", "horizontal", "radial", "fold-all", "zoom-in", "zoom-fit", "drawing"} <= set(reached)
    ring = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring != "none"


def test_the_page_is_the_file(reports):
    assert Path(reports("nine")).read_text(encoding="utf-8") == nine()
