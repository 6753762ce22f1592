"""The learners by name: what each needs, what it returns, and who described it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from latree._util.arrays import RandomState
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import WHOLE, Progress, no_progress, part_of
from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import as_pairs, information, log_det, nuclear, pairwise
from latree.counts.quartets.nuclear import nuclear_test
from latree.counts.quartets.spectral import spectral_products, spectral_test
from latree.errors import InputError
from latree.learners.auto import auto, joined
from latree.learners.chow_liu import chow_liu
from latree.learners.chow_liu_grouping import chow_liu_grouping
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.harmeling_williams import harmeling_williams
from latree.learners.hidden_chow_liu import hidden_chow_liu
from latree.learners.independent import independent
from latree.learners.latent_class import latent_class
from latree.learners.neighbor_joining import join, neighbor_joining
from latree.learners.recursive_grouping import group, recursive_grouping
from latree.learners.spectral_grouping import check_size, spectral_grouping
from latree.learners.spectral_joining import spectral_joining
from latree.learners.structure import Structure
from latree.model.states import Criterion
from latree.table import Table
from latree.table.table import FEW_STATES, MANY_STATES
from latree.tree import Oddity, Tree

Representatives: TypeAlias = Literal["nearest", "random"]


@dataclass(frozen=True)
class Options:
    """What a learner may be told; each takes what it knows."""

    n_states: int | None = None
    representatives: Representatives = "nearest"
    random_state: RandomState = None
    criterion: Criterion = "held-out"
    smoothing: float | None = None
    progress: Progress = no_progress
    keep: Keeper = NOTHING_KEPT

    def parts(self, share: float) -> tuple[Progress, Progress]:
        """Give what measuring columns reports to, which takes a share of the time, and what building a tree does.

        Shares are what was measured on tables of 30 to 1000 columns; they only matter for the time left that is shown.
        """
        end = round(share * WHOLE)
        return part_of(self.progress, 0, end), part_of(self.progress, end, WHOLE)


@dataclass(frozen=True)
class Method:
    """A learner of structure."""

    name: str
    summary: str
    needs_states: bool  # whether structure learning must be told the number of hidden states
    trees: str  # what kind of tree comes out
    reference: str
    builder: Callable[[Table, Options], Structure]
    may_have: tuple[Oddity, ...] = ()  # what sets trees that come out apart from binary ones
    has_representatives: bool = False  # whether leaves stand for branches in its tests
    most_states: int = MANY_STATES  # of a column
    quick: Callable[[Table, Options], Structure] | None = None  # what bootstraps do, where the whole takes too long

    def check_returns(self, tree: Tree) -> None:
        """Raise if this tree can never come out, whatever the table."""
        for kind, words in tree.oddities().items():
            if kind not in self.may_have:
                raise InputError(f"method {self.name!r} can never return a tree like this, where {words}")

    def learn(self, table: Table, options: Options) -> Structure:
        """Learn the structure behind a table."""
        if options.representatives != Options.representatives and not self.has_representatives:
            raise InputError(
                f"method {self.name!r} has no representatives to choose, and was told {options.representatives!r:.60}: "
                "leave out representatives, or --representatives on the command line"
            )
        if self.needs_states and options.n_states is None:
            raise InputError(
                f"method {self.name!r} must be told the number of states of the hidden variables: n_states, or "
                "--states on the command line"
            )
        return self.builder(table, options)

    def replicate(self, table: Table, options: Options) -> Structure:
        """Learn the structure behind a resampled table."""
        return (self.quick or self.learn)(table, options)


def find_method(name: str) -> Method:
    """Give the method of a name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name]


def _auto(table: Table, options: Options) -> Structure:
    return auto(
        table,
        criterion=options.criterion,
        n_states=options.n_states,
        smoothing=options.smoothing,
        random_state=options.random_state,
        progress=options.progress,
        keep=options.keep,
    )


def _tensor(table: Table, options: Options) -> Structure:
    if options.representatives not in ("nearest", "random"):
        raise InputError(f"representatives must be 'nearest' or 'random', not {options.representatives!r}")
    measuring, building = options.parts(0.2)
    return divide_and_conquer(
        table.names,
        nuclear_test(partial(quartet_tables, table), int(table.n_states.max())),
        distance=pairwise(table, nuclear, measuring) if options.representatives == "nearest" else None,
        random_state=options.random_state,
        progress=building,
    )


def _nj(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.95)
    return neighbor_joining(table.names, pairwise(table, log_det, measuring), building)


def _snj(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.2)
    return spectral_joining(table.names, pairwise(table, log_det, measuring), building)


def _spectral(table: Table, options: Options) -> Structure:
    assert options.n_states is not None
    narrowest = int(np.argmin(table.n_states))
    if options.n_states > table.n_states[narrowest]:
        raise InputError(
            f"method 'spectral' cannot tell {options.n_states} hidden states apart: column "
            f"{table.names[narrowest]!r} has only {table.n_states[narrowest]} states"
        )
    check_size(table.n_columns)
    products = spectral_products(as_pairs(pair_tables(table)), options.n_states)
    return spectral_grouping(table.names, spectral_test(products), products.last, options.progress)


def _rg(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.02)
    return recursive_grouping(
        table.names,
        pairwise(table, log_det, measuring),
        reach=_reach(table),
        shortest=_shortest(table),
        progress=building,
    )


def _clrg(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.85)
    learn = partial(group, reach=_reach(table), shortest=_shortest(table))
    return chow_liu_grouping(
        table.names, pairwise(table, log_det, measuring), learn, shortest=_shortest(table), progress=building
    )


def _clnj(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.95)
    return chow_liu_grouping(
        table.names, pairwise(table, log_det, measuring), join, shortest=_shortest(table), progress=building
    )


def _hw(table: Table, options: Options) -> Structure:
    measuring, building = options.parts(0.01)
    return harmeling_williams(
        table, pairwise(table, information, measuring), random_state=options.random_state, progress=building
    )


def _reach(table: Table) -> float:
    """How far Lake's distance can be trusted: up to correlations of m^-¼, well above the noise of m rows, m^-½."""
    return float(np.median(table.n_states) - 1) * float(np.log(max(table.total_weight, 2.0))) / 4


def _shortest(table: Table) -> float:
    """How short an edge can be and still be told from none: above the noise of a correlation, m^-½, for many rows."""
    return float(max(table.total_weight, 1.0) ** -0.4)


METHODS = {
    method.name: method
    for method in (
        Method(
            name="auto",
            summary="the default: joins by a distance that needs no number of states, rearranges by soft evidence, and "
            "takes another kind of tree where held-out rows ask for it",
            needs_states=False,
            trees="mostly binary, columns at the leaves, with support",
            reference="latree",
            builder=_auto,
            may_have=("two neighbours", "many neighbours", "parts"),
            quick=lambda table, options: joined(table),
        ),
        Method(
            name="tensor",
            summary="quartet tests by nuclear norms of unfolded tensors, divide and conquer",
            needs_states=False,
            trees="binary, columns at the leaves",
            reference="Ishteva, Park & Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors",
            builder=_tensor,
            has_representatives=True,
            most_states=FEW_STATES,
        ),
        Method(
            name="nj",
            summary="neighbour joining on Lake's log-det distance, made for as many hidden states as columns have",
            needs_states=False,
            trees="binary, columns at the leaves, with lengths",
            reference="Saitou & Nei (1987), The Neighbor-joining Method; Lake (1994), paralinear distances",
            builder=_nj,
        ),
        Method(
            name="snj",
            summary="spectral neighbour joining: blocks of affinities of rank one, made for the same trees as nj",
            needs_states=False,
            trees="binary, columns at the leaves",
            reference="Jaffe, Amsel, Aizenbud, Nadler, Chang & Kluger (2021), Spectral Neighbor Joining",
            builder=_snj,
        ),
        Method(
            name="spectral",
            summary="quartet tests by products of k singular values of pair tables, recursive grouping (Spectral@k)",
            needs_states=True,
            trees="columns at the leaves, hidden variables with three or more neighbours; at most 128 columns",
            reference="Anandkumar, Chaudhuri, Hsu, Kakade, Song & Zhang (2011), Spectral Methods for Learning "
            "Multivariate Latent Tree Structure",
            builder=_spectral,
            most_states=FEW_STATES,
            may_have=("many neighbours",),
        ),
        Method(
            name="rg",
            summary="recursive grouping of families by differences of log-det distances",
            needs_states=False,
            trees="any: also columns as inner nodes and hidden variables with many neighbours, with lengths",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            builder=_rg,
            may_have=("inner columns", "many neighbours"),
        ),
        Method(
            name="clrg",
            summary="Chow-Liu tree of log-det distances, then recursive grouping in each neighbourhood",
            needs_states=False,
            trees="any, like rg",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            builder=_clrg,
            may_have=("inner columns", "many neighbours"),
        ),
        Method(
            name="clnj",
            summary="Chow-Liu tree of log-det distances, then neighbour joining in each neighbourhood",
            needs_states=False,
            trees="any, like rg, mostly binary",
            reference="Choi, Tan, Anandkumar & Willsky (2011), Learning Latent Tree Graphical Models",
            builder=_clnj,
            may_have=("inner columns", "many neighbours"),
        ),
        Method(
            name="hw",
            summary="greedy joining by mutual information, number of states of each hidden variable by BIC (BIN-A)",
            needs_states=False,
            trees="binary, columns at the leaves; a forest where nothing is gained by joining; finds numbers of states",
            reference="Harmeling & Williams (2011), Greedy Learning of Binary Latent Trees",
            builder=_hw,
            most_states=FEW_STATES,
            may_have=("parts",),
        ),
        Method(
            name="chow-liu",
            summary="maximum spanning tree of mutual information between the columns",
            needs_states=False,
            trees="over the columns alone, no hidden variables",
            reference="Chow & Liu (1968), Approximating Discrete Probability Distributions with Dependence Trees",
            builder=lambda table, options: chow_liu(table.names, pairwise(table, information, options.progress)),
            may_have=("inner columns", "many neighbours"),
        ),
        Method(
            name="hclt",
            summary="Chow-Liu tree, every column of which has a hidden twin: made to predict, not to explain",
            needs_states=False,
            trees="a hidden variable for every column",
            reference="Liu & Van den Broeck (2021), Tractable Regularization of Probabilistic Circuits",
            builder=lambda table, options: hidden_chow_liu(table.names, pairwise(table, information, options.progress)),
            may_have=("two neighbours", "many neighbours"),
        ),
        Method(
            name="lcm",
            summary="latent class model: one hidden variable above all columns",
            needs_states=False,
            trees="a star of one hidden variable",
            reference="Lazarsfeld & Henry (1968), Latent Structure Analysis",
            builder=lambda table, options: latent_class(table.names),
            may_have=("many neighbours",),
        ),
        Method(
            name="independent",
            summary="every column for itself: the baseline that anything should beat",
            needs_states=False,
            trees="no edges",
            reference="none needed",
            builder=lambda table, options: independent(table.names),
            may_have=("parts",),
        ),
    )
}
