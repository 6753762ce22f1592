"""The command compare: groups of rows, or two models or trees, side by side."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from latree._util.words import clipped, plural, quoted
from latree.cli import common
from latree.errors import InputError

# Of longer lists of columns, so many are printed.
_MAX_LISTED = 12


@click.command()
@click.argument("first", type=common.model_file)
@click.argument("second", type=common.model_file)
@click.option("--by", metavar="COLUMN", help="Groups of rows: the column of SECOND, a table, that tells them.")
@click.option(
    "--cuts",
    metavar="NUMBER,...",
    help="With --by: numbers or dates to cut the column at; 30,50 makes the groups up to 30, above 30 to 50, and above "
    "50.",
)
@click.option(
    "--parts",
    type=common.Whole(2, 10),
    help="With --by: cut the column into this number of groups of about equal size; 3 if it has more than 10 numbers "
    "or dates.",
)
@click.option(
    "--texts",
    type=common.file,
    help="With --by: a codebook as that of latree fit --texts, whose answers name the groups, such as 1=men; 2=women. "
    "By default that of the fit.",
)
@click.option(
    "--cluster",
    metavar="COLUMN",
    help="With --by: column that tells rows of the same person, school, ..., which are not independent. For waves of "
    "the same people, --by is the wave and --cluster the person.",
)
@click.option(
    "--trees",
    type=common.Whole(1, 999),
    metavar="N",
    help="With --by: also compare the trees of the groups with those of N random divisions of the rows, such as 19.",
)
@common.weights
@common.new_rows
@common.new_output("With --by: new .csv, .tsv or .txt file with one line per difference.", endings=common.TABLE_ENDINGS)
@click.option("--data", type=common.file, help="Table that both models score; two models only.")
@common.quiet
@common.as_json
def compare(
    first: Path, second: Path, data: Path | None, quiet: bool, as_json: bool, out: Path | None, **options: Any
) -> None:
    """Compare groups of rows (--by), or two models or trees.

    Groups of rows: FIRST is a model.json or the folder of a fit, SECOND a table with its columns and with the column
    --by, such as gender, age or country. The first group is the one that others are compared with; a group needs at
    least 50 rows. Printed are:

    - where the groups stand on each group of columns: differences of the latent variable in standard deviations, with
    95 % intervals, and shares of states;

    - which columns work differently: people with the same standing answer differently, depending on their group.
    Tests are at the 5 % level for all columns together. Columns without an order and numbers with bins are left out.
    Columns that work differently do not count for where the groups stand, as long as at least half of the columns of
    their group do; "all tied" is the difference if all of them count.

    Two models or trees: FIRST and SECOND are model.json files, folders of fits, or Newick files, such as models of two
    samples or two years. They are compared on the columns that both have.

    - Trees: every edge divides the columns into two sets. The Robinson-Foulds distance counts the divisions that only
    one of the trees has; 0 means the same tree.

    - Groups of columns, of two models: the adjusted Rand index is 1 if the groups are the same, and about 0 if they
    agree no more than by chance. Then come the groups that correspond to each other, with the columns that both have.
    With --data, both models score the rows of a table, and the correlation of the two scores is printed for each pair
    of groups.

    Example: latree compare run data.csv --by gender
    """
    from latree.facts.differ import comparison_lines, comparison_table

    if options["by"] is not None:
        if data is not None:
            raise InputError("--data is for two models; with --by, the table is the second argument")
        facts = _compared_groups(first, second, **options)
        lines, table = comparison_lines(facts), comparison_table(facts)
    else:
        only_by = ("cuts", "parts", "texts", "cluster", "trees", "weights")
        if given := [name for name in only_by if options[name] is not None] + (["out"] if out is not None else []):
            raise InputError(f"--{given[0]} is for groups of rows: name the column that tells them with --by")
        how = {key: options[key] for key in ("format", "unseen", "names")}
        facts = _compared_models(first, second, data, **how)
        lines, table = [*_tree_lines(facts, first, second), *_group_lines(facts)], iter(())
    common.tell(facts, lines, table, out, as_json, quiet)


def _compared_groups(
    model: Path,
    data: Path,
    by: str,
    cuts: str | None,
    parts: int | None,
    texts: Path | None,
    cluster: str | None,
    trees: int | None,
    format: str | None,
    **options: Any,
) -> dict[str, Any]:
    """Return a comparison of groups of rows."""
    from latree._util.progress import progress_bars, stage
    from latree.facts.differ import compared_rows
    from latree.learn import trees_of_groups
    from latree.settings import Settings
    from latree.table.columns import DEFAULT_MISSING
    from latree.table.labels import read_codebook, with_questions
    from latree.table.people import clusters_of, divide_rows

    loaded = common.load_model(model)
    record, answers = loaded.record, dict[str, str]()
    if texts is not None:
        questions = read_codebook(texts, [*loaded.tree.names, by])
        loaded = replace(loaded, columns=with_questions(loaded.columns, questions))
        answers.update(questions[by].answers if by in questions else {})
    marks = record.reading.marks if record and record.reading else DEFAULT_MISSING
    with progress_bars(True):
        with stage("Reading the table"):
            table, _ = common.read_rows(data, loaded, format=format, **options)
            how: dict[str, Any] = {"cuts": None if cuts is None else cuts.split(","), "parts": parts, "missing": marks}
            divided = divide_rows(data, by, format=format, **how)
            divided = divided._replace(names=tuple(answers.get(name, name) for name in divided.names))
            clusters = None if cluster is None else clusters_of(data, cluster, format)
        with stage("Comparing the groups", at_most=True):
            facts, rows, groups = compared_rows(loaded, table, divided, clusters)
        if trees is not None:
            settings = record.settings if record else Settings()
            facts["trees"] = trees_of_groups(rows, groups, settings, trees, leave_out=[by])
    return facts


def _compared_models(first: Path, second: Path, data: Path | None, names: Path | None, **how: Any) -> dict[str, Any]:
    """Return a comparison of two models or trees."""
    from latree.interpret.compare import NothingInCommon, compare_models, compare_trees

    try:
        if common.is_model(first) and common.is_model(second):
            models = common.load_model(first), common.load_model(second)
            if data is not None:
                how["names"] = common.names_of_matrix(data, models[0], how["format"], names)
            return compare_models(*models, data, **how)
        if data is not None:
            raise InputError("--data needs two models: a tree alone gives no scores; pass two model.json files")
        return compare_trees(common.load_tree(first), common.load_tree(second))
    except NothingInCommon as error:
        raise InputError(f"{first} and {second}: {error}") from None


def _tree_lines(facts: dict[str, Any], first: Path, second: Path) -> list[str]:
    columns, splits = facts["columns"], facts["splits"]
    lines = [f"{plural(len(columns['common']), 'column')} in both"]
    for key, path in (("only_first", first), ("only_second", second)):
        if columns[key]:
            lines.append(f"not compared, as only {path} has them: {_listed(columns[key])}")
    lines += ["", f"Trees: Robinson-Foulds distance {facts['robinson_foulds']} of at most {facts['max']}"]
    for key, path in (("first", first), ("second", second)):
        own = splits[f"only_{key}"]
        lines.append(f"  {path}: {plural(splits[key], 'split')}, {splits[key] - own} shared, {own} only here")
    return lines


def _group_lines(facts: dict[str, Any]) -> list[str]:
    if "groups" not in facts:
        return []
    index = facts["adjusted_rand"]
    lines = ["", f"Groups: adjusted Rand index {index:.2f} (1: the same groups, 0: as alike as by chance)"]
    for pair in facts["groups"]:
        for key, other in (("first", "second"), ("second", "first")):
            if pair[other] is None:
                lines.append(f"  {quoted(pair[key])} is only in the {key}: {_listed(pair[f'only_{key}'])}")
        if pair["first"] is None or pair["second"] is None:
            continue
        names = " and ".join(quoted(pair[key]) for key in ("first", "second"))
        shared, others = pair["shared"], {key: pair[f"only_{key}"] for key in ("first", "second")}
        n_columns = len(shared) + sum(map(len, others.values()))
        lines.append(f"  {names} share {len(shared)} of {plural(n_columns, 'column')}: {_listed(shared)}")
        lines += [f"    only in the {key}: {_listed(columns)}" for key, columns in others.items() if columns]
        if (correlation := pair.get("correlation")) is not None:
            direction = "; the two count in opposite directions" if correlation < 0 else ""
            rows = plural(facts["n_rows"], "row")
            lines.append(f"    correlation of the scores of {rows}: {correlation:.2f}{direction}")
    return lines


def _listed(names: list[str]) -> str:
    """Return names in a row, the first few of many."""
    shown = ", ".join(map(clipped, names[:_MAX_LISTED]))
    return shown if len(names) <= _MAX_LISTED else f"{shown} and {len(names) - _MAX_LISTED} more"
