"""Cutting: edges go whose two sides are independent."""

from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.gains import EdgeGains
from latree.search.independence import Independence
from latree.search.sample import Sample


class Cutting:
    """Divides a tree into independent parts."""

    def __init__(self, sample: Sample, gains: EdgeGains) -> None:
        self._sample, self._gains = sample, gains
        self._independence = Independence(sample.block, sample.table.n_states)

    def cut(self, model: LatentTreeModel, smoothing: float) -> LatentTreeModel:
        """Cut edges whose two sides are independent, and fit with this smoothing, until there are none."""
        while True:
            around = self._sample.around(model)
            edges = self._independence.doubtful(model.tree, around.inner_edges)
            gone = self._independence.edges(model.tree, edges, self._gains.tests(around, edges, 0))
            if not gone:
                return model
            draft = Draft(model)
            for edge in gone:
                draft.disconnect(*model.tree.edges[edge].tolist())
            draft.tidy()
            self._sample.steps["cuts"] += len(gone)
            model = self._sample.fitted(draft.start(self._sample.table), smoothing=smoothing)
