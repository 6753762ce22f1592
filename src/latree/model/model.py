"""Latent tree models: a tree, and one conditional probability table per node."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, RandomState, generator
from latree.counts.contingency import pair_tables
from latree.errors import FitWarning, InputError
from latree.model.file import Parts, model_path, parts_from_dict, parts_to_dict, read_json, write_json
from latree.model.group import (
    NO_LEVELS,
    Group,
    Levels,
    check_groups,
    check_levels,
    check_names,
    find_node,
    known_names,
    renamed,
)
from latree.model.loading import ordered_leaves
from latree.model.query import (
    MAX_ROWS,
    Answer,
    PairDependence,
    answer,
    as_given,
    correlation_by_chance,
    doubts,
    joint_distribution,
    pair_dependence,
)
from latree.model.record import Record
from latree.model.row_model import RowModel
from latree.table import Table
from latree.table.table import decode_column
from latree.tree.leaves import Leaves
from latree.tree.newick import draw


@dataclass(frozen=True, repr=False, eq=False)
class LatentTreeModel(RowModel):
    """A probability model of a table's rows: a tree of observed and hidden discrete variables.

    The probability of a row is the sum over all states of the hidden variables of the product of the conditional
    probability tables, ``P(x) = Σ_h Π_v P(v | parent of v)``. Missing cells are summed out like hidden variables.
    Methods take new data in any form that :func:`latree.as_table` reads, and encode it like the model's own.

    Attributes
    ----------
    tree : Tree
        Its observed variables are the columns, in their order.
    columns : tuple of Column
        Names and categories of the columns, with which new data are encoded.
    tables : tuple of array
        One conditional probability table per node, ``tables[v][x, h] = P(v = x | parent of v = h)``, where parents are
        those of ``tree.rooted()``. A root's has one column. Columns sum to one.
    linear : Linear, optional
        A correction of the expected values of numbers by what a linear regression finds beyond the tree: see
        :mod:`latree.model.linear`.
    record : Record, optional
        How the model came about.
    groups : tuple of Group
        The groups of columns; empty if they were not computed (see :func:`latree.interpret.find_groups`).
    hidden_names : tuple of str
        A name for people for each hidden variable, in the order of their numbers. If it is empty, hidden variables have
        their technical names H1, H2, ... only.
    levels : Levels
        The hierarchy of groups, and how well each level of it comes again.
    flipped : tuple of int
        The numbers of hidden variables whose direction the user turned: low is what latree would call high.

    Examples
    --------
    Three yes/no questions that depend on one hidden variable, H1, with two states:

    >>> import numpy as np
    >>> from latree import Column, LatentTreeModel, Tree
    >>> tree = Tree.from_newick("(a,b,c);")
    >>> columns = tuple(Column(name, "text", ("no", "yes")) for name in tree.names)
    >>> given_h1 = np.array([[0.9, 0.2], [0.1, 0.8]])  # P(no | H1), P(yes | H1)
    >>> model = LatentTreeModel(tree, columns, (given_h1, given_h1, given_h1, np.array([[0.5], [0.5]])))
    >>> model
    <LatentTreeModel: 3 observed, 1 hidden, 7 parameters>
    >>> model.posteriors(np.array([["yes", "yes", "no"]]))["H1"].round(3)
    array([[0.066, 0.934]])
    """

    record: Record | None = None
    groups: tuple[Group, ...] = ()
    hidden_names: tuple[str, ...] = ()
    levels: Levels = NO_LEVELS
    flipped: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_groups(self.groups, self.tree)
        check_levels(self.levels, self.tree)
        check_names(self.tree, self.hidden_names, self.groups)
        hidden = range(self.tree.n_observed, self.tree.n_nodes)
        if wrong := [node for node in self.flipped if node not in hidden]:
            raise InputError(f"{wrong[0]} is flipped, but is not the number of a hidden variable")

    def __repr__(self) -> str:
        tree = self.tree
        return f"<LatentTreeModel: {tree.n_observed} observed, {tree.n_hidden} hidden, {self.n_parameters} parameters>"

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """Names of all nodes for people: the columns, then the hidden variables.

        ``tree.node_names`` has the technical names H1, H2, ... of the hidden variables.

        Examples
        --------
        >>> import latree
        >>> model = latree.random_model(latree.Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=1)
        >>> model.rename({"H1": "mood"}).node_names
        ('a', 'b', 'c', 'd', 'mood', 'H2')
        """
        return (*self.tree.names, *self.hidden_names) if self.hidden_names else self.tree.node_names

    def node(self, name: str) -> int:
        """Return the number of a variable: a column, or a hidden variable by its name for people or its technical name.

        Examples
        --------
        >>> import latree
        >>> model = latree.random_model(latree.Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=1)
        >>> model = model.rename({"H1": "mood"})
        >>> model.node("a"), model.node("mood"), model.node("H1")
        (0, 4, 4)
        """
        return find_node(name, self._known_names, self.groups)

    @cached_property
    def _known_names(self) -> dict[str, int]:
        return known_names(self.tree, self.hidden_names)

    def rename(self, names: Mapping[str, str]) -> "LatentTreeModel":
        """Return the same model with other names of hidden variables and groups.

        Parameters
        ----------
        names : mapping of str to str
            From a name of now to the new one. A hidden variable may be named by its technical name, such as H3. A group
            and its hidden variable, which have the same name, are renamed together. New names must be printable and
            must differ from all other names.

        Examples
        --------
        >>> import latree
        >>> model = latree.random_model(latree.Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=1)
        >>> model.rename({"H1": "mood"}).hidden_names
        ('mood', 'H2')
        >>> model.rename({"H1": "a"})
        Traceback (most recent call last):
            ...
        latree.errors.InputError: the name 'a' of hidden variable H1 is also the name of a column; choose another name
        """
        hidden_names, groups = renamed(names, self.tree, self.hidden_names, self.groups)
        return replace(self, hidden_names=hidden_names, groups=groups)

    def draw(self, hidden: bool = False) -> str:
        """Return the tree drawn as text, with the names of the main groups at their hidden variables.

        Parameters
        ----------
        hidden : bool
            Whether all hidden variables have lines with their names.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("(a,b,c,(d,e,f));")
        >>> model = latree.random_model(tree, n_states=2, random_state=5)
        >>> print(model.rename({"H1": "mood"}).draw(hidden=True), end="")
        ─ [mood]
         ├─ d
         ├─ e
         ├─ f
         └─ [H2]
           ├─ a
           ├─ b
           └─ c
        """
        shown = (
            range(self.tree.n_observed, self.tree.n_nodes)
            if hidden
            else [group.centre for group in self.groups if group.level == "main" and group.hidden is not None]
        )
        named = dict(enumerate(self.tree.names)) | {node: f"[{self.node_names[node]}]" for node in shown}
        return draw(named, self.tree.rooted(), self.leaves.branches, self.tree.support)

    @cached_property
    def leaves(self) -> Leaves:
        """The order of the columns in every drawing and list of the tree; see :mod:`latree.tree.leaves`.

        Main groups are whole wherever the tree allows it, with strong loadings first.
        """
        return ordered_leaves(self.network, self.tree, self.columns, self.groups)

    def sample_values(
        self, n_rows: int, random_state: RandomState = None, *, missing: bool = False
    ) -> dict[str, list[Any]]:
        """Draw rows from the model, and return their values column by column.

        A number is drawn from the density inside its bin, with as many decimals as the data have; whole numbers are
        whole. :meth:`sample` draws codes.

        Parameters
        ----------
        n_rows : int
        random_state : int, Generator or None
        missing : bool
            Whether cells are missing as often as in the data of the fit: of each column the same share, at random,
            independently of all other cells. Missing cells are None.

        Examples
        --------
        >>> import numpy as np, latree
        >>> ages = np.random.default_rng(0).integers(18, 90, (500, 2))
        >>> model = latree.LatentTree("independent").fit(ages).model_
        >>> model.sample_values(5, random_state=0)
        {'x0': [61, 18, 37, 18, 83], 'x1': [72, 65, 80, 52, 77]}
        """
        record = self.record
        if missing and record is None:
            raise InputError("missing=True needs a model that was fitted to data: this one knows no missing cells")
        rng = generator(random_state)
        codes = self.sample(n_rows, rng).codes()
        columns: dict[str, list[Any]] = {}
        for j, column in enumerate(self.columns):
            if column.density is None:
                values = decode_column(column, codes[:, j])
            else:
                numbers = column.density.quantile(codes[:, j].astype(np.intp), rng.random(n_rows))
                values = list(map(column.value_of, numbers.tolist()))
            if missing and record is not None:
                holes = rng.random(n_rows) < record.n_missing[j] / record.n_rows
                values = [None if hole else value for hole, value in zip(holes.tolist(), values, strict=True)]
            columns[column.name] = values
        return columns

    def joint(self, variables: Sequence[int | str]) -> FloatArray:
        """Return the exact joint distribution of a few different variables as an array, with one axis per variable.

        Only the paths between the variables are visited. Time and memory grow with the product of their numbers of
        states. :meth:`query` returns the same by values.

        Parameters
        ----------
        variables : sequence of str or int
            Names of columns and hidden variables; or numbers: columns have the numbers 0, 1, ... in their order, and
            hidden variables follow.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> model.joint(["a", "b"]).round(2)  # P(a, b)
        array([[0.33, 0.23],
               [0.08, 0.36]])
        """
        nodes = [self.node(variable) if isinstance(variable, str) else variable for variable in variables]
        if len(set(nodes)) != len(nodes):
            raise InputError("the variables of a joint distribution must differ: name each of them once")
        return joint_distribution(self.network, nodes)

    def query(self, variables: str | Sequence[str], given: Mapping[str, Any] | None = None, data: Any = None) -> Answer:
        """Return the exact distribution of one or several variables, given the values of others.

        The answer is that of the tree. Between columns that are far apart, a tree may have less dependence than the
        rows, or dependence of the other sign. If it has less than half of a correlation that the rows show, there is a
        :class:`latree.FitWarning`. A learned model of up to 500 columns knows the correlations in its rows; for other
        models, pass the rows as ``data``.

        Parameters
        ----------
        variables : str or sequence of str
            Names of columns or hidden variables, these by their names for people or by technical names such as H3.
        given : mapping of str to value, optional
            What is known: from names of columns or hidden variables to their values. Values of columns are those of
            the data; in a column with bins a number means its bin, and those beyond all numbers of the fit mean the
            outermost one. Values of hidden variables are the numbers of their
            states, 0, 1, ... A value that means missing, such as None or NaN, says nothing.
        data : data frame, array, path or Table, optional
            Rows to check the answer with, such as those of the fit.

        Returns
        -------
        dict
            From each value to its probability; for several variables, from tuples of values. The keys of a column with
            bins are the labels of the bins. For a single column of numbers it has also ``mean``, ``median``,
            ``quantile(share)`` and ``interval(probability=0.9)``, in the units of the data; other columns with an order
            have the last three. ``pandas.Series`` makes a series of it, with one level of the index for each variable.
            Its attribute ``dependence`` has, for each two columns of the question, their names as ``columns`` and their
            correlation ``in_model`` and ``in_rows``, which is None if it is not known. Its attribute ``warning`` has
            the text of the warning. If nothing was compared, ``dependence`` is empty: then no warning does not mean
            that the rows agree.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> {value: round(probability, 2) for value, probability in model.query("b", given={"a": 1, "c": 0}).items()}
        {0: 0.31, 1: 0.69}
        >>> {value: round(probability, 2) for value, probability in model.query(["b", "H1"], given={"a": 1}).items()}
        {(0, 0): 0.04, (0, 1): 0.14, (1, 0): 0.01, (1, 1): 0.8}
        >>> (pair,) = model.query("b", given={"a": 1}, data=model.sample(1000, random_state=0)).dependence
        >>> round(pair.in_model, 2), round(pair.in_rows, 2)
        (0.42, 0.39)
        >>> model.query("H1", given={"a": 1}).dependence  # no row has H1: nothing was compared
        ()
        >>> model.query("b", given={"a": "yes"})
        Traceback (most recent call last):
            ...
        latree.errors.InputError: column 'a' has no value 'yes': it has 0, 1
        """
        found = self._answer(variables, as_given(given), data)
        if found.warning:
            warnings.warn(found.warning, FitWarning, stacklevel=2)
        return found

    def _answer(self, variables: str | Sequence[str], given: Mapping[str, Any], data: Any) -> Answer:
        """Return what :meth:`query` returns, without a Python warning."""
        found, pairs = answer(self.network, self.columns, self.node, variables, given)
        rows = None if data is None else self.encode(data)
        found.dependence = tuple(self._dependence(pair, rows) for pair in pairs)
        found.warning = doubts(found.dependence)
        is_unknown = self.record is not None and self.record.correlations is None and rows is None
        if pairs and is_unknown:
            found.warning = (
                "How columns depend on each other in the rows is not kept in this model. Between columns that are far "
                "apart, a tree may have too little dependence, or even the other sign: pass the rows, too, to check."
            )
        return found

    def _dependence(self, pair: tuple[int, int], rows: Table | None) -> PairDependence:
        """Return how two columns depend on each other in the model, and in rows or in those of the fit."""
        columns = self.columns[pair[0]], self.columns[pair[1]]
        if pair not in self._model_dependence:
            self._model_dependence[pair] = pair_dependence(self.joint(pair), np.inf, columns) or 0.0
        in_rows, n_rows, record = None, np.inf, self.record
        if rows is not None:
            counts = pair_tables(rows, np.array([pair]))[0]
            n_rows = float(counts.sum())
            in_rows = pair_dependence(counts, n_rows, columns)
        elif record is not None:
            in_rows = record.correlation(*pair)
            present = [1 - record.n_missing[column] / record.n_rows for column in pair]
            n_rows = min(record.total_weight, MAX_ROWS) * present[0] * present[1]
        by_chance = correlation_by_chance(n_rows, columns) if n_rows else np.inf
        names = (columns[0].name, columns[1].name)
        return PairDependence(names, self._model_dependence[pair], in_rows, by_chance)

    @cached_property
    def _model_dependence(self) -> dict[tuple[int, int], float]:
        """The dependence of pairs of columns that were asked for."""
        return {}

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; probabilities are read back bit for bit (see :mod:`latree.model.file`).

        Examples
        --------
        >>> import tempfile, latree
        >>> model = latree.random_model(latree.random_tree(4, random_state=0), random_state=0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/model.json")
        ...     latree.LatentTreeModel.load(f"{folder}/model.json").n_parameters == model.n_parameters
        True
        """
        parts = Parts(
            self.tree,
            self.columns,
            self.tables,
            self.linear,
            self.record,
            self.groups,
            self.hidden_names,
            self.levels,
            self.flipped,
        )
        write_json(Path(path), parts_to_dict(parts))

    @classmethod
    def load(cls, path: str | Path) -> "LatentTreeModel":
        """Read a model from a file that :meth:`save` or ``latree fit`` wrote, or from the folder of a fit.

        Anything wrong with it raises InputError.
        """
        plain = read_json(model_path(Path(path)))
        try:
            return cls(**parts_from_dict(plain)._asdict())
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
