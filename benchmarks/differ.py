"""Groups of people compared: power and false alarms for columns that work differently, and differences of means.

python benchmarks/differ.py            # 500 and 2000 people; some minutes
python benchmarks/differ.py --quick    # a few tables
python benchmarks/differ.py --people 100 --seeds 20    # small groups
python benchmarks/differ.py --data FOLDER --seeds 20   # random groups of people in real tables

Tables have 4 scales of 8 items with 5 answers (a graded response model, which is not the model that is fitted). In half
of the people the scales are higher by 1, 0.5, 0 and -1 standard deviations. In 3 of the 32 items (10 %) the second
group's answers are shifted by 0 (no bias), 0.5 or 1 on the logistic scale. Three methods look for these items, each
with Holm's correction over all 32: latree, which fits its tree to the same rows; ordinal logistic regression on the sum
of the scale's items, with group and interaction; and the generalised Mantel-Haenszel test of Mantel (1963), with strata
of the sum. Printed are the share of biased items that were found, the share of tables with any false alarm, and of
clean items that were flagged. For latree also: how often the 95 % intervals of the four differences of means cover the
truth.

`--discrete` draws from a latent tree instead, with four states per scale.

With --data, the rows of real tables (real_tables.py, and the frames of mixed_frames.py) are divided at random into two
groups, so that every difference that is found is a false alarm. Printed is in how many of the tables any column is
flagged; 5 % may be.
"""

import argparse
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import minimize
from scipy.special import expit

from latree import FitWarning, LatentTree
from mixed_frames import mixed_frames
from real_tables import real_tables

N_ITEMS, N_ANSWERS = 8, 5
IMPACT = np.array([1.0, 0.5, 0.0, -1.0])
CORRELATION = 0.3
BIASED = ("A1", "B1", "C1")


class Drawn(NamedTuple):
    """A table, the group of each row, and the true differences of means, if they are in standard deviations."""

    data: pd.DataFrame
    group: NDArray[Any]
    differences: dict[str, float]


def draw(n_people: int, bias: float, seed: int, discrete: bool) -> Drawn:
    """Draw a table."""
    rng = np.random.default_rng([seed, n_people, discrete])
    group = (rng.random(n_people) < 0.5).astype(int)
    covariance = np.full((4, 4), CORRELATION) + (1 - CORRELATION) * np.eye(4)
    standing = rng.multivariate_normal(np.zeros(4), covariance, size=n_people) + np.outer(group, IMPACT)
    if discrete:  # four states, at the middle of quarters of the first group
        standing = np.array([-1.27, -0.32, 0.32, 1.27])[np.digitize(standing, [-0.67, 0.0, 0.67])]
    columns = {}
    for scale, name in enumerate("ABCD"):
        for item in range(1, N_ITEMS + 1):
            slope, middle = rng.uniform(0.8, 2.2), rng.normal(0, 0.5)
            steps = np.sort(rng.normal(0, 0.8, N_ANSWERS - 1)) + middle
            shift = bias * group if f"{name}{item}" in BIASED else 0 * group
            above = slope * (standing[:, [scale]] - steps) + shift[:, None]
            columns[f"{name}{item}"] = 1 + (rng.random((n_people, 1)) < 1 / (1 + np.exp(-above))).sum(axis=1)
    return Drawn(pd.DataFrame(columns), group, {} if discrete else dict(zip("ABCD", IMPACT, strict=True)))


def holm(p: dict[str, float]) -> set[str]:
    """Return the names whose p value is small after Holm's correction."""
    found: set[str] = set()
    for number, name in enumerate(sorted(p, key=lambda name: p[name])):
        if p[name] * (len(p) - number) > 0.05:
            break
        found.add(name)
    return found


def by_latree(drawn: Drawn) -> tuple[set[str], list[bool]]:
    """Return the items that latree flags, and whether its intervals of means cover."""
    model = LatentTree(random_state=0, n_resamples=0).fit(drawn.data)
    facts = model.compare_rows(drawn.data, drawn.group).facts
    covered = []
    for one in facts["means"] if drawn.differences else []:
        columns = next(group.columns for group in model.groups_ if group.name == one["name"])
        letters = {column[0] for column in columns}
        if len(letters) == 1:
            (pair,) = one["differences"]
            # A group may count from high to low.
            sign = np.sign(model.transform(drawn.data)[one["name"]].corr(drawn.data[list(columns)].sum(axis=1)))
            truth = sign * drawn.differences[letters.pop()]
            covered.append(pair["low"] <= truth <= pair["high"])
    return {one["column"] for one in facts["items"] if one["differs"]}, covered


def by_logistic(drawn: Drawn) -> set[str]:
    """Return the items that ordinal logistic regression flags."""
    p = {}
    for name in drawn.data:
        total = drawn.data.filter(like=name[0]).sum(axis=1).to_numpy()
        z = (total - total.mean()) / total.std()
        wide = np.column_stack([z, drawn.group, z * drawn.group])
        answers = np.unique(drawn.data[name], return_inverse=True)[1]
        gain = _proportional_odds(answers, wide) - _proportional_odds(answers, wide[:, :1])
        p[name] = float(stats.chi2.sf(2 * gain, 2))
    return holm(p)


def _proportional_odds(answers: NDArray[Any], features: NDArray[Any]) -> float:
    """Return the largest log-likelihood of P(answer >= k) = 1 / (1 + exp(t_k - b x))."""
    n_steps = int(answers.max())
    shares = np.array([(answers >= k).mean() for k in range(1, n_steps + 1)])

    def loss(parameters: NDArray[Any]) -> tuple[float, NDArray[Any]]:
        steps = np.cumsum(np.r_[parameters[0], np.exp(parameters[1:n_steps])])
        at = features @ parameters[n_steps:]
        above = expit(np.c_[np.full(len(at), np.inf), at[:, None] - steps, np.full(len(at), -np.inf)])
        rows = np.arange(len(at))
        high, low = above[rows, answers], above[rows, answers + 1]
        share = np.maximum(high - low, 1e-12)
        of_high, of_low = high * (1 - high) / share, low * (1 - low) / share
        of_steps = np.zeros(n_steps)
        np.add.at(of_steps, answers[answers > 0] - 1, of_high[answers > 0])
        np.add.at(of_steps, answers[answers < n_steps], -of_low[answers < n_steps])
        tail = np.cumsum(of_steps[::-1])[::-1]
        tail[1:] *= np.exp(parameters[1:n_steps])
        return -float(np.log(share).sum()), np.r_[tail, -features.T @ (of_high - of_low)]

    steps = -np.log(shares / (1 - shares))
    start = np.r_[steps[0], np.log(np.maximum(np.diff(steps), 1e-3)), np.zeros(features.shape[1])]
    return -float(minimize(loss, start, jac=True, method="BFGS", options={"gtol": 1e-3}).fun)


def by_mantel(drawn: Drawn) -> set[str]:
    """Return the items that the Mantel test flags."""
    p = {}
    for name in drawn.data:
        total = drawn.data.filter(like=name[0]).sum(axis=1).to_numpy()
        answers = drawn.data[name].to_numpy()
        gap = variance = 0.0
        for stratum in np.unique(total):
            rows = total == stratum
            n, own = rows.sum(), drawn.group[rows]
            n_own = own.sum()
            if 0 < n_own < n:
                gap += answers[rows][own == 1].sum() - n_own * answers[rows].mean()
                variance += n_own * (n - n_own) / (n - 1) * answers[rows].var()
        p[name] = float(stats.chi2.sf(gap**2 / variance, 1))
    return holm(p)


REAL = ("bfi", "hsq", "kims", "icar", "ability", "sd3", "words")


def random_groups(folder: Path, seeds: int) -> None:
    """Print in how many random divisions of real tables any column is flagged."""
    tables: dict[str, Callable[[], Any]] = {name: real_tables(folder)[name] for name in REAL}
    frames = {name: make for name, make in mixed_frames(folder).items() if name not in tables}
    print("table           rows  columns  false alarms   columns flagged")
    for name, make in (tables | frames).items():
        data = make().data if name in frames else make()
        model = LatentTree(random_state=0, n_resamples=0).fit(data)
        n_rows = model.summary_["n_rows"]
        flagged: Counter[str] = Counter()
        alarms = 0
        for seed in range(seeds):
            group = np.random.default_rng(seed).permutation(n_rows) % 2
            items = model.compare_rows(data, group).facts["items"]
            found = [one["column"] for one in items if one["differs"]]
            flagged.update(found)
            alarms += bool(found)
        which = ", ".join(f"{column} {times}" for column, times in flagged.most_common())
        print(f"{name:14} {n_rows:5}  {len(items):7}  {alarms:3} of {seeds:3}   {which}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, nargs="+", default=[500, 2000])
    parser.add_argument("--bias", type=float, nargs="+", default=[0.0, 0.5, 1.0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--discrete", action="store_true")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="Real tables, divided at random.")
    parser.add_argument("--quick", action="store_true", help="Two tables of 500 people for each bias.")
    options = parser.parse_args()
    people, seeds = ([500], 2) if options.quick else (options.people, options.seeds)
    warnings.simplefilter("ignore", FitWarning)
    if options.data:
        random_groups(options.data, seeds)
        return
    print("people  bias  method    power  tables with a false alarm  clean items flagged  intervals that cover")
    for n_people in people:
        for bias in options.bias:
            flagged: dict[str, list[set[str]]] = {"latree": [], "logistic": [], "Mantel": []}
            covered: list[bool] = []
            for seed in range(seeds):
                drawn = draw(n_people, bias, seed, options.discrete)
                found, covers = by_latree(drawn)
                flagged["latree"].append(found)
                flagged["logistic"].append(by_logistic(drawn))
                flagged["Mantel"].append(by_mantel(drawn))
                covered += covers
            biased = set(BIASED) if bias else set()
            for method, sets in flagged.items():
                power = np.mean([len(one & biased) / len(biased) for one in sets]) if bias else np.nan
                alarms = [len(one - biased) for one in sets]
                line = f"{n_people:6}  {bias:4}  {method:8}  {power:5.2f}  {np.mean(np.array(alarms) > 0):25.2f}"
                line += f"  {np.mean(alarms) / (4 * N_ITEMS - len(biased)):19.4f}"
                if method == "latree" and covered:
                    line += f"  {np.mean(covered):20.3f} (of {len(covered)})"
                print(line, flush=True)


if __name__ == "__main__":
    main()
