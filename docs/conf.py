"""The documentation site, built by `make site`: the pages of this folder, the gallery, and the reference.

The pages stand on their own, too, for readers of the repository: they are plain Markdown and link to each other by
files. The reference of the site is made from the same lists of public names as docs/api.
"""

import inspect
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cached_property
from hashlib import sha256
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

from sphinx_gallery.scrapers import figure_rst

import latree
from latree.datasets import Dataset, load_python_manual, make_alignment
from latree.figure.picture import Picture

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from reference import PUBLIC, public_members, public_names, summary

project = "latree"
author = "The latree developers"
copyright = author
version = release = latree.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["README.md", "api/**", "gallery/**/*.py", "gallery/**/*.ipynb", "gallery/**/*.md5"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
language = "en"

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4
autosummary_generate = False  # the pages of the reference are written below
autodoc_typehints = "none"  # the docstrings have the types, in words
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
add_module_names = False

html_theme = "pydata_sphinx_theme"
html_title = "latree"
html_logo = html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["latree.css"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "latree", "alt_text": "latree: front page"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "gallery/index": []},
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
}
html_sidebars = {"index": [], "live": []}

# Examples whose data come with packages that are not installed do not run: their pages show a picture of this folder.
_DATA_FROM = {"stocks": "skfolio"}
_NOT_RUN = [name for name, package in _DATA_FROM.items() if not find_spec(package)]
_PICTURES = {"stocks": "sectors.svg"}

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": rf"/(?!{'|'.join(_NOT_RUN) or '$'})\w+\.py$",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "remove_config_comments": True,
    "min_reported_time": 1e9,  # timings differ from machine to machine
    "image_scrapers": ("matplotlib", "conf.scrape_pictures"),
    "capture_repr": ("_repr_html_",),
}

# What pages of the repository link to, and what the site has in its place.
_IN_ITS_PLACE = {
    r"README\.md": "index.md",
    r"\.\./README\.md": "start.md",
    r"api/README\.md": "reference/index.rst",
    r"\.\./examples/(\w+)\.py": r"gallery/\1.rst",
}
# The pages below those that readers of the repository see without a list. The lab notes are out of the way there.
_CHILDREN = {"start": "tree\nwhich\nlive\nglossary\nfaq", "lab/README": "*"}


def link_inside(app: object, name: str, source: list[str]) -> None:
    """Lead links to other places of the site, and turn those that leave this folder into plain text."""
    up = "../" * name.count("/")
    for there, here in _IN_ITS_PLACE.items():
        source[0] = re.sub(rf"\]\({re.escape(up)}{there}", rf"]({up}{here}", source[0])
    source[0] = re.sub(rf"\[([^\]]+)\]\({re.escape(up)}\.\./[^)]*\)", r"\1", source[0])
    source[0] = re.sub(r"!\[([^\]]*)\]\((figures/[\w-]+)\.png\)", with_dark_twin, source[0])
    example = name.removeprefix("gallery/")
    if example in _NOT_RUN:
        code = source[0].index(".. code-block::")
        source[0] = f"{source[0][:code]}.. image:: /figures/{_PICTURES[example]}\n\n{source[0][code:]}"
    if name in _CHILDREN:
        source[0] += f"\n```{{toctree}}\n:hidden:\n:maxdepth: 1\n:glob:\n\n{_CHILDREN[name]}\n```\n"


def with_dark_twin(image: re.Match[str]) -> str:
    """Return an image of Markdown, and beside it the one for dark pages if there is one."""
    text, path = image.groups()
    if not (HERE / f"{path}-dark.png").exists():
        return image[0]
    return f"![{text}]({path}.png){{.only-light}} ![{text}]({path}-dark.png){{.only-dark}}"


# The finished reports that the site shows beside that of `latree demo`.
_REPORTS: dict[str, Callable[[], Dataset]] = {
    "words": load_python_manual,
    "alignment": lambda: make_alignment(600),
}


def write_reports() -> None:
    """Write the reports that are not there yet."""
    folder = HERE / "_extra" / "report"
    if not (folder / "questionnaire.html").exists():
        with TemporaryDirectory() as run:
            command = [sys.executable, "-m", "latree", "demo", "--out", "demo-run", "--quiet"]
            subprocess.run(command, cwd=run, check=True, stdout=subprocess.DEVNULL)
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(Path(run) / "demo-run" / "report.html", folder / "questionnaire.html")
    for name, load in _REPORTS.items():
        path = folder / f"{name}.html"
        if not path.exists():
            found = load()
            labels = found.labels or None
            latree.LatentTree(random_state=0, labels=labels).fit(found.data).report(path, found.data)


def forget_other_versions() -> None:
    """Remove the gallery and the reports if another version of latree, or of this file, has made them."""
    sources = [Path(__file__), *sorted(Path(latree.__file__).parent.rglob("*.*"))]
    sources = [path for path in sources if path.suffix in {".py", ".html", ".css", ".js"}]
    version = sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    mark = HERE / "gallery" / "version.txt"
    if not mark.exists() or mark.read_text() != version:
        for folder in (mark.parent, HERE / "_extra"):
            shutil.rmtree(folder, ignore_errors=True)
        mark.parent.mkdir()
        mark.write_text(version)


def scrape_pictures(block: tuple[str, str, int], variables: dict[str, Any], settings: dict[str, Any]) -> str:
    """Save every Picture that a block of an example has made, and return its place in the page."""
    names = []
    for value in list(variables["example_globals"].values()):
        if isinstance(value, Picture) and id(value) not in variables.setdefault("pictures_seen", set()):
            variables["pictures_seen"].add(id(value))
            name = Path(next(variables["image_path_iterator"])).with_suffix(".svg")
            value.save(name)
            names.append(str(name))
    return str(figure_rst(names, settings["src_dir"]))


def write_reference() -> None:
    """Write a page for every public name, a page for every public module, and the index of the reference."""
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)
    written = {folder / "index.rst": index_page()}
    for module in map(import_module, PUBLIC):
        written[folder / f"{module.__name__}.rst"] = module_page(module)
        for name in public_names(module):
            written[folder / f"{module.__name__}.{name}.rst"] = name_page(module, name)
    for path in set(folder.glob("*.rst")) - set(written):
        path.unlink()
    for path, text in written.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def heading(text: str, line: str = "=") -> str:
    """Return a heading of reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def index_page() -> str:
    """Return the index of the reference."""
    modules = "\n".join(f"   {name}" for name in PUBLIC)
    rows = "\n\n".join(f":doc:`{name}`\n    {summary(import_module(name))}" for name in PUBLIC)
    intro = "Every public name. Names that are not listed here are private and may change at any time.\n"
    return "\n".join([heading("Python reference"), intro, rows, "", ".. toctree::", "   :hidden:", "", modules, ""])


def module_page(module: ModuleType) -> str:
    """Return the page of a public module: its docstring, and its names with one line each."""
    parts = [heading(module.__name__), f".. automodule:: {module.__name__}\n   :no-members:\n"]
    for name in public_names(module):
        what = summary(getattr(module, name)).replace("`", "``")
        parts.append(f":doc:`{module.__name__}.{name}`\n    {what}\n")
    pages = "\n".join(f"   {module.__name__}.{name}" for name in public_names(module))
    return "\n".join([*parts, ".. toctree::\n   :hidden:\n", pages, ""])


def name_page(module: ModuleType, name: str) -> str:
    """Return the page of one public name."""
    full, value = f"{module.__name__}.{name}", getattr(module, name)
    parts = [heading(full)]
    if inspect.isclass(value):
        parts.append(f".. autoclass:: {full}\n")
        for member, found in public_members(value):
            kind = "attribute" if isinstance(found, property | cached_property) else "method"
            parts.append(f".. auto{kind}:: {full}.{member}\n")
    else:
        parts.append(f".. autofunction:: {full}\n")
    return "\n".join(parts)


def setup(app: object) -> None:
    """Write the reference and the reports, and connect what changes pages."""
    forget_other_versions()
    write_reference()
    write_reports()
    app.connect("source-read", link_inside)  # type: ignore[attr-defined]
