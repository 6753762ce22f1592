"""EM that was stopped goes on from its checkpoint and ends with the same bits."""

import numpy as np
import pytest

from helpers.models import small_models
from latree._util.checkpoint import Checkpoint, Keeper
from latree.errors import InputError
from latree.inference.em import ConvergenceMonitor, Expectation
from latree.inference.resume import run_em

MODEL = small_models()[0]
TABLE = MODEL.sample(200, 0)


class Kept(Keeper):
    """Keeps the last state in memory, and every state that it was given."""

    def __init__(self):
        self.states = []

    def is_due(self):
        return True

    def load(self, kind, number, read, start=None):
        return read(self.states[-1][0]) if self.states else None

    def save(self, kind, number, arrays, finished=True):
        self.states.append((arrays, finished))


class Counting(Expectation):
    """Counts its calls."""

    calls = 0

    def __call__(self, tables):
        self.calls += 1
        return super().__call__(tables)


def run(keep, told=None):
    """Run EM; return the tables' bits, the history, and the number of E-steps."""
    expectation, monitor = Counting(TABLE, MODEL.network), ConvergenceMonitor(1e-6, 60)
    told = [] if told is None else told
    state = run_em(expectation, MODEL.tables, 0.1, monitor, lambda *numbers: told.append(numbers), keep)
    return b"".join(table.tobytes() for table in state.tables), monitor.history, monitor.converged, expectation.calls


def test_every_checkpoint_leads_to_the_same_end():
    keep = Kept()
    *whole, steps = run(keep)
    assert [finished for _, finished in keep.states] == [False] * (len(keep.states) - 1) + [True]
    assert len(keep.states) == len(whole[1]) > 10
    for place in range(len(keep.states)):
        again = Kept()
        again.states = keep.states[: place + 1]
        *found, fewer = run(again)
        assert found == whole
        assert fewer < steps


def test_a_finished_fit_needs_no_e_step_and_tells_how_far_it_went():
    keep, told = Kept(), []
    *whole, _ = run(keep)
    *found, steps = run(keep, told)
    assert (found, steps) == (whole, 0)
    assert told == [(len(whole[1]) - 1, 60)]


@pytest.mark.parametrize("change", [{"smoothing": 0.2}, {"tol": 1e-5}, {"max_iter": 50}, {"tables": True}])
def test_what_decides_the_result_is_part_of_the_checkpoints_start(change):
    starts = []

    class Asked(Keeper):
        def load(self, kind, number, read, start=None):
            starts.append(start["start"].tolist())

    tables = small_models()[0].tables
    change = dict(change)
    changed = (*tables[:-1], tables[-1][::-1]) if change.pop("tables", False) else tables
    for given, smoothing, rules in (
        (tables, 0.1, {}),
        (tables, 0.1, {}),
        (
            changed,
            change.get("smoothing", 0.1),
            {k: v for k, v in change.items() if k in ("tol", "max_iter")},
        ),
    ):
        monitor = ConvergenceMonitor(**{"tol": 1e-2, "max_iter": 2, **rules})
        run_em(Expectation(TABLE, MODEL.network), given, smoothing, monitor, lambda *_: None, Asked())
    assert starts[0] == starts[1] != starts[2]
    assert np.size(starts[0]) == 32


NONSENSE = {
    "nothing": lambda kept: {},
    "no history": lambda kept: kept | {"history": np.empty(0)},
    "history of texts": lambda kept: kept | {"history": np.array(["a"])},
    "history NaN": lambda kept: kept | {"history": np.array([np.nan])},
    "history as a table": lambda kept: kept | {"history": np.zeros((1, 1))},
    "a number too few": lambda kept: kept | {"tables": kept["tables"][1:]},
    "probabilities of another kind": lambda kept: kept | {"tables": kept["tables"].astype("U8")},
    "probabilities that are none": lambda kept: kept | {"tables": kept["tables"] + 1},
    "probabilities below zero": lambda kept: (
        kept | {"tables": kept["tables"] * np.linspace(-1, 3, kept["tables"].size)}
    ),
    "probabilities NaN": lambda kept: kept | {"tables": kept["tables"] * np.nan},
    "counts below zero": lambda kept: kept | {"counts": -kept["counts"]},
    "counts infinite": lambda kept: kept | {"counts": kept["counts"] + np.inf},
    "length 0": lambda kept: kept | {"length": np.array(0.0)},
    "length NaN": lambda kept: kept | {"length": np.array(np.nan)},
    "two lengths": lambda kept: kept | {"length": np.ones(2)},
    "converged as number": lambda kept: kept | {"converged": np.array(2)},
    "finished many times": lambda kept: kept | {"finished": np.array([True, True])},
}


@pytest.mark.parametrize("change", NONSENSE.values(), ids=NONSENSE)
def test_a_crafted_state_is_refused(tmp_path, change):
    """A file with a right checksum, whose arrays make no sense."""
    keep = Kept()
    run(keep)
    start = {"start": keep.states[-1][0]["start"]}
    checkpoint = Checkpoint(tmp_path / "kept", {})
    checkpoint.save("fits", 1, change(keep.states[-1][0]) | start)
    with pytest.raises(InputError, match=r"fits-000001.done: damaged; remove this file"):
        run(checkpoint)


def test_a_state_of_another_fit_is_refused(tmp_path):
    keep = Kept()
    run(keep)
    checkpoint = Checkpoint(tmp_path / "kept", {})
    checkpoint.save("fits", 1, keep.states[-1][0] | {"start": np.zeros(32, dtype=np.uint8)})
    with pytest.raises(InputError, match="made by another computation"):
        run(checkpoint)
