"""The page in a real browser: theme, phone, print, without JavaScript."""

import numpy as np
import pytest

import latree


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


def test_without_javascript_every_section_can_be_read(visit):
    opened = visit("nine", java_script_enabled=False)
    page = opened.page
    for section in ("groups", "fit", "rows", "made", "data", "help"):
        assert page.locator(f"#{section} h2").is_visible()
    assert page.locator(".static-tree").is_visible()
    assert page.locator("#app").is_hidden()
    assert page.locator("#theme").is_hidden()
    assert page.locator(".group .heat").first.is_visible()
    page.locator("#fit summary").click()
    assert page.locator("#fit table").first.is_visible()


@pytest.mark.parametrize("name", ["nine", "hostile", "many"])
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
    page = opened.page
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 688, "height": 1000})  # the inner width of A4 paper
    assert page.locator(".page-head").is_hidden()
    assert page.locator("#made .small-button").first.is_hidden()
    # What is folded on the screen is open on paper.
    assert page.locator("#fit table").first.is_visible()
    # Cards are whole, and no table is wider than its place.
    assert page.evaluate("[...document.querySelectorAll('.group')].map(c => getComputedStyle(c).breakInside)") == (
        ["avoid"] * page.locator(".group").count()
    )
    too_wide = "[...document.querySelectorAll('.scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
    assert page.evaluate(too_wide) == 0
    # What a reader of paper cannot press is not there.
    for text in ("Keys", "Table of the groups"):
        assert page.get_by_role("heading", name=text, include_hidden=True).is_hidden()
    # No heading stands alone at the end of a page: what follows it comes with it.
    for text in ("#groups > h2", "#groups > p.muted", "#rows h3 + p", ".static-tree figcaption"):
        assert page.locator(text).first.evaluate("element => getComputedStyle(element).breakAfter") == "avoid"
    assert len(page.pdf()) > 10_000


def test_everything_can_be_reached_by_keyboard(visit):
    opened = visit("nine")
    reached = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.append(opened.page.evaluate("document.activeElement.id || document.activeElement.dataset.layout || ''"))
    assert {"theme", "search", "horizontal", "radial", "support", "drawing", "heatmap-canvas"} <= set(reached)
    ring = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring != "none"


@pytest.mark.parametrize(
    ("name", "scheme"),
    [
        ("nine", "light"),
        ("nine", "dark"),
        ("groups", "light"),
        ("words", "light"),
        ("star", "light"),
        ("independent", "dark"),
    ],
)
def test_axe_finds_nothing_to_complain_about(visit, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    opened = visit(name, color_scheme=scheme, reduced_motion="reduce")
    # With everything open that can be opened.
    opened.page.evaluate("for (const one of document.querySelectorAll('details:not(.downloads)')) one.open = true")
    found = Axe().run(opened.page).response["violations"]
    places = [(one["id"], [node["html"][:200] for node in one["nodes"]][:5]) for one in found]
    assert places == []


def test_groups_and_columns_lead_to_their_cards_and_to_the_tree(visit):
    opened = visit("nine")
    page = opened.page
    page.locator(".lead .group-link").nth(1).click()
    assert page.evaluate("location.hash") == "#group-2"
    opened.settled("document.getElementById('group-2').getBoundingClientRect().top < innerHeight / 2")
    name = page.locator("#group-2 tbody a.to-tree").first
    text = name.inner_text()
    name.click()
    opened.settled("document.querySelector('#panel h3')")
    assert page.locator("#panel h3").inner_text() == text


def test_the_command_and_the_lines_of_python_can_be_copied(visit):
    opened = visit("nine", permissions=["clipboard-read", "clipboard-write"])
    opened.page.click("button[data-copy=python]")
    opened.settled("document.querySelector('button[data-copy=python]').textContent === 'Copied'")
    copied = opened.page.evaluate("navigator.clipboard.readText()")
    assert copied == opened.page.locator("#python").inner_text()
    assert copied.startswith("import latree\n")


def test_a_table_that_is_too_wide_fades_out_where_it_goes_on(visit):
    opened = visit("nine", width=390)
    fade = "parseFloat(getComputedStyle(document.querySelector('.group .scroll')).getPropertyValue('--fade'))"
    assert opened.page.evaluate(fade) == 0
    opened.page.evaluate("document.querySelector('.group .heat').style.minWidth = '900px'")
    opened.settled(f"{fade} > 20")
    opened.page.evaluate("document.querySelector('.group .scroll').scrollLeft = 10000")
    opened.settled(f"{fade} === 0")


@pytest.mark.parametrize("width", [390, 1440])
def test_long_words_hide_no_states(visit, width):
    page = visit("german", width=width, is_mobile=width == 390).page
    assert page.locator("article.group").count() == 2
    assert page.locator("article.group .heat thead .state").count() == 6
    hidden = "[...document.querySelectorAll('.group .scroll')].map(one => one.scrollWidth - one.clientWidth)"
    assert page.evaluate(hidden) == [0, 0]
    # A word of a title is whole, too, if it fits the card.
    lines = "[...document.querySelectorAll('article h3 bdi')].map(name => name.getClientRects().length)"
    assert page.evaluate(lines) == [1, 1] or width == 390


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_on_the_darkest_cells_can_be_read(visit, scheme):
    contrast = """() => {
      const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const light = (colour) => {
        context.fillStyle = colour;
        context.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map((value) => value / 255)
          .map((value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
      };
      const card = document.querySelector(".group");
      const cell = card.querySelector(".heat tbody td:not(.loading)");
      return Array.from({ length: 13 }, (_, colour) => {
        card.className = `group c${colour}`;
        cell.className = "h10";
        const both = [getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor].map(light);
        return (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
      });
    }"""
    assert min(visit("nine", color_scheme=scheme).page.evaluate(contrast)) >= 4.5


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_about_two_tables_is_accessible_and_fits_a_phone(open_file, tmp_path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    real, drawn = (np.random.default_rng(seed).integers(0, 3, (60, 3)) for seed in range(2))
    latree.compare_tables(real, drawn).report(tmp_path / "page.html")
    opened = open_file(tmp_path / "page.html", width=390, is_mobile=True, color_scheme=scheme)
    assert Axe().run(opened.page).response["violations"] == []
    assert opened.overflow() == 0
    hidden = "(one => one.scrollWidth - one.clientWidth)(document.querySelector('.intro .scroll'))"
    assert opened.page.evaluate(hidden) == 0
