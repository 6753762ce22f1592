"""Moves: columns and subtrees come to other hidden variables."""

from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.moves import best_moves
from latree.search.places import apart, edge_place, place
from latree.search.relocate import best_relocations, movable
from latree.search.sample import Sample

# A move must lower half of the BIC by more than this, in nats.
_MIN_MOVE = 1.0

# What a parameter costs, in nats, where a column or subtree moves to any hidden variable nearby. With the penalty of
# BIC, columns would move to hidden variables with few states.
_PENALTY = 1.0

# Such a move must raise the log-likelihood, less the penalty, by more than this, in nats.
_MIN_RELOCATION = 3.0

_ROUNDS = 8  # at most, of either kind


class Moving:
    """Moves columns and subtrees."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._settled: set[object] = set()  # edges without a move
        self._in_place: set[object] = set()  # nodes without a better place

    def moved(self, model: LatentTreeModel) -> LatentTreeModel:
        """Move neighbours of hidden variables to the next ones while that lowers BIC."""
        sample = self._sample
        model = sample.fitted(model)
        best = model.bic(sample.table)
        for _ in range(_ROUNDS):
            around = sample.around(model)
            places = {edge: edge_place(model.tree, edge) for edge in around.inner_edges}
            edges = [edge for edge in around.inner_edges if places[edge] not in self._settled]
            moves = [move for move in best_moves(around, edges, sample.log_rows) if move.gain > _MIN_MOVE]
            changed = {frozenset(move.ends) for move in moves}
            self._settled |= {
                places[edge] for edge in edges if frozenset(model.tree.edges[edge].tolist()) not in changed
            }
            chosen = apart(moves, lambda move: ({*move.ends}, {*move.neighbors, *move.other_neighbors}))
            # Each move lowers BIC by itself. If all of them together do not, only the better half is made.
            while chosen:
                tried = sample.after(model, chosen)
                if tried.bic(sample.table) < best:
                    break
                chosen = chosen[: len(chosen) // 2]
            if not chosen:
                break
            sample.steps["moves"] += len(chosen)
            model, best = tried, tried.bic(sample.table)
        return model

    def relocated(self, model: LatentTreeModel) -> LatentTreeModel:
        """Attach columns and subtrees to other hidden variables nearby while that predicts the rows better."""
        sample = self._sample
        score = self.score(model)
        for _ in range(_ROUNDS):
            around, tree = sample.around(model), model.tree
            # A node is looked at again when the neighbourhood of its hidden variable has changed.
            nodes = {(u, v): (tree.edge_splits[edge], place(tree, v)) for u, v, edge in movable(tree)}
            nodes = {ends: where for ends, where in nodes.items() if where not in self._in_place}
            found = best_relocations(around, list(nodes), _PENALTY)
            moves = [move for move in found if move.gain > _MIN_RELOCATION]
            self._in_place |= set(nodes.values()) - {nodes[move.node, move.old] for move in moves}
            chosen = apart(moves, lambda move: ({move.node, move.old, move.new}, set()))
            while chosen:
                draft = Draft(model)
                for move in chosen:
                    draft.disconnect(move.node, move.old)
                    draft.connect(move.node, move.new, move.joint)
                draft.tidy()
                tried = sample.fitted(draft.start(sample.table))
                if self.score(tried) > score:
                    break
                chosen = chosen[: len(chosen) // 2]
            if not chosen:
                break
            sample.steps["moves"] += len(chosen)
            model, score = tried, self.score(tried)
        return model

    def score(self, model: LatentTreeModel) -> float:
        """Return the log-likelihood of the rows, less the penalty of relocations."""
        return model.log_likelihood(self._sample.table) - _PENALTY * model.n_parameters
