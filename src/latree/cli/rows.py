"""Commands about rows: score, sample, transform, impute."""

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import click

from latree._util.words import clipped, plural, quoted
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from latree.interpret.reliability import Reliability
    from latree.interpret.scores import RowScores
    from latree.model import LatentTreeModel
    from latree.model.impute import How
    from latree.table import Block
    from latree.table.formats.stat import Variable
    from latree.table.raw import RawColumn
    from latree.table.sources import LocalSource, RawBatch


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file)
@common.new_output("New .csv, .tsv or .txt file with the log density of each row.", endings=common.TABLE_ENDINGS)
@common.identifier
@common.weights
@common.new_rows
@common.quiet
@common.as_json
def score(model: Path, data: Path, out: Path | None, quiet: bool, as_json: bool, **options: Any) -> None:
    """Print the log density of rows.

    MODEL is a model.json or the folder of a fit, DATA a table with the columns of the model; other columns are ignored.
    The log density is in nats, and in the units of the data: it can be compared with that of other estimators of a
    density. Categories count by their probability; missing cells are summed out. Printed are the sum over all rows, and
    its mean per row and per cell that is not missing. Rows count by their weights, if they have some. With --out, there
    is also one line for each row, with its name: the lower, the more unusual is it. The log-likelihood of a fit counts
    numbers by the probability of their bin; it is printed, too, if the two differ.

    Example: latree score run/model.json new.csv
    """
    import numpy as np

    from latree._util.files import to_json
    from latree._util.progress import progress_bars, stage
    from latree.table.columns import has_bins

    loaded = common.load_model(model)
    with progress_bars(not quiet):
        with stage("Reading the table"):
            table, how = common.read_rows(data, loaded, **options)
        with stage("Scoring the rows"):
            total = loaded.log_density(table.with_progress())
            log_likelihood = loaded.log_likelihood(table) if has_bins(loaded.columns) else total
        if out is not None:
            names = table.names_of_rows(np.arange(table.n_rows))
            scores = loaded.log_density_rows(table).tolist()
            with common.rows_output(out) as write:
                write([[how["identifier"] or "row", "log-density"]])
                write([name, f"{score:.4f}"] for name, score in zip(names, scores, strict=True))
    mean = total / table.total_weight
    if as_json:
        # JSON has no infinity: null means that some row is impossible under the model.
        figures = {
            "log_density": total,
            "mean_log_density": mean,
            "log_likelihood": log_likelihood,
            "mean_log_likelihood": log_likelihood / table.total_weight,
        }
        facts = {name: figure if math.isfinite(figure) else None for name, figure in figures.items()}
        weighting = {"weights": how["weights"], "effective_rows": table.total_weight}
        click.echo(to_json({"rows": table.n_rows, **weighting, **facts}), nl=False)
    elif not quiet:
        weighted = ""
        if how["weights"]:
            weighted = f", which count as {table.total_weight:.1f} by the weights of {quoted(how['weights'])}"
        click.echo(f"rows                 {table.n_rows}{weighted}")
        click.echo(f"log density          {total:.4f} nats")
        click.echo(f"mean per row         {mean:.6f} nats")
        n_present = float(np.asarray(table.sum(_present_cells)))
        if n_present:
            click.echo(f"mean per cell        {total / n_present:.6f} nats (without missing cells)")
        if log_likelihood != total:
            click.echo(f"log-likelihood       {log_likelihood:.4f} nats (numbers count as their bins)")
        if out is not None:
            click.echo(f"Written to {out}: {plural(table.n_rows, 'row')}")


@click.command()
@click.argument("model", type=common.model_file)
@click.option("--rows", type=common.Whole(1, 10**9), default=10, show_default=True, help="Number of rows to draw.")
@click.option(
    "--missing",
    is_flag=True,
    help="Leave cells empty, too: of each column the share that was missing in the data of the fit, at random.",
)
@common.out_file
@click.option(
    "--seed",
    type=common.Whole(min=0),
    help="Seed of the random numbers. Without it, every call draws other rows.",
)
def sample(model: Path, rows: int, missing: bool, out: Path | None, seed: int | None) -> None:
    """Draw new rows from a model, as CSV.

    MODEL is a model.json or the folder of a fit. Numbers are drawn from the density inside their bin: whole numbers are
    whole, and others have as many decimals as the data of the fit.

    Example: latree sample run/model.json --rows 1000 --out new.csv
    """
    from latree._util.progress import progress_bars, stage
    from latree.table.raw import label_of

    loaded = common.load_model(model)
    with progress_bars(True):
        with stage("Drawing rows"):
            drawn = loaded.sample_values(rows, seed, missing=missing)
        with stage("Writing rows"), common.rows_output(out) as write:
            write([list(drawn), *zip(*(map(label_of, values) for values in drawn.values()), strict=True)])
    if out is not None:
        click.echo(f"Written to {out}: {plural(rows, 'row')}")


def _present_cells(block: "Block") -> "NDArray[Any]":
    """Return the number of cells that are not missing, times the weights of their rows."""
    import numpy as np

    from latree.table.rows import missing_code

    present = (block.codes != missing_code(block.codes)).sum(axis=1)
    return np.asarray(present.sum() if block.weights is None else present @ block.weights)


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file)
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
@click.option(
    "--scale",
    type=common.Choice(["unit", "t", "percentile", "z"]),
    default="unit",
    show_default=True,
    help="Write scores from 0 to 1; or by the norms of the rows of the fit: T values (mean 50, standard deviation 10), "
    "percentiles (which have no standard error), or z values (mean 0, standard deviation 1).",
)
@common.identifier
@common.weights
@common.new_rows
@common.quiet
def transform(model: Path, data: Path, out: Path | None, of: Any, scale: Any, quiet: bool, **options: Any) -> None:
    """Write where each row stands on each group of columns.

    MODEL is a model.json or the folder of a fit, DATA a table with the columns of the model; other columns are ignored,
    and cells may be missing. For each group there is a score from 0 (lowest) to 1 (highest), its standard error, the
    most probable state of the group's hidden variable, and the probability of that state. The last column is the
    log density of the row in nats: the lower, the more unusual is the row. With --out, the reliability of each score
    is printed; rows count by their weights there, if they have some. The result is a CSV file that opens in a
    spreadsheet, or a file of SPSS with labels; DATA may be larger than memory.

    Example: latree transform run/model.json data.csv --id person --out scores.csv
    """
    import numpy as np

    from latree._util.progress import progress_bars, stage
    from latree.facts.warnings import scores_without_direction
    from latree.facts.words import kinds_lines
    from latree.interpret.reliability import finish, reliability_sums
    from latree.interpret.scores import Scorer, scored_groups, with_scale
    from latree.interpret.view import view_of
    from latree.interpret.worth import MIN_ROWS
    from latree.table.reading import stream_rows
    from latree.table.rows import add

    loaded = common.load_model(model)
    how = common.reading_of_rows(data, loaded, **options)
    scorer = Scorer.of_model(loaded, of)
    sums: Any = None
    n_rows = 0
    with _scores_output(out, how["identifier"] or "row") as write, progress_bars(not quiet), stage("Scoring the rows"):
        for part in stream_rows(data, loaded.columns, **how):
            if part.table.n_rows == 0:
                continue
            lines = part.table.map(scorer.block)
            found = reliability_sums(scorer, part.table.rows.fetch(np.arange(len(lines))), lines)
            sums = found if sums is None else add(sums, found)
            scored = with_scale(loaded, scorer.rows_of(lines), scale, of)
            write(part.identifiers or range(n_rows + 1, n_rows + len(lines) + 1), scored)
            n_rows += len(lines)
        if n_rows == 0:
            raise InputError(f"{data}: no rows, only column names")
    if out is not None and not quiet:
        weighted = f", weighted by {quoted(how['weights'])}" if how["weights"] else ""
        click.echo(f"{plural(n_rows, 'row')}{weighted}, {plural(len(scorer.names), 'score')} each")
        if of == "groups" and scorer.names:
            if n_rows >= MIN_ROWS:  # of fewer, a reliability is mostly chance
                click.echo("\n" + "\n".join(_reliability_lines(finish(scorer, sums))) + "\n")
            kinds = kinds_lines([scale.name for scale in scorer.scales if scale.hidden in view_of(loaded).kinds])
            for warning in (*scores_without_direction(loaded, scored_groups(loaded)), *kinds):
                click.echo(f"warning: {warning}\n")
        click.echo(f"Written to {out}")


@contextmanager
def _scores_output(out: Path | None, identifier: str) -> "Iterator[Callable[[Sequence[Any], RowScores], None]]":
    """Yield a function that prints the scores of rows with these names, or writes them to a file, whole or not at all.

    The columns of a file for SPSS are those of a text file, with states by number and label.
    """
    if out is None or out.suffix.lower() != ".sav":
        from latree.table.formats.text import guarded

        with common.rows_output(out) as write_rows:
            is_first = True

            def write(names: Sequence[Any], rows: "RowScores") -> None:
                nonlocal is_first
                columns = list(_score_columns(rows))
                if is_first:
                    write_rows([[identifier, *(guarded(name) for name, *_ in columns)]])
                is_first = False
                write_rows(zip(names, *(_texts(values, states) for *_, values, states in columns), strict=True))

            yield write
        return
    import numpy as np

    from latree._util.files import new_file
    from latree.table.formats.stat import Variable, pyreadstat_module, sav_content

    pyreadstat_module(out)  # says that it is not installed before the work starts
    all_names: list[str] = []
    parts: list[list[tuple[str, str, Any, Any]]] = []

    def keep(names: Sequence[Any], rows: "RowScores") -> None:
        all_names.extend(map(str, names))
        parts.append(list(_score_columns(rows)))

    yield keep
    variables = [_row_names(all_names, identifier)]
    for columns in zip(*parts, strict=True):
        name, short_name, _, states = columns[0]
        values = np.concatenate([values for _, _, values, _ in columns])
        if states is None:
            variables.append(Variable(short_name, name, values, decimals=_DECIMALS))
        else:
            numbers = np.where(values < 0, np.nan, values)
            is_ordered = not states[0].startswith("state ")  # as states that are kinds of rows are called
            variables.append(Variable(short_name, name, numbers, dict(enumerate(states)), 0, is_ordered))
    content = sav_content(out, variables)
    with new_file(out, common.may_replace()) as stream:
        stream.write(content)


def _score_columns(rows: "RowScores") -> "Iterator[tuple[str, str, NDArray[Any], Sequence[str] | None]]":
    """Yield the columns of a file of scores: a name, a short name, numbers, and the names of states if it has some."""
    for j, name in enumerate(rows.names):
        yield name, name, rows.scores[:, j], None
        yield f"{name}: standard error", f"{name} se", rows.errors[:, j], None
        yield f"{name}: state", f"{name} state", rows.states[:, j], rows.state_names[j]
        yield f"{name}: probability", f"{name} p", rows.probabilities[:, j], None
    yield "log-density", "log-density", rows.log_density, None


def _texts(values: "NDArray[Any]", states: Sequence[str] | None) -> list[str]:
    """Return the cells of a column; what is not known about an impossible row is left empty."""
    if states is not None:
        return [states[state] if state >= 0 else "" for state in values.tolist()]
    return ["" if number != number else f"{number:.4f}" for number in values.tolist()]


def _row_names(names: list[str], identifier: str) -> "Variable":
    """Return the variable that names the rows: numbers stay numbers, so that SPSS can match files by them."""
    from latree.table.formats.stat import Variable
    from latree.table.raw import label_of, parse_number

    numbers = [float("nan") if name == "" else parse_number(name) for name in names]
    floats = [None if number is None else float(number) for number in numbers]
    if [label_of(number) for number in floats] != names:
        return Variable(identifier, identifier, names)
    are_whole = not any("." in name for name in names)
    return Variable(identifier, identifier, floats, decimals=0 if are_whole else _DECIMALS)


# The decimals of numbers in SPSS.
_DECIMALS = 4


def _reliability_lines(found: "Sequence[Reliability]") -> Iterator[str]:
    """Yield the lines of a small table, and what to know before its figures are compared."""
    from latree.interpret.reliability import CAVEAT

    names = [clipped(one.name) for one in found]
    width = max(len("group"), *map(len, names))
    yield f"{'group':{width}}  columns  reliability  Cronbach's alpha"
    for name, one in zip(names, found, strict=True):
        share, alpha = ("-" if number is None else f"{number:.2f}" for number in (one.reliability, one.alpha))
        yield f"{name:{width}}  {one.n_columns:7}  {share:>11}  {alpha:>16}"
    if any(one.alpha is not None for one in found):
        yield from ("", *wrap(CAVEAT, 80))


# Most columns with holes that are named.
_MAX_NAMED = 5


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.data_file)
@click.option(
    "--how",
    type=common.Choice(["auto", "mode", "median", "mean", "draw"]),
    help="auto (the default), the mean of numbers with bins, the median of other columns with an order, the mode of "
    "the rest; mode, the most probable value; median, for columns with an order; mean, the expected value of numbers; "
    "or draw, all missing cells of a row together, at random from the model.",
)
@click.option(
    "--draws",
    type=common.Whole(1, 1000),
    metavar="N",
    help="For multiple imputation: fill the table N times by draw, into one long file as R's mice reads and writes it. "
    "Its columns .imp and .id number the tables and the rows; table 0 is DATA with its holes.",
)
@click.option(
    "--interval",
    type=common.Number(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    help="For each column with an order that has missing cells, add columns such as 'age low' and 'age high': the "
    "bounds of the interval that has this probability, such as 0.9. They are empty where the cell is present.",
)
@click.option(
    "--probabilities",
    is_flag=True,
    help="Add a column for each value of each column with missing cells, such as A1=2: its probability.",
)
@common.new_output(
    "New .csv, .tsv or .txt file, or a .sav file if DATA is one; by default the rows are printed.",
    endings=(*common.TABLE_ENDINGS, ".sav"),
)
@common.new_rows
@common.seed
def impute(
    model: Path,
    data: Path,
    how: "How | None",
    draws: int | None,
    interval: float | None,
    probabilities: bool,
    out: Path | None,
    **options: Any,
) -> None:
    """Fill missing cells.

    MODEL is a model.json or the folder of a fit, DATA a table with its columns. Each missing cell of DATA is filled
    given the rest of the row. All other cells, and columns that are not in the model, stay as they are. With `--how
    mean`, columns that are not numbers get their median; with `median`, columns without an order get their most
    probable value. Inside its bins, a numeric column has a density, so that means, medians and draws are numbers and
    not bins. With `--unseen missing`, categories that were not in the data of the fit are replaced, too. The filled
    table is printed, or written as CSV or for SPSS.

    Example: latree impute run/model.json data.csv --out filled.csv
    """
    from latree._util.progress import progress_bars, stage
    from latree.model.impute import draw_seeds, interval_bounds
    from latree.table.columns import are_counted
    from latree.table.opening import open_source
    from latree.table.sources import LocalSource

    if draws is not None:
        if how not in (None, "draw"):
            raise InputError(f"--draws is for --how draw, not for --how {how}")
        if probabilities or interval is not None:
            raise InputError(f"--draws and --{'probabilities' if probabilities else 'interval'}: choose one of the two")
    is_sav = out is not None and out.suffix.lower() == ".sav"
    if is_sav and (options["format"] or data.suffix[1:].lower()) not in ("sav", "zsav"):
        raise InputError(f"{out}: a .sav file is written if DATA is one: let --out end in .csv")
    if is_sav and (draws is not None or probabilities or interval is not None):
        raise InputError(f"{out}: --draws, --interval and --probabilities are written as CSV: let --out end in .csv")
    loaded = common.load_model(model)
    with progress_bars(True):
        # The first pass finds what is wrong with the table, and which columns have missing cells.
        format, unseen = options["format"], options["unseen"]
        names = common.names_of_matrix(data, loaded, format, options["names"])
        with stage("Reading the table"):
            table = loaded.encode(data, format=format, unseen=unseen, names=names)
        with_holes = [j for j, n_missing in enumerate(table.n_missing.tolist()) if n_missing]
        counts = are_counted(loaded.columns)
        with stage("Filling cells"):
            source = open_source(data, names, format=format, counts=counts)
        assert isinstance(source, LocalSource)  # there is no cluster here
        bounds = () if interval is None else interval_bounds(interval)
        filling = _Filling(loaded, source, unseen, with_holes, probabilities, bounds)
        with _sav_output(out, data) if out is not None and is_sav else common.rows_output(out) as write:
            if draws is None:
                write([filling.header()])
                for rows in filling.rows(how or "auto", draw_seeds(options["seed"], 1)[0]):
                    write(rows)
            else:
                write([[".imp", ".id", *filling.header()]])
                for number, draw_seed in enumerate([None, *draw_seeds(options["seed"], draws)]):
                    first = 1
                    for rows in filling.rows("draw", draw_seed):
                        write([[str(number), str(first + i), *row] for i, row in enumerate(rows)])
                        first += len(rows)
    filled = f"{plural(int(table.n_missing.sum()), 'cell')} filled"
    filled += f" {draws} times" if draws is not None and draws > 1 else ""
    # Printed rows are for another program, which reads standard output.
    click.echo(filled if out is None else f"{filled}. Written to {out}", err=out is None)
    if filling.holes_left:
        n_left, names = sum(filling.holes_left.values()), sorted(filling.holes_left)
        more = f" and {plural(len(names) - _MAX_NAMED, 'more column')}" if len(names) > _MAX_NAMED else ""
        stay = "stays" if n_left == 1 else "stay"
        click.echo(
            f"{plural(n_left, 'missing cell')} {stay} in columns that are not in the model: "
            f"{', '.join(map(quoted, names[:_MAX_NAMED]))}{more}",
            err=True,
        )


@contextmanager
def _sav_output(out: Path, data: Path) -> "Iterator[Callable[[list[list[str]]], None]]":
    """Yield a function that collects rows, the header first, and write them as an SPSS file like DATA."""
    from latree._util.files import new_file
    from latree.table.formats.stat import filled_sav

    lines: list[list[str]] = []
    yield lines.extend
    header, *rows = lines
    content = filled_sav(out, data, [dict(zip(header, row, strict=True)) for row in rows])
    with new_file(out, common.may_replace()) as stream:
        stream.write(content)


class _Filling:
    """Reads rows batch by batch, and fills their missing cells."""

    def __init__(
        self,
        model: "LatentTreeModel",
        source: "LocalSource",
        unseen: Any,
        with_holes: list[int],
        probabilities: bool,
        bounds: tuple[float, ...],
    ) -> None:
        self.model, self.source, self.unseen, self.bounds = model, source, unseen, bounds
        self.with_probabilities = with_holes if probabilities else []
        self.with_bounds = [j for j in with_holes if bounds and model.columns[j].ordered]
        # How many cells are missing in columns that are not in the model, by their names.
        self.holes_left: Counter[str] = Counter()
        self._n_counted = 0

    def header(self) -> list[str]:
        """Return the names of the columns."""
        from latree.model.impute import probability_names

        bounds = [f"{self.model.columns[j].name} {side}" for j in self.with_bounds for side in ("low", "high")]
        return [*self.source.names, *bounds, *probability_names(self.model.columns, self.with_probabilities)]

    def rows(self, how: "How", seed: int | None) -> Iterator[list[list[str]]]:
        """Yield the rows of each batch as texts; without a seed, their missing cells stay as they are."""
        start = 0
        for batch in self.source.batches(None):
            rows = self._batch(batch, how, seed, start)
            yield rows
            start += len(rows)

    def _batch(self, batch: "RawBatch", how: "How", seed: int | None, start: int) -> list[list[str]]:
        from latree.model.impute import cell_probabilities, fill, fill_values
        from latree.table import Table
        from latree.table.columns import is_missing
        from latree.table.reading import names_in
        from latree.table.rows import MemoryRows
        from latree.table.sources import Encoder, numbers_in_cells

        cells = {name: _cell_texts(batch.columns[name]) for name in self.source.names}
        columns, network = self.model.columns, self.model.network
        names = names_in(self.source, columns, self.source.names)
        if start >= self._n_counted:  # draws pass over the rows several times
            self._n_counted = start + len(next(iter(cells.values())))
            for name in [name for name in cells if name not in names]:
                n_holes = sum(is_missing(text.strip(), columns[0].missing) for text in cells[name])
                self.holes_left += Counter({name: n_holes})
        block = Encoder(columns, tuple(names), self.unseen)(batch)
        table = Table(columns, MemoryRows.from_block(block))
        missing = table.codes() < 0
        if seed is not None:
            numbers = numbers_in_cells(dict(zip(names, columns, strict=True)), batch.columns, self.unseen)
            filled = fill(network, columns, table, how, seed, start, linear=self.model.linear, numbers=numbers)
            for j, (column, name) in enumerate(zip(columns, names, strict=True)):
                holes = missing[:, j].nonzero()[0]
                values = fill_values(column, filled[holes, j], how)
                for hole, value in zip(holes.tolist(), values, strict=True):
                    cells[name][hole] = _text(value)
        limits = [(share, fill(network, columns, table, share)) for share in self.bounds]
        intervals = []
        for j in self.with_bounds:
            for share, filled in limits:
                texts = map(_text, fill_values(columns[j], filled[missing[:, j], j], share))
                intervals.append([next(texts) if hole else "" for hole in missing[:, j].tolist()])
        found = cell_probabilities(network, columns, table, self.with_probabilities)
        added = [list(map(_number, values.tolist())) for values in found.values()]
        return list(map(list, zip(*cells.values(), *intervals, *added, strict=True)))


def _cell_texts(raw: "RawColumn") -> list[str]:
    """Return the cells of a column as they are in a file."""
    texts = raw.values.tolist() if raw.is_text else raw.labels()
    return [texts[code] for code in raw.codes.tolist()]


def _text(value: Any) -> str:
    """Return the text of a value that a cell is filled with."""
    from latree.table.raw import label_of

    return _number(value) if isinstance(value, float) else label_of(value)


def _number(value: float) -> str:
    """Return the text of a computed number, without digits that mean nothing."""
    return f"{value:.10g}"
