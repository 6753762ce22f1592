"""The project's own rules: layers, public names, types, style, documents."""

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import click
import pytest

import latree
from latree.__main__ import commands

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "latree"

# A module imports only from those before it: the way of the data, from rows to the command line.
LAYERS = [
    ["latree.errors"],
    ["latree._util.arrays", "latree._util.parallel", "latree._util.files", "latree._util.progress"],
    ["latree.table"],
    ["latree._util.checkpoint"],
    ["latree.table.labels"],
    ["latree.counts.contingency", "latree.counts.tensor", "latree.inference.patterns"],
    ["latree.inference.messages"],
    ["latree.counts.distances"],
    ["latree.counts.quartets"],
    ["latree.tree.newick", "latree.tree.drawing"],
    ["latree.figure"],
    ["latree.tree"],
    ["latree.learners.structure"],
    ["latree.learners.support"],
    ["latree.model.record"],
    ["latree.model.file"],
    ["latree.model"],
    ["latree.inference.em", "latree.paper.simulate", "latree.paper.theory", "latree.inference.evidence"],
    ["latree.model.heldout", "latree.model.diagnostics"],
    ["latree.model.states", "latree.learners.rearrange"],
    ["latree.learners.auto"],
    ["latree.learners.methods"],
    ["latree.learn"],
    ["latree.report"],
    ["latree.estimator", "latree.cli.terminal", "latree.paper.experiments"],
    ["latree.cli.common"],
    ["latree.cli.plot", "latree.cli.report", "latree.paper.commands", "latree.cli.rows"],
    ["latree.__main__"],
    ["latree.__main__"],
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def modules():
    return [info.name for info in pkgutil.walk_packages([str(SOURCE)], "latree.")]


def top(module):
    return ".".join(module.split(".")[:2])


def run_time_imports(module):
    """Modules of latree that a module imports, except only for the sake of types."""
    path = SOURCE.parent / Path(*module.split("."))
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
        for inner in ast.walk(node)
    }
    found = set()
    for node in ast.walk(tree):
        if id(node) in for_types:
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module == "latree":
            found |= {f"latree.{alias.name}" for alias in node.names if alias.name != "__version__"}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module)
    return {name for name in found if name.startswith("latree")}


@pytest.mark.parametrize("module", modules())
def test_imports_run_one_way(module):
    assert top(module) in LEVEL
    for imported in run_time_imports(module):
        assert top(imported) == top(module) or LEVEL[top(imported)] < LEVEL[top(module)], imported


def test_public_names_are_those_of_all():
    for name in latree.__all__:
        assert getattr(latree, name).__doc__
    assert set(latree._HOMES) == set(latree.__all__) <= set(dir(latree))
    with pytest.raises(AttributeError, match="nonsense"):
        latree.nonsense  # noqa: B018


@pytest.mark.parametrize("command", [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]], ids=" ".join)
def test_style_and_types(command):
    result = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize("name", sorted(commands.commands))
def test_every_command_and_option_has_help(name):
    command = commands.commands[name]
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_readme_tells_the_two_commands_that_ci_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in readme
    assert "make test" in readme
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_changelog_knows_the_version():
    assert f"## {latree.__version__}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
