"""The page in a real browser: theme, phone, print, without JavaScript."""

import pytest


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
    assert opened.page.locator(".static-tree").is_visible()
    assert opened.page.locator("#fit table").first.is_visible()
    assert len(opened.page.pdf()) > 10_000


def test_everything_can_be_reached_by_keyboard(visit):
    opened = visit("nine")
    reached = []
    for _ in range(60):
        opened.page.keyboard.press("Tab")
        reached.append(opened.page.evaluate("document.activeElement.id || document.activeElement.dataset.layout || ''"))
    assert {"theme", "search", "horizontal", "radial", "support", "drawing", "heatmap-canvas"} <= set(reached)
    ring = opened.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert ring != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["nine", "star", "independent"])
def test_axe_finds_nothing_to_complain_about(visit, name, scheme):
    from axe_playwright_python.sync_playwright import Axe

    opened = visit(name, color_scheme=scheme, reduced_motion="reduce")
    if name != "independent":
        opened.page.locator("#fit summary").click()
    found = Axe().run(opened.page).response["violations"]
    places = [(one["id"], [node["html"][:200] for node in one["nodes"]][:5]) for one in found]
    assert places == []
