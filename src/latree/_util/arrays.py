"""Names for the array types that signatures use, and the one place where seeds become generators."""

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree.errors import InputError

IntArray: TypeAlias = NDArray[np.intp]
FloatArray: TypeAlias = NDArray[np.float64]
CodeArray: TypeAlias = NDArray[Any]  # of type uint8 or uint16
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


def generator(random_state: RandomState) -> np.random.Generator:
    """Return the generator for a ``random_state`` argument: a seed, a generator, or None for fresh entropy."""
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=4, dtype=np.uint64))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(f"random_state must be an integer >= 0, a generator or None, not {random_state!r}") from None
