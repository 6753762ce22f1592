"""A simulated questionnaire, whose scales and whose people's levels are known."""

from typing import Any

import numpy as np
from scipy.stats import binom

from latree._util.arrays import FloatArray, RandomState, generator
from latree._util.frames import make_frame
from latree.datasets.dataset import Dataset
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

SCALES = ("worry", "social", "order", "ideas")
_ITEMS = 5  # per scale; the last one is reversed
_ANSWERS = 5  # from 1 to 5
# How much an answer rises from one level of the scale to the next, item by item: the first items are the best.
_SLOPES = (0.35, 0.32, 0.29, 0.26, -0.26)
# P(level of a scale | level of the general factor): columns are the general factor's two levels.
_SCALE_TABLE = np.array([[0.5, 0.15], [0.35, 0.35], [0.15, 0.5]])


def make_questionnaire(n_people: int = 800, *, missing: float = 0.0, random_state: RandomState = 0) -> Dataset:
    """Simulate a questionnaire of four scales with five items each, answered from 1 to 5.

    Every person has a level on each scale: 0 (low), 1 or 2 (high). The scales depend on each other through a general
    factor with two levels. Given the level, the answer to an item is ``1 + Binomial(4, p)``, where p rises with the
    level, and falls in the last item of each scale, which is reversed.

    Parameters
    ----------
    n_people : int
        Number of rows.
    missing : float
        Share of the answers that are missing, at random.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        ``labels`` has the scale of each item, ``rows`` the levels of each person, ``tree`` the true tree.

    Examples
    --------
    >>> from latree.datasets import make_questionnaire
    >>> answers = make_questionnaire(2, random_state=0)
    >>> answers.data[["worry_1", "worry_2", "worry_5"]]
       worry_1  worry_2  worry_5
    0        2        2        5
    1        3        2        2
    """
    if not 0 <= missing < 1:
        raise InputError(f"the share of missing answers must be from 0 to less than 1, not {missing}")
    rng = generator(random_state)
    model = _model()
    states = model.sample_all(n_people, rng)
    n_items = model.tree.n_observed
    absent = rng.random((n_people, n_items)) < missing
    data = {name: _answers(states[:, column] + 1, absent[:, column]) for column, name in enumerate(model.tree.names)}
    levels = {scale: states[:, n_items + number].astype(np.int64) for number, scale in enumerate(SCALES)}
    return Dataset(
        data=make_frame(data),
        labels={name: name.partition("_")[0] for name in model.tree.names},
        rows=make_frame(levels),
        tree=model.tree,
        description=f"{n_people} people × {n_items} items of {len(SCALES)} scales; simulated by latree, free to use",
    )


def _answers(answers: Any, absent: Any) -> Any:
    """Return whole numbers, or, if some are missing, numbers with NaN."""
    return np.where(absent, np.nan, answers) if absent.any() else answers.astype(np.int64)


def _model() -> LatentTreeModel:
    """Return the model that answers are drawn from: items below scales, scales below a general factor."""
    n_items = len(SCALES) * _ITEMS
    general = n_items + len(SCALES)
    names = [f"{scale}_{number + 1}" for scale in SCALES for number in range(_ITEMS)]
    edges = [(item, n_items + item // _ITEMS) for item in range(n_items)]
    edges += [(scale, general) for scale in range(n_items, general)]
    items = [_item_table(_SLOPES[item % _ITEMS]) for item in range(n_items)]
    tables = (*items, *[_SCALE_TABLE] * len(SCALES), np.full((2, 1), 0.5))
    categories = tuple(str(answer + 1) for answer in range(_ANSWERS))
    columns = tuple(Column(name, "integer", categories, ordered=True) for name in names)
    return LatentTreeModel(Tree(names, edges), columns, tables)


def _item_table(slope: float) -> FloatArray:
    """Return P(answer | level) of an item: binomial, with a probability that moves by the slope."""
    probabilities = 0.5 + slope * np.array([-1, 0, 1])
    return np.asarray(binom.pmf(np.arange(_ANSWERS)[:, None], _ANSWERS - 1, probabilities))
