"""Draw the pictures of the pages again: run this after a change to figures, to the report or to an example.

    python docs/pictures.py                          # all of them, in ten minutes
    python docs/pictures.py report.png scores.svg    # these

Pictures of reports are taken with Chromium. That of the stocks needs skfolio (pip install '.[examples]'), because the
site shows it where skfolio is not installed.
"""

import contextlib
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

import latree

HERE = Path(__file__).resolve().parent
FIGURES = HERE / "figures"
WIDTH = 1280  # of the window in which reports are opened, in pixels

# Pages whose Python lines write the pictures that they show.
PAGES = {
    "tree-correlations.png": "tree",
    "tree-star.svg": "tree",
    "tree-found.svg": "tree",
    "short.svg": "short",
    "differ.svg": "differ",
    "simulated.svg": "plot",
    "items.svg": "items",
    "density.svg": "density",
    "questions.svg": "questions",
}
# Pictures of examples: the script, and the number of the figure, or None for the tree.
EXAMPLES: dict[str, tuple[str, int | None]] = {
    "scores.svg": ("questionnaire", 0),
    "topics.svg": ("topics", None),
    "sectors.svg": ("stocks", None),
    "taxa.svg": ("taxa", None),
    "impute.svg": ("missing", 0),
    "pipeline.svg": ("pipeline", 0),
}


def draw_page(name: str) -> None:
    """Draw the pictures of a page: run the block that writes each, and those before it from the nearest import on."""
    text = (HERE / f"{name}.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    figures = [figure for figure, page in PAGES.items() if page == name]
    last = max(k for k, block in enumerate(blocks) for figure in figures if f'"{figure}"' in block)
    first = max(k for k, block in enumerate(blocks[: last + 1]) if "import latree" in block)
    with in_new_folder():
        variables: dict[str, Any] = {}
        for block in blocks[first : last + 1]:
            exec(block, variables)
        for figure in figures:
            shutil.move(figure, FIGURES / figure)
    plt.close("all")


def draw_example(name: str) -> None:
    """Run an example, and keep one of its pictures."""
    script, number = EXAMPLES[name]
    variables = runpy.run_path(str(HERE.parent / "examples" / f"{script}.py"))
    if number is None:
        variables["picture"].save(FIGURES / name)
    else:
        plt.figure(plt.get_fignums()[number]).savefig(FIGURES / name)
    plt.close("all")


def draw_report() -> None:
    """Draw the tree of `latree demo`, and take pictures of its report: first screen, tree, and the card of a group."""
    with in_new_folder() as folder:
        for command in ("demo --out demo-run --quiet", "plot demo-run --out tree.svg"):
            subprocess.run([sys.executable, "-m", "latree", *command.split()], check=True, stdout=subprocess.DEVNULL)
        shutil.move("tree.svg", FIGURES / "everyday.svg")
        for page, ending in opened(folder / "demo-run" / "report.html"):
            take(page, f"report{ending}", until=".tiles")
            page.locator("#tree").screenshot(path=FIGURES / f"report-tree{ending}.png")
            page.locator("#group-1").screenshot(path=FIGURES / f"report-card{ending}.png")


def draw_wide_report() -> None:
    """Take pictures of the report of 1008 columns in 144 groups of 12 fields."""
    fields = ["anger", "calm", "craft", "doubt", "fear", "hope", "luck", "order", "pain", "pride", "risk", "skill"]
    groups = {field: [[f"{field}{g}_{column}" for column in range(1, 8)] for g in range(1, 13)] for field in fields}
    inside = [",".join(f"({','.join(names)})" for names in groups[field]) for field in fields]
    tree = latree.Tree.from_newick(f"({','.join(f'({branch})' for branch in inside)});")
    truth = latree.random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.3, random_state=0)
    rows = truth.sample(1500, random_state=0)
    model = latree.LatentTree(random_state=0).fit(rows)
    with in_new_folder() as folder:
        model.report(folder / "report.html", rows)
        for page, ending in opened(folder / "report.html"):
            take(page, f"report-thousand{ending}", until="#tree")


def take(page: Any, name: str, until: str) -> None:
    """Take a picture of a page down to the end of an element."""
    last = page.locator(until).bounding_box()
    area = {"x": 0, "y": 0, "width": WIDTH, "height": last["y"] + last["height"] + 24}
    page.screenshot(path=FIGURES / f"{name}.png", clip=area, full_page=True)


def shrink(path: Path) -> None:
    """Write a picture again with 256 colours, which is enough for a screen of text."""
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


def opened(report: Path) -> Iterator[tuple[Any, str]]:
    """Open a report in Chromium, light and dark; yield the page and the ending of its pictures."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with (
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"]) as browser,
    ):
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            size = {"width": WIDTH, "height": 800}
            page = browser.new_page(color_scheme=scheme, viewport=size, device_scale_factor=1.5)
            page.goto(report.resolve().as_uri())
            page.wait_for_timeout(500)
            yield page, ending


@contextlib.contextmanager
def in_new_folder() -> Iterator[Path]:
    """Work in a folder that is removed afterwards."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def main() -> None:
    """Draw the pictures that were asked for, or all."""
    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "latree"  # the same picture gives the same bytes
    os.environ["SOURCE_DATE_EPOCH"] = "0"
    names = sys.argv[1:] or ["report.png", "report-thousand.png", *PAGES, *EXAMPLES]
    for page in dict.fromkeys(PAGES[name] for name in names if name in PAGES):
        draw_page(page)
    for name in names:
        if name in EXAMPLES:
            draw_example(name)
    if "report.png" in names:
        draw_report()
    if "report-thousand.png" in names:
        draw_wide_report()
    for path in FIGURES.glob("report*.png"):
        shrink(path)


if __name__ == "__main__":
    main()
