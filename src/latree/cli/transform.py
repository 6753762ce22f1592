"""The command that says where rows stand: scores, states, and how unusual each row is."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TypeAlias

import click

from latree._util.words import clipped, plural, quoted
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.explain import Reliability, RowScores
    from latree.table.statfile import Variable


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.file)
@common.new_output(
    "New .csv, .tsv or .txt file, or a .sav file for SPSS; by default the rows are printed.",
    endings=(*common.TABLE_ENDINGS, ".sav"),
)
@click.option(
    "--of",
    type=common.Choice(["groups", "hidden"]),
    default="groups",
    show_default=True,
    help="Score the main groups of columns, or all hidden variables.",
)
@common.identifier
@common.weights
@common.data_format
@common.unseen
@common.quiet
def transform(model: Path, data: Path, out: Path | None, of: Any, identifier: str | None, **options: Any) -> None:
    """Write where each row stands on each group of columns.

    MODEL is a model.json or the folder of a fit, DATA a table with the columns of the model; other columns are ignored,
    and cells may be missing. For each group there is a score from 0 (lowest) to 1 (highest), its standard error, the
    most probable state of the group's hidden variable, and the probability of that state. The last column is the
    log-likelihood of the row in nats: the lower, the more unusual is the row. With --out, the reliability of each score
    is printed; rows count by their weights there, if they have some. The result is a CSV file that opens in a
    spreadsheet, or a file of SPSS with labels; DATA may be larger than memory.

    Example: latree transform run/model.json data.csv --id person --out scores.csv
    """
    import numpy as np

    from latree._util.terminal import progress_bars
    from latree.explain.order import state_steps
    from latree.explain.overview import kinds_lines
    from latree.explain.reliability import few_rows, finish, reliability_sums
    from latree.explain.scores import Scorer, scored_groups
    from latree.model.diagnostics import scores_without_direction
    from latree.table.chunks import add
    from latree.table.stream import stream_rows

    loaded = common.load_model(model)
    identifier = common.identifier_in(data, loaded, identifier, options["format"])
    weighting = common.weights_in(data, loaded, options["weights"], options["format"])
    scorer = Scorer.of_model(loaded, of)
    sums: Any = None
    n_rows = 0
    with _scores_output(out, identifier) as write, progress_bars(not options["quiet"]) as stages:
        reading = stages("Scoring the rows")
        for part in stream_rows(
            data,
            loaded.columns,
            identifier=identifier,
            format=options["format"],
            unseen=options["unseen"],
            progress=reading,
            **weighting,
        ):
            if part.table.n_rows == 0:
                continue
            lines = part.table.map(scorer.block)
            found = reliability_sums(scorer, part.table.rows.fetch(np.arange(len(lines))), lines)
            sums = found if sums is None else add(sums, found)
            write(part.identifiers or range(n_rows + 1, n_rows + len(lines) + 1), scorer.rows_of(lines))
            n_rows += len(lines)
        if n_rows == 0:
            raise InputError(f"{data}: no rows, only column names")
    if out is not None and not options["quiet"]:
        weighted = f", weighted by {quoted(weighting['weights'])}" if weighting["weights"] else ""
        click.echo(f"{plural(n_rows, 'row')}{weighted}, {plural(len(scorer.names), 'score')} each")
        if of == "groups" and scorer.names:
            click.echo("\n" + "\n".join(_reliability_lines(finish(scorer, sums))) + "\n")
            steps = state_steps(loaded)
            kinds = kinds_lines([scale.name for scale in scorer.scales if not steps.get(scale.hidden, True)])
            for warning in (*few_rows(n_rows), *scores_without_direction(loaded, scored_groups(loaded)), *kinds):
                click.echo(f"warning: {warning}\n")
        click.echo(f"Written to {out}")


# Writes the scores of some rows, with their names or numbers.
WriteScores: TypeAlias = "Callable[[Sequence[Any], RowScores], None]"


@contextmanager
def _scores_output(out: Path | None, identifier: str | None) -> "Iterator[WriteScores]":
    """Yield a function that prints scores, or writes them to a new file, whole or not at all."""
    if out is None or out.suffix.lower() != ".sav":
        with common.rows_output(out) as write_rows:
            header = [identifier or "row"]

            def write(names: Sequence[Any], rows: "RowScores") -> None:
                write_rows(chain([_header(header.pop(), rows.names)] if header else [], _cells(names, rows)))

            yield write
        return
    from latree._util.files import new_file
    from latree.table.statfile import pyreadstat_module, sav_content

    pyreadstat_module(out)  # says that it is not installed before the work starts
    parts: list[tuple[Sequence[Any], RowScores]] = []
    yield lambda names, rows: parts.append((names, rows))
    content = sav_content(out, list(_variables(parts, identifier or "row")))
    with new_file(out, common.may_replace()) as stream:
        stream.write(content)


def _variables(parts: "Sequence[tuple[Sequence[Any], RowScores]]", identifier: str) -> "Iterator[Variable]":
    """Yield the variables of an SPSS file: the same columns as in a text file, with states by number and label."""
    import numpy as np

    from latree.table.statfile import Variable

    rows = [part for _, part in parts]
    yield _row_names([str(name) for names, _ in parts for name in names], identifier)
    for j, name in enumerate(rows[0].names):
        columns = {
            "": [part.scores[:, j] for part in rows],
            "standard error": [part.errors[:, j] for part in rows],
            "state": [np.where(part.states[:, j] < 0, np.nan, part.states[:, j]) for part in rows],
            "probability": [part.probabilities[:, j] for part in rows],
        }
        for what, values in columns.items():
            states = dict(enumerate(rows[0].state_names[j])) if what == "state" else None
            label = f"{name}: {what}" if what else name
            decimals = 0 if what == "state" else _DECIMALS
            yield Variable(f"{name} {_SHORT[what]}", label, np.concatenate(values), states, decimals)
    likelihoods = np.concatenate([part.log_likelihood for part in rows])
    yield Variable("log-likelihood", "log-likelihood", likelihoods, decimals=_DECIMALS)


def _row_names(names: list[str], identifier: str) -> "Variable":
    """Return the variable that names the rows: numbers stay numbers, so that SPSS can match files by them."""
    from latree.table.raw import label_of, parse_number
    from latree.table.statfile import Variable

    numbers = [float("nan") if name == "" else parse_number(name) for name in names]
    floats = [None if number is None else float(number) for number in numbers]
    if [label_of(number) for number in floats] != names:
        return Variable(identifier, identifier, names)
    are_whole = not any("." in name for name in names)
    return Variable(identifier, identifier, floats, decimals=0 if are_whole else _DECIMALS)


# The decimals of numbers in SPSS.
_DECIMALS = 4
# How the names of variables in SPSS, which are short, end.
_SHORT = {"": "", "standard error": "se", "state": "state", "probability": "p"}


def _header(identifier: str, names: Sequence[str]) -> list[str]:
    from latree.table.textfile import guarded

    parts = ("", ": standard error", ": state", ": probability")
    return [identifier, *(guarded(name + part) for name in names for part in parts), "log-likelihood"]


def _cells(identifiers: Iterable[object], rows: "RowScores") -> Iterator[list[object]]:
    """Yield a line for each row; what is not known about an impossible row is left empty."""
    columns: list[list[str]] = []
    for j, names in enumerate(rows.state_names):
        columns += [_texts(rows.scores[:, j]), _texts(rows.errors[:, j])]
        columns += [[names[state] if state >= 0 else "" for state in rows.states[:, j].tolist()]]
        columns += [_texts(rows.probabilities[:, j])]
    columns.append(_texts(rows.log_likelihood))
    for identifier, *cells in zip(identifiers, *columns, strict=True):
        yield [identifier, *cells]


def _texts(numbers: Any) -> list[str]:
    """Return numbers with four decimals; nothing where there is no number."""
    return ["" if number != number else f"{number:.4f}" for number in numbers.tolist()]


def _reliability_lines(found: "Sequence[Reliability]") -> Iterator[str]:
    """Yield the lines of a small table, and what to know before its figures are compared."""
    from latree.explain.reliability import CAVEAT

    names = [clipped(one.name) for one in found]
    width = max(len("group"), *map(len, names))
    yield f"{'group':{width}}  columns  reliability  Cronbach's alpha"
    for name, one in zip(names, found, strict=True):
        share, alpha = ("-" if number is None else f"{number:.2f}" for number in (one.reliability, one.alpha))
        yield f"{name:{width}}  {one.n_columns:7}  {share:>11}  {alpha:>16}"
    if any(one.alpha is not None for one in found):
        yield from ("", *wrap(CAVEAT, 80))
