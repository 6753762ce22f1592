"""Reports that are opened in a real browser: Chromium opens the file, and does what a reader does."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

import latree
from helpers.models import model_on
from helpers.report import HOSTILE, SHAPES, grouped_model, hostile_model, wide_model
from latree.learn import learn_model
from latree.model import LatentTreeModel
from latree.report.render import report_html
from latree.settings import Settings
from latree.table import Column
from latree.tree import Tree

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def browser():
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
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


def groups():
    """Five groups of 24 columns; labels are the groups, but for one column."""
    model = grouped_model([8, 6, 5, 3, 2])
    labels = {name: f"scale {1 + number}" for number, group in enumerate(model.groups) for name in group.columns}
    return report_html(model, model.sample(400, random_state=0), labels=labels | {"item 0": "scale 2"})


def binned():
    """Three columns of numbers, which are cut into bins."""
    length = np.random.default_rng(0).normal(size=(400, 1))
    rows = length + 0.4 * np.random.default_rng(1).normal(size=(400, 3))
    table = latree.as_table(rows, names=["length", "width", "weight"])
    return report_html(learn_model(table, Settings(method="lcm")).model, table)


def many():
    """34 groups of 136 columns."""
    return report_html(grouped_model([4] * 34))


def thousand():
    tree = latree.random_tree(1000, random_state=1)
    return report_html(latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1))


def german():
    """Questions that begin alike, with words that are wider than their cells."""
    stems, ends = ("Arbeitsplatzunsicherheit", "Verkehrsmittelnutzungsgewohnheiten"), ("Berufe", "Nachbarn", "Zeiten")
    names = [f"{stem} hinsichtlich der eigenen {end}" for stem in stems for end in ends]
    model = grouped_model([3, 3], names=names)
    named = tuple(replace(group, name=stem) for group, stem in zip(model.groups, stems, strict=True))
    named_model = replace(model, groups=named, hidden_names=(*stems, "what all share"))
    return report_html(named_model, model.sample(300, random_state=1))


def words():
    """Words of documents in two large groups, some of which are folded."""
    tree = Tree.from_newick(f"(({','.join(f'moon{i}' for i in range(20))}),({','.join(f'god{i}' for i in range(5))}));")
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        low, high = (0.01, 0.3 - 0.01 * (node % 20)) if node < len(columns) else (0.1, 0.5)
        tables.append(np.array([[1 - low, 1 - high], [low, high]] if parent >= 0 else [[0.8], [0.2]]))
    model = LatentTreeModel(tree, columns, tuple(tables))
    return report_html(model, model.sample(300, random_state=0), rows=2)


def hostile():
    model = hostile_model()
    return report_html(
        model, model.sample(100, random_state=0), rows=3, labels=dict(zip(model.tree.names, HOSTILE, strict=True))
    )


MAKERS = {
    "nine": nine,
    "groups": groups,
    "many": many,
    "wide": lambda: report_html(wide_model(90, 9)),
    "flat": lambda: report_html(wide_model(90, 1)),
    "binned": binned,
    "german": german,
    "words": words,
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
def open_file(browser):
    """Open a page by its path; at the end, it has complained about nothing and asked for nothing else."""
    visits = []

    def open_page(path, **options):
        visits.append(Visit(browser, path, **options))
        return visits[-1]

    yield open_page
    for opened in visits:
        opened.context.close()
        assert opened.errors == []
        assert {url for url in opened.asked if not url.startswith("data:image/svg+xml")} == {opened.path.as_uri()}


@pytest.fixture
def visit(open_file, reports):
    """Open a report by its name."""
    return lambda name, **options: open_file(reports(name), **options)
