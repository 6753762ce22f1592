"""Settings in messages: arguments of Python, or options of the command line."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from latree._util.words import as_in_shell, in_shell, setting, settings_in_a_row


@pytest.mark.parametrize(
    ("name", "value", "in_python", "on_the_command_line"),
    [
        ("max_iter", 400, "max_iter=400", "--max-iter 400"),
        ("n_states", 2, "n_states=2", "--states 2"),
        ("goal", "predict", "goal='predict'", "--goal predict"),
        ("identifier", "my id", "identifier='my id'", "--id 'my id'"),
        ("drop", ["a", "b, c"], "drop=['a', 'b, c']", "--drop 'a,\"b, c\"'"),
        ("missing_also", [-99, "?"], "missing_also=[-99, '?']", "--missing-also '-99,?'"),
        ("n_states", None, "n_states", "--states"),
    ],
)
def test_a_setting_is_spelled_as_the_reader_types_it(name, value, in_python, on_the_command_line):
    assert setting(name, value) == in_python
    with as_in_shell():
        assert setting(name, value) == on_the_command_line
        with ThreadPoolExecutor(1) as pool:
            assert pool.submit(setting, name, value).result() == on_the_command_line
    assert setting(name, value) == in_python


def test_several_settings_are_typed_one_after_the_other():
    assert settings_in_a_row(["a=1", "b=2"]) == "a=1, b=2"
    with as_in_shell():
        assert settings_in_a_row(["--a 1", "--b 2"]) == "--a 1 --b 2"


def test_a_command_that_fails_leaves_nothing_behind():
    with pytest.raises(ValueError, match="wrong"), as_in_shell(), as_in_shell():
        raise ValueError("wrong")
    assert not in_shell()
