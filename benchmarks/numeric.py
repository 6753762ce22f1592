"""What latree does with numbers, beside other tools: python benchmarks/numeric.py [PART ...] [--data FOLDER].

Frames of mixed columns come with scikit-learn and statsmodels; bfi comes from a folder (real_tables.py), and is skipped
without one. Means over masks or splits have their standard errors. The parts:

fill        A fifth of all cells is taken out at random, in --repeats masks. Error of numbers: the root mean squared
            error in standard deviations of the column, mean over the columns. Names: the share of right cells. Rank:
            the mean place among all imputers, over frames, masks, numbers and names. Coverage: the share of true
            numbers within the interval of 90 %; columns with at most 20 different numbers are apart.
draw        Synthesizers are fitted to 70 % of the rows and draw as many. AUC: of a gradient-boosted classifier that
            tells them from these rows (latree.compare_tables); also for the other 30 % as the best that is possible.
            Target: a classifier or regression that is trained on drawn rows and tested on the other 30 %, by its
            accuracy or R², less the same when trained on real rows. Closer: the probability that a drawn row is
            nearer to a row of the fit than these are to each other, where 0.5 is as new rows are.
density     Mean log density of held-out rows in nats per row, in the units of the data, for tables of numbers only;
            with the difference to latree of the same split.
pipelines   cross_val_score, GridSearchCV and Pipeline on mixed frames, as they are and sorted by each column.

--quick uses three masks and the three frames with the fewest rows. --only NAME ... chooses frames, --without NAME ...
leaves imputers or synthesizers out. --write puts the tables into the pages of the documentation.
"""

import argparse
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import rankdata
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from threadpoolctl import threadpool_limits

from latree import FitWarning, LatentTree, compare_tables
from latree.settings import Goal
from mixed_frames import Frame, mixed_frames
from page import DOCS, Section
from rivals import DENSITIES, IMPUTERS, SYNTHESIZERS

GOALS: dict[str, Goal] = {"latree, to predict": "predict", "latree, to explain": "explain"}
QUICK = ("wine", "diabetes", "anes96")
TAKEN_OUT = 0.2
PROBABILITY = 0.9
FEW_VALUES = 20

# Figures by the name of a line, each with one value per mask or split.
Lines = dict[str, dict[str, list[float]]]


def learned(rows: Any, goal: Goal) -> LatentTree:
    """Return a model; nothing that is looked at here depends on resampling."""
    return LatentTree(goal=goal, n_resamples=0, random_state=0).fit(rows)


def print_lines(section: Section, title: str, lines: Lines, digits: int = 3) -> None:
    """Print a table of means, each with its standard error."""
    names = list(dict.fromkeys(name for line in lines.values() for name in line))
    rows = [[line, *(_mean(figures.get(name, []), digits) for name in names)] for line, figures in lines.items()]
    widths = [max(map(len, column)) for column in zip(["", *names], *rows, strict=True)]
    section.add("")
    section.add(title)
    for first, *cells in (["", *names], *rows):
        shown = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        section.add("  ".join([first.ljust(widths[0]), *shown]))


def _mean(values: Sequence[float], digits: int) -> str:
    if not values or np.isnan(values).all():
        return "–"
    error = f" ± {np.std(values, ddof=1) / len(values) ** 0.5:.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{error}"


def new_lines() -> Lines:
    return defaultdict(lambda: defaultdict(list))


# ---- filling in ----


def fill(section: Section, frames: dict[str, Callable[[], Frame]], repeats: int, without: Iterable[str]) -> None:
    imputers = [name for name in (*GOALS, *IMPUTERS) if name not in without]
    ranks = new_lines()
    for name, make in frames.items():
        frame = make()
        lines = new_lines()
        for repeat in range(repeats):
            taken = np.random.default_rng([0, repeat]).random(frame.data.shape) < TAKEN_OUT
            holes = frame.data.mask(taken)
            for imputer in imputers:
                began = time.process_time()
                for measure, value in filled_by(imputer, frame, taken, holes).items():
                    lines[imputer][measure].append(value)
                lines[imputer]["seconds"].append(time.process_time() - began)
        rows, numbers, names = len(frame.data), len(frame.numbers), len(frame.names)
        print_lines(section, f"{name}: {rows} rows, {numbers} numbers, {names} names", lines)
        for measure, sign in (("numbers", 1), ("names", -1)):
            for mask in range(repeats):
                places = rankdata([sign * lines[imputer][measure][mask] for imputer in imputers])
                for imputer, place in zip(imputers, places, strict=True):
                    for which in (measure, "all"):
                        ranks[imputer][f"rank, {which}"].append(float(place))
    print_lines(
        section, f"mean ranks of {len(imputers)} imputers, over {len(frames)} frames and {repeats} masks each", ranks, 2
    )


def filled_by(imputer: str, frame: Frame, taken: NDArray[np.bool_], holes: pd.DataFrame) -> dict[str, float]:
    """Return how well an imputer fills the holes of a frame."""
    if imputer not in GOALS:
        return errors(frame, taken, IMPUTERS[imputer](holes, frame.names))
    # The mean of every number is judged, also where latree's own choice is the median.
    filled, *bounds = learned(holes, GOALS[imputer]).impute(holes, "mean", return_interval=PROBABILITY)
    return errors(frame, taken, filled) | coverage(frame, taken, bounds)


def errors(frame: Frame, taken: NDArray[np.bool_], filled: pd.DataFrame) -> dict[str, float]:
    """Return the error of numbers in standard deviations, and the share of right names."""
    found = defaultdict(list)
    for j, name in enumerate(frame.data):
        judged = taken[:, j] & frame.data[name].notna().to_numpy()
        true, given = frame.data[name][judged], filled[name][judged]
        if name in frame.names:
            found["names"].append((true == given).mean())
        else:
            error = np.square(true.to_numpy(float) - given.to_numpy(float)).mean() ** 0.5
            found["numbers"].append(error / frame.data[name].std())
    return {measure: float(np.mean(values)) for measure, values in found.items()}


def coverage(frame: Frame, taken: NDArray[np.bool_], bounds: Sequence[pd.DataFrame]) -> dict[str, float]:
    """Return the share of numbers that were taken out and are within the bounds, and how wide these are.

    Columns of few numbers are apart: an interval of answers from 1 to 6 cannot have every probability.
    """
    found = defaultdict(list)
    for j, name in enumerate(frame.data):
        if name in frame.numbers:
            judged = taken[:, j] & frame.data[name].notna().to_numpy()
            true, low, high = (part[name][judged].to_numpy(float) for part in (frame.data, *bounds))
            is_few = frame.data[name].nunique() <= FEW_VALUES
            found["covered, few values" if is_few else "covered"].append(((low <= true) & (true <= high)).mean())
            found["width"].append((high - low).mean() / frame.data[name].std())
    return {measure: float(np.mean(values)) for measure, values in found.items()}


# ---- drawn rows ----


def draw(section: Section, frames: dict[str, Callable[[], Frame]], repeats: int, without: Iterable[str]) -> None:
    synthesizers = [name for name in (*GOALS, *SYNTHESIZERS) if name not in without]
    for name, make in frames.items():
        frame = make()
        lines = new_lines()
        for split in range(repeats):
            train, test = train_test_split(frame.data, test_size=0.3, random_state=split)
            real = target_score(frame, train, test)
            lines["real rows"]["AUC"].append(compare_tables(train, test, random_state=split).auc)
            lines["real rows"]["target"].append(real)
            for synthesizer in synthesizers:
                if synthesizer in GOALS:
                    drawn = learned(train, GOALS[synthesizer]).sample(len(train), random_state=split)
                else:
                    drawn = SYNTHESIZERS[synthesizer](train, len(train), split)
                found = compare_tables(train, drawn, random_state=split)
                score = target_score(frame, drawn, test)
                figures = {"AUC": found.auc, "target": score, "less than real": score - real, "closer": found.closer}
                figures["pairs"] = float(np.mean([pair.difference for pair in found.pairs]))
                for measure, value in figures.items():
                    lines[synthesizer][measure].append(value)
        print_lines(section, f"{name}, target {frame.target}", lines)


def target_score(frame: Frame, train: pd.DataFrame, test: pd.DataFrame) -> float:
    """Return the accuracy or R² of gradient boosting that is trained on some rows and tested on others."""
    is_name = frame.target in frame.names
    known = [rows.dropna(subset=frame.target) for rows in (train, test)]
    parts = [_with_categories(rows.drop(columns=frame.target), frame) for rows in known]
    make = HistGradientBoostingClassifier if is_name else HistGradientBoostingRegressor
    targets = [rows[frame.target].astype(object if is_name else float).to_numpy() for rows in known]
    model = make(categorical_features="from_dtype", max_iter=60, random_state=0)
    return float(model.fit(parts[0], targets[0]).score(parts[1], targets[1]))


def _with_categories(rows: pd.DataFrame, frame: Frame) -> pd.DataFrame:
    kinds = {name: pd.CategoricalDtype(sorted(frame.data[name].dropna().unique())) for name in frame.names}
    return rows.astype({name: kinds.get(name, float) for name in rows})


# ---- density ----


def density(section: Section, frames: dict[str, Callable[[], Frame]], repeats: int, without: Iterable[str]) -> None:
    for name in ("wine", "breast cancer", "diabetes"):
        if name not in frames:
            continue
        frame = frames[name]()
        rows = frame.data[frame.numbers].astype(float)
        lines = new_lines()
        for split in range(repeats):
            train, test = train_test_split(rows, test_size=0.3, random_state=split)
            scores = {line: learned(train, goal).score_samples(test).mean() for line, goal in GOALS.items()}
            for line, density_of in DENSITIES.items():
                if line not in without:
                    scores[line] = density_of(train.to_numpy(), test.to_numpy()).mean()
            for line, value in scores.items():
                lines[line]["nats per row"].append(value)
                lines[line]["less latree, to predict"].append(value - scores["latree, to predict"])
        print_lines(section, f"{name}: {rows.shape[1]} numbers, {len(train)} rows to fit, {len(test)} held out", lines)


# ---- scikit-learn ----


def pipelines(section: Section, frames: dict[str, Callable[[], Frame]], repeats: int, without: Iterable[str]) -> None:
    """Print how many uses of scikit-learn fail, and the first message of each kind."""
    done, messages = 0, dict[str, str]()
    for name, make in frames.items():
        frame = make()
        data = frame.data
        orders = {"as it is": data, **{f"sorted by {one}": data.sort_values(one) for one in data}}
        for order, rows in orders.items():
            for use, task in uses(
                frame, rows.head(600) if order == "as it is" else rows.iloc[:: max(1, len(rows) // 600)]
            ):
                done += 1
                try:
                    task()
                except Exception as error:
                    messages[f"{name}, {order}, {use}"] = f"{type(error).__name__}: {error}"
    section.add(f"scikit-learn: {done} uses, {len(messages)} failures")
    for where, message in messages.items():
        section.add(f"  {where}: {message:.300}")


def uses(frame: Frame, rows: pd.DataFrame) -> Iterable[tuple[str, Callable[[], Any]]]:
    """Return uses of the estimator by scikit-learn, which raise if one of their fits does."""
    fast = LatentTree("chow-liu", random_state=0)
    known = rows.dropna(subset=frame.target)
    target = known[frame.target]
    is_name = frame.target in frame.names
    others = [name for name in frame.names if name != frame.target]
    numbers = [name for name in frame.numbers if name != frame.target]
    encoded = make_column_transformer(
        (make_pipeline(StandardScaler(), LatentTree("lcm", n_states=3, random_state=0)), numbers),
        *([(OneHotEncoder(handle_unknown="ignore"), others)] if others else []),
    )
    head = HistGradientBoostingClassifier if is_name else HistGradientBoostingRegressor
    last = head(max_iter=5)
    yield "cross_val_score", lambda: _finite(cross_val_score(fast, rows, cv=5, error_score="raise"))
    grid = {"reading": [{"bins": 4}, {"bins": 8}]}
    yield "GridSearchCV", lambda: GridSearchCV(fast, grid, cv=3, error_score="raise").fit(rows)
    yield (
        "Pipeline",
        lambda: _finite(cross_val_score(make_pipeline(encoded, last), known, target, cv=3, error_score="raise")),
    )


def _finite(scores: NDArray[np.float64]) -> None:
    if not np.isfinite(scores).all():
        raise ValueError(f"scores are not finite: {scores}")


PAGES = {"fill": "impute.md", "draw": "density.md", "density": "density.md", "pipelines": "pipeline.md"}
PARTS = {"fill": fill, "draw": draw, "density": density, "pipelines": pipelines}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help="fill, draw, density, pipelines; by default all")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the folder of real_tables.py, for bfi")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="frames")
    parser.add_argument("--without", nargs="+", default=[], metavar="NAME", help="imputers or synthesizers")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument(
        "--write", action="store_true", help="put the tables into docs/impute.md, density.md, pipeline.md"
    )
    arguments = parser.parse_args()
    if unknown := set(arguments.parts) - set(PARTS):
        parser.error(f"no part {sorted(unknown)[0]!r}: choose from {', '.join(PARTS)}")
    frames = mixed_frames(arguments.data)
    if "bfi" not in frames:
        print("bfi is skipped: --data FOLDER names the folder that has it")
    chosen = arguments.only or (QUICK if arguments.quick else frames)
    frames = {name: frames[name] for name in chosen if name in frames}
    warnings.simplefilter("ignore", FitWarning)
    repeats = 3 if arguments.quick else arguments.repeats
    for part in arguments.parts or PARTS:
        with threadpool_limits(1):  # threads of small fits wait for each other, on a busy machine for long
            section = Section(f"numbers, {part}", arguments.write, DOCS / PAGES[part])
            section.add(f"{part}: {', '.join(frames)}; {repeats} masks or splits of each, mean ± standard error")
            PARTS[part](section, frames, repeats, arguments.without)
            section.publish()


if __name__ == "__main__":
    main()
