"""A model that moves change: the joint distribution of the two ends of every edge.

Moves need not keep the distributions consistent with each other: EM starts from them and does the rest.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY
from latree.inference.starts import start_from
from latree.model import LatentTreeModel
from latree.search.divide import Arrangement
from latree.search.local import Star
from latree.table import Table
from latree.tree import Tree


@dataclass(frozen=True)
class Replacement:
    """One hidden variable in the place of one or several that are connected."""

    nodes: Collection[int]
    neighbors: Sequence[int]
    star: Star


class Draft:
    """An editable tree with the joint distributions on its edges.

    Attributes
    ----------
    joint : dict
        ``joint[u][v][x, y] = P(u = x, v = y)`` for all neighbours u and v, in both directions.
    """

    def __init__(self, model: LatentTreeModel) -> None:
        self.names, self.n_observed = model.tree.names, model.tree.n_observed
        self.joint: dict[int, dict[int, FloatArray]] = {node: {} for node in range(model.tree.n_nodes)}
        marginals, parent = model.network.marginals(), model.network.parent
        for u, v in model.tree.edges.tolist():
            child, above = (u, v) if parent[u] == v else (v, u)
            self.connect(child, above, model.tables[child] * marginals[above])

    @classmethod
    def of_columns(cls, names: Sequence[str]) -> "Draft":
        """Return columns without any edge."""
        draft = cls.__new__(cls)
        draft.names, draft.n_observed = tuple(names), len(names)
        draft.joint = {node: {} for node in range(len(names))}
        return draft

    def renumbered(self, names: Sequence[str], number: Mapping[int, int]) -> "Draft":
        """Return the same edges among columns of these names.

        Parameters
        ----------
        names : sequence of str
        number : mapping of int to int
            The new number of every node with edges; those of hidden variables come after the columns.
        """
        draft = Draft.of_columns(names)
        draft.joint |= {number[node]: {} for node in self.joint if node >= self.n_observed}
        for u, around in self.joint.items():
            for v, joint in around.items():
                draft.joint[number[u]][number[v]] = joint
        return draft

    def connect(self, u: int, v: int, joint: FloatArray) -> None:
        """Add an edge, or replace its distribution."""
        self.joint[u][v], self.joint[v][u] = joint, joint.T

    def disconnect(self, u: int, v: int) -> None:
        """Remove an edge."""
        del self.joint[u][v], self.joint[v][u]

    def move(self, node: int, old: int, new: int, joint: FloatArray) -> None:
        """Put an edge to a new place in the place of the edge to an old one.

        After other moves, the new place may be on the node's side of the old edge. A move there would make a cycle, and
        is left out.
        """
        seen, waiting = {node, old}, [node]
        while waiting:
            near = [other for other in self.joint[waiting.pop()] if other not in seen]
            seen.update(near)
            waiting += near
        if new not in seen:
            self.disconnect(node, old)
            self.connect(node, new, joint)

    def replace(self, replacements: Sequence["Replacement"]) -> None:
        """Put new hidden variables, as in small models, in the place of old ones."""
        place = {node: number for number, one in enumerate(replacements) for node in one.nodes}
        for node in place:
            for other in list(self.joint[node]):
                self.disconnect(node, other)
            del self.joint[node]
        new = [min(one.nodes) for one in replacements]
        self.joint |= {node: {} for node in new}
        posterior = [one.star.posterior() for one in replacements]
        for number, one in enumerate(replacements):
            for other, table in zip(one.neighbors, one.star.tables, strict=True):
                if other not in place:
                    self.connect(other, new[number], table * one.star.prior)
                else:  # both ends are new: rows in which they are known together are a start
                    joint = posterior[place[other]] @ posterior[number].T
                    self.connect(new[place[other]], new[number], joint / joint.sum())

    def arrange(self, new: Arrangement) -> None:
        """Replace the neighbours and distributions of two hidden variables by those of a small model."""
        h, g = new.ends
        for node in new.ends:
            for other in list(self.joint.setdefault(node, {})):
                self.disconnect(node, other)
        self.connect(g, h, new.pair.between * new.pair.prior)
        for other, table in zip(new.neighbors, new.pair.tables, strict=True):
            self.connect(other, h, table * new.pair.prior)
        for other, table in zip(new.other_neighbors, new.pair.other_tables, strict=True):
            self.connect(other, g, table * (new.pair.between @ new.pair.prior))

    def tidy(self) -> None:
        """Remove hidden variables that connect nothing, and those between two neighbours one of which is hidden."""
        changed = True
        while changed:
            changed = False
            for node in [node for node in self.joint if node >= self.n_observed]:
                around = list(self.joint[node])
                if len(around) == 2 and max(around) >= self.n_observed:
                    one, other = around
                    self.connect(one, other, _conditional(self.joint[one][node]) @ self.joint[node][other])
                if len(around) < 2 or (len(around) == 2 and max(around) >= self.n_observed):
                    for neighbor in around:
                        self.disconnect(node, neighbor)
                    del self.joint[node]
                    changed = True

    def numbers(self) -> dict[int, int]:
        """Return the number that each node will have in a model; hidden variables keep their order."""
        return {node: number for number, node in enumerate(sorted(self.joint))}

    def start(self, table: Table) -> LatentTreeModel:
        """Return a model for EM to start from."""
        number = self.numbers()
        pairs = sorted((number[u], number[v], u, v) for u, around in self.joint.items() for v in around if u < v)
        tree = Tree(self.names, [(a, b) for a, b, _, _ in pairs])
        tables = start_from(table, tree, [self.joint[u][v] for _, _, u, v in pairs])
        return LatentTreeModel(tree, table.columns, tables)


def _conditional(joint: FloatArray) -> FloatArray:
    """Return ``P(u | v)`` from ``P(u, v)``."""
    return np.asarray(joint / np.maximum(joint.sum(axis=0), TINY))
