"""What accompanies a run of a learner."""

import numpy as np

from latree._util.progress import WHOLE
from latree.learners.structure import Context
from latree.settings import Settings


def test_a_context_has_the_random_numbers_of_its_settings():
    drawn = [Context.of(Settings(random_state=seed)).rng.random(3) for seed in (7, 7, 8)]
    np.testing.assert_array_equal(drawn[0], np.random.default_rng(7).random(3))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert not np.array_equal(drawn[0], drawn[2])


def test_two_stages_share_the_progress():
    reported = []
    context = Context(np.random.default_rng(0), lambda *steps: reported.append(steps))
    measuring, building = context.stages(0.3)
    measuring(1, 2)
    measuring(2, 2)
    building(0, 5)
    building(5, 5)
    assert reported == [(150, WHOLE), (300, WHOLE), (300, WHOLE), (1000, WHOLE)]
