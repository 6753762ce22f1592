"""Settings: checked once, and the same after a way through JSON."""

import json
from dataclasses import fields

import numpy as np
import pytest

from latree import InputError, LatentTree
from latree.settings import Settings

WRONG = {
    "method": [None, 3],
    "goal": ["describe", None, ["explain"]],
    "resolve": ["some", None, True],
    "n_states": [0, 2.5, True, "4"],
    "representatives": ["farthest", None],
    "smoothing": [-1, float("nan"), float("inf"), True, "auto"],
    "bootstrap": [-1, 2.5, True, None],
    "max_iter": [0, 1.0],
    "tol": [-1e-9, float("nan"), None],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_a_senseless_value_is_named(name, value):
    with pytest.raises(InputError, match=f"^{name} must be "):
        Settings(**{name: value})


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings("tensor", "predict", "all", 3, "random", 0.5, 4, 7, 30, 1e-3, 11),
        Settings(n_states=np.int64(2), smoothing=np.float32(0.5), random_state=np.uint8(3)),
    ],
)
def test_settings_survive_json(settings):
    assert Settings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_a_generator_has_no_seed():
    assert Settings(random_state=np.random.default_rng(0)).to_dict()["random_state"] is None


@pytest.mark.parametrize(
    "change", [{"method": None}, {"random_state": -1}, {"random_state": "0"}, {"more": 1}, {"bootstrap": -1}]
)
def test_settings_are_read_as_hostile_input(change):
    with pytest.raises(InputError):
        Settings.from_dict({**Settings().to_dict(), **change})


@pytest.mark.parametrize("plain", [None, [], {}, "settings"])
def test_what_is_no_settings_is_refused(plain):
    with pytest.raises(InputError, match="settings are not an object"):
        Settings.from_dict(plain)


def test_the_estimator_has_every_setting_with_the_same_default():
    parameters = LatentTree().get_params()
    assert {field.name: field.default for field in fields(Settings)}.items() <= parameters.items()
