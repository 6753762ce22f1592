"""The promises of docs/promises.md are held by tests that exist, and by the absence of some imports."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROMISES = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PROMISES)))

# Modules that unpickle, listen or connect. Dask and yfinance do so where users ask for them.
FORBIDDEN = {"pickle", "shelve", "marshal", "socket", "socketserver", "http", "urllib", "ftplib", "requests", "httpx"}


@pytest.mark.parametrize(("path", "name"), NAMED, ids=lambda part: part)
def test_a_promise_is_held_by_a_test_that_exists(path, name):
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_promise_has_a_test():
    promises, _ = PROMISES.split("## Fuzzing")
    rows = [line for line in promises.splitlines() if line.startswith("| ") and "held by" not in line]
    assert len(rows) > 10
    assert all("`tests/" in row for row in rows)


def test_no_pickle_no_port_no_network():
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            imported = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            imported += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if path.name == "workers.py":  # it sends results between a process and its own copies
                imported = [name for name in imported if name != "pickle"]
            assert not FORBIDDEN & {name.split(".")[0] for name in imported if name != "urllib.parse"}, path
            if isinstance(node, ast.keyword) and node.arg == "allow_pickle":
                assert isinstance(node.value, ast.Constant), path
                assert node.value.value is False, path
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "np.load":
                assert "allow_pickle" in {keyword.arg for keyword in node.keywords}, path
