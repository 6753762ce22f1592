"""Work that reports its progress."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from latree._util.progress import WHOLE, Attempts, no_progress, no_stages, part_of
from latree.counts.distances import log_det, pairwise
from latree.facts import report_facts
from latree.model.fitting import choose, held_out
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import tree_facts
from latree.table import as_table

rng = partial(np.random.default_rng, 0)


def test_no_stages_report_nothing():
    assert no_stages("Reading") is no_progress
    no_progress(1, 2)


def test_parts_and_attempts_only_rise():
    seen = []
    part_of(lambda *numbers: seen.append(numbers), 200, 500)(1, 3)
    assert seen == [(300, WHOLE)]
    seen.clear()
    attempts = Attempts(lambda done, total: seen.append(done))
    for _ in range(40):
        for done in range(4):
            attempts.within(done, 3)
        attempts.end()
    assert seen == sorted(seen)
    assert seen[-1] < WHOLE


@pytest.mark.parametrize(
    "work",
    [
        lambda model, table, tell: pairwise(table, log_det, tell),
        lambda model, table, tell: tree_facts(model, progress=tell),
        lambda model, table, tell: report_facts(model, table, progress=tell),
        lambda model, table, tell: model.sample(10, 0, tell),
        lambda model, table, tell: choose(table, model.tree, held_out(table, rng()), progress=tell),
    ],
    ids=["pairwise", "theory", "report", "sample", "choose"],
)
def test_work_tells_how_far_it_is(monkeypatch, work):
    monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", 100)
    monkeypatch.setattr("latree.paper.theory.TENSOR_CELLS_AT_ONCE", 100)
    model = random_model(random_tree(6, 0.5, 0), n_states=3, hidden_states=2, random_state=0)
    told = []
    work(model, model.sample(60, 0), lambda *numbers: told.append(numbers))
    assert told == sorted(told)
    assert len({done for done, _ in told}) > 2
    assert len({total for _, total in told}) == 1
    assert 0 <= told[0][0] <= told[-1][0] <= told[0][1]


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_reading_tells_how_much_of_the_files_is_read(tmp_path, suffix, monkeypatch):
    import pandas as pd

    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 400)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 3, (20_000, 2)), columns=["a", "b"])
    for name in ("one", "two"):
        path = tmp_path / f"{name}{suffix}"
        frame.to_parquet(path) if suffix == ".parquet" else frame.to_csv(path, index=False)
    seen = []
    table = as_table(tmp_path / f"*{suffix}", progress=lambda *numbers: seen.append(numbers))
    done, totals = zip(*seen, strict=True)
    files = [Path(path).stat().st_size for path in tmp_path.glob(f"*{suffix}")]
    assert set(totals) == {40_000 if suffix == ".parquet" else sum(files)}
    assert done == tuple(sorted(done))
    assert done[-1] == totals[0]
    assert len(set(done)) > (1 if suffix == ".csv.gz" else 5)  # from Python 3.12 on, gzip reads small files at once
    seen.clear()
    table.with_progress(lambda *numbers: seen.append(numbers)).sum(lambda block: np.array([len(block.codes)]))
    assert seen[-1] == (40_000, 40_000)
    assert len(seen) > 10
