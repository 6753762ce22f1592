"""How near the figure of docs/worth.md is to gains on truly new rows: python benchmarks/worth.py [FOLDER].

Simulated tables, and with a folder (that of real_tables.py) halves of real ones. One half is fitted, the other is new.
Per table, in nats per row over independent columns:

  fitted   gain on the rows that were fitted, which latree does not report
  figure   what latree reports, with its standard error
  refit    the same folds, but the whole learner runs again in each: without the optimism of a known tree
  new      gain of the final model on the new rows, with its standard error
  ahead    the figure's difference to the best simpler model, with its standard error
  on new   the same difference on the new rows

--only NAME ... chooses tables, --goal predict the other goal.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import latree.interpret.worth as measuring
from latree import Table
from latree.interpret.worth import fit_simpler_models
from latree.learn import learn_model
from latree.settings import Goal, Settings
from real_tables import real_tables
from simulated_tables import independent_model, non_binary_model, recipe_model

REAL = ("tumours", "vote (folds)", "bfi", "hsq", "kims", "icar")
SIMULATED = ("recipe", "random tree", "independent")
N_FITTED, N_NEW = 500, 5000  # rows of simulated tables


def pairs(folder: Path | None, names: list[str]) -> Iterator[tuple[str, Table, Table]]:
    """Yield tables by name: the rows to fit, and new ones."""
    models = {"recipe": recipe_model(), "random tree": non_binary_model(0, "copy"), "independent": independent_model(0)}
    for name in names:
        if name in models:
            yield name, models[name].sample(N_FITTED, 0), models[name].sample(N_NEW, 1)
        elif folder is not None:
            table = real_tables(folder)[name]()
            order = np.random.default_rng(0).permutation(table.n_rows)
            fitted, new = np.split(order, [table.n_rows // 2])
            yield name, table.take(np.sort(fitted)), table.take(np.sort(new))


def mean(values: np.ndarray) -> str:
    return f"{values.mean():7.2f} ±{values.std() / len(values) ** 0.5:5.2f}"


def refit_gain(table: Table, settings: Settings) -> float:
    """Return the gain of the folds of the figure if the whole learner runs again in each."""
    rng = np.random.default_rng(0)
    gains = []
    for part in measuring.folds(table.units(measuring.MAX_USED, rng), rng):
        independent = next(fit_simpler_models(part.fitted)).model
        model = learn_model(part.fitted, settings).fit.model
        gains.append(model.log_likelihood_rows(part.judged) - independent.log_likelihood_rows(part.judged))
    return float(np.concatenate(gains).mean())


def line(name: str, fitted: Table, new: Table, goal: Goal) -> str:
    settings = Settings(goal=goal, random_state=0)
    learned = learn_model(fitted, settings)
    worth, model = learned.worth, learned.fit.model
    assert worth is not None
    assert worth.gain is not None
    simpler = {one.method: one.model.log_likelihood_rows(new) for one in fit_simpler_models(fitted)}
    independent, own = simpler.pop("independent"), model.log_likelihood_rows(new)
    on_fitted = learned.summary["log_likelihood"] - next(fit_simpler_models(fitted)).model.log_likelihood(fitted)
    best = worth.best_simpler
    return (
        f"{name:14}{fitted.n_rows:6}{fitted.n_columns:5}{on_fitted / fitted.n_rows:9.2f}"
        f"{worth.gain:9.2f} ±{worth.error:5.2f}{refit_gain(fitted, settings):9.2f}  {mean(own - independent)}"
        + (
            f"{best.ahead:9.2f} ±{best.ahead_error:5.2f}  {mean(own - simpler[best.method])}  {best.method}"
            if best and best.ahead is not None
            else ""
        )
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only", nargs="+", choices=[*SIMULATED, *REAL], default=[*SIMULATED, *REAL], metavar="NAME")
    parser.add_argument("--goal", choices=["explain", "predict"], default="explain")
    arguments = parser.parse_args()
    headers = (f"{'table':14}{'rows':>6}{'cols':>5}", f"{'fitted':>9}", f"{'figure':>16}", f"{'refit':>9}")
    print("".join(headers) + f"{'new':>16}{'ahead':>16}{'on new':>16}  of")
    for name, fitted, new in pairs(arguments.folder, arguments.only):
        print(line(name, fitted, new, arguments.goal), flush=True)


if __name__ == "__main__":
    main()
