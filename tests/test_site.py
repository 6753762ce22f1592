"""The documentation site builds without a warning, all its examples run, and no link inside it is dead."""

import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import unquote

import pytest

import latree
from helpers.pages import ROOT

for _name in ("sphinx", "myst_parser", "numpydoc", "pydata_sphinx_theme", "sphinx_design", "sphinx_gallery"):
    pytest.importorskip(_name, reason="the site needs more packages: pip install '.[docs]'")

REPORTS = {"questionnaire": "worries a lot", "words": "traceback", "alignment": "Bela"}  # and a column of each
TWINS = {"light": "", "dark": "-dark"}


def built_site(folder):
    """Build the site in a folder, from a copy, so that nothing is written among the sources; return where it is."""
    made = shutil.ignore_patterns("gallery", "reference", "_extra", "__pycache__")
    for name in ("docs", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=made)
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "docs", "html"]
    environment = {**os.environ, "PYTHONWARNINGS": "ignore"}  # those of other libraries
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    assert built.returncode == 0, built.stderr[-5000:]
    return folder / "html"


class Links(HTMLParser):
    """Collects what a page links to, and the places in it that can be linked to."""

    def __init__(self, text):
        super().__init__()
        self.links, self.places = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value is not None:
                self.links.add(value)
            elif name in ("id", "name") and value:
                self.places.add(value)


def dead_links(site):
    """Return the links inside a site that lead nowhere."""
    pages = {
        path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if "_static" not in path.parts
    }
    assert len(pages) > 100
    for report in REPORTS:
        del pages[site / "report" / f"{report}.html"]  # it makes its places when it is open
    dead = []
    for path, page in pages.items():
        for link in page.links:
            name, _, place = link.partition("#")
            target = (path.parent / unquote(name.partition("?")[0])).resolve() if name else path
            known = target in pages and (not place or unquote(place) in pages[target].places)
            if not re.match(r"[a-z]+:|//", link) and not known and (target in pages or not target.is_file()):
                dead.append(f"{path.relative_to(site)}: {link}")
    return dead


def test_the_site(tmp_path):
    """One test, because the site is built once: its links, a picture in every example, the reports, the reference."""
    site = built_site(tmp_path)
    assert not dead_links(site)
    for example in sorted((ROOT / "examples").glob("*.py")):
        page = (site / "gallery" / f"{example.stem}.html").read_text(encoding="utf-8")
        shown = re.findall(r'<img[^>]* src="[^"]*/([\w-]+\.(?:svg|png))"', page)
        # Prices come with a package that is not needed to build the site: without it, the page has a kept picture.
        kept = ["sectors.svg"] if example.stem == "stocks" else []
        assert any(name.startswith(f"sphx_glr_{example.stem}_001") or name in kept for name in shown), example
    for name, column in REPORTS.items():
        assert column in (site / "report" / f"{name}.html").read_text(encoding="utf-8")
    front = (site / "index.html").read_text(encoding="utf-8")
    assert Links(front).links >= {f"report/{name}.html" for name in REPORTS}
    assert all(f'class="only-{scheme}" src="_images/report{ending}.png"' in front for scheme, ending in TWINS.items())
    assert '<link rel="icon" href="_static/logo.svg"' in front
    assert not [name for name in latree.__all__ if not (site / "reference" / f"latree.{name}.html").exists()]


def test_examples_are_short():
    for example in sorted((ROOT / "examples").glob("*.py")):
        assert len(example.read_text(encoding="utf-8").splitlines()) < 60, example
