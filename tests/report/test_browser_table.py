"""Pages of many groups in a real browser: the overview, the table, and cards on demand."""

import re

import pytest

from helpers.report import wide_model
from latree._util.words import percent
from latree.figure.overview import Folds, Overview
from latree.report.picture import tree_picture
from latree.report.render import page_facts

LINES = "[...document.querySelectorAll('.group-row')].map(r => [...r.cells].map(c => c.innerText))"
NUMBERS = "[...document.querySelectorAll('.group-row')].map(r => Number(r.cells[0].innerText))"
NAMES = "[...document.querySelectorAll('#drawing .name')].map(t => t.textContent)"


@pytest.fixture(scope="module")
def facts():
    return page_facts(wide_model(90, 9))


def expected_line(group):
    """What the table says of a group."""
    columns = group["columns"]
    mean = sum(abs(column["loading"]) for column in columns) / len(columns)
    members = ", ".join(column["name"] for column in columns[:12])
    numbers = [str(len(columns)), f"{percent(mean) / 100:.2f}", f"{percent(group['stability'])}\u00a0%"]
    return [str(group["number"]), group["name"], members, *numbers]


def sort_by(page, key):
    page.click(f"#group-table [data-sort={key}] button")


def test_the_table_says_what_the_facts_say_with_and_without_a_script(visit, facts):
    plain, opened = visit("wide", java_script_enabled=False), visit("wide")
    expected = [expected_line(group) for group in facts["groups"]]
    for page in (plain.page, opened.page):
        lines = page.locator(".group-row").all_inner_texts()
        assert [[cell.strip() for cell in line.split("\t")] for line in lines] == expected[:60]
    # Without a script, the list of smaller groups names all columns.
    plain.page.locator("#other-groups summary").click()
    listed = plain.page.locator("#other-groups li").all_inner_texts()
    assert listed == [f"{line[0]} {line[1]}: {line[2]}" for line in expected[60:]]
    assert opened.page.locator("#other-groups").count() == 0
    assert "90 groups" in opened.page.locator("#group-count").inner_text()
    opened.page.click("#more-groups")
    assert opened.page.evaluate(LINES) == expected
    assert opened.page.locator("#more-groups").is_hidden()
    # What nobody knows has no column.
    assert opened.page.locator("[data-sort=reliability]").count() == 0


def test_a_click_on_a_head_sorts_and_a_second_one_turns_the_order(visit, facts):
    opened = visit("wide")
    page = opened.page
    keys = {
        "stability": lambda group: percent(group["stability"]),
        "loading": lambda group: percent(group["mean_loading"]),
        "size": lambda group: len(group["columns"]),
        "number": lambda group: -group["number"],
    }
    for key, value in keys.items():
        by_value = sorted(facts["groups"], key=lambda group: (-value(group), group["number"]))
        sort_by(page, key)
        assert page.evaluate(NUMBERS) == [group["number"] for group in by_value[:60]]
        sort_by(page, key)
        by_value = sorted(facts["groups"], key=lambda group: (value(group), group["number"]))
        assert page.evaluate(NUMBERS) == [group["number"] for group in by_value[:60]]
        order = "ascending" if key != "number" else "descending"
        assert page.locator("[aria-sort]").evaluate_all("h => h.map(e => [e.dataset.sort, e.ariaSort])") == [
            [key, order]
        ]
    sort_by(page, "name")
    assert page.evaluate(LINES)[1][1] == "theme 2"  # before theme 10


def test_a_search_finds_groups_by_names_and_by_columns(visit, facts):
    opened = visit("wide")
    page = opened.page
    page.fill("#group-search", "g77_2")
    assert page.evaluate(NUMBERS) == [77]
    assert page.locator(".found").inner_text() == "g77_2"
    assert page.locator("#group-count").inner_text() == "1 of 90 groups"
    page.fill("#group-search", "8 Theme")  # all words, in any order
    with_eight = [number for number in range(1, 91) if "8" in str(number)]
    assert page.evaluate(NUMBERS) == with_eight
    sort_by(page, "number")
    assert page.evaluate(NUMBERS) == with_eight[::-1]
    page.fill("#group-search", "_1")  # every group has one
    assert page.locator("#group-count").inner_text() == "90 groups"
    page.fill("#group-search", "<b>nothing")
    assert page.evaluate(NUMBERS) == []
    assert page.locator("#group-count").inner_text() == "No group or column has this name"
    page.fill("#group-search", "")
    assert len(page.evaluate(NUMBERS)) == 60


def card_texts(page):
    rows = page.locator(".opened .heat tbody tr").all()
    return [[cell.inner_text().strip() for cell in row.locator("th, td").all()] for row in rows]


def test_a_card_is_built_when_it_is_wanted(visit, facts):
    opened = visit("wide")
    page = opened.page
    assert page.locator("article").count() == 0
    group = facts["groups"][3]
    button = page.locator("#group-4 button")
    button.click()
    assert button.get_attribute("aria-expanded") == "true"
    signs = {1: "+", -1: "−", 0: ""}
    expected = [
        [
            column["name"] + ("\u00a0(?)" if column["unsure"] else ""),
            f"{signs[column['direction']]}{abs(column['loading']):.2f}",
            *(cell[0] for cell in column["cells"]),
        ]
        for column in group["columns"]
        if column["cells"]
    ]
    assert card_texts(page) == expected
    heads = page.locator(".opened .heat thead th").all_inner_texts()
    assert heads[2:] == [f"{state['name']}\n{state['size']}\u00a0%" for state in group["states"]]
    classes = page.locator(".opened .heat td[class^=h]").evaluate_all("c => c.map(e => e.className)")
    assert classes == [f"h{cell[1]}" for column in group["columns"] for cell in column["cells"]]
    summary = page.locator(".opened .summary").inner_text()
    names = facts["names"]
    for words, nodes in (("more", group["meaning"]["more"]), ("less", group["meaning"]["less"])):
        if nodes:
            assert f"{words} {', '.join(names[node] for node in nodes)}" in summary
    # All columns are there, and it stays open when the table is sorted.
    text = page.locator(".opened").inner_text()
    assert all(column["name"] in text for column in group["columns"])
    sort_by(page, "stability")
    page.fill("#group-search", "theme 4")
    assert card_texts(page) == expected
    page.locator("#group-4 button").click()
    assert page.locator(".opened").count() == 0


def test_addresses_and_links_lead_to_the_card_of_a_group(visit):
    opened = visit("wide")
    page = opened.page
    page.fill("#group-search", "theme 1")
    page.evaluate("window.location.hash = '#group-85'")
    opened.settled("document.querySelector('#group-85 + .opened')")
    assert page.input_value("#group-search") == ""
    page.reload()
    opened.settled("document.querySelector('#group-85 + .opened')")
    opened.settled("document.getElementById('group-85').getBoundingClientRect().top < innerHeight / 2")
    # From the tree to the card, and from the card to the tree.
    opened.find("theme 12")
    page.click("#panel a.small-button")
    opened.settled("document.querySelector('#group-12 + .opened')")
    page.locator("#group-12 + .opened .buttons button").click()
    assert opened.stage("group") == "12"
    # A line of what is above in the tree, or of the group itself.
    assert page.evaluate(NAMES).count("12 theme 12 (7)") == 1


@pytest.mark.parametrize(("name", "n_groups", "n_tops"), [("wide", 90, 9), ("flat", 90, 1)])
def test_the_drawing_starts_with_the_overview_which_paper_has_as_well(visit, name, n_groups, n_tops):
    facts = page_facts(wide_model(n_groups, n_tops))
    overview = Overview(facts["tree"], facts["n_columns"], facts["groups"])
    drawn = overview.drawn(Folds(**facts["folds"]))
    opened = visit(name)
    page = opened.page
    texts = page.evaluate(NAMES)
    assert len(texts) == int(opened.stage("rows")) == sum(node.is_line for node in drawn)
    assert 8 <= len(texts) <= 60
    on_paper = set(re.findall(r">([^<>]*)</text>", str(tree_picture(facts))))
    assert {text[:20] for text in texts} <= {text[:20] for text in on_paper}
    assert page.locator("button[data-fold=overview]").get_attribute("aria-pressed") == "true"
    page.click("button[data-fold=none]")
    assert len(page.evaluate(NAMES)) == facts["n_columns"]
    page.click("button[data-fold=groups]")
    assert len(page.evaluate(NAMES)) == n_groups
    page.click("button[data-fold=overview]")
    assert page.evaluate(NAMES) == texts


def test_a_branch_opens_and_its_address_shows_it_again(visit):
    opened = visit("wide")
    page = opened.page
    before = page.evaluate(NAMES)
    assert sum(name.startswith("field") for name in before) == 9
    page.locator("#drawing .mark.folded").first.dblclick()
    opened.settled("Number(document.getElementById('stage').dataset.rows) > 9")
    after = page.evaluate(NAMES)
    assert len(after) == 9 - 1 + 10
    address = page.evaluate("window.location.hash")
    assert re.fullmatch(r"#node=\d+&fold=b\d+", address)
    page.reload()
    assert page.evaluate(NAMES) == after
    # What is searched for is shown, with its group and branch.
    opened.find("g45_3")
    names = page.evaluate(NAMES)
    assert "g45_3" in names
    assert len(names) < 60


def test_the_rest_opens_by_a_click(visit):
    opened = visit("flat")
    page = opened.page
    (rest,) = [name for name in page.evaluate(NAMES) if "more" in name]
    n_columns = sum(len(group.columns) for group in wide_model(90, 1).groups[59:])
    assert rest == f"31 more ({n_columns} in 31 groups)"
    page.locator("#drawing .name", has_text="31 more").click()
    opened.settled("document.getElementById('stage').dataset.rows === '90'")
    page.go_back()
    opened.settled("document.getElementById('stage').dataset.rows === '60'")
    # One of them that is searched for leaves the rest.
    opened.find("theme 88")
    assert "30 more" in " ".join(page.evaluate(NAMES))


def test_the_heat_map_shows_and_selects_groups(visit):
    opened = visit("wide")
    page = opened.page
    page.focus("#heatmap-canvas")
    page.keyboard.press("ArrowRight")
    readout = page.locator("#heatmap-readout").inner_text()
    first, _ = re.fullmatch(r"(\d+) theme \d+ and (\d+) theme \d+: −?\d\.\d\d", readout).groups()
    page.keyboard.press("Enter")
    assert opened.stage("group") == first
    assert "the 60 largest groups" in page.locator("#heatmap .hint").inner_text()


def test_a_page_of_many_groups_is_short_on_the_screen_and_on_paper(visit):
    opened = visit("wide")
    page = opened.page
    assert page.evaluate("document.documentElement.scrollHeight") < 10_000
    assert page.locator("#groups h3").count() == 0
    # The overview comes first.
    tree, groups = (page.locator(f"#{name}").bounding_box()["y"] for name in ("tree", "groups"))
    assert tree < groups
    page.emulate_media(media="print")
    assert page.locator("#group-search").is_hidden()
    assert page.locator("#groups .on-paper").inner_text().startswith("The 60 largest groups of 90 are listed here.")
    assert page.pdf(format="A4").count(b"/Type /Page\n") < 15


@pytest.mark.parametrize("width", [390, 1440])
def test_nothing_is_wider_than_the_screen(visit, width):
    opened = visit("wide", width=width)
    opened.page.locator("#group-2 button").click()
    opened.page.fill("#group-search", "_2")
    assert opened.overflow() <= 0
    too_wide = (
        "[...document.querySelectorAll('.group-table .scroll')].filter(s => s.scrollWidth > s.clientWidth + 1).length"
    )
    assert opened.page.evaluate(too_wide) == 0
    # A card is as wide as the table.
    right = "selector => Math.round(document.querySelector(selector).getBoundingClientRect().right)"
    assert opened.page.evaluate(right, "#group-2") == opened.page.evaluate(right, ".opened")
    assert opened.page.evaluate(right, "#group-2 td:last-child") == opened.page.evaluate(right, ".opened td")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_about(visit, scheme):
    from axe_playwright_python.sync_playwright import Axe

    opened = visit("wide", color_scheme=scheme, reduced_motion="reduce")
    opened.page.fill("#group-search", "_2")
    opened.page.locator("#group-2 button").click()
    opened.page.locator("#group-30 button").click()
    found = Axe().run(opened.page).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]][:5]) for one in found] == []
