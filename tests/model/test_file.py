"""Model files: they come back bit for bit, and anything wrong in them is named."""

import copy
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bins import bins_at
from latree._util.files import to_json
from latree.errors import InputError
from latree.model import Group, LatentTreeModel
from latree.model.group import Levels
from latree.paper.simulate import random_model, random_tree
from latree.table import Column
from latree.tree import Tree


def varied_model():
    """A model with every kind of column, and a tree with some lengths and supports."""
    tree = random_tree(4, random_state=0)
    numbers = [[np.nan if i == hole else (i + 1) / 7 for i in range(len(tree.edges))] for hole in (0, 2)]
    columns = (
        Column(
            "x0",
            "number",
            ("<= 0.1", "(0.1, 0.3]", "> 0.3"),
            (),
            **bins_at((0.1, 0.1 + 0.2), (0.05, 0.2, 1 / 3)),
            ordered=True,
        ),
        Column("naïve, 'x'\n", "text", ("a", "b c", "é"), ("?",)),
        Column("x2", "text", ("no", "yes", "maybe"), ordered=True),
        Column("x3", "integer", ("-1", "0", "7"), ordered=True),
    )
    drawn = random_model(tree, n_states=3, hidden_states=(2, 3), random_state=1)
    named = Tree([column.name for column in columns], tree.edges, *numbers)
    # Nodes 4 and 5 are hidden; one of them has two columns beside it, the other has the other two.
    beside = [[other for other, _ in named.neighbors[node] if other < 4] for node in (4, 5)]
    groups = [
        Group(
            *(f"group {node}", "main", tuple(named.names[column] for column in sorted(around)), f"H{node - 3}", parent),
            *(1 / 3, (*sorted(around), node), node, (1.0, 0.1), (None, (5 - node, 0.7))),
        )
        for node, around, parent in ((4, beside[0], 2), (5, beside[1], None))
    ]
    groups.append(Group("both", "broad", named.names, "H1", None, None, tuple(range(6)), 4))
    between = next(edge for edge, ends in enumerate(named.edges.tolist()) if min(ends) >= 4)
    levels = Levels((between,), (1.0, 1 / 3))
    return LatentTreeModel(named, columns, drawn.tables, None, tuple(groups), ("group 4", "group 5"), levels)


MODEL = varied_model()


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    MODEL.save(path)
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    return tmp_path_factory.mktemp("hostile") / "hostile.json"


def test_a_model_comes_back_bit_for_bit(tmp_path):
    MODEL.save(tmp_path / "first.json")
    loaded = LatentTreeModel.load(tmp_path / "first.json")
    assert (loaded.columns, loaded.groups, loaded.hidden_names) == (MODEL.columns, MODEL.groups, MODEL.hidden_names)
    assert loaded.levels == MODEL.levels
    assert loaded.tree.names == MODEL.tree.names
    for name in ("edges", "lengths", "support"):
        assert getattr(loaded.tree, name).tobytes() == getattr(MODEL.tree, name).tobytes()
    assert [(x.shape, x.tobytes()) for x in loaded.tables] == [(x.shape, x.tobytes()) for x in MODEL.tables]
    loaded.save(tmp_path / "second.json")
    assert (tmp_path / "first.json").read_bytes() == (tmp_path / "second.json").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first.json", "second.json"]


@settings(deadline=None)
@given(st.lists(st.floats(0, 1, exclude_min=True), min_size=3, max_size=3))
def test_every_float_survives(hostile, weights):
    root = int(np.flatnonzero(MODEL.tree.rooted().parent < 0)[0])
    tables = list(MODEL.tables)
    tables[root] = np.resize(weights, tables[root].shape)
    tables[root] = tables[root] / tables[root].sum()
    LatentTreeModel(MODEL.tree, MODEL.columns, tuple(tables)).save(hostile)
    assert LatentTreeModel.load(hostile).tables[root].tobytes() == tables[root].tobytes()


def test_a_model_scores_the_same_after_loading(tmp_path):
    MODEL.save(str(tmp_path / "model.json"))
    rows = MODEL.sample(50, 0)
    assert LatentTreeModel.load(str(tmp_path / "model.json")).log_likelihood(rows) == MODEL.log_likelihood(rows)


def load_error(path, content):
    """Write a file, load it, and give the one line that says what is wrong with it (None: nothing)."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    try:
        LatentTreeModel.load(path)
    except InputError as error:
        message = str(error)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        assert len(message) < len(str(path)) + 300
        assert message.isprintable()
        return message.removeprefix(f"{path}: ")
    return None


def changed(plain, *where, to=None, without=False):
    """Return a copy of a model's plain data with one place changed or removed."""
    copied = copy.deepcopy(plain)
    *above, last = where
    place = copied
    for key in above:
        place = place[key]
    if without:
        del place[last]
    else:
        place[last] = to
    return copied


TEXTS = {
    "empty": "",
    "null": "null",
    "a list": "[]",
    "a number": "1",
    "half": '{"format": "latree-model", "version": 1, "columns": [',
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00",
    "not UTF-8": b'{"format": "latree-mod\xe9l"}',
    "nul": "\0" * 100,
    "deep lists": "[" * 100_000,
    "deep objects": '{"a":' * 100_000,
    "deep version": '{"format": "latree-model", "version": ' + "[" * 900 + "]" * 900 + "}",
    "long version": '{"format": "latree-model", "version": ' + json.dumps("x" * 10_000) + "}",
    "number of 5000 digits": '{"format": "latree-model", "version": ' + "1" * 5000 + "}",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_files_that_are_no_models(hostile, text):
    assert load_error(hostile, text)


WRONG = {
    "format": (["format"], "other-model", "not a latree model"),
    "unknown field": (["zoo"], 1, "unknown field 'zoo'; remove it"),
    "misspelt field": (["hidden_name"], [], "did you mean 'hidden_names'?"),
    "unknown field of a column": (["columns", 3, "order"], [], "column 'x3' has an unknown field"),
    "unknown field of the tree": (["tree", "weights"], [], "the tree has an unknown field"),
    "unknown field of a group": (["groups", 0, "node"], 1, "group 'group 4' has an unknown field"),
    "support huge": (["tree", "support", 0], 1e308, "support of an edge is 1e+308"),
    "support above 1": (["tree", "support", 0], 1.0000001, "support of an edge"),
    "support below 0": (["tree", "support", 0], -1e-9, "support of an edge"),
    "version 2": (["version"], 2, "version 2"),
    "version as text": (["version"], "1", "version '1'"),
    "version true": (["version"], True, "version True"),
    "columns": (["columns"], {}, "columns"),
    "column": (["columns", 0], "x0", "column"),
    "no columns": (["columns"], [], ""),
    "name": (["columns", 0, "name"], 7, "name"),
    "name twice": (["columns", 0, "name"], "x3", "appears twice"),
    "name that no file can hold": (["columns", 0, "name"], "\ud800", ""),
    "kind": (["columns", 3, "kind"], "colour", "'x3'"),
    "kind as list": (["columns", 3, "kind"], ["text"], "'x3'"),
    "kind without cuts": (["columns", 0, "kind"], "text", "'x0'"),
    "categories": (["columns", 3, "categories"], "abc", "'x3'"),
    "category": (["columns", 3, "categories", 1], 0, "'x3'"),
    "category twice": (["columns", 3, "categories"], ["1", "1", "2"], "'x3'"),
    "no category": (["columns", 3, "categories"], [], "'x3'"),
    "category no integer": (["columns", 3, "categories", 1], "a\nb", "'x3'"),
    "category of 5000 digits": (["columns", 3, "categories", 1], "1" * 5000, "'x3'"),
    "category that no file can hold": (["columns", 1, "categories", 1], "\ud800", ""),
    "too few categories": (["columns", 3, "categories"], ["1", "2"], "'x3'"),
    "ordered": (["columns", 3, "ordered"], 1, "'x3'"),
    "bins without an order": (["columns", 0, "ordered"], False, "'x0'"),
    "missing": (["columns", 3, "missing"], None, "'x3'"),
    "cuts": (["columns", 0, "cuts"], None, "'x0'"),
    "cuts fall": (["columns", 0, "cuts"], [1, 0], "'x0'"),
    "cut NaN": (["columns", 0, "cuts"], [0, float("nan")], "'x0'"),
    "cut infinite": (["columns", 0, "cuts"], [0, float("inf")], "'x0'"),
    "cut huge": (["columns", 0, "cuts"], [0, 10**400], "'x0'"),
    "cut true": (["columns", 0, "cuts"], [False, True], "'x0'"),
    "density": (["columns", 0, "density"], [], "'x0'"),
    "other density": (["columns", 0, "density", "step"], "1", "'x0'"),
    "tree": (["tree"], [], "tree"),
    "edges": (["tree", "edges"], None, "edges"),
    "edge": (["tree", "edges", 0], [0, 4, 5], "edges"),
    "edge as float": (["tree", "edges", 0], [0.0, 4.0], "edges"),
    "edge as text": (["tree", "edges", 0], "04", "edges"),
    "negative node": (["tree", "edges", 0], [-1, 4], "edges"),
    "huge node": (["tree", "edges", 0], [0, 2**31 - 1], "hidden node"),
    "huger node": (["tree", "edges", 0], [0, 2**70], "edges"),
    "node without neighbour": (["tree", "edges", 0], [0, 9], "hidden node"),
    "loop": (["tree", "edges", 0], [4, 4], "form a cycle"),
    "circle": (["tree", "edges"], [[0, 4], [4, 5], [5, 0], [1, 4], [2, 5]], "form a cycle"),
    "edge twice": (["tree", "edges"], [[0, 4], [0, 4], [1, 5], [2, 5], [4, 5]], "form a cycle"),
    "lengths": (["tree", "lengths"], [1], "lengths"),
    "length as text": (["tree", "lengths", 0], "long", "lengths"),
    "length NaN": (["tree", "lengths", 0], float("nan"), "lengths"),
    "length huge": (["tree", "lengths", 0], 10**400, "lengths"),
    "support": (["tree", "support"], {"0": 1}, "support"),
    "groups": (["groups"], {}, "groups"),
    "group": (["groups", 0], "group 4", "a group"),
    "group's name": (["groups", 0, "name"], 4, "a group"),
    "group's other name": (["groups", 0, "name"], "other", "hidden variable"),
    "group's name twice": (["groups", 2, "name"], "group 4", "'group 4'"),
    "group's level": (["groups", 0, "level"], "small", "'group 4'"),
    "group's level as list": (["groups", 0, "level"], ["main"], "'group 4'"),
    "groups' levels": (["groups", 0, "level"], "fine", "come first"),
    "group's columns": (["groups", 0, "columns"], "x3", "'group 4'"),
    "group's unknown column": (["groups", 0, "columns", 0], "x9", "'group 4'"),
    "group's column twice": (["groups", 0, "columns", 0], "x3", "'group 4'"),
    "group's nodes": (["groups", 0, "nodes"], 4, "'group 4'"),
    "group's unknown node": (["groups", 2, "nodes", 5], 6, "'both'"),
    "group's negative node": (["groups", 0, "nodes", 0], -1, "'group 4'"),
    "group's node as float": (["groups", 0, "nodes", 2], 4.0, "'group 4'"),
    "group's node twice": (["groups", 2, "nodes"], [0, 1, 2, 3, 4, 4, 5], "'both'"),
    "group's nodes not connected": (["groups", 2, "nodes"], [0, 1, 2, 3, 5], "not connected"),
    "group's centre": (["groups", 0, "centre"], 5, "centre"),
    "group's huge centre": (["groups", 0, "centre"], 2**70, "'group 4'"),
    "group's parent": (["groups", 0, "parent"], 3, "no group 3"),
    "group's negative parent": (["groups", 0, "parent"], -1, "no group -1"),
    "group's parent as text": (["groups", 0, "parent"], "2", "'group 4'"),
    "group's parent true": (["groups", 0, "parent"], True, "'group 4'"),
    "group above itself": (["groups", 0, "parent"], 0, "not a part of"),
    "group above a broad one": (["groups", 2, "parent"], 0, "not a part of"),
    "stability": (["groups", 0, "stability"], 1.01, "stability"),
    "stability negative": (["groups", 0, "stability"], -0.01, "stability"),
    "stability NaN": (["groups", 0, "stability"], float("nan"), "stability"),
    "stability of a column": (["groups", 0, "column_stability", 1], 1.01, "stability"),
    "stability of a column as text": (["groups", 0, "column_stability", 1], "1", "stability"),
    "stability of too few columns": (["groups", 0, "column_stability"], [1.0], "'group 4'"),
    "stability of columns as number": (["groups", 0, "column_stability"], 1.0, "'group 4'"),
    "elsewhere": (["groups", 0, "column_elsewhere"], 1, "where else"),
    "elsewhere without a share": (["groups", 0, "column_elsewhere", 1], [1], "where else"),
    "elsewhere of a column as number": (["groups", 0, "column_elsewhere", 1], 1, "where else"),
    "elsewhere as text": (["groups", 0, "column_elsewhere", 1], ["1", 0.5], "where else"),
    "elsewhere true": (["groups", 0, "column_elsewhere", 1], [True, 0.5], "where else"),
    "elsewhere in itself": (["groups", 0, "column_elsewhere", 1], [0, 0.5], "no other main group 0"),
    "elsewhere in a broad group": (["groups", 0, "column_elsewhere", 1], [2, 0.5], "no other main group 2"),
    "elsewhere in no group": (["groups", 0, "column_elsewhere", 1], [-1, 0.5], "no other main group -1"),
    "elsewhere too often": (["groups", 0, "column_elsewhere", 1], [1, 1.5], "between 0 and 1"),
    "elsewhere of too few columns": (["groups", 0, "column_elsewhere"], [None], "2 columns need"),
    "levels": (["levels"], [], "levels"),
    "levels' unknown field": (["levels", "main"], 1, "main"),
    "levels' edges": (["levels", "edges"], 4, "whole numbers"),
    "levels' edge true": (["levels", "edges"], [True], "whole numbers"),
    "levels' edge of another tree": (["levels", "edges"], [99], "edges of the tree"),
    "levels' negative edge": (["levels", "edges"], [-1], "edges of the tree"),
    "levels' edge twice": (["levels", "edges"], [4, 4], "each of them once"),
    "levels' edges of columns": (["levels", "edges"], [0], "two columns or more"),
    "levels' replication": (["levels", "replication"], 1.0, "replication"),
    "levels' replication as text": (["levels", "replication", 0], "1", "replication"),
    "levels' replication NaN": (["levels", "replication", 0], float("nan"), "replication"),
    "levels' replication above one": (["levels", "replication", 0], 1.01, "between 0 and 1"),
    "replication of too few levels": (["levels", "replication"], [1.0], "2 levels need"),
    "hidden names": (["hidden_names"], {}, "hidden_names"),
    "hidden name": (["hidden_names", 0], 4, "hidden_names"),
    "too few hidden names": (["hidden_names"], ["group 4"], "names"),
    "no hidden names for groups": (["hidden_names"], [], "hidden variable"),
    "hidden name empty": (["hidden_names", 1], " ", "empty"),
    "hidden name on two lines": (["hidden_names", 1], "a\nb", "printable"),
    "hidden name that no file can hold": (["hidden_names", 1], "\ud800", "hidden_names"),
    "hidden name of a column": (["hidden_names", 1], "x3", "a column"),
    "hidden name twice": (["hidden_names", 1], "group 4", "hidden variable H1"),
    "hidden name of another": (["hidden_names", 1], "H1", "hidden variable H1"),
    "hidden name of a group": (["hidden_names", 1], "both", "hidden variable"),
    "tables": (["tables"], None, "tables"),
    "too few tables": (["tables"], [[[1.0]]], "tables"),
    "table": (["tables", 3], 1.0, "node 3"),
    "table empty": (["tables", 3], [], "node 3"),
    "table of nothing": (["tables", 3], [[], [], []], "'x3'"),
    "table ragged": (["tables", 3, 0], [0.5], "node 3"),
    "table flat": (["tables", 3], [0.2, 0.3, 0.5], "node 3"),
    "table deep": (["tables", 3, 0, 0], [0.5], "node 3"),
    "shape": (["tables", 3], [[1.0]], "'x3'"),
    "cell as text": (["tables", 3, 0, 0], "NaN", "node 3"),
    "cell true": (["tables", 3, 0, 0], True, "node 3"),
    "cell null": (["tables", 3, 0, 0], None, "node 3"),
    "cell NaN": (["tables", 3, 0, 0], float("nan"), "node 3"),
    "cell infinite": (["tables", 3, 0, 0], float("-inf"), "node 3"),
    "cell negative": (["tables", 3], [[-0.5] * 2, [0.5] * 2, [1.0] * 2], "'x3'"),
    "cell too large": (["tables", 3, 0, 0], 1.5, "'x3'"),
    "cells that overflow": (["tables", 3], [[1e308] * 2, [1e308] * 2, [0] * 2], "3"),
    "cell huge": (["tables", 3, 0, 0], 10**400, ""),
}


@pytest.mark.parametrize("place", ["format", "edges", "name"])
def test_a_field_that_appears_twice_is_refused(hostile, plain, place):
    text = json.dumps(plain)
    start = text.index(f'"{place}": ')
    twice = text[:start] + f'"{place}": 1, ' + text[start:]
    assert json.loads(twice) == plain
    assert f"the field '{place}' appears twice" in load_error(hostile, twice)


@pytest.mark.parametrize(("where", "value", "mention"), WRONG.values(), ids=WRONG)
def test_wrong_values_are_named(hostile, plain, where, value, mention):
    message = load_error(hostile, json.dumps(changed(plain, *where, to=value)))
    assert message is not None
    assert mention in message


@pytest.mark.parametrize(
    "where",
    [
        *(["format"], ["version"], ["columns"], ["tree"], ["tables"], ["tree", "edges"]),
        *(["columns", 0, key] for key in ("name", "kind", "categories", "ordered", "missing", "cuts", "density")),
        *(["groups", 0, key] for key in ("name", "level", "columns", "nodes", "centre")),
        *(["hidden_names"], ["hidden_names", 0], ["groups", 2], ["groups", 0, "column_stability", 0]),
        *(["tables", 5], ["tree", "edges", 0], ["tree", "lengths", 0], ["tables", 3, 0]),
    ],
    ids=str,
)
def test_nothing_may_be_absent(hostile, plain, where):
    assert load_error(hostile, json.dumps(changed(plain, *where, without=True)))


def places(value, above=()):
    """Walk through every place of plain data."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in pairs:
        yield (*above, key)
        yield from places(below, (*above, key))


numbers = st.sampled_from([0, -1, 1, 5, 2**31, 2**64, 10**400, 1e308, 5e-324]) | st.floats()


leaves = numbers | st.sampled_from([None, True, "", "x3", "NaN", "\n"])


anything = st.recursive(leaves, lambda x: st.lists(x, max_size=3) | st.dictionaries(st.text(max_size=1), x, max_size=1))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_no_mutation_makes_anything_but_an_input_error(hostile, plain, data):
    mutated = plain
    for _ in range(data.draw(st.integers(1, 2))):
        where = data.draw(st.sampled_from(list(places(mutated))))
        mutated = changed(mutated, *where, to=data.draw(anything), without=data.draw(st.integers(0, 4)) == 4)
    load_error(hostile, json.dumps(mutated))


@settings(deadline=None)
@given(st.data())
def test_no_cut_or_splice_makes_anything_but_an_input_error(hostile, plain, data):
    text = to_json(plain)
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    load_error(hostile, (text[:start] + data.draw(st.text('[]{},:"\\0-.eE\0é', max_size=5)) + text[stop:]).encode())
