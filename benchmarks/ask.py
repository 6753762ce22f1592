"""Adaptive tests: how near scores from few answers are to those from all, and whether their errors are right.

python benchmarks/ask.py real FILE --drop gender education age   # a questionnaire; unseen people
python benchmarks/ask.py coverage         # simulated people: how large errors are, and how often an interval is right
python benchmarks/ask.py catsim           # one scale of yes-or-no items, beside catsim (pip install catsim)

`real` fits on a random half of the rows and asks the others. It prints, for each number of answers, the correlation
with the scores from all answers (the mean over groups) for adaptive questions, for the best fixed ones (chosen one
after the other on the rows of the fit), and for random ones. A cell that is missing is not asked. `coverage` draws
people from a known model. It prints the share of them whose value is within 1.96 standard errors of the score, and the
root of the mean squared error beside that of the mean variance, which promises it. `catsim` draws people and items from
a two-parameter logistic model. catsim knows the parameters of the items and asks the one with the most Fisher
information; latree learns from 2000 other people. It prints the correlation of both scores with the truth.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree import LatentTree, LatentTreeModel, Table, as_table
from latree._util.arrays import CodeArray, FloatArray
from latree.interpret.scores import Scale, Scorer
from latree.table.rows import missing_code
from simulated_tables import recipe_model

LENGTHS = (5, 10, 15, 20)
N_SPLITS = 3
N_PEOPLE = 2000
NORMAL_95 = 1.96
# Of the scale of yes-or-no items.
N_ITEMS, N_TESTED, TEST_LENGTHS = 40, 500, (5, 10, 15, 20)


def main() -> None:
    """Run a part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    one = parts.add_parser("real")
    one.add_argument("file", type=Path)
    one.add_argument("--drop", nargs="*", default=[])
    parts.add_parser("coverage")
    parts.add_parser("catsim")
    chosen = parser.parse_args()
    if chosen.part == "real":
        real(chosen.file, chosen.drop)
    else:
        {"coverage": coverage, "catsim": beside_catsim}[chosen.part]()


class Test:
    """People who are asked one question after the other."""

    def __init__(self, scales: Sequence[Scale], answers: CodeArray) -> None:
        self.scales, self.answers = scales, answers
        self.missing = missing_code(answers)
        self.given = np.full_like(answers, self.missing)
        self.may_ask = answers != self.missing

    def gains(self) -> FloatArray:
        """Return how much each column says about the scores of each person; minus infinity if it cannot be asked."""
        found = np.full(self.answers.shape, -np.inf)
        for scale in self.scales:
            for one in scale.if_answered(self.given):
                found[:, one.column] = one.gain
        return np.where(self.may_ask, found, -np.inf)

    def ask(self, columns: NDArray[np.intp]) -> None:
        """Ask each person one column."""
        rows = np.arange(len(self.answers))
        able = self.may_ask[rows, columns]
        self.given[rows[able], columns[able]] = self.answers[rows[able], columns[able]]
        self.may_ask[rows, columns] = False

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return scores and variances, one column per scale."""
        found = [scale.moments(self.given) for scale in self.scales]
        return np.stack([mean for mean, _ in found], axis=1), np.stack([variance for _, variance in found], axis=1)


def best_fixed(scales: Sequence[Scale], answers: CodeArray, n: int) -> list[int]:
    """Return the columns that lower the mean variance of the scores of these people most, one after the other."""
    test, chosen = Test(scales, answers), list[int]()
    for _ in range(n):
        gains = test.gains()
        able = np.isfinite(gains)
        mean = np.where(able, gains, 0).sum(axis=0) / np.maximum(able.sum(axis=0), 1)
        mean[chosen] = -1
        chosen.append(int(mean.argmax()))
        test.ask(np.full(len(answers), chosen[-1]))
    return chosen


def correlation(scores: FloatArray, full: FloatArray) -> float:
    """Return the mean correlation over the columns."""
    return float(np.mean([np.corrcoef(one, other)[0, 1] for one, other in zip(scores.T, full.T, strict=True)]))


def real(file: Path, drop: Sequence[str]) -> None:
    """Print how near scores from few answers are to those from all."""
    table = as_table(file, {"drop": list(drop)})
    found = []
    for split in range(N_SPLITS):
        order = np.random.default_rng(split).permutation(table.n_rows)
        half = table.n_rows // 2
        model = LatentTree(random_state=split, n_resamples=0).fit(table.take(order[:half])).model_
        scales = Scorer.of_model(model).scales
        fitted, new = (codes_of(table.take(rows)) for rows in (order[:half], order[half:]))
        lengths = [n for n in LENGTHS if n < table.n_columns]
        found.append(lines(scales, fitted, new, lengths, split))
        print(f"split {split}: {len(scales)} groups", flush=True)
    print("answers  adaptive  best fixed  random")
    for n, values in zip(lengths, np.mean(found, axis=0), strict=True):
        print(f"{n:7}  {values[0]:8.3f}  {values[1]:10.3f}  {values[2]:6.3f}")


def lines(
    scales: Sequence[Scale], fitted: CodeArray, new: CodeArray, lengths: Sequence[int], seed: int
) -> list[list[float]]:
    """Return for each length the correlations of adaptive, best fixed and random questions with the full scores."""
    full = np.stack([scale.moments(new)[0] for scale in scales], axis=1)
    asked = sorted({int(column) for scale in scales for column in scale.columns})
    fixed = best_fixed(scales, fitted, max(lengths))
    random = np.random.default_rng(seed).permutation(asked)
    found = []
    tests = [Test(scales, new) for _ in range(3)]
    for n in range(1, max(lengths) + 1):
        tests[0].ask(tests[0].gains().argmax(axis=1))
        tests[1].ask(np.full(len(new), fixed[n - 1]))
        tests[2].ask(np.full(len(new), random[n - 1]))
        if n in lengths:
            found.append([correlation(test.moments()[0], full) for test in tests])
    return found


def coverage() -> None:
    """Print how often the value of a simulated person is within 1.96 standard errors of the score."""
    model = recipe_model()
    scales = Scorer.of_model(model).scales
    drawn = model.sample_all(N_PEOPLE, 0)
    answers = codes_of(Table.from_codes(model.columns, drawn[:, : model.tree.n_observed]))
    truth = np.stack([true_values(model, scale, drawn) for scale in scales], axis=1)
    test = Test(scales, answers)
    print("answers  within 1.96 standard errors   root of the mean squared error  its promise")
    for n in range(41):
        if n:
            test.ask(test.gains().argmax(axis=1))
        if n % 5 == 0:
            scores, variances = test.moments()
            within = np.abs(scores - truth) <= NORMAL_95 * np.sqrt(variances) + 1e-9
            error = np.sqrt(np.mean((scores - truth) ** 2))
            print(f"{n:7}  {within.mean():28.3f}  {error:30.3f}  {np.sqrt(variances.mean()):11.3f}", flush=True)


def beside_catsim() -> None:
    """Print how well adaptive tests of one scale of yes-or-no items rank people, beside catsim."""
    from catsim.estimation import NumericalSearchEstimator
    from catsim.item_bank import ItemBank
    from catsim.selection import MaxInfoSelector

    rng = np.random.default_rng(0)
    slopes, difficulties = rng.lognormal(0.2, 0.3, N_ITEMS), rng.normal(size=N_ITEMS)
    levels = rng.normal(size=N_PEOPLE + N_TESTED)
    right = rng.random((len(levels), N_ITEMS)) < 1 / (1 + np.exp(-slopes * (levels[:, None] - difficulties)))
    names = [f"item {number}" for number in range(N_ITEMS)]
    table = as_table(right, names=names)
    fitted = LatentTree("lcm", random_state=0).fit(table.take(np.arange(N_PEOPLE)))
    new, truth = np.arange(N_PEOPLE, len(levels)), levels[N_PEOPLE:]
    test = Test(Scorer.of_model(fitted.model_).scales, codes_of(table.take(new)))
    bank = ItemBank(np.column_stack([slopes, difficulties, np.zeros(N_ITEMS), np.ones(N_ITEMS)]))
    select, estimate = MaxInfoSelector(), NumericalSearchEstimator()
    asked: list[list[int]] = [[] for _ in new]
    estimates = np.zeros(len(new))
    print("answers  latree  catsim  latree, all answers")
    full = abs(np.corrcoef(test.scales[0].moments(test.answers)[0], truth)[0, 1])
    for n in range(1, max(TEST_LENGTHS) + 1):
        test.ask(test.gains().argmax(axis=1))
        for person, row in enumerate(new.tolist()):
            item = select.select(item_bank=bank, administered_items=asked[person], est_theta=estimates[person])
            asked[person].append(int(item))
            given = [bool(right[row, one]) for one in asked[person]]
            # With all answers alike the likelihood has no maximum: move towards the hardest or the easiest item.
            estimates[person] = estimate.estimate(
                item_bank=bank, administered_items=asked[person], response_vector=given, est_theta=estimates[person]
            )
        if n in TEST_LENGTHS:
            own = abs(np.corrcoef(test.moments()[0][:, 0], truth)[0, 1])
            other = np.corrcoef(estimates, truth)[0, 1]
            print(f"{n:7}  {own:6.3f}  {other:6.3f}  {full:19.3f}", flush=True)


def true_values(model: LatentTreeModel, scale: Scale, drawn: NDArray[Any]) -> FloatArray:
    """Return what the score of a scale estimates, from the states of all nodes."""
    # The only hidden variable of a scale of the recipe is that whose states are reported.
    (values,) = scale.values.values()
    return np.asarray(values[drawn[:, scale.hidden]])


def codes_of(table: Table) -> CodeArray:
    """Return the codes of all rows, where the largest value of the type means missing."""
    return table.rows.fetch(np.arange(table.n_rows)).codes


if __name__ == "__main__":
    main()
