"""Draw the pictures of the pages again: run this after a change to figures, to the report or to an example.

    python docs/pictures.py                          # all of them, in a few minutes
    python docs/pictures.py report.png scores.svg    # these

Pictures of reports are taken with Chromium. That of the stocks needs skfolio (pip install '.[examples]'), because the
site shows it where skfolio is not installed.
"""

import contextlib
import os
import re
import runpy
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from PIL import Image

import latree
from latree.datasets import make_questionnaire

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
    """Run the Python lines of a page in a folder of their own, and keep the pictures that the page shows."""
    text = (HERE / f"{name}.md").read_text(encoding="utf-8")
    with in_new_folder() as folder:
        variables: dict[str, Any] = {}
        wanted = {figure for figure, page in PAGES.items() if page == name}
        for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            exec(block, variables)
            for figure in wanted & {path.name for path in folder.iterdir()}:
                shutil.move(figure, FIGURES / figure)
                wanted.remove(figure)
            if not wanted:  # other blocks may need files of the reader's
                break
    plt.close("all")


def draw_example(name: str) -> None:
    """Run an example, and keep one of its pictures."""
    script, number = EXAMPLES[name]
    variables = runpy.run_path(str(HERE.parent / "examples" / f"{script}.py"))
    if number is None:
        variables["picture"].save(FIGURES / name)
    else:
        with mpl.rc_context({"svg.hashsalt": "latree"}):
            plt.figure(plt.get_fignums()[number]).savefig(FIGURES / name, metadata={"Date": None})
    plt.close("all")


def draw_report() -> None:
    """Take pictures of a report, light and dark: its first screen, the tree, and the card of a group."""
    answers = make_questionnaire()
    model = latree.LatentTree(random_state=0, labels=answers.labels).fit(answers.data)
    with in_new_folder() as folder, browser() as open_page:
        model.report(folder / "report.html", answers.data)
        for scheme, ending in (("light", ""), ("dark", "-dark")):
            page = open_page(folder / "report.html", scheme)
            tiles = page.locator(".tiles").bounding_box()
            height = tiles["y"] + tiles["height"] + 24
            first_screen = FIGURES / f"report{ending}.png"
            page.screenshot(path=first_screen, clip={"x": 0, "y": 0, "width": WIDTH, "height": height})
            page.locator("#tree").screenshot(path=FIGURES / f"report-tree{ending}.png")
            page.locator("#group-1").screenshot(path=FIGURES / f"report-card{ending}.png")
    for path in FIGURES.glob("report*.png"):
        shrink(path)


def shrink(path: Path) -> None:
    """Write a picture again with 256 colours, which is enough for a screen of text."""
    Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)


@contextlib.contextmanager
def browser() -> Iterator[Callable[..., Any]]:
    """Start Chromium, and give a function that opens a file."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )

        def open_page(path: Path, scheme: str) -> Any:
            page = chromium.new_page(
                color_scheme=scheme, viewport={"width": WIDTH, "height": 800}, device_scale_factor=1.5
            )
            page.goto(path.resolve().as_uri())
            page.wait_for_timeout(500)
            return page

        yield open_page
        chromium.close()


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
    names = sys.argv[1:] or ["report.png", *PAGES, *EXAMPLES]
    for page in dict.fromkeys(PAGES[name] for name in names if name in PAGES):
        draw_page(page)
    for name in names:
        if name in EXAMPLES:
            draw_example(name)
    if "report.png" in names:
        draw_report()


if __name__ == "__main__":
    main()
