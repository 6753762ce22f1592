"""Work that reports its progress."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from latree._util.progress import WHOLE, Attempts, claim_progress, part_of_stage, reported_to, stage, stages_shown_by
from latree.counts.distances import log_det, pairwise
from latree.facts.found import report_facts
from latree.model.fitting import choose, held_out
from latree.paper.simulate import random_model, random_tree
from latree.paper.theory import tree_facts
from latree.table import as_table

rng = partial(np.random.default_rng, 0)


def test_parts_and_attempts_only_rise():
    seen = []
    with reported_to(lambda *numbers: seen.append(numbers)):
        with part_of_stage(0.2, 0.5):
            claim_progress()(1, 3)
        assert seen == [(300, WHOLE)]
        attempts = Attempts()
    for _ in range(40):
        for done in range(4):
            attempts.within(done, 3)
        attempts.end()
    rest = [done for done, _ in seen[1:]]
    assert rest == sorted(rest)
    assert rest[-1] < WHOLE


def test_who_claims_a_stage_is_the_only_one_who_reports_to_it():
    seen = []
    with stages_shown_by(lambda name, at_most=False: lambda *numbers: seen.append((name, at_most, *numbers))):
        with stage("Reading"):
            claim_progress()(1, 2)
            claim_progress()(2, 2)  # work that is called by the other
        with stage("Fitting", at_most=True):
            claim_progress()(1, 5)
        claim_progress()(4, 5)  # outside of all stages
    with stage("Nobody looks"):
        claim_progress()(1, 5)
    assert seen == [("Reading", False, 1, 2), ("Fitting", True, 1, 5)]


@pytest.mark.parametrize(
    "work",
    [
        lambda model, table: pairwise(table, log_det),
        lambda model, table: tree_facts(model),
        lambda model, table: report_facts(model, table),
        lambda model, table: model.sample(10, 0),
        lambda model, table: choose(table, model.tree, held_out(table, rng())),
    ],
    ids=["pairwise", "theory", "report", "sample", "choose"],
)
def test_work_tells_how_far_it_is(monkeypatch, work):
    monkeypatch.setattr("latree.counts.contingency.PAIR_CELLS_AT_ONCE", 100)
    monkeypatch.setattr("latree.paper.theory.TENSOR_CELLS_AT_ONCE", 100)
    model = random_model(random_tree(6, 0.5, 0), n_states=3, hidden_states=2, random_state=0)
    table = model.sample(60, 0)
    told = []
    with reported_to(lambda *numbers: told.append(numbers)):
        work(model, table)
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
    with reported_to(lambda *numbers: seen.append(numbers)):
        table = as_table(tmp_path / f"*{suffix}")
    done, totals = zip(*seen, strict=True)
    files = [Path(path).stat().st_size for path in tmp_path.glob(f"*{suffix}")]
    assert set(totals) == {40_000 if suffix == ".parquet" else sum(files)}
    assert done == tuple(sorted(done))
    assert done[-1] == totals[0]
    assert len(set(done)) > (1 if suffix == ".csv.gz" else 5)  # from Python 3.12 on, gzip reads small files at once
    seen.clear()
    with reported_to(lambda *numbers: seen.append(numbers)):
        table.with_progress().sum(lambda block: np.array([len(block.codes)]))
    assert seen[-1] == (40_000, 40_000)
    assert len(seen) > 10
