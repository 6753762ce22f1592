"""Frames of mixed columns: numbers and names, as pandas has them, and a column that a model would predict.

All but bfi come with scikit-learn and statsmodels. bfi, a questionnaire with age, sex and education, is read from a
folder that is not part of the project.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import statsmodels.api as sm
from sklearn import datasets

from real_tables import BFI

# More rows of fair and bfi than these take long with forests and say the same.
MOST_ROWS = 2000


class Frame(NamedTuple):
    """A frame, and the name of the column that is predicted from the others."""

    data: pd.DataFrame
    target: str

    @property
    def names(self) -> list[str]:
        """The columns that hold names, not numbers."""
        return [name for name in self.data if not pd.api.types.is_numeric_dtype(self.data[name])]

    @property
    def numbers(self) -> list[str]:
        """The columns that hold numbers."""
        return [name for name in self.data if name not in self.names]


def mixed_frames(folder: Path | None) -> dict[str, Callable[[], Frame]]:
    """Return for the name of each frame a function that makes it; without bfi if its folder is not there."""
    frames: dict[str, Callable[[], Frame]] = {
        "wine": partial(_of_scikit_learn, datasets.load_wine, "class"),
        "breast cancer": partial(_of_scikit_learn, datasets.load_breast_cancer, "diagnosis"),
        "diabetes": _diabetes,
        "anes96": _anes96,
        "fair": _fair,
    }
    if folder is not None and (folder / BFI).exists():
        frames["bfi"] = partial(_bfi, folder / BFI)
    return frames


def _of_scikit_learn(load: Callable[..., Any], target: str) -> Frame:
    found = load(as_frame=True)
    names = dict(enumerate(found.target_names))
    return Frame(found.data.assign(**{target: found.target.map(names).astype(str)}), target)


def _diabetes() -> Frame:
    """Return the numbers as they were measured, which scikit-learn scales otherwise."""
    found = datasets.load_diabetes(as_frame=True, scaled=False)
    sex = found.data["sex"].map({1.0: "one", 2.0: "two"})
    return Frame(found.data.assign(sex=sex, progression=found.target), "progression")


def _anes96() -> Frame:
    data = sm.datasets.anes96.load_pandas().data.drop(columns="logpopul")  # a function of popul
    return Frame(data.assign(vote=data["vote"].map({0.0: "Clinton", 1.0: "Dole"})).reset_index(drop=True), "vote")


def _fair() -> Frame:
    data = sm.datasets.fair.load_pandas().data
    jobs = {1.0: "student", 2.0: "farming", 3.0: "clerical", 4.0: "technical", 5.0: "managerial", 6.0: "professional"}
    data = data.assign(**{name: data[name].map(jobs) for name in ("occupation", "occupation_husb")})
    return Frame(_some(data), "rate_marriage")


def _bfi(path: Path) -> Frame:
    data = pd.read_csv(path)
    return Frame(_some(data.assign(gender=data["gender"].map({1: "male", 2: "female"}))), "age")


def _some(data: pd.DataFrame) -> pd.DataFrame:
    rows = np.random.default_rng(0).permutation(len(data))[:MOST_ROWS]
    return data.iloc[np.sort(rows)].reset_index(drop=True)
