"""The command that compares two models, or two trees."""

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
@click.option("--data", type=common.file, help="Table that both models score; models only.")
@common.unseen
@common.quiet
@common.as_json
def compare(first: Path, second: Path, data: Path | None, unseen: Any, quiet: bool, as_json: bool) -> None:
    """Compare two models, or two trees.

    FIRST and SECOND are model.json files, folders of fits, or Newick files, such as models of two samples or two years.
    They are compared on the columns that both have.

    Trees: every edge divides the columns into two sets. The Robinson-Foulds distance counts the divisions that only one
    of the trees has; 0 means the same tree.

    Groups, of two models: the adjusted Rand index is 1 if the groups are the same, and about 0 if they agree no more
    than by chance. Then come the groups that correspond to each other, with the columns that both have. With --data,
    both models score the rows of a table, and the correlation of the two scores is printed for each pair of groups.

    Example: latree compare old/model.json new/model.json
    """
    from latree._util.files import to_json
    from latree.explain import compare_models
    from latree.explain.compare import NothingInCommon, compare_trees

    try:
        if common.is_model(first) and common.is_model(second):
            facts = compare_models(common.load_model(first), common.load_model(second), data, unseen=unseen)
        elif data is not None:
            raise InputError("--data needs two models: a tree alone gives no scores; pass two model.json files")
        else:
            facts = compare_trees(common.load_tree(first), common.load_tree(second))
    except NothingInCommon as error:
        raise InputError(f"{first} and {second}: {error}") from None
    if as_json:
        click.echo(to_json(facts), nl=False)
    elif not quiet:
        click.echo("\n".join([*_tree_lines(facts, first, second), *_group_lines(facts)]))


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
