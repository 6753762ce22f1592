"""Seeds and generators."""

import numpy as np
import pytest

from latree._util.arrays import generator
from latree.errors import InputError


def test_a_seed_and_its_generator_draw_the_same():
    expected = np.random.default_rng(3).random(4)
    np.testing.assert_array_equal(generator(3).random(4), expected)
    given = np.random.default_rng(3)
    assert generator(given) is given
    one, other = (generator(np.random.RandomState(3)).random(4) for _ in range(2))
    np.testing.assert_array_equal(one, other)
    assert (generator(None).random(4) != generator(None).random(4)).any()


@pytest.mark.parametrize("seed", [-1, 1.5, "seed"])
def test_other_seeds_are_refused(seed):
    with pytest.raises(InputError, match=f"random_state must be .* not {seed!r}"):
        generator(seed)
