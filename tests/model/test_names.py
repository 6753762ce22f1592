"""Names of hidden variables and groups: no name means two things, and a group keeps the name of its hidden variable."""

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from helpers.models import model_on
from latree.errors import InputError
from latree.model import Group, LatentTreeModel
from latree.tree import Tree

TREE = Tree("abcdef", [*((column, 6 + column // 3) for column in range(6)), (6, 7)])
GROUPS = (
    Group("first", "main", ("a", "b", "c"), "H1", None, None, (0, 1, 2, 6), 6),
    Group("second", "main", ("d", "e", "f"), "H2", None, None, (3, 4, 5, 7), 7),
    Group("all", "broad", tuple("abcdef"), "H1", None, None, tuple(range(8)), 6),
)
MODEL = replace(model_on(TREE, [2] * 8, 0), groups=GROUPS, hidden_names=("first", "second"))


def names(model):
    return model.hidden_names, tuple(group.name for group in model.groups)


def test_nodes_by_every_name():
    assert MODEL.node_names == (*"abcdef", "first", "second")
    assert MODEL.tree.node_names == (*"abcdef", "H1", "H2")
    assert [MODEL.node(name) for name in ("a", "f", "first", "H1", "second", "H2")] == [0, 5, 6, 6, 7, 7]
    technical = model_on(TREE, [2] * 8, 0)
    assert technical.node_names == TREE.node_names
    assert technical.node("H2") == 7


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("secund", "there is no variable 'secund'; did you mean 'second'?"),
        ("H3", "did you mean 'H1' or 'H2'?|did you mean 'H2' or 'H1'?"),
        ("zzzz", "there is no variable 'zzzz'; the groups are 'first', 'second'$"),
        ("all", "there is no variable 'all'"),  # a group alone is no variable
    ],
)
def test_unknown_names_suggest_near_ones(name, message):
    with pytest.raises(InputError, match=message.replace("?|", "[?]|").removesuffix("?")):
        MODEL.node(name)


@pytest.mark.parametrize("old", ["first", "H1"])
def test_a_group_and_its_hidden_variable_are_renamed_together(old, tmp_path):
    model = MODEL.rename({old: "mood"})
    assert names(model) == (("mood", "second"), ("mood", "second", "all"))
    assert names(MODEL) == (("first", "second"), ("first", "second", "all"))
    assert (model.node("mood"), model.node("H1")) == (6, 6)
    model.save(tmp_path / "model.json")
    assert names(LatentTreeModel.load(tmp_path / "model.json")) == names(model)


def test_names_may_be_exchanged_and_groups_renamed_alone():
    model = MODEL.rename({"H1": "second", "second": "first", "all": "general"})
    assert names(model) == (("second", "first"), ("second", "first", "general"))
    # A hidden variable may get its technical name back.
    assert names(MODEL.rename({"second": "H2"})) == (("first", "H2"), ("first", "H2", "all"))
    # Without groups and names, technical names are replaced one by one.
    assert model_on(TREE, [2] * 8, 0).rename({"H2": "mood"}).hidden_names == ("H1", "mood")
    assert names(MODEL.rename({})) == names(MODEL)


@pytest.mark.parametrize(
    ("new_names", "message"),
    [
        ({"first": "a"}, "'a' of hidden variable H1 is also the name of a column"),
        ({"first": "second"}, "there is already a group 'second'; choose another name for 'first'"),
        ({"first": "H2"}, "'H2' of hidden variable H1 is also the name of hidden variable H2"),
        ({"first": "all"}, "there is already a group 'all'; choose another name for 'first'"),
        ({"all": "second"}, "there is already a group 'second'; choose another name for 'all'"),
        ({"all": "first"}, "there is already a group 'first'; choose another name for 'all'"),
        ({"all": "H1"}, "'H1' of group 3 is also the name of hidden variable H1"),
        ({"first": "x", "second": "x"}, "'x' of hidden variable H2 is also the name of hidden variable H1"),
        ({"first": "x", "H1": "y"}, "'first' and 'H1' are the same variable"),
        ({"a": "x"}, "'a' is a column"),
        ({"frist": "x"}, "no hidden variable or group 'frist'; did you mean 'first'"),
        ({"firs": "x"}, "did you mean 'first'[?]$"),  # once, though a group and its variable have this name
        ({"zzzz": "x"}, "there is no hidden variable or group 'zzzz'; the groups are 'first', 'second', 'all'$"),
        ({"al": "x"}, "did you mean 'all'"),
        ({"first": ""}, "empty"),
        ({"first": " x"}, "without spaces around it"),
        ({"first": "x\ny"}, "printable"),
        ({"first": "x\u202ey"}, "printable"),
        ({"first": 3}, "must be text, not 3"),
    ],
)
def test_wrong_names_are_refused(new_names, message):
    with pytest.raises(InputError, match=message):
        MODEL.rename(new_names)


# Most of these are accepted; most texts of any letters are not.
MOSTLY_FINE = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=3)


@given(new=st.lists(MOSTLY_FINE, min_size=3, max_size=3, unique=True))
def test_whatever_is_accepted_comes_back(new, tmp_path_factory):
    try:
        model = MODEL.rename(dict(zip(("H1", "H2", "all"), new, strict=True)))
    except InputError:
        assume(False)
    assert names(model) == (tuple(new[:2]), tuple(new))
    assert [model.node(name) for name in model.node_names] == list(range(8))
    path = tmp_path_factory.getbasetemp() / "named.json"
    model.save(path)
    assert names(LatentTreeModel.load(path)) == names(model)


def test_the_drawing_has_the_names_of_main_groups():
    drawn = MODEL.draw().splitlines()
    assert [line.strip(" ─┬├└│") for line in drawn if "[" in line] == ["[first]", "[second]"]
    assert sorted(drawn) == sorted(MODEL.draw(hidden=True).splitlines())
    alone = replace(MODEL, groups=GROUPS[:1])
    assert "[first]" in alone.draw()
    assert "second" not in alone.draw()
    assert "[second]" in alone.draw(hidden=True)
    assert model_on(TREE, [2] * 8, 0).draw() == TREE.draw()


def test_a_name_without_an_end_is_refused():
    assert "x" * 10_000 in MODEL.rename({"H1": "x" * 10_000}).hidden_names
    with pytest.raises(
        InputError, match=r"of hidden variable H1 has 100000 letters; names have at most 10000"
    ) as error:
        MODEL.rename({"H1": "x" * 100_000})
    assert len(str(error.value)) < 200
