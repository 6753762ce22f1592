"""Draw the pictures of the pages again: run this after a change to figures, to the report or to an example.

    python docs/pictures.py                  # all of them, in a few minutes
    python docs/pictures.py report scores    # these

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

# Pages whose Python lines write the pictures that they show.
PAGES = {"tree-correlations": "tree", "tree-star": "tree", "tree-found": "tree", "short": "short", "differ": "differ"}
# Pictures of examples: the script, and the number of the figure, or None for the tree.
EXAMPLES: dict[str, tuple[str, int | None]] = {
    "scores": ("questionnaire", 0),
    "topics": ("topics", None),
    "sectors": ("stocks", None),
    "taxa": ("taxa", None),
    "impute": ("missing", 0),
    "pipeline": ("pipeline", 0),
}


def draw_page(name: str) -> None:
    """Run the Python lines of a page in a folder of their own, and keep the pictures that the page shows."""
    text = (HERE / f"{name}.md").read_text(encoding="utf-8")
    with in_new_folder() as folder:
        variables: dict[str, Any] = {}
        for block in re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            exec(block, variables)
        for path in folder.glob("*.[sp][vn]g"):
            if f"figures/{path.name}" in text:
                shutil.copy(path, FIGURES / path.name)
    plt.close("all")


def draw_example(name: str) -> None:
    """Run an example, and keep one of its pictures."""
    script, number = EXAMPLES[name]
    variables = runpy.run_path(str(HERE.parent / "examples" / f"{script}.py"))
    if number is None:
        variables["picture"].save(FIGURES / f"{name}.svg")
    else:
        with mpl.rc_context({"svg.hashsalt": "latree"}):
            plt.figure(plt.get_fignums()[number]).savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close("all")


def draw_report() -> None:
    """Take pictures of the first screen of a report, light and dark."""
    answers = make_questionnaire()
    model = latree.LatentTree(random_state=0, labels=answers.labels).fit(answers.data)
    with in_new_folder() as folder, browser() as open_page:
        model.report(folder / "report.html", answers.data)
        for scheme, name in (("light", "report"), ("dark", "report-dark")):
            page = open_page(folder / "report.html", scheme, (1280, 800))
            page.screenshot(path=FIGURES / f"{name}.png")
            shrink(FIGURES / f"{name}.png")


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

        def open_page(path: Path, scheme: str, size: tuple[int, int]) -> Any:
            page = chromium.new_page(
                color_scheme=scheme, viewport={"width": size[0], "height": size[1]}, device_scale_factor=1.5
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
    names = sys.argv[1:] or ["report", *PAGES, *EXAMPLES]
    for page in dict.fromkeys(PAGES[name] for name in names if name in PAGES):
        draw_page(page)
    for name in names:
        if name in EXAMPLES:
            draw_example(name)
    if "report" in names:
        draw_report()


if __name__ == "__main__":
    main()
