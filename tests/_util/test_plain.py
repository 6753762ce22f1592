"""JSON text that is damaged, or made to be read in two ways."""

import pytest

from latree._util.arrays import check_fields, parse_json
from latree.errors import InputError


@pytest.mark.parametrize("text", ["", "{", "[1, 2", "nul", "9" * 5000, "[" * 100_000, '{"a":' * 100_000])
def test_what_is_not_json_is_named(text):
    with pytest.raises(InputError, match="not a JSON file"):
        parse_json(text)


def test_a_field_may_appear_once_in_each_object():
    assert parse_json('{"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}') == {"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}
    with pytest.raises(InputError, match="the field 'a' appears twice in one object"):
        parse_json('{"b": [{"a": 1, "c": 2, "a": 1}]}')


def test_unknown_fields_are_named_with_what_was_meant():
    check_fields({"edges": 1}, ("edges", "lengths"), "the tree")
    with pytest.raises(InputError, match="the tree has an unknown field 'lenghts'; did you mean 'lengths'"):
        check_fields({"edges": 1, "lenghts": 2}, ("edges", "lengths"), "the tree")
    with pytest.raises(InputError, match="unknown field 'zoo'; remove it"):
        check_fields({"zoo": 1}, ("edges", "lengths"), "the tree")
