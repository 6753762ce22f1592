"""How good scores of groups are: states beside the truth, scores beside scale means, features beside raw columns.

python benchmarks/scores.py recipe        # simulated questionnaires: are the states of groups the true ones?
python benchmarks/scores.py bfi FOLDER    # a real questionnaire: scores beside the means of the scales' items
python benchmarks/scores.py few           # few people: how well scores with few states rank them (docs/scores.md)
python benchmarks/scores.py features      # classifiers on latree's features and on raw columns (docs/pipeline.md)

`recipe` prints the share of right states of the fitted model and of the true model, which is the best that anybody
can reach, on new rows. `bfi` prints for each group the correlation of the score with the mean of its scale's items,
beside other scores that could be used, and reliabilities. `few` prints the mean correlation with the true levels of
people, of scores with the chosen number of states, of scores with four states, and of the means of the items.
`features` prints the accuracy of logistic regression on held-out rows, the mean over five splits, with its standard
error.
"""

import argparse
from collections.abc import Callable
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from latree import LatentTree, LatentTreeModel, Table
from latree.datasets import make_questionnaire
from latree.interpret.reliability import reliability
from latree.interpret.scores import row_scores, scored_groups
from real_tables import BFI, labelled_tables
from simulated_tables import recipe_model

N_NEW_ROWS = 20_000
N_SPLITS = 5
FEW_LABELS = 20
MISSING_SHARE = 0.5
BINS = 4  # the tables have few rows


def recipe(rows: list[int], seeds: int) -> None:
    """Print how often the states of groups are the true ones."""
    truth = recipe_model()
    print("rows   seed  groups  right states  of the true model  difference")
    for n_rows in rows:
        for seed in range(seeds):
            model = LatentTree(random_state=seed).fit(truth.sample(n_rows, seed)).model_
            drawn = truth.sample_all(N_NEW_ROWS, 1000 + seed)
            new = Table.from_codes(truth.columns, drawn[:, : truth.tree.n_observed])
            n_groups, found, best = right_states(model, truth, new, drawn)
            print(f"{n_rows:5}  {seed:4}  {n_groups:6}  {found:12.2%}  {best:17.2%}  {found - best:+10.2%}", flush=True)


def few(rows: list[int], seeds: int) -> None:
    """Print how well scores rank few people, beside the means of the items."""
    print("rows   seed  states      score  four states  mean of items")
    for n_rows in rows:
        for seed in range(seeds):
            answers = make_questionnaire(n_rows, random_state=seed)
            keyed = answers.data.assign(**{name: 6 - answers.data[name] for name in answers.data if name[-1] == "5"})
            items = {scale: keyed.filter(like=scale).mean(axis=1) for scale in answers.rows}
            chosen, states = _level_correlation(LatentTree(random_state=0), answers)
            four, _ = _level_correlation(LatentTree(random_state=0, n_states=4), answers)
            means = np.mean([np.corrcoef(mean, answers.rows[scale])[0, 1] for scale, mean in items.items()])
            print(f"{n_rows:5}  {seed:4}  {states:10}  {chosen:5.3f}  {four:11.3f}  {means:13.3f}", flush=True)


def _level_correlation(model: LatentTree, answers: Any) -> tuple[float, str]:
    """Return the mean correlation of scores with the true levels of their scales, and the groups' numbers of states."""
    scores = model.fit(answers.data).transform(answers.data)
    groups = scored_groups(model.model_)
    found = [
        abs(np.corrcoef(scores[group.name], answers.rows[group.columns[0].split("_")[0]])[0, 1]) for group in groups
    ]
    return float(np.mean(found)), " ".join(str(len(model.model_.tables[group.centre])) for group in groups)


def right_states(
    model: LatentTreeModel, truth: LatentTreeModel, new: Table, drawn: NDArray[np.int32]
) -> tuple[int, float, float]:
    """Return the number of groups that are a true scale, and the share of right states of the model and of the truth.

    States have no names: those of the model are matched with the true ones as fits best.
    """
    rows, best = row_scores(model, Table.from_codes(model.columns, new.codes())), truth.posteriors(new)
    found_right, best_right = [], []
    for j, group in enumerate(scored_groups(model)):
        scales = {name.split("_")[0] for name in group.columns}
        if len(scales) != 1 or len(group.columns) != 5:
            continue
        hidden = truth.tree.n_observed + int(scales.pop().removeprefix("s")) - 1
        states = drawn[:, hidden]
        n_states = len(rows.state_names[j])
        shares = [
            np.mean(np.array(order)[rows.states[:, j]] == states)
            for order in permutations(range(max(3, n_states)), n_states)
        ]
        found_right.append(max(shares))
        best_right.append(np.mean(best[truth.tree.node_names[hidden]].argmax(axis=1) == states))
    return len(found_right), float(np.mean(found_right)), float(np.mean(best_right))


def bfi(folder: Path) -> None:
    """Print how scores agree with the means of the items of known scales."""
    table = labelled_tables(folder)["bfi"]()
    model = LatentTree(random_state=0).fit(table).model_
    cells = np.ma.masked_less(table.codes().astype(float), 0)
    means = scale_means(folder, table.names, cells)
    rows, hidden = row_scores(model, table), row_scores(model, table, "hidden")
    first = model.tree.n_observed
    print("scale           group             score  centre, equal steps  centre  reliability  alpha")
    for j, (group, one) in enumerate(zip(scored_groups(model), reliability(model, table), strict=True)):
        scale = max(means, key=lambda name: correlation(rows.scores[:, j], means[name]))
        central = model.posteriors(table)[model.tree.node_names[group.centre]]
        values = (
            rows.scores[:, j],
            central @ np.arange(central.shape[1]),
            hidden.scores[:, group.centre - first],
        )
        one_score, equal, centre = (correlation(value, means[scale]) for value in values)
        print(
            f"{scale:15} {group.name:15} {one_score:7.3f} {equal:20.3f} {centre:7.3f} {one.reliability:12.2f} "
            f"{one.alpha:6.2f}"
        )


def scale_means(folder: Path, names: tuple[str, ...], cells: Any) -> dict[str, Any]:
    """Return the mean of each scale's items in each row, reversed where the key says so."""
    means = {}
    for line in (folder / BFI).with_name("bfi.keys.txt").read_text(encoding="utf-8").split("\n"):
        if line:
            scale, items = line.split("\t")
            answers = [
                cells.max() - cells[:, names.index(item[1:])] if item.startswith("-") else cells[:, names.index(item)]
                for item in items.split(",")
            ]
            means[scale] = np.nanmean(np.array([answer.filled(np.nan) for answer in answers]), axis=0)
    return means


def correlation(one: Any, other: Any) -> float:
    """Return the absolute correlation over rows that have both."""
    known = np.isfinite(one) & np.isfinite(other)
    return float(abs(np.corrcoef(one[known], other[known])[0, 1]))


def questionnaire() -> tuple[NDArray[Any], NDArray[Any]]:
    """Return answers to 40 noisy questions, and the state of the general factor behind them as the class."""
    model = recipe_model()
    drawn = model.sample_all(1000, 0)
    return drawn[:, : model.tree.n_observed].astype(float), drawn[:, -1]


TABLES: dict[str, Callable[[], tuple[NDArray[Any], NDArray[Any]]]] = {
    "iris": lambda: load_iris(return_X_y=True),
    "wine": lambda: load_wine(return_X_y=True),
    "breast cancer": lambda: load_breast_cancer(return_X_y=True),
    "questionnaire": questionnaire,
}

Features = Callable[[NDArray[Any]], NDArray[Any]]


def features(names: list[str]) -> None:
    """Print the accuracy of a classifier on raw columns and on features of latree."""
    print("data           setting        raw columns      components       scores           states           both")
    for name in names:
        X, y = TABLES[name]()
        for setting in ("all labels", "few labels", "half missing"):
            shares = np.array([accuracies(X, y, setting, seed) for seed in range(N_SPLITS)])
            errors = shares.std(axis=0, ddof=1) / np.sqrt(N_SPLITS)
            cells = (
                f"{mean:.1%} ± {error:.1%}".ljust(15) for mean, error in zip(shares.mean(axis=0), errors, strict=True)
            )
            print(f"{name:14} {setting:13}", *cells, sep="  ", flush=True)


def accuracies(X: NDArray[Any], y: NDArray[Any], setting: str, seed: int) -> list[float]:
    """Return the accuracy on a held-out third for each kind of features."""
    rng = np.random.default_rng(seed)
    if setting == "half missing":
        X = np.where(rng.random(X.shape) < MISSING_SHARE, np.nan, X)
    train, test = next(StratifiedShuffleSplit(1, test_size=1 / 3, random_state=seed).split(X, y))
    labelled = train
    if setting == "few labels":
        splitter = StratifiedShuffleSplit(1, train_size=FEW_LABELS, random_state=seed)
        labelled = train[next(splitter.split(X[train], y[train]))[0]]
    # All of these see every training row, and no label.
    tree = LatentTree(reading={"bins": BINS}, random_state=seed).fit(X[train])
    filled = make_pipeline(SimpleImputer(), StandardScaler()).fit(X[train])
    n_scores = tree.transform(X[:2]).shape[1]
    components = PCA(min(n_scores, X.shape[1]), random_state=seed).fit(filled.transform(X[train]))
    kinds: list[Features] = [
        filled.transform,
        lambda rows: components.transform(filled.transform(rows)),
        tree.transform,
        lambda rows: tree.predict_proba(rows, of="hidden") if tree.tree_.n_hidden else tree.transform(rows),
        lambda rows: np.hstack([filled.transform(rows), tree.transform(rows)]),
    ]
    found = []
    for kind in kinds:
        classifier = make_pipeline(StandardScaler(), LogisticRegression(max_iter=5000))
        classifier.fit(kind(X[labelled]), y[labelled])
        found.append(float(classifier.score(kind(X[test]), y[test])))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = parser.add_subparsers(dest="part", required=True)
    for name, rows in (("recipe", [1000, 5000]), ("few", [200, 300, 500])):
        simulated = parts.add_parser(name)
        simulated.add_argument("--rows", type=int, nargs="+", default=rows)
        simulated.add_argument("--seeds", type=int, default=3)
    parts.add_parser("bfi").add_argument("folder", type=Path)
    parts.add_parser("features").add_argument("--only", nargs="+", choices=TABLES, default=list(TABLES))
    options = parser.parse_args()
    if options.part == "recipe":
        recipe(options.rows, options.seeds)
    elif options.part == "few":
        few(options.rows, options.seeds)
    elif options.part == "bfi":
        bfi(options.folder)
    else:
        features(options.only)


if __name__ == "__main__":
    main()
