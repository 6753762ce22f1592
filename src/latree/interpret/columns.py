"""Loadings of columns, profiles of states, and columns that say nearly the same.

Factor analysis calls this local dependence, and test developers call such items redundant. If a group's hidden variable
G were all that two of its columns c and d share, their joint distribution would be

    ``E(x, y) = Σ_g P(g) P(c = x | g) P(d = y | g)``.

What the rows show, ``O(x, y)``, is compared with it, after E was given the rows' own shares of x and of y (iterative
proportional fitting), so that only dependence is compared. The residual information

    ``K = Σ O(x, y) log(O(x, y) / E(x, y)) - (r - 1) (c - 1) / 2m``

is without what chance adds in m rows, and ``sqrt(1 - exp(-2 K))`` turns it into a correlation (Linfoot 1957). A pair is
reported if this is large, clearly larger than that of most pairs in the group, and cannot be chance, and if the columns
share more than E says, not less.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import narwhals as nw
import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2

from latree._util.arrays import FloatArray, make_frame
from latree.counts.contingency import column_tiles, pair_tables_between
from latree.counts.distances import PairDistributions, information, informational_correlation
from latree.errors import InputError
from latree.interpret.dependence import SEED
from latree.interpret.groups import find_groups
from latree.interpret.scores import Of
from latree.interpret.view import view_of
from latree.model import Group, LatentTreeModel
from latree.model.query import MAX_ROWS
from latree.table import Column, Table
from latree.table.checking import FEW_STATES


def loadings(model: LatentTreeModel, of: Of = "hidden", backend: str | None = None) -> Any:
    """Return the loading of every column on every hidden variable.

    A loading says how strongly a column depends on a hidden variable, from -1 to 1, under the model. For an ordered
    column (numbers, bins, booleans, ordered categories) it is the correlation of the column's code with the score of
    the hidden variable's states, which :func:`order_states` describes: positive if the column grows with the hidden
    variable, negative for a reversed item. For a column without an order, and for a hidden variable without ordered
    columns, there is no direction. The loading is then the informational correlation ``sqrt(1 - exp(-2 I))``, where I
    is the mutual information in nats; for two normal variables that is the absolute correlation.

    Read it like the structure matrix of a factor analysis: loadings on distant hidden variables are not zero, because
    hidden variables depend on each other.

    Parameters
    ----------
    model : LatentTreeModel
    of : {"hidden", "groups"}
        Loadings on all hidden variables, those of the main groups first; or on those of the main groups only.
    backend : str, optional
        The library of the data frame, such as "polars"; by default one that is installed.

    Returns
    -------
    data frame
        One row per column of the data: its name in ``column``, then its loading on each hidden variable.

    References
    ----------
    E. H. Linfoot: *An informational measure of correlation*, 1957.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.columns import loadings
    >>> tree = latree.Tree.from_newick("((a,b,c),d,e);")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> loadings(model, backend="pandas").round(2)
      column    H1    H2
    0      a  0.59  0.46
    1      b  0.67  0.53
    2      c  0.45  0.35
    3      d  0.37  0.47
    4      e  0.46  0.59
    """
    return make_frame(loading_columns(model, of), backend)


def loading_columns(model: LatentTreeModel, of: Of = "hidden") -> dict[str, Any]:
    """Return the columns of the frame of loadings by name."""
    if of not in get_args(Of):
        raise InputError(f"of must be one of {', '.join(get_args(Of))}, not {of!r:.60}")
    first = model.tree.n_observed
    of_groups = list(dict.fromkeys(centre for _, centre in _group_centres(model)))
    others = [node for node in range(first, model.tree.n_nodes) if node not in of_groups]
    values = loading_matrix(model)
    wanted = of_groups if of == "groups" else [*of_groups, *others]
    return {"column": list(model.tree.names)} | {model.node_names[node]: values[:, node - first] for node in wanted}


def profiles(model: LatentTreeModel, hidden: str | Sequence[str] | None = None, backend: str | None = None) -> Any:
    """Return the distribution of each column in each state of a hidden variable, and the column's mean there.

    Use it to say what the states of a hidden variable mean. Latent class analysis calls this item-response
    probabilities.

    Parameters
    ----------
    model : LatentTreeModel
    hidden : str or sequence of str, optional
        Names of hidden variables: all columns in their states. By default each column in the states of the hidden
        variable of its main group, or, if it is in none, of the one that it depends on most.
    backend : str, optional
        The library of the data frame, such as "polars"; by default one that is installed.

    Returns
    -------
    data frame
        One row per hidden variable, state, column and value, in this order, with the columns

        - ``hidden``, ``state``, ``state_name``, ``share``: the hidden variable, the number of the state, a name for it
          such as low or high, and its probability.
        - ``column``, ``value``, ``probability``: the probability of the column's value in this state. Values are
          numbers, booleans or texts as in the data, and bins have their labels; all are texts if they differ in kind
          and the library of the frame cannot mix them, as polars and pyarrow cannot.
        - ``mean``: the expected value of the column in this state, the same in all rows of the column and the state.
          Bins count as the means of their values, False and True as 0 and 1, ordered categories as 1, 2, ...; NaN
          for columns without an order.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.columns import profiles
    >>> tree = latree.Tree.from_newick("(a,b,c);")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> profiles(model, "H1", "pandas").head(4).round(2)
      hidden  state state_name  share column  value  probability  mean
    0     H1      0        low   0.42      a      0         0.84  0.16
    1     H1      0        low   0.42      a      1         0.16  0.16
    2     H1      0        low   0.42      b      0         0.83  0.17
    3     H1      0        low   0.42      b      1         0.17  0.17
    """
    found = profile_columns(model, hidden)
    labels = found["value"]
    values_of = {column.name: _values(column) for column in model.columns}
    found["value"] = [values_of[name][label] for name, label in zip(found["column"], labels, strict=True)]
    made = make_frame({"value": labels[:0]}, backend)
    if len({type(value) for value in found["value"]}) > 1 and not nw.dependencies.is_pandas_like_dataframe(made):
        found["value"] = labels
    return make_frame(found, backend)


def _values(column: Column) -> dict[str, Any]:
    """Return the values of a column by their labels; labels themselves for bins."""
    if column.cuts is not None:
        return {label: label for label in column.categories}
    return {label: column.decode(state) for state, label in enumerate(column.categories)}


def profile_columns(model: LatentTreeModel, hidden: str | Sequence[str] | None = None) -> dict[str, list[Any]]:
    """Return the columns of the frame of profiles by name."""
    view = view_of(model)
    if hidden is None:
        columns_of = _own_columns(model)
    else:
        nodes = [model.node(name) for name in ([hidden] if isinstance(hidden, str) else hidden)]
        if observed := [model.node_names[node] for node in nodes if node < model.tree.n_observed]:
            raise InputError(f"{observed[0]!r:.60} is a column: profiles are those of hidden variables")
        columns_of = {node: list(range(model.tree.n_observed)) for node in nodes}
    found = dict(view.columns_given(columns_of))
    rows: list[tuple[Any, ...]] = []
    for node, columns in columns_of.items():
        hidden_name, of_states = model.node_names[node], view.state_names(node)
        for state, share in enumerate(view.marginals[node].tolist()):
            for column in columns:
                distribution, numbers = found[node][column][:, state], column_numbers(model.columns[column])
                mean = float("nan") if numbers is None else float(numbers @ distribution)
                for value, probability in zip(model.columns[column].categories, distribution.tolist(), strict=True):
                    of_cell = (model.tree.names[column], value, probability, mean)
                    rows.append((hidden_name, state, of_states[state], share, *of_cell))
    names = ("hidden", "state", "state_name", "share", "column", "value", "probability", "mean")
    return {name: [row[position] for row in rows] for position, name in enumerate(names)}


def column_numbers(column: Column) -> FloatArray | None:
    """Return the number that each state of an ordered column counts as; of dates and times, in their unit."""
    if not column.ordered:
        return None
    if column.kind == "text":
        return np.arange(1.0, column.n_states + 1)
    if column.means is not None:
        return column.means
    return np.array([float(label == "True") for label in column.categories])  # booleans


def _group_centres(model: LatentTreeModel) -> list[tuple[tuple[str, ...], int]]:
    """Return the columns and the hidden variable of each main group that has one."""
    groups = model.groups or find_groups(model)
    return [(group.columns, group.centre) for group in groups if group.level == "main" and group.hidden is not None]


def _own_columns(model: LatentTreeModel) -> dict[int, list[int]]:
    """Return for each hidden variable the columns whose own one it is: that of their group, or else the closest."""
    first = model.tree.n_observed
    own = {model.node(name): centre for columns, centre in _group_centres(model) for name in columns}
    others = [column for column in range(first) if column not in own]
    if others and model.tree.n_hidden:
        own |= dict.fromkeys(others, first)  # a column without neighbours depends on none
        others = [column for column in others if model.tree.neighbors[column]]
        loadings = view_of(model).loadings(dict.fromkeys(range(first, model.tree.n_nodes), others))
        closest = abs(np.array([loadings[node] for node in range(first, model.tree.n_nodes)])).argmax(axis=0) + first
        own |= dict(zip(others, closest.tolist(), strict=True))
    columns_of: dict[int, list[int]] = {}
    for column, centre in own.items():
        columns_of.setdefault(centre, []).append(column)
    return {centre: sorted(columns) for centre, columns in columns_of.items()}


def loading_matrix(model: LatentTreeModel) -> FloatArray:
    """Return the loadings as an array with one row per column, and one column per hidden variable in their order."""
    tree = model.tree
    hidden, columns = range(tree.n_observed, tree.n_nodes), range(tree.n_observed)
    found = view_of(model).loadings(dict.fromkeys(hidden, columns))
    return np.array([found[node] for node in hidden]).reshape(tree.n_hidden, tree.n_observed).T


# The least residual correlation of a redundant pair: what is commonly called a correlation of medium size.
_MIN_STRENGTH = 0.3
# A redundant pair has so much more than the median of all pairs of its group. If the hidden variable of a group has too
# few states, all of its pairs are more dependent than it explains.
_MIN_ABOVE_TYPICAL = 0.2
# The largest probability that chance alone makes any pair of the table as dependent, divided by the number of pairs.
_SIGNIFICANCE = 0.01
# Two columns that have a hidden variable to themselves share nothing beyond it.
_MIN_COLUMNS = 3
# Rounds of iterative proportional fitting. The shares under a fitted model are nearly those of the rows already.
_ROUNDS = 20


class RedundantPair(NamedTuple):
    """Two columns that say the same thing beyond what their group has in common.

    Attributes
    ----------
    columns : tuple of str
        The names of the two.
    group : str
        The name of their group.
    strength : float
        The correlation that they have beyond the group's hidden variable, from 0 to 1.

    Examples
    --------
    >>> from latree.interpret.columns import RedundantPair
    >>> RedundantPair(("N1", "N2"), "N", 0.45).columns
    ('N1', 'N2')
    """

    columns: tuple[str, str]
    group: str
    strength: float


def redundant_columns(model: LatentTreeModel, table: Table) -> list[RedundantPair]:
    """Find pairs of columns that say the same thing beyond what their group has in common, the strongest first.

    Use it to shorten a questionnaire: of two items that ask nearly the same question, one will do. Such pairs also make
    a scale look more reliable than it is, and may get a hidden variable of their own in the tree.

    A pair is reported if its columns have a residual correlation of 0.3 or more given the hidden variable of their main
    group, which is 0.2 more than the median of all pairs in the group, and if chance alone would make any such pair in
    less than one of a hundred tables. The residual correlation
    compares the rows with what the hidden variable explains, for columns of any kind. Groups of two columns are left
    out, and so are tables with columns of more than 64 states. Of more than 5000 rows, a random sample is used.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table
        Rows, encoded with the model's columns (see :meth:`latree.LatentTreeModel.encode`).

    Returns
    -------
    list of RedundantPair

    References
    ----------
    W. M. Yen: *Effects of local item dependence on the fit and equating performance of the three-parameter logistic
    model*, 1984. E. H. Linfoot: *An informational measure of correlation*, 1957.

    Examples
    --------
    The columns d and e copy each other, beside what all five have in common:

    >>> import numpy as np, latree
    >>> from latree.interpret.columns import redundant_columns
    >>> rng = np.random.default_rng(0)
    >>> common = rng.integers(0, 3, (2000, 1))
    >>> rows = np.where(rng.random((2000, 5)) < 0.7, common, rng.integers(0, 3, (2000, 5)))
    >>> rows[:, 4] = np.where(rng.random(2000) < 0.6, rows[:, 3], rows[:, 4])
    >>> table = latree.as_table(rows, names=list("abcde"))
    >>> model = latree.LatentTree(random_state=0).fit(table).model_
    >>> [pair.columns for pair in redundant_columns(model, table)]
    [('d', 'e')]
    """
    table = model.encode(table)
    groups = [group for group in model.groups or find_groups(model, table) if _is_comparable(group)]
    if not groups or table.n_states.max() > FEW_STATES:
        return []
    rows = table.subsample(MAX_ROWS, SEED)
    view = view_of(model)
    node = {name: number for number, name in enumerate(model.tree.names)}
    columns_of = {group.centre: np.sort([node[name] for name in group.columns]) for group in groups}
    given = dict(view.columns_given({centre: columns.tolist() for centre, columns in columns_of.items()}))
    n_pairs = sum(len(group.columns) * (len(group.columns) - 1) // 2 for group in groups)
    found: list[RedundantPair] = []
    for group in groups:
        columns = columns_of[group.centre]
        distributions = [given[group.centre][column] for column in columns.tolist()]
        own_rows = Table(tuple(rows.columns[column] for column in columns), rows.rows.reordered(columns))
        strength = _residual_correlations(own_rows, distributions, view.marginals[group.centre], n_pairs)
        for first, second in np.argwhere(strength > 0).tolist():
            names = (table.names[columns[first]], table.names[columns[second]])
            found.append(RedundantPair(names, group.name, float(strength[first, second])))
    return sorted(found, key=lambda pair: (-pair.strength, pair.columns))


def _is_comparable(group: Group) -> bool:
    return group.level == "main" and group.hidden is not None and len(group.columns) >= _MIN_COLUMNS


def _residual_correlations(rows: Table, given: list[FloatArray], shares: FloatArray, n_tests: int) -> FloatArray:
    """Return the residual correlation of every two columns that are redundant, above the diagonal, and 0 for others.

    ``given`` has P(column = x | g) of each column, and ``shares`` P(g).
    """
    d, n = rows.n_columns, int(rows.n_states.max())
    padded = np.zeros((d, n, len(shares)))
    for column, conditional in enumerate(given):
        padded[column, : len(conditional)] = conditional
    bounds, strength = np.zeros((d, d)), np.zeros((d, d))
    for first, second in column_tiles(rows):
        counts = np.asarray(pair_tables_between(rows, first, second, n), dtype=np.float64)
        # E(x, y) = Σ_g P(g) P(c = x | g) P(d = y | g)
        expected = np.einsum("cxg,dyg->cdxy", padded[first] * shares, padded[second], optimize=True)
        total = counts.sum(axis=(2, 3))
        observed = counts / np.maximum(total, 1)[:, :, None, None]
        # Fitting E to the rows' shares only makes it more like O. So pairs that agree already need no fitting.
        bounds[first, second] = informational_correlation(_divergence(observed, expected))
        is_pair = np.arange(d)[first, None] < np.arange(d)[None, second]
        kept = is_pair & (total > 0) & (bounds[first, second] >= _MIN_STRENGTH)
        strength[first, second][kept] = _compared(observed[kept], expected[kept], total[kept], n_tests)
    typical = np.median(bounds[np.triu_indices(d, 1)])
    return np.where(strength >= max(_MIN_STRENGTH, typical + _MIN_ABOVE_TYPICAL), strength, 0)


def _compared(observed: FloatArray, expected: FloatArray, total: FloatArray, n_tests: int) -> FloatArray:
    """Return the residual correlation of pairs of columns; 0 where it may be chance, or where columns share less."""
    fitted = _fitted_to_margins(expected, observed)
    divergence = _divergence(observed, fitted)
    n_first, n_second = ((observed.sum(axis=axis) > 0).sum(axis=1) for axis in (2, 1))
    freedom = (n_first - 1) * (n_second - 1)
    # K, without what chance adds on average, and how probable a larger divergence is by chance (likelihood ratio test).
    strength = informational_correlation(np.maximum(divergence - freedom / (2 * total), 0))
    by_chance = chi2.sf(2 * total * divergence, np.maximum(freedom, 1))
    more = information(PairDistributions(observed, total)) > information(PairDistributions(fitted, total))
    return np.where((by_chance < _SIGNIFICANCE / n_tests) & more & (freedom > 0), strength, 0)


def _divergence(observed: FloatArray, expected: FloatArray) -> FloatArray:
    """Return ``Σ O log(O / E)`` of each table; cells that are expected to be empty count as nearly empty."""
    terms = xlogy(observed, observed / np.maximum(expected, np.finfo(float).tiny))
    return np.asarray(np.maximum(terms.sum(axis=(-2, -1)), 0))


def _fitted_to_margins(tables: FloatArray, target: FloatArray) -> FloatArray:
    """Scale rows and columns of each table until their sums are those of the target."""
    for _ in range(_ROUNDS):
        for axis in (2, 1):
            sums = tables.sum(axis=axis, keepdims=True)
            scale = np.divide(target.sum(axis=axis, keepdims=True), sums, out=np.zeros_like(sums), where=sums > 0)
            tables = tables * scale
    return tables
