"""All methods by their names, and ``auto``, which chooses among them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.progress import part_of_stage
from latree._util.words import setting
from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import Measure, as_pairs, information, log_det, nuclear, pairwise
from latree.counts.quartets import nuclear_test, spectral_products, spectral_test
from latree.errors import InputError
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.explain import explain, joined
from latree.learners.given import given_groups
from latree.learners.grouping import chow_liu, chow_liu_grouping, group, hidden_chow_liu, recursive_grouping
from latree.learners.harmeling_williams import harmeling_williams
from latree.learners.joining import join, neighbor_joining, spectral_joining
from latree.learners.parts import WIDE
from latree.learners.predict import predict
from latree.learners.spectral_grouping import check_size, spectral_grouping
from latree.learners.structure import Structure, independent, latent_class
from latree.settings import Settings
from latree.table import Table
from latree.table.checking import FEW_STATES, MANY_STATES
from latree.tree import Tree
from latree.tree.graph import NonBinaryFeature

Learner: TypeAlias = Callable[[Table, Settings, np.random.Generator], Structure]


# The share of the time that the search for structure takes if the goal is to predict, about.
_SEARCH_SHARE = 0.2


def auto(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    """Learn the hidden variables that are there (to explain), or the model that predicts best.

    If groups of columns are given, each has a hidden variable, and only how these are connected is learned.

    To predict, the explained tree and the resolved one are two of several candidates; held-out rows decide. In a wide
    table a joined tree stands for both, and the explained one is learned only if the joined one is close to the best.
    """
    if settings.key is not None:
        return given_groups(table, dict(settings.key), int(rng.integers(2**31)), settings.n_states)
    if settings.goal == "explain":
        return explain(table, settings, rng)
    settings = replace(settings, n_resamples=0)  # held-out rows decide
    # In wide tables, the search for structure takes longer than all other candidates together.
    is_wide = table.n_columns > WIDE and settings.resolve != "all"
    with part_of_stage(0, _SEARCH_SHARE / 2):
        resolved = joined(table) if is_wide else explain(table, replace(settings, resolve="all"), rng)
    if settings.resolve == "all":
        return Structure(resolved.tree, resolved.facts)
    if not resolved.tree.n_hidden:
        with part_of_stage(_SEARCH_SHARE, 1):
            return predict(table, [], settings, rng)
    seed = int(rng.integers(2**31))

    def search(rows: Table) -> Tree:
        return explain(rows, settings, np.random.default_rng(seed)).tree

    with part_of_stage(_SEARCH_SHARE / 2, _SEARCH_SHARE):
        searched = None if is_wide else search(table)
    with part_of_stage(_SEARCH_SHARE, 1):
        return predict(table, [resolved.tree], settings, rng, searched, search)


@dataclass(frozen=True)
class Method:
    """A learner of structure, by its name.

    Attributes
    ----------
    name, summary, reference : str
    needs_states : bool
        Whether the learner needs the number of hidden states.
    trees : str
        What kind of tree it returns.
    function : callable
        From a table, settings and a random generator to a structure.
    may_return : tuple of str
        What its trees may have that a binary tree with all columns at the leaves has not
        (:meth:`Tree.non_binary_features`).
    has_representatives : bool
        Whether leaves represent branches in its tests.
    most_states : int
        The most states that a column may have.
    quick : callable, optional
        What bootstrap replicates run instead, if the whole learner takes too long.

    Examples
    --------
    >>> import latree
    >>> from latree.learners.methods import METHODS
    >>> METHODS["spectral"].needs_states
    True
    """

    name: str
    summary: str
    trees: str
    reference: str
    function: Learner
    needs_states: bool = False
    may_return: tuple[NonBinaryFeature, ...] = ()
    has_representatives: bool = False
    most_states: int = MANY_STATES
    quick: Learner | None = None

    def check_returns(self, tree: Tree) -> None:
        """Raise if the method can never return this tree, whatever the table."""
        for kind, words in tree.non_binary_features().items():
            if kind not in self.may_return:
                raise InputError(f"method {self.name!r} can never return a tree like this, where {words}")

    def learn(self, table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
        """Learn the structure behind a table."""
        if settings.representatives != Settings.representatives and not self.has_representatives:
            raise InputError(
                f"method {self.name!r} has no representatives, so that {settings.representatives!r:.60} means nothing: "
                f"leave out {setting('representatives')}"
            )
        if self.needs_states and settings.n_states is None:
            raise InputError(
                f"method {self.name!r} needs the number of states of the hidden variables: give it with "
                f"{setting('n_states')}"
            )
        return self.function(table, settings, rng)

    def replicate(self, table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
        """Learn the structure behind a resampled table."""
        return (self.quick or self.learn)(table, settings, rng)


def find_method(name: str) -> Method:
    """Return the method of a name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name]


def _measured(table: Table, measure: Measure, share: float) -> FloatArray:
    """Return a measure of all pairs of columns, which takes this share of the learner's time.

    The shares were measured on tables of 30 to 1000 columns. They only matter for the time left that is shown.
    """
    with part_of_stage(0, share):
        return pairwise(table, measure)


def _tensor(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance = _measured(table, nuclear, 0.2) if settings.representatives == "nearest" else None
    test = nuclear_test(lambda quartets: quartet_tables(table, quartets), int(table.n_states.max()))
    with part_of_stage(0.2, 1):
        return divide_and_conquer(table.names, test, distance=distance, random_state=rng)


def _nj(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance = _measured(table, log_det, 0.95)
    with part_of_stage(0.95, 1):
        return neighbor_joining(table.names, distance)


def _snj(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance = _measured(table, log_det, 0.2)
    with part_of_stage(0.2, 1):
        return spectral_joining(table.names, distance)


def _spectral(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    assert settings.n_states is not None
    narrowest = int(np.argmin(table.n_states))
    if settings.n_states > table.n_states[narrowest]:
        raise InputError(
            f"method 'spectral' cannot tell {settings.n_states} hidden states apart: column "
            f"{table.names[narrowest]!r} has only {table.n_states[narrowest]} states"
        )
    check_size(table.n_columns)
    products = spectral_products(as_pairs(pair_tables(table)), settings.n_states)
    return spectral_grouping(table.names, spectral_test(products), products.last)


def _rg(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance = _measured(table, log_det, 0.02)
    with part_of_stage(0.02, 1):
        return recursive_grouping(table.names, distance, reach=_reach(table), shortest=_shortest(table))


def _clrg(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance, shortest = _measured(table, log_det, 0.85), _shortest(table)
    learn = partial(group, reach=_reach(table), shortest=shortest)
    with part_of_stage(0.85, 1):
        return chow_liu_grouping(table.names, distance, learn, shortest=shortest)


def _clnj(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    distance = _measured(table, log_det, 0.95)
    with part_of_stage(0.95, 1):
        return chow_liu_grouping(table.names, distance, join, shortest=_shortest(table))


def _hw(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    similarity = _measured(table, information, 0.01)
    with part_of_stage(0.01, 1):
        return harmeling_williams(table, similarity, random_state=rng)


def _chow_liu(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    return chow_liu(table.names, pairwise(table, information))


def _hclt(table: Table, settings: Settings, rng: np.random.Generator) -> Structure:
    return hidden_chow_liu(table.names, pairwise(table, information))


def _reach(table: Table) -> float:
    """Return how far Lake's distance can be trusted: to correlations of m^-¼, well above m^-½, the noise of m rows."""
    return float(np.median(table.n_states) - 1) * float(np.log(max(table.total_weight, 2.0))) / 4


def _shortest(table: Table) -> float:
    """Return the length below which edges are contracted: a little above m^-½, the noise of a correlation."""
    return float(max(table.total_weight, 1.0) ** -0.4)


METHODS = {
    method.name: method
    for method in (
        Method(
            name="auto",
            summary="the default. To explain: the hidden variables that the rows show, by moves on a fitted model. "
            "To predict: the kind of tree that predicts held-out rows best",
            trees="any number of neighbours, forests, with support; columns at the leaves if it explains",
            reference="latree",
            function=auto,
            may_return=("two neighbours", "inner columns", "many neighbours", "parts"),
            quick=lambda table, settings, rng: joined(table),
        ),
        Method(
            name="tensor",
            summary="quartet tests by nuclear norms of unfolded tensors, divide and conquer",
            trees="binary, columns at the leaves",
            reference="Ishteva, Park & Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors",
            function=_tensor,
            has_representatives=True,
            most_states=FEW_STATES,
        ),
        Method(
            name="nj",
            summary="neighbour joining on Lake's log-det distance, made for as many hidden states as columns have",
            trees="binary, columns at the leaves, with lengths",
            reference="Saitou & Nei (1987), The Neighbor-joining Method; Lake (1994), paralinear distances",
            function=_nj,
        ),
        Method(
            name="snj",
            summary="spectral neighbour joining: blocks of affinities of rank one, made for the same trees as nj",
            trees="binary, columns at the leaves",
            reference="Jaffe, Amsel, Aizenbud, Nadler, Chang & Kluger (2021), Spectral Neighbor Joining",
            function=_snj,
        ),
        Method(
            name="spectral",
            summary="quartet tests by products of k singular values of pair tables, recursive grouping (Spectral@k)",
            needs_states=True,
            trees="columns at the leaves, hidden variables with three or more neighbours; at most 128 columns",
            reference="Anandkumar, Chaudhuri, Hsu, Kakade, Song & Zhang (2011), Spectral Methods for Learning "
            "Multivariate Latent Tree Structure",
            function=_spectral,
            most_states=FEW_STATES,
            may_return=("many neighbours",),
        ),
        Method(
            name="rg",
            summary="recursive grouping of families by differences of log-det distances",
            trees="any: also columns as inner nodes and hidden variables with many neighbours, with lengths",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            function=_rg,
            may_return=("inner columns", "many neighbours"),
        ),
        Method(
            name="clrg",
            summary="Chow-Liu tree of log-det distances, then recursive grouping in each neighbourhood",
            trees="any, like rg",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            function=_clrg,
            may_return=("inner columns", "many neighbours"),
        ),
        Method(
            name="clnj",
            summary="Chow-Liu tree of log-det distances, then neighbour joining in each neighbourhood",
            trees="any, like rg, mostly binary",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            function=_clnj,
            may_return=("inner columns", "many neighbours"),
        ),
        Method(
            name="hw",
            summary="greedy joining by mutual information, number of states of each hidden variable by BIC (BIN-A)",
            trees="binary, columns at the leaves; a forest where nothing is gained by joining; finds numbers of states",
            reference="Harmeling & Williams (2011), Greedy Learning of Binary Latent Trees",
            function=_hw,
            most_states=FEW_STATES,
            may_return=("parts",),
        ),
        Method(
            name="chow-liu",
            summary="maximum spanning tree of mutual information between the columns",
            trees="over the columns alone, no hidden variables",
            reference="Chow & Liu (1968), Approximating Discrete Probability Distributions with Dependence Trees",
            function=_chow_liu,
            may_return=("inner columns", "many neighbours"),
        ),
        Method(
            name="hclt",
            summary="Chow-Liu tree, every column of which has a hidden twin: made to predict, not to explain",
            trees="a hidden variable for every column",
            reference="Liu & Van den Broeck (2021), Tractable Regularization of Probabilistic Circuits",
            function=_hclt,
            may_return=("two neighbours", "many neighbours"),
        ),
        Method(
            name="lcm",
            summary="latent class model: one hidden variable above all columns",
            trees="a star of one hidden variable",
            reference="Lazarsfeld & Henry (1968), Latent Structure Analysis",
            function=lambda table, settings, rng: latent_class(table.names),
            may_return=("many neighbours",),
        ),
        Method(
            name="independent",
            summary="every column for itself: the baseline that anything should beat",
            trees="no edges",
            reference="none needed",
            function=lambda table, settings, rng: independent(table.names),
            may_return=("parts",),
        ),
    )
}
