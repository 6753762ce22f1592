"""The project's own rules: which folder may import which, and the public names."""

import ast
import importlib.util
import pkgutil
import re
import tomllib
from functools import cache
from pathlib import Path

import click
import pytest
import yaml

import latree
from latree.__main__ import commands

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "latree"

# The way of the data: a room imports only from itself and from rooms before it. Type hints count, too.
ROOMS = [
    "errors",
    "_util",
    "settings",
    "table",
    "tree",
    "counts",
    "inference",
    "model",
    "datasets",
    "search",
    "learners",
    "interpret",
    "facts",
    "learn",
    "figure",
    "export",
    "report",
    "quality",
    "estimator",
    "cli",
    "paper",
    "research",
    "__main__",
]


@cache
def modules():
    return [info.name for info in pkgutil.walk_packages([str(SOURCE)], "latree.")]


def room(module):
    return module.split(".")[1]


@cache
def imports(module):
    """Return the modules of latree that a module imports, wherever in its text."""
    path = SOURCE.parent / Path(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))
    known, found = set(modules()), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "latree":
            found |= {f"latree.{alias.name}" for alias in node.names if alias.name != "__version__"}
        elif isinstance(node, ast.ImportFrom):
            inside = {f"{node.module}.{alias.name}" for alias in node.names}  # modules of a folder, or names
            found |= {name if name in known else node.module for name in inside}
    return {name for name in found if name.startswith("latree.")}


@pytest.mark.parametrize("module", modules())
def test_imports_run_one_way(module):
    level = ROOMS.index(room(module))
    wrong = sorted(name for name in imports(module) if ROOMS.index(room(name)) > level)
    assert not wrong, f"{module} imports from rooms after its own"


def test_every_room_is_there():
    assert set(ROOMS) == {room(module) for module in modules()}


def cycles(graph):
    """Return the modules that import themselves by way of others."""
    reached = {module: set(found) for module, found in graph.items()}
    for _ in graph:
        for found in reached.values():
            found |= set().union(*(reached.get(name, ()) for name in found))
    return sorted(module for module, found in reached.items() if module in found)


def test_no_module_imports_itself_by_way_of_others():
    graph = {module: {name for name in imports(module) if name in modules()} for module in modules()}
    packages = {name for name in graph if (SOURCE.parent / Path(*name.split("."))).is_dir()}
    assert cycles({module: found - packages for module, found in graph.items() if module not in packages}) == []


def test_public_names_are_those_of_all():
    for name in latree.__all__:
        assert getattr(latree, name).__doc__
    assert set(latree.__all__) <= set(dir(latree))
    with pytest.raises(AttributeError, match="nonsense"):
        latree.nonsense  # noqa: B018


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_every_command_and_option_has_help(name):
    command = commands.commands[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_readme_names_the_two_commands_that_ci_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_changelog_knows_the_version():
    assert f"## {latree.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_no_test_imports_another_test():
    for path in (ROOT / "tests").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not [name for name in names if name.split(".")[-1].startswith("test_")], path


def load_conftest():
    specification = importlib.util.spec_from_file_location("conftest", ROOT / "tests" / "conftest.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_tests_that_conftest_names_exist():
    conftest = load_conftest()
    elsewhere = [name for names in conftest.ELSEWHERE.values() for name in names]
    assert not [name for name in {*conftest.SLOW, *conftest.FIRST, *elsewhere} if not (ROOT / "tests" / name).exists()]
    for name in conftest.POSIX:
        file, _, test = name.partition("::")
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), name


# What is released.


def project():
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def yaml_file(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def test_the_citation_has_the_version():
    citation = yaml_file("CITATION.cff")
    assert citation["version"] == latree.__version__
    assert citation["authors"] == project()["authors"]
    assert citation["license"] in project()["license"]


def test_the_workflow_tests_what_the_metadata_promise():
    jobs = yaml_file(".github/workflows/test.yml")["jobs"]
    matrix = jobs["test"]["strategy"]["matrix"]
    tested = {*matrix["python"], *(extra["python"] for extra in matrix["include"])}
    promised = {found[1] for text in project()["classifiers"] if (found := re.fullmatch(r".*Python :: (3\.\d+)", text))}
    assert tested == promised
    assert min(promised, key=lambda version: int(version[2:])) == project()["requires-python"].removeprefix(">=")
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}
    assert "make test PYTHON=python" in [step.get("run") for step in jobs["test"]["steps"]]


def test_workflows_and_ci_run_targets_that_exist():
    """All that tests have: what `make test` leaves out, other jobs do."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([\w-]+):", makefile, re.MULTILINE))
    other = set(yaml_file(".github/workflows/test.yml")["jobs"]["other"]["strategy"]["matrix"]["target"])
    here = set(re.findall(r"[\w-]+", " ".join(re.findall("make (.*)", (ROOT / ".ci" / "run").read_text()))))
    elsewhere = {f"test-{name}" for name in load_conftest().ELSEWHERE}
    assert elsewhere <= other <= targets
    assert {"lint", "test"} <= here <= targets
    for name in load_conftest().ELSEWHERE:
        assert f"not {name}" in re.search('PYTEST\\) -m "(not site.*)"', makefile)[1]


def test_a_release_is_published_only_after_all_tests():
    jobs = yaml_file(".github/workflows/release.yml")["jobs"]
    assert (jobs["publish"]["needs"], jobs["test"]["needs"]) == ("test", "check")
    assert jobs["test"]["uses"] == "./.github/workflows/test.yml"
    assert jobs["publish"]["permissions"] == {"id-token": "write"}


def test_the_sdist_takes_folders_of_this_project_only():
    """A name without a slash would match in every folder."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    names = settings["targets"]["sdist"]["include"]
    assert not [name for name in names if name[0] != "/" or not (ROOT / name[1:]).exists()]
