"""The commands about the paper: its experiments, its theory, and how many rows it takes to find a tree."""

import sys
from math import floor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree._util.words import plural
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.model import LatentTreeModel
    from latree.paper.power import Power, RecoveryRate
    from latree.paper.theory import TreeFacts

EXPERIMENTS = ("quartets", "trees", "stocks")


@click.command()
@click.argument("what", type=common.Choice([*EXPERIMENTS, "all"]))
@click.option(
    "--out", type=common.file, required=True, help="Folder for the results; an interrupted run continues there."
)
@click.option(
    "--checkpoint",
    type=common.file,
    metavar="DIR",
    help="Folder that keeps finished parts instead of OUT; removed at the end.",
)
@click.option("--quick", is_flag=True, help="A small version with few repeats, which takes about a minute.")
@click.option(
    "--prices", type=common.file, help="For stocks: CSV file with a column of dates, then one column per ticker."
)
@click.option("--sectors", type=common.file, help="For stocks: CSV file whose first two columns are ticker and sector.")
@click.option(
    "--workers",
    type=common.Whole(min=0),
    default=0,
    show_default="one per core",
    help="Number of worker processes.",
)
@common.seed
@common.quiet
def reproduce(
    what: str, out: Path, checkpoint: Path | None, prices: Path | None, sectors: Path | None, quiet: bool, **how: Any
) -> None:
    """Repeat the paper's experiments.

    WHAT is `quartets` (Figure a-f), `trees` (Figure g-l), `stocks` (Table 1 and the tree of stocks) or `all`. The
    numbers are written as CSV, the figures as SVG and PNG (if matplotlib is installed). Finished parts are kept: start
    an interrupted run again with the same command, and it continues. Without `--prices`, `stocks` uses the 20 stocks of
    skfolio, if that is installed, or else downloads 60 stocks from 1984 to 2010 with yfinance.

    Example: latree reproduce quartets --quick --out paper
    """
    from latree._util.progress import progress_bars, stage
    from latree.paper import reproduce as experiments
    from latree.paper.cells import Run

    common.refuse_same(out, checkpoint)
    run = Run(out, checkpoint=checkpoint, **how)
    chosen = EXPERIMENTS if what == "all" else (what,)
    if "stocks" in chosen:
        prices = experiments.prepare_stocks(run, prices, sectors)
    else:
        run.prepare()
    files = []
    try:
        with progress_bars(not quiet):
            for name in chosen:
                with stage(name.capitalize()):
                    files += experiments.reproduce(name, run, prices, sectors)
    except KeyboardInterrupt:
        click.echo(f"latree: interrupted; {run.describe()}", err=True)
        sys.exit(130)
    run.finish()
    if not quiet:
        click.echo("Written:")
        for path in files:
            click.echo(f"  {path}")
        _note_missing_figures()


def _note_missing_figures() -> None:
    from latree.paper.figures import can_draw

    if not can_draw():
        click.echo("latree: no figures were drawn; they need matplotlib: pip install matplotlib", err=True)


@click.command()
@click.argument("model", type=common.model_file)
@click.option(
    "--rows", type=common.Whole(min=1), default=2000, show_default=True, help="Number of rows to give guarantees for."
)
@click.option(
    "--target",
    type=common.Number(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="Probability for which to give the number of rows needed.",
)
@click.option("--quartet", nargs=4, metavar="A B C D", help="Four columns: print the numbers of their quartet alone.")
@common.as_json
def theory(model: Path, rows: int, target: float, quartet: tuple[str, ...] | None, as_json: bool) -> None:
    """Compute what the paper's theory says about a model.

    MODEL is a model.json or the folder of a fit. Prints the paper's θ, α, γ and δ, its assumptions A1 to A4 with the
    numbers that decide them, and what its theorems guarantee for a number of rows. docs/method.md explains them under
    "The theory, in numbers". The guarantees are loose: `latree power` gives a practical answer.

    Example: latree theory run/model.json --rows 5000
    """
    from latree._util.files import to_json
    from latree._util.progress import progress_bars, stage
    from latree.paper.theory import tree_facts

    loaded = common.load_model(model)
    if quartet:
        _print_quartet(loaded, quartet, rows, target, as_json)
        return
    with progress_bars(True), stage("Checking quartets"):
        facts = tree_facts(loaded)
    if as_json:
        found = facts.to_dict() | {"rows": rows, "probability_at_least": facts.success(rows)}
        click.echo(to_json(found | {"target": target, "rows_needed": facts.rows_needed(target)}), nl=False)
        return
    satisfied = sum(quartet.satisfied for quartet in facts.quartets)
    lines = [f"{facts.n_leaves} columns; checked: {_describe_quartets(facts)}", ""]
    for condition in facts.conditions:
        lines.append(f"{condition.name}  {'holds' if condition.holds else 'FAILS':6} {condition.text}")
        lines.append(f"           {condition.numbers}")
    lines += [
        "",
        f"δ      {facts.delta:<12.4g} largest ‖Δ‖_F over the edges between hidden variables",
        f"θ_min  {facts.theta_min:<12.4g} smallest excessive dependence over the quartets",
        f"γ_min  {facts.gamma_min:<12.4g} smallest probability of a hidden state",
        f"α_min  {facts.alpha_min:<12.4g} smallest gap of nuclear norms; Algorithm 1 is wrong if it is not positive",
        "",
        f"Lemma on Δ: its condition holds for {satisfied} of {plural(len(facts.quartets), 'quartet')}; Algorithm 1 is "
        f"right on {facts.n_right}",
        f"Theorem on trees: {facts.verdict}",
    ]
    proviso = "" if facts.complete else ", if no other quartet has a smaller α"
    lines += _guarantees("the tree", facts.success(rows), rows, facts.rows_needed(target), target, proviso)
    click.echo("\n".join(lines))


def _guarantees(
    what: str, probability: float | None, n_rows: int, needed: int | None, target: float, proviso: str = ""
) -> list[str]:
    """Return what is guaranteed for a number of rows, and how many rows a probability needs."""
    if probability is None or needed is None:
        return [f"It guarantees {what} for no number of rows"]
    # A lower bound of a probability is never rounded up, and never to 1.
    least = "more than 0.999" if probability > 0.999 else f"at least {floor(1000 * probability) / 1000:g}"
    if probability == 0:
        least = "at least 0 (the bound says nothing for so few rows)"
    return [
        f"With {plural(n_rows, 'row')}: {what} with a probability of {least}{proviso}",
        f"For a probability of {target:g}: {plural(needed, 'row')}{proviso}",
    ]


def _describe_quartets(facts: "TreeFacts") -> str:
    """Return which quartets were checked, and how many of them are stars."""
    if facts.n_quartets == 1:
        return "the only quartet"
    n_stars = facts.n_checked - len(facts.quartets)
    which = f"all {facts.n_quartets}" if facts.complete else f"{facts.n_checked} random ones of {facts.n_quartets}"
    stars = f", of which {n_stars} {'is a star' if n_stars == 1 else 'are stars'} without a pairing" if n_stars else ""
    return f"{which} quartets{stars}"


def _print_quartet(model: "LatentTreeModel", columns: tuple[str, ...], rows: int, target: float, as_json: bool) -> None:
    from dataclasses import asdict

    import numpy as np

    from latree._util.files import to_json
    from latree.paper.theory import dependence, quartet_facts, rows_needed, success

    for name in columns:
        if name not in model.tree.names:
            raise InputError(f"--quartet: the model has no column {name!r}")
    if len(set(columns)) < 4:
        raise InputError(f"--quartet: needs four different columns, not {', '.join(columns)}")
    found = quartet_facts(model, np.array([[model.tree.names.index(name) for name in columns]]))
    if not found:
        raise InputError(f"--quartet: the tree of {', '.join(columns)} is a star, so they have no pairing")
    facts, names = found[0], model.tree.node_names
    joint, delta = model.joint([facts.h, facts.g]), dependence(model, facts.h, facts.g)
    probability, needed = success(facts.alpha, rows), rows_needed(facts.alpha, target)
    one, two, three, four = pairing = [names[leaf] for leaf in facts.leaves]
    h, g = names[facts.h], names[facts.g]
    if as_json:
        numbers = {key: value for key, value in asdict(facts).items() if key != "leaves"}
        numbers |= {"pairing": pairing, "h": h, "g": g, "satisfied": facts.satisfied, "right": facts.right}
        numbers |= {"p_hg": joint.tolist(), "perturbation": delta.tolist()}
        click.echo(to_json({**numbers, "probability_at_least": probability, "rows_needed": needed}), nl=False)
        return
    click.echo(f"{{{one}, {two} | {three}, {four}}}, separated at H = {h} and G = {g}")
    with np.printoptions(precision=4, suppress=True):
        click.echo(f"P_HG\n{joint}\nΔ = P_HG - P_H P_Gᵀ\n{delta}")
    holds, right = "holds" if facts.satisfied else "FAILS", "right" if facts.right else "WRONG"
    click.echo(f"‖Δ‖_F  {facts.delta:.4g}; the lemma allows {facts.allowed:.4g}: {holds}")
    click.echo(f"θ      {facts.theta:.4g}")
    click.echo(f"α      {facts.alpha:.4g}; Algorithm 1 is {right} on the exact distribution")
    click.echo("\n".join(_guarantees("the pairing", None if needed is None else probability, rows, needed, target)))


@click.command()
@click.argument("model", type=common.model_file)
@click.option(
    "--target",
    type=common.Number(0, 1, min_open=True),
    default=0.95,
    show_default=True,
    help="Share of the simulated tables in which the tree must be found.",
)
@click.option("--method", default="tensor", show_default=True, help="Learner of the tree; `latree methods` lists them.")
@click.option(
    "--states",
    "n_states",
    type=common.Whole(1, 1000),
    default=None,
    help="Number of hidden states; method spectral needs it.",
)
@click.option(
    "--repeats",
    type=common.Whole(min=1),
    default=40,
    show_default=True,
    help="Simulated tables for each number of rows.",
)
@click.option(
    "--max-rows",
    type=common.Whole(min=50),
    default=100_000,
    show_default=True,
    help="Largest number of rows to try.",
)
@common.new_output(
    "New folder for power.csv and, with matplotlib, power.svg and power.png.", may_force=False, folder=True
)
@common.checkpoint
@common.seed
@common.quiet
@common.as_json
def power(
    model: Path, out: Path | None, checkpoint: Path | None, seed: int, quiet: bool, as_json: bool, **settings: Any
) -> None:
    """Simulate how many rows it takes to find a model's tree.

    MODEL is a model.json or the folder of a fit. Tables with more and more rows are drawn from it until the tree
    learned from them equals the model's often enough. Prints how often the tree was found for each number of rows, and
    the number of rows needed. A model whose tree the method can never return is refused.

    Example: latree power run/model.json --target 0.9 --out curve
    """
    from latree._util.progress import progress_bars, stage
    from latree.paper.power import recovery_power

    loaded = common.load_model(model)
    if loaded.tree.n_observed < 4:
        raise InputError(f"{model}: {plural(loaded.tree.n_observed, 'column')}; fewer than 4 have only one tree")
    with common.resumable(checkpoint, out) as keep_for:
        with progress_bars(not quiet), stage("Simulating", at_most=True):
            found = recovery_power(
                loaded,
                **settings,
                random_state=seed,
                keep=keep_for(lambda: {"command": "power", **settings, "seed": seed, "model": common.checksum(model)}),
            )
        names = _write_power(found, settings["method"], out) if out is not None else []
        _print_power(found, settings, names, out, quiet, as_json)


def _print_power(
    found: "Power", settings: dict[str, Any], names: list[str], out: Path | None, quiet: bool, as_json: bool
) -> None:
    """Print the curve and the answer."""
    from latree._util.files import to_json

    method, target, repeats = settings["method"], settings["target"], settings["repeats"]
    if as_json:
        summary = {"method": method, "target": target, "rows_needed": found.rows_needed, "unsure": found.unsure}
        click.echo(to_json({**summary, "curve": found.rows()}), nl=False)
    elif not quiet:
        click.echo(f"How often method {method} finds the tree:")
        click.echo(f"{'rows':>8}{'found':>8}   95 % confidence interval")
        for point in found.points:
            click.echo(f"{point.rows:8}{point.share:8.0%}   {_interval(point)}")
        if found.answer is None:
            click.echo(f"{target:.0%} was not reached with {found.points[-1].rows} rows")
        else:
            answer = found.answer
            share = f"{answer.found} of {repeats} trees found, 95 % interval {_interval(answer)}"
            click.echo(f"{target:.0%} is reached with {answer.rows} rows: {share}")
        if found.unsure:
            click.echo("Caution: the interval reaches well below the target; more --repeats make the answer surer")
        if names:
            click.echo(f"Written to {out}: {', '.join(names)}")
    if names and not quiet:
        _note_missing_figures()


def _interval(point: "RecoveryRate") -> str:
    low, high = point.interval
    return f"{low:.0%} to {high:.0%}"


def _write_power(found: "Power", method: str, out: Path) -> list[str]:
    from functools import partial

    from latree._util.files import new_folder, write_text
    from latree.paper.cells import to_csv
    from latree.paper.figures import save
    from latree.paper.power import power_figure

    with new_folder(out) as folder:
        write_text(folder / "power.csv", to_csv(found.rows()))
        return ["power.csv", *(path.name for path in save(partial(power_figure, found, method), folder / "power"))]
