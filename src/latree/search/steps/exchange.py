"""Rearranging: subtrees of a binary tree are exchanged across its edges."""

from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.places import apart
from latree.search.rearrange import Views
from latree.search.sample import START_ITERATIONS, Sample

# Another pairing of four subtrees must be better by this many standard errors.
_LEAD = 1.5

_ROUNDS = 10  # at most


def rearranged(model: LatentTreeModel, sample: Sample) -> LatentTreeModel:
    """Exchange subtrees of a binary tree where the four-point rule on their posteriors asks for it."""
    for _ in range(_ROUNDS):
        verdicts = Views(model, sample.block).verdicts().values()
        leading = sorted((one for one in verdicts if one.rival_lead > _LEAD), key=lambda one: -one.rival_lead)
        chosen = apart(leading, lambda one: ({*one.ends, *one.tops}, set()))
        if not chosen:
            break
        draft = Draft(model)
        for verdict in chosen:
            (h, g), (leaving, coming) = verdict.ends, verdict.exchange
            draft.move(leaving, h, g)
            draft.move(coming, g, h)
        sample.steps["exchanges"] += len(chosen)
        model = sample.fitted(draft.start(sample.table), START_ITERATIONS)
    return model
