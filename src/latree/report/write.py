"""Make the report of a model, and write it to a file."""

from collections.abc import Mapping
from pathlib import Path

from latree._util.files import write_text
from latree.model import LatentTreeModel
from latree.report.facts import report_facts
from latree.report.render import render
from latree.table import Table

# The number of unusual rows, and of rows in words, that a report shows if rows are given.
DEFAULT_ROWS = 5


def report_html(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = DEFAULT_ROWS,
) -> str:
    """Return the report of a model as one HTML page.

    The page says what was found and how sure it is, and shows a card for each group of columns, the tree, the
    dependence between the columns, unusual rows, and how well the model fits. It contains everything it needs, so it
    opens offline. The same input gives the same text. Use :func:`write_report` to write it to a file.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        The rows that the model was fitted to, encoded with the model's columns (see :meth:`LatentTreeModel.encode`).
        They add the distribution of each column in the data; groups are found with them.
    test : Table, optional
        New rows. If ``table`` is given, the gain over independent columns on them is added, for this model and simpler
        ones.
    labels : mapping of str to str, optional
        Your own label of each column, by the name of the column. Labels give colours, and are compared with the groups.
    rows : int
        The number of most unusual rows of ``table`` to show, by the names that the table has for them. As many rows,
        evenly spaced over the table, are described in words: where they stand on each group.

    Returns
    -------
    str

    Examples
    --------
    >>> import latree
    >>> from latree import report_html
    >>> tree = latree.random_tree(5, random_state=0)
    >>> model = latree.random_model(tree, n_states=2, random_state=0)
    >>> html = report_html(model, model.sample(100, random_state=0), labels={"x0": "first"}, rows=3)
    >>> html.startswith("<!doctype html>")
    True
    >>> "<h1" in html
    True
    """
    return render(report_facts(model, table, test=test, labels=labels, rows=rows))


def write_report(path: str | Path, html: str) -> None:
    """Write a report to a file, either completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file. One that exists is replaced.
    html : str
        The page, as :func:`report_html` returns it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import latree
    >>> from latree import report_html
    >>> from latree.report.write import write_report
    >>> model = latree.random_model(latree.random_tree(4, random_state=0), n_states=2, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(path, report_html(model))
    ...     path.exists()
    True
    """
    write_text(Path(path), html)
