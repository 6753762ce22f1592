"""The command that fills missing cells."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from latree._util.words import plural, quoted
from latree.cli import common
from latree.errors import InputError

if TYPE_CHECKING:
    from latree.model import LatentTreeModel
    from latree.model.impute import How
    from latree.table.raw import RawColumn
    from latree.table.sources import LocalSource, RawBatch

# Most columns with holes that are named.
_MAX_NAMED = 5


@click.command()
@click.argument("model", type=common.model_file)
@click.argument("data", type=common.file)
@click.option(
    "--how",
    type=common.Choice(["mode", "median", "mean", "draw"]),
    help="mode (the default), the most probable value; median, for columns with an order; mean, the expected value of "
    "numbers; or draw, all missing cells of a row together, at random from the model.",
)
@click.option(
    "--draws",
    type=common.Whole(1, 1000),
    metavar="N",
    help="For multiple imputation: fill the table N times by draw, into one long file as R's mice reads and writes it. "
    "Its columns .imp and .id number the tables and the rows; table 0 is DATA with its holes.",
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
@common.data_format
@common.unseen
@common.seed
def impute(
    model: Path,
    data: Path,
    how: "How | None",
    draws: int | None,
    probabilities: bool,
    out: Path | None,
    format: str | None,
    unseen: Any,
    seed: int,
) -> None:
    """Fill missing cells.

    MODEL is a model.json or the folder of a fit, DATA a table with its columns. Each missing cell of DATA is filled
    given the rest of the row. All other cells, and columns that are not in the model, stay as they are. With `--how
    mean`, columns that are not numbers get their median; with `median`, columns without an order get their most
    probable value. A numeric column with bins gets the median of a bin. With `--unseen missing`, categories that were
    not in the data of the fit are replaced, too. The filled table is printed, or written as CSV or for SPSS.

    Example: latree impute run/model.json data.csv --out filled.csv
    """
    from latree._util.terminal import progress_bars
    from latree.model.impute import draw_seeds
    from latree.table.columns import are_counted
    from latree.table.readers import open_source
    from latree.table.sources import LocalSource

    if draws is not None:
        if how not in (None, "draw"):
            raise InputError(f"--draws is for --how draw, not for --how {how}")
        if probabilities:
            raise InputError("--draws and --probabilities: choose one of the two")
    is_sav = out is not None and out.suffix.lower() == ".sav"
    if is_sav and (format or data.suffix[1:].lower()) not in ("sav", "zsav"):
        raise InputError(f"{out}: a .sav file is written if DATA is one: let --out end in .csv")
    if is_sav and (draws is not None or probabilities):
        raise InputError(f"{out}: --draws and --probabilities are written as CSV: let --out end in .csv")
    loaded = common.load_model(model)
    with progress_bars(True) as stages:
        # The first pass finds what is wrong with the table, and which columns have missing cells.
        table = loaded.encode(data, format=format, unseen=unseen, progress=stages("Reading the table"))
        with_holes = [j for j, n_missing in enumerate(table.n_missing.tolist()) if n_missing]
        counts = are_counted(loaded.columns)
        source = open_source(data, None, progress=stages("Filling cells"), format=format, counts=counts)
        assert isinstance(source, LocalSource)  # there is no cluster here
        filling = _Filling(loaded, source, unseen, with_holes if probabilities else [])
        with _sav_output(out, data) if out is not None and is_sav else common.rows_output(out) as write:
            if draws is None:
                write([filling.header()])
                for rows in filling.rows(how or "mode", draw_seeds(seed, 1)[0]):
                    write(rows)
            else:
                write([[".imp", ".id", *filling.header()]])
                for number, draw_seed in enumerate([None, *draw_seeds(seed, draws)]):
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
    from latree.table.statfile import filled_sav

    lines: list[list[str]] = []
    yield lines.extend
    header, *rows = lines
    content = filled_sav(out, data, [dict(zip(header, row, strict=True)) for row in rows])
    with new_file(out, common.may_replace()) as stream:
        stream.write(content)


class _Filling:
    """Reads rows batch by batch, and fills their missing cells."""

    def __init__(
        self, model: "LatentTreeModel", source: "LocalSource", unseen: Any, with_probabilities: list[int]
    ) -> None:
        self.model, self.source, self.unseen, self.with_probabilities = model, source, unseen, with_probabilities
        # How many cells are missing in columns that are not in the model, by their names.
        self.holes_left: Counter[str] = Counter()
        self._n_counted = 0

    def header(self) -> list[str]:
        """Return the names of the columns."""
        from latree.model.impute import probability_names

        return [*self.source.names, *probability_names(self.model.columns, self.with_probabilities)]

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
        from latree.table.encode import is_missing
        from latree.table.memory import MemoryRows
        from latree.table.raw import label_of
        from latree.table.reading import names_in
        from latree.table.sources import Encoder

        cells = {name: _texts(batch.columns[name]) for name in self.source.names}
        columns, network = self.model.columns, self.model.network
        names = names_in(self.source, columns, self.source.names)
        if start >= self._n_counted:  # draws pass over the rows several times
            self._n_counted = start + len(next(iter(cells.values())))
            for name in [name for name in cells if name not in names]:
                n_holes = sum(is_missing(text.strip(), columns[0].missing) for text in cells[name])
                self.holes_left += Counter({name: n_holes})
        block = Encoder(columns, tuple(names), self.unseen)(batch)
        table = Table(columns, MemoryRows.from_block(block))
        if seed is not None:
            filled = fill(network, columns, table, how, seed, start)
            missing = table.codes() < 0
            for j, (column, name) in enumerate(zip(columns, names, strict=True)):
                holes = missing[:, j].nonzero()[0]
                values = fill_values(column, filled[holes, j], how)
                for hole, value in zip(holes.tolist(), values, strict=True):
                    cells[name][hole] = _number(value) if isinstance(value, float) else label_of(value)
        found = cell_probabilities(network, columns, table, self.with_probabilities)
        added = [list(map(_number, values.tolist())) for values in found.values()]
        return list(map(list, zip(*cells.values(), *added, strict=True)))


def _texts(raw: "RawColumn") -> list[str]:
    """Return the cells of a column as they are in a file."""
    texts = raw.values.tolist() if raw.is_text else raw.labels()
    return [texts[code] for code in raw.codes.tolist()]


def _number(value: float) -> str:
    """Return the text of a computed number, without digits that mean nothing."""
    return f"{value:.10g}"
