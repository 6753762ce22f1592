"""Groups that are given: how often a right key is called wrong, and how often wrong items are found.

python benchmarks/key.py

Tables are drawn from a factor model, not from a tree of states: 3 or 4 scales of 4 to 6 items with 5 answers, loadings
between .4 and .85, correlations of the scales of 0 or .5, one item in five reversed, and 3 % of the cells missing.
With the right key, the share of tables is printed in which any item is said to fit another scale better, which should
be at most .05, and the share of items that are not seen to fit. Then one item of each table is given to a wrong scale.
Printed are the share of these that are found, that of those whose right scale is named, and the share of tables in
which any other item is said to fit another scale better.
"""

import numpy as np

from latree import LatentTree, as_table
from latree._util.arrays import FloatArray, IntArray

N_TABLES = 40
N_ROWS, CORRELATIONS = (300, 1000), (0.0, 0.5)
SIZES, N_SCALES = (4, 6), (3, 4)
LOADINGS = (0.4, 0.85)
REVERSED, MISSING = 0.2, 0.03


def main() -> None:
    """Print one line for each number of rows and each correlation of the scales."""
    print("rows  correlation  right key: any alarm  not seen to fit  wrong item: found  right scale  any other alarm")
    for n_rows in N_ROWS:
        for correlation in CORRELATIONS:
            found = np.array([judged(n_rows, correlation, seed) for seed in range(N_TABLES)])
            alarm, unseen, hit, named, other = found.mean(axis=0)
            print(
                f"{n_rows:4}  {correlation:11.1f}  {alarm:20.3f}  {unseen:15.3f}  {hit:17.3f}  {named:11.3f}  "
                f"{other:15.3f}",
                flush=True,
            )


def judged(n_rows: int, correlation: float, seed: int) -> list[float]:
    """Return what is said of the right key of a table, and of a key with a wrong item."""
    rng = np.random.default_rng([seed, n_rows])
    n_scales = int(rng.integers(*N_SCALES, endpoint=True))
    scale_of = np.repeat(np.arange(n_scales), rng.integers(*SIZES, endpoint=True, size=n_scales))
    answers = drawn(n_rows, scale_of, correlation, rng)
    names = [f"item {number}" for number in range(len(scale_of))]
    right = {name: f"scale {scale}" for name, scale in zip(names, scale_of.tolist(), strict=True)}
    alarms, unseen = verdicts(answers, names, right)
    wrong = names[rng.integers(len(names))]
    others = sorted(set(right.values()) - {right[wrong]})
    planted, _ = verdicts(answers, names, right | {wrong: others[rng.integers(len(others))]})
    named = planted.get(wrong) == right[wrong]
    return [bool(alarms), unseen / len(names), wrong in planted, named, bool(set(planted) - {wrong})]


def drawn(n_rows: int, scale_of: IntArray, correlation: float, rng: np.random.Generator) -> FloatArray:
    """Return answers from 1 to 5 of people whose scales have this correlation; NaN where one is missing."""
    n_scales = int(scale_of.max()) + 1
    common = rng.normal(size=(n_rows, 1))
    levels = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * rng.normal(size=(n_rows, n_scales))
    loadings = rng.uniform(*LOADINGS, len(scale_of)) * np.where(rng.random(len(scale_of)) < REVERSED, -1, 1)
    noise = np.sqrt(1 - loadings**2) * rng.normal(size=(n_rows, len(scale_of)))
    cuts = np.sort(rng.uniform(-1.5, 1.5, (len(scale_of), 4)), axis=1)
    strengths = levels[:, scale_of] * loadings + noise
    answers = 1.0 + (strengths[:, :, None] > cuts).sum(axis=2)
    return np.where(rng.random(answers.shape) < MISSING, np.nan, answers)


def verdicts(answers: FloatArray, names: list[str], key: dict[str, str]) -> tuple[dict[str, str], int]:
    """Return the items that fit another scale better, with that scale, and how many are not seen to fit."""
    model = LatentTree(key=key, random_state=0, n_resamples=0).fit(as_table(answers, names=names))
    columns = model.summary_["key"]["columns"]
    better = {one["column"]: one["other"] for one in columns if one["verdict"] == "better in another group"}
    return better, sum(one["verdict"] == "not seen to fit" for one in columns)


if __name__ == "__main__":
    main()
