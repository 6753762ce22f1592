"""The learners by name: what each needs, what it returns, and who described it."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

from latree.arrays import RandomState
from latree.builders import Progress, Structure, no_progress
from latree.builders.chow_liu import chow_liu
from latree.builders.divide_conquer import divide_and_conquer
from latree.builders.independent import independent
from latree.builders.latent_class import latent_class
from latree.distances import mutual_information, nuclear_distance
from latree.errors import InputError
from latree.quartets.nuclear import nuclear_test
from latree.table import Table
from latree.tables import quartet_tables

Representatives: TypeAlias = Literal["nearest", "random"]


@dataclass(frozen=True)
class Options:
    """What a learner may be told; each takes what it knows."""

    representatives: Representatives = "nearest"
    random_state: RandomState = None
    progress: Progress = no_progress


@dataclass(frozen=True)
class Method:
    """A learner of structure."""

    name: str
    summary: str
    needs_states: bool  # whether structure learning must be told the number of hidden states
    trees: str  # what kind of tree comes out
    reference: str
    learn: Callable[[Table, Options], Structure]


def find_method(name: str) -> Method:
    """Give the method of a name."""
    if name not in METHODS:
        raise InputError(f"unknown method {name!r}; known: {', '.join(METHODS)}")
    return METHODS[name]


def _tensor(table: Table, options: Options) -> Structure:
    if options.representatives not in ("nearest", "random"):
        raise InputError(f"representatives must be 'nearest' or 'random', not {options.representatives!r}")
    return divide_and_conquer(
        table.names,
        nuclear_test(partial(quartet_tables, table), int(table.n_states.max())),
        distance=nuclear_distance(table) if options.representatives == "nearest" else None,
        random_state=options.random_state,
        progress=options.progress,
    )


METHODS = {
    method.name: method
    for method in (
        Method(
            name="tensor",
            summary="quartet tests by nuclear norms of unfolded tensors, divide and conquer",
            needs_states=False,
            trees="binary, columns at the leaves",
            reference="Ishteva, Park & Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors",
            learn=_tensor,
        ),
        Method(
            name="chow-liu",
            summary="maximum spanning tree of mutual information between the columns",
            needs_states=False,
            trees="over the columns alone, no hidden variables",
            reference="Chow & Liu (1968), Approximating Discrete Probability Distributions with Dependence Trees",
            learn=lambda table, options: chow_liu(table.names, mutual_information(table)),
        ),
        Method(
            name="lcm",
            summary="latent class model: one hidden variable above all columns",
            needs_states=False,
            trees="a star of one hidden variable",
            reference="Lazarsfeld & Henry (1968), Latent Structure Analysis",
            learn=lambda table, options: latent_class(table.names),
        ),
        Method(
            name="independent",
            summary="every column for itself: the baseline that anything should beat",
            needs_states=False,
            trees="no edges",
            reference="none needed",
            learn=lambda table, options: independent(table.names),
        ),
    )
}
