"""What documents promise: public names alone, links that lead somewhere, generated pages up to date, true examples."""

import ast
import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import re
import shlex
from functools import cached_property
from pathlib import Path

import click
import pytest

from helpers.pages import fenced
from latree.__main__ import commands

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "latree"
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def load_reference():
    specification = importlib.util.spec_from_file_location("reference", ROOT / "docs" / "reference.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


reference = load_reference()
PUBLIC = reference.PUBLIC
MODULES = ["latree", *(info.name for info in pkgutil.walk_packages([str(SOURCE)], "latree."))]


def page_id(path):
    return str(path.relative_to(ROOT))


def public_objects():
    """Yield every public class and function once, under the first name that lists it."""
    seen = set()
    for folder in PUBLIC:
        module = importlib.import_module(folder)
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isroutine(value)) and id(value) not in seen:
                seen.add(id(value))
                yield f"{folder}.{name}", value


def public_docstrings():
    """Yield the docstrings of public folders, names and members, each with the name it belongs to."""
    for folder in PUBLIC:
        yield folder, reference.docstring(importlib.import_module(folder))
    for name, value in public_objects():
        yield name, reference.docstring(value)
        if inspect.isclass(value):
            for member, found in reference.public_members(value):
                yield f"{name}.{member}", reference.docstring(found)


# (a) One door: documents import public names alone.


def private_uses(code):
    """Return what a piece of code takes from latree that no public folder lists."""
    tree = ast.parse(code)
    wrong, aliases = [], {"latree": "latree"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "latree":
                    wrong += [] if alias.name in PUBLIC else [f"import {alias.name}"]
                    aliases[alias.asname or "latree"] = alias.name if alias.asname else "latree"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "latree":
            names = (alias.name for alias in node.names)
            wrong += [f"from {node.module} import {name}" for name in names if not is_public(node.module, name)]
    for node in ast.walk(tree):  # latree.name, latree.folder.name
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            folder = aliases.get(node.value.id)
            wrong += [] if folder is None or is_public(folder, node.attr) else [ast.unparse(node)]
    return wrong


def is_public(folder, name):
    """Return whether a public folder lists a name, or the name is itself a public folder."""
    if folder not in PUBLIC:
        return False
    return name in getattr(importlib.import_module(folder), "__all__", ()) or f"{folder}.{name}" in PUBLIC


def test_private_uses_are_found():
    assert private_uses("import latree, numpy\nlatree.learn_tree(numpy.ones(3))\nfrom latree import Tree") == []
    assert private_uses("from latree.research import nuclear\nimport latree\nlatree.datasets.make_alignment()") == []
    assert private_uses("from latree.tree.newick import read") == ["from latree.tree.newick import read"]
    assert private_uses("from latree.research import nonsense") == ["from latree.research import nonsense"]
    assert private_uses("import latree.learn") == ["import latree.learn"]
    assert private_uses("import latree\nlatree.learn.learn_tree()") == ["latree.learn"]


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_python_blocks_use_public_names(page):
    for code in fenced(page.read_text(encoding="utf-8"), "python"):
        try:
            wrong = private_uses(code)
        except SyntaxError as error:
            pytest.fail(f"{page_id(page)}: a block fenced as Python is not valid Python: {error}\n{code}")
        assert not wrong, f"{page_id(page)}: not public: {', '.join(wrong)}"


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=page_id)
def test_examples_of_the_gallery_use_public_names(path):
    assert not private_uses(path.read_text(encoding="utf-8"))


def test_examples_of_public_names_use_public_names():
    parser = doctest.DocTestParser()
    wrong = [
        f"{name}: {use}"
        for name, text in public_docstrings()
        for use in private_uses("".join(example.source for example in parser.get_examples(text)))
    ]
    assert not wrong, "\n".join(["examples use names that are not public:", *wrong])


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_prose_names_public_modules_only(page):
    """`latree.x.y` in running text is a public folder or a name that it lists, except in pages on the architecture."""
    if page_id(page) in ("CONTRIBUTING.md", "CHANGELOG.md", "docs/design.md") or page.parent.name == "api":
        pytest.skip("this page may name modules")
    wrong = []
    for dotted in re.findall(r"`(latree(?:\.\w+)+)[^`\n]*`", page.read_text(encoding="utf-8")):
        folder = max((name for name in PUBLIC if dotted == name or dotted.startswith(f"{name}.")), key=len)
        rest = dotted.removeprefix(folder).strip(".").split(".")[0]
        if rest and not is_public(folder, rest):
            wrong.append(dotted)
    assert not wrong, f"{page_id(page)}: not public: {', '.join(wrong)}"


# (b) Generated pages.


def test_generated_pages_are_up_to_date():
    made = reference.pages()
    there = {ROOT / "docs" / "commands.md", ROOT / "docs" / "data.md", *ROOT.glob("docs/api/*.md")}
    old = [
        page_id(path)
        for path in sorted({*made, *there})
        if not path.exists() or path.read_text(encoding="utf-8") != made.get(path)
    ]
    assert not old, f"run `make docs`: {', '.join(old)}"


def test_signatures_are_the_same_in_every_run():
    assert reference.literal({"b", "a"}) == "{'a', 'b'}"
    assert reference.literal(object()) == "..."
    assert reference.literal(len) == "len"


def test_a_docstring_becomes_markdown():
    text = inspect.cleandoc(
        """Return a < b, see :func:`latree.plot` and :meth:`Tree.splits <latree.Tree.splits>`.

        The formula is::

            x = 1

        Parameters
        ----------
        a : int
            The first,
            on two lines.

        Examples
        --------
        >>> 1 + 1  # doctest: +SKIP
        2
        """
    )
    assert "\n\n".join(reference.markdown(text)) == inspect.cleandoc(
        r"""Return a \< b, see `latree.plot` and `Tree.splits`.

        The formula is:

        ```text
        x = 1
        ```

        **Parameters**

        - `a` (int): The first, on two lines.

        **Examples**

        ```pycon
        >>> 1 + 1
        2
        ```"""
    )


# (c) Links.


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE))


def anchors(page):
    """Return the anchors that GitHub makes of a page's headings."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    found, times = set(), {}
    for heading in re.findall(r"^#+ (.*)$", text, re.MULTILINE):
        slug = reference.slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        found.add(f"{slug}-{times[slug]}" if slug in times else slug)
        times[slug] = times.get(slug, 0) + 1
    return found


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_links_lead_somewhere(page):
    wrong = []
    text = without_code(page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'\bsrc(?:set)?="([^"]+)"', text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            wrong.append(link)
    assert not wrong, f"{page_id(page)}: broken links: {', '.join(wrong)}"


@pytest.mark.parametrize("folder", ["docs", "docs/lab"])
def test_the_index_lists_every_page(folder):
    index = (ROOT / folder / "README.md").read_text(encoding="utf-8")
    names = {page.name for page in (ROOT / folder).glob("*.md")} - {"README.md"}
    missing = sorted(name for name in names if f"({name})" not in index)
    assert not missing, f"{folder}/README.md does not list {', '.join(missing)}"


def test_every_page_has_a_place_in_the_site():
    """Sphinx warns about other pages, and warnings are errors there."""
    pages_with_lists = [page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "api"]
    toctrees = [block for page in pages_with_lists for block in fenced(page.read_text(encoding="utf-8"), "{toctree}")]
    toctrees.append((ROOT / "docs" / "conf.py").read_text(encoding="utf-8").replace("\\n", " "))
    places = set(re.findall(r"[\w/]+", " ".join(toctrees)))
    pages = {page.stem for page in (ROOT / "docs").glob("*.md")} - {"README", "index"}
    missing = sorted(name for name in pages if not {name, f"/{name}"} & places)
    assert not missing, f"add to a toctree in docs/site: {', '.join(missing)}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_commands_in_pages_have_these_options(page):
    lines = "".join(fenced(page.read_text(encoding="utf-8"), "sh")).replace("\\\n", " ").splitlines()
    for line in lines:
        words = shlex.split(line, comments=True)
        if words[:1] == ["latree"] and not words[1].startswith("-"):
            assert words[1] in commands.commands, line
            try:
                commands.commands[words[1]].make_context(words[1], words[2:], resilient_parsing=True)
            except click.UsageError as error:
                pytest.fail(f"{page_id(page)}: {line}: {error.message}")


@pytest.mark.parametrize("name", ["CONTRIBUTING.md", "docs/design.md"])
def test_pages_on_the_architecture_name_files_that_exist(name):
    """Paths such as `learners/methods.py` or `cli/` are those of the package or of the repository."""
    text = (ROOT / name).read_text(encoding="utf-8")
    paths = re.findall(r"`((?:[\w.]+/)+(?:\w+\.(?:py|md|html|css|js))?|\w+\.py)`", text)
    bases = (ROOT, SOURCE, SOURCE.parent)
    wrong = sorted({path for path in paths if not any((base / path).exists() for base in bases)})
    assert paths
    assert not wrong, f"{name}: no such file: {', '.join(wrong)}"


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_targets_of_make_exist(page):
    text = page.read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    used = re.findall(r"`make ([\w-]+)`", text) + re.findall(
        r"^make ([\w-]+)", "".join(fenced(text, "sh")), re.MULTILINE
    )
    wrong = sorted(set(used) - targets)
    assert not wrong, f"{page_id(page)}: the Makefile has no {', '.join(wrong)}"


# (d) and (e) Docstrings.


def test_docstrings_begin_with_a_usual_word():
    wrong = []
    folders = [ROOT / name for name in ("src", "tests", "benchmarks", "docs")]
    for path in sorted(path for folder in folders for path in folder.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                text = ast.get_docstring(node) or ""
                if re.match(r"(Gives?|Tells?)\b", text):
                    line = getattr(node, "lineno", 1)
                    wrong.append(f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}")
    assert not wrong, "\n".join([f"{len(wrong)} docstrings begin with Give or Tell; write Return:", *wrong])


def test_public_names_have_examples():
    wrong = [name for name, value in public_objects() if "Examples\n--------" not in reference.docstring(value)]
    assert not wrong, f"no docstring with an Examples section: {', '.join(wrong)}"


def test_public_members_have_docstrings():
    wrong = []
    for name, value in public_objects():
        if inspect.isclass(value):
            for member, found in vars(value).items():
                method = inspect.isroutine(found) or isinstance(found, property)
                if method and not member.startswith("_") and not getattr(found, "__doc__", None):
                    wrong.append(f"{name}.{member}")
    assert not wrong, f"no docstring: {', '.join(wrong)}"


def test_public_names_can_be_overlooked():
    names = [name for module in PUBLIC for name in importlib.import_module(module).__all__]
    assert len(names) == len(set(names)) <= 55


def test_public_folders_list_names_that_exist():
    wrong = []
    for folder in PUBLIC:
        module = importlib.import_module(folder)
        if not getattr(module, "__all__", ()):
            wrong.append(f"{folder} has no __all__")
        wrong += [f"{folder}.{name}" for name in getattr(module, "__all__", ()) if not hasattr(module, name)]
    assert not wrong, ", ".join(wrong)


def docstring_tests(module):
    """Return the tests in the docstrings of a module; before Python 3.13, doctest passes over cached properties."""
    finder = doctest.DocTestFinder()
    found = finder.find(module)
    for owner in vars(module).values():
        if inspect.isclass(owner) and owner.__module__ == module.__name__:
            cached = {name: value for name, value in vars(owner).items() if isinstance(value, cached_property)}
            for name, value in cached.items():
                found += finder.find(value.func, f"{owner.__name__}.{name}", module)
    return found


@pytest.mark.parametrize("module", MODULES)
def test_docstring_examples(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # for examples that write files
    runner = doctest.DocTestRunner()
    for test in docstring_tests(importlib.import_module(module)):
        runner.run(test)
    assert runner.failures == 0, f"{runner.failures} of {runner.tries} examples fail"
