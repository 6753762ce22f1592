"""Short forms and adaptive tests: how near scores from few answers are to those from all, and are their errors right.

python benchmarks/ask.py real FILE --drop gender education age   # a questionnaire; unseen people
python benchmarks/ask.py brute            # simulated scales: short forms beside the best subsets of all
python benchmarks/ask.py coverage         # simulated people: how large errors are, and how often an interval is right
python benchmarks/ask.py catsim           # one scale of yes-or-no items, beside catsim (pip install catsim)

`real` fits on a random half of the rows and asks the others. It prints, for each number of answers, the correlation
with the scores from all answers (the mean over groups) for adaptive questions, for the short form of `latree short`
(chosen on the rows of the fit), what the latter promises there, and for random ones. A cell that is missing is not
asked. `brute` prints how much less short forms of simulated scales keep than the best subsets of the same length, in
the rows that both were chosen on: the mean, and the most of any length and scale. `coverage` draws
people from a known model. It prints the share of them whose value is within 1.96 standard errors of the score, and the
root of the mean squared error beside that of the mean variance, which promises it. `catsim` draws people and items from
a two-parameter logistic model. catsim knows the parameters of the items and asks the one with the most Fisher
information; latree learns from 2000 other people. It prints the correlation of both scores with the truth.
"""

import argparse
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree import LatentTree, LatentTreeModel, Table, as_table
from latree._util.arrays import CodeArray, FloatArray
from latree.interpret.scores import Scale, Scorer
from latree.interpret.short import Choice, ShortForm, only, short_forms
from latree.table.rows import missing_code
from simulated_tables import recipe_model

LENGTHS = (5, 10, 15, 20)
N_SPLITS = 3
N_PEOPLE = 2000
# Of the tables beside brute force: how many, and the items of their two scales.
N_TABLES, SIZES = 10, (7, 8)
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
    parts.add_parser("brute")
    parts.add_parser("coverage")
    parts.add_parser("catsim")
    chosen = parser.parse_args()
    if chosen.part == "real":
        real(chosen.file, chosen.drop)
    else:
        {"brute": beside_brute_force, "coverage": coverage, "catsim": beside_catsim}[chosen.part]()


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
        return moments_of(self.scales, self.given)


def moments_of(scales: Sequence[Scale], codes: CodeArray) -> tuple[FloatArray, FloatArray]:
    """Return scores and variances from some codes, one column per scale."""
    found = [scale.moments(codes) for scale in scales]
    return np.stack([mean for mean, _ in found], axis=1), np.stack([variance for _, variance in found], axis=1)


def correlation(scores: FloatArray, full: FloatArray) -> float:
    """Return the mean correlation over the columns; a score that is the same for all people has none: 0."""
    found = [np.corrcoef(one, other)[0, 1] if np.ptp(one) else 0 for one, other in zip(scores.T, full.T, strict=True)]
    return float(np.mean(found))


def real(file: Path, drop: Sequence[str]) -> None:
    """Print how near scores from few answers are to those from all."""
    table = as_table(file, {"drop": list(drop)})
    found = []
    for split in range(N_SPLITS):
        order = np.random.default_rng(split).permutation(table.n_rows)
        half = table.n_rows // 2
        model = LatentTree(random_state=split, n_resamples=0).fit(table.take(order[:half])).model_
        scales = Scorer.of_model(model).scales
        started = perf_counter()
        forms = short_forms(model, model.encode(table.take(order[:half])), scales).forms
        seconds = perf_counter() - started
        lengths = [n for n in LENGTHS if n in forms]
        found.append(lines(scales, forms, codes_of(table.take(order[half:])), lengths, split))
        print(f"split {split}: {len(scales)} groups, short forms in {seconds:.1f} s", flush=True)
    print("answers  adaptive  short form  its promise  random")
    for n, values in zip(lengths, np.mean(found, axis=0), strict=True):
        print(f"{n:7}  {values[0]:8.3f}  {values[1]:10.3f}  {values[2]:11.3f}  {values[3]:6.3f}")


def lines(
    scales: Sequence[Scale], forms: Mapping[int, ShortForm], new: CodeArray, lengths: Sequence[int], seed: int
) -> list[list[float]]:
    """Return for each length the correlations of adaptive, short and random forms with the full scores."""

    def of_fixed(columns: Sequence[int]) -> float:
        return correlation(moments_of(scales, only(new, columns))[0], full)

    full = moments_of(scales, new)[0]
    asked = sorted({int(column) for scale in scales for column in scale.columns})
    random = np.random.default_rng(seed).permutation(asked).tolist()
    found, test = [], Test(scales, new)
    for n in range(1, max(lengths) + 1):
        test.ask(test.gains().argmax(axis=1))
        if n in lengths:
            promise = float(np.mean([one.correlation for one in forms[n].kept]))
            adaptive = correlation(test.moments()[0], full)
            found.append([adaptive, of_fixed(forms[n].columns), promise, of_fixed(random[:n])])
    return found


def beside_brute_force() -> None:
    """Print how much less short forms keep than the best subsets of all."""
    behind = []
    for seed in range(N_TABLES):
        rng = np.random.default_rng(seed)
        # Two scales that depend on each other, of seven and eight items that differ in strength; the last two of each
        # ask nearly the same.
        levels = rng.multivariate_normal([0, 0], [[1, 0.4], [0.4, 1]], 1000)
        own = levels[:, np.repeat([0, 1], SIZES)] * rng.uniform(0.4, 1.2, sum(SIZES))
        noise = rng.normal(size=own.shape)
        for last in np.cumsum(SIZES) - 1:
            noise[:, last] = 0.6 * noise[:, last - 1] + 0.8 * noise[:, last]
        table = as_table(np.clip(np.round(3 + own + noise), 1, 5).astype(int))
        model = LatentTree(random_state=0, n_resamples=0).fit(table).model_
        for scale in Scorer.of_model(model).scales:
            choice = Choice(scale, table.rows.fetch(np.arange(table.n_rows)))
            for n, (_, reached) in choice.path(set(), set()).items():
                best = max(map(choice.correlation, combinations(scale.columns.tolist(), n)))
                behind.append(best - reached)
    print(
        f"{N_TABLES} tables, {len(behind)} scales and lengths: behind the best subset by {np.mean(behind):.4f} on "
        f"average, by {np.max(behind):.4f} at most, by more than .01 in {np.sum(np.array(behind) > 0.01)}"
    )


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
