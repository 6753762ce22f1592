"""Rows on a cluster: a real scheduler and real workers on loopback, one of which is killed now and then."""

import os
import socket
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from unittest import mock

import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from distributed import Client

from helpers.tables import assert_same, mixed_frame, simulated_table, write_frame
from latree.__main__ import commands
from latree._util.progress import stages_shown_by
from latree._util.workers import n_threads
from latree.errors import InputError
from latree.estimator import LatentTree
from latree.learn import learn_model
from latree.learners.explain import joined
from latree.learners.support import bootstrap_trees
from latree.model import LatentTreeModel
from latree.paper.cells import Cell, Run
from latree.settings import Settings
from latree.table import Table, as_table, rows
from latree.table.dask import DaskRows, _gather, connect
from latree.table.rows import MemoryRows


class Cluster:
    """A scheduler and two workers, each a process of its own; latree may be missing on the scheduler."""

    def __init__(self, folder, n_workers=2, has_latree=True):
        self.folder = folder
        # A folder that comes first in the search for modules, where importing latree fails as if it were not there.
        (folder / "without" / "latree").mkdir(parents=True)
        (folder / "without" / "latree" / "__init__.py").write_text("raise ModuleNotFoundError('No module: latree')")
        self.processes = []
        self.killed = 0
        self.address = None
        file = folder / "scheduler.json"
        self.run(
            "scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(file),
            has_latree=has_latree,
        )
        self.client = self.wait_for(file)
        self.workers = [self.start_worker() for _ in range(n_workers)]
        if n_workers:
            self.client.wait_for_workers(n_workers, timeout=60)

    def run(self, *command, has_latree=True):
        environment = os.environ if has_latree else {**os.environ, "PYTHONPATH": str(self.folder / "without")}
        with (self.folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *command], stdout=log, stderr=log, cwd=self.folder, env=environment
            )
        self.processes.append(process)
        return process

    def wait_for(self, file):
        until = time.monotonic() + 60
        while not file.exists():
            assert time.monotonic() < until, (self.folder / "log.txt").read_text()
            time.sleep(0.05)
        client = Client(scheduler_file=str(file), timeout=60, set_as_default=False)
        self.address = client.scheduler.address
        return client

    def start_worker(self, has_latree=True):
        return self.run(
            *("worker", self.address, "--host", "127.0.0.1", "--no-dashboard", "--no-nanny"),
            *("--nthreads", "1", "--memory-limit", "0", "--local-directory", str(self.folder)),
            has_latree=has_latree,
        )

    def kill_a_worker(self):
        """End a worker as a broken machine does, and start another one in its place."""
        dead = self.workers.pop(0)
        dead.kill()
        dead.wait()
        self.killed += 1
        self.workers.append(self.start_worker())

    def close(self):
        self.client.close()
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    yield made
    made.close()


SIZES = rows.CHUNK_CELLS, rows.BLOCK_ROWS


@pytest.fixture
def chunks_of_128_rows(monkeypatch):
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 1)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 128)


@pytest.fixture
def chunks_of_128_rows_on_workers(chunks_of_128_rows, cluster):
    """Searches run on the workers, and add up sums in chunks of their own."""
    change = "from latree.table import rows; rows.CHUNK_CELLS, rows.BLOCK_ROWS = {}, {}"
    cluster.client.run(exec, change.format(1, 128))
    yield
    cluster.client.run(exec, change.format(*SIZES))


@pytest.fixture
def on_cluster(cluster, tmp_path):
    def make(table):
        path = tmp_path / "simulated.parquet"
        pq.write_table(pa.table(table.decode()), path, row_group_size=300)
        return as_table(path, columns=table.columns, client=cluster.client)

    return make


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("form", ["parquet", "frame"])
def test_columns_codes_and_counts_are_those_in_memory(cluster, tmp_path, form, weights, chunks_of_128_rows):
    frame = mixed_frame(1000)
    how = {"weights": weights, "weights_are": "survey"}
    expected = as_table(frame, **how)
    if form == "parquet":
        write_frame(frame.iloc[:400], tmp_path / "1.parquet", row_group_size=150)
        write_frame(frame.iloc[400:], tmp_path / "2.parquet")
        table = as_table(tmp_path / "*.parquet", client=cluster.client, **how)
    else:
        table = as_table(dd.from_pandas(frame, npartitions=7), client=cluster.client, **how)
    assert isinstance(table.rows, DaskRows)
    assert len(table.rows.chunks) == 8
    assert [(c.name, c.categories, c.cuts, c.density) for c in table.columns] == [
        (c.name, c.categories, c.cuts, c.density) for c in expected.columns
    ]
    assert_same(table, expected)
    assert_same(*(Table(some.columns, some.rows.resampled(3, 1)) for some in (table, expected)))
    backwards = np.arange(table.n_columns)[::-1]
    assert_same(*(Table(some.columns[::-1], some.rows.reordered(backwards)) for some in (table, expected)))
    assert_same(Table(table.columns, table.rows.reordered(backwards).reordered(backwards)), expected)


def test_no_rows_are_no_rows_on_a_cluster_either(cluster, tmp_path):
    path = write_frame(mixed_frame(10).iloc[:0], tmp_path / "empty.parquet")
    assert as_table(path, client=cluster.client).n_rows == 0


def test_many_numbers_are_cut_as_in_memory(cluster, monkeypatch):
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(200_000, 2)), columns=["a", "b"])
    table = as_table(dd.from_pandas(frame, npartitions=3), client=cluster.client)
    assert table.columns == as_table(frame).columns


def test_the_model_is_that_in_memory_whatever_happens_to_workers(
    cluster, on_cluster, monkeypatch, chunks_of_128_rows_on_workers
):
    """To the last bit: the same sums are added in the same order; lost chunks are read and coded again."""
    monkeypatch.setattr("latree.model.fitting.FEW_ROWS", 100)
    table = simulated_table(1000)
    chosen = Settings("auto", n_states=2, smoothing=0.1, random_state=0, bootstrap=3, max_iter=5, tol=0)
    killers = {}

    def stages(stage, at_most=False):
        def tell(done, total):
            if stage in ("Resampling the rows", "Fitting the model") and done == 2 and stage not in killers:
                killers[stage] = threading.Timer(0.02, cluster.kill_a_worker)
                killers[stage].start()

        return tell

    expected = learn_model(table, chosen)
    with stages_shown_by(stages):
        found = learn_model(on_cluster(table), chosen)
    for killer in killers.values():
        killer.join()
    assert cluster.killed == len(killers) == 2
    assert found.fit.iterations == 5
    assert found.model.tree.to_newick() == expected.model.tree.to_newick()
    assert found.consensus.to_newick() == expected.consensus.to_newick()
    for one, other in zip(found.model.tables, expected.model.tables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.model.groups == expected.model.groups
    assert {**found.summary, "seconds": 0} == {**expected.summary, "seconds": 0}


def test_the_command_line_and_the_estimator_work_on_a_cluster(cluster, tmp_path):
    frame = pd.DataFrame(simulated_table(600).decode())
    named = frame.assign(person=[f"person {number}" for number in range(600)])
    path = write_frame(named, tmp_path / "a.parquet", row_group_size=200)
    options = ["--method", "nj", "--states", "2", "--smoothing", "0.1", "--max-iter", "3", "--quiet"]
    options += ["--id", "person"]
    for out, more in (("here", []), ("there", ["--scheduler", cluster.address])):
        result = CliRunner().invoke(commands, ["fit", str(path), "--out", str(tmp_path / out), *options, *more])
        assert result.exit_code == 0, result.output
    for name in ("model.json", "report.html"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()
    assert "person 1" in (tmp_path / "there" / "report.html").read_text()
    estimator = LatentTree("nj", n_states=2, smoothing=0.1, max_iter=3, random_state=0)
    with cluster.client.as_current():
        estimator.fit(dd.from_pandas(frame, npartitions=2))
    assert estimator.feature_names_in_.tolist() == list(frame.columns)
    model = LatentTreeModel.load(tmp_path / "here" / "model.json")
    for one, other in zip(estimator.model_.tables, model.tables, strict=True):
        np.testing.assert_array_equal(one, other)
    with cluster.client.as_current():
        there = dd.from_pandas(frame, npartitions=2)
        scores, states = estimator.transform(there), estimator.predict(there)
    np.testing.assert_array_equal(np.asarray(scores), np.asarray(estimator.transform(frame)))
    np.testing.assert_array_equal(np.asarray(states), np.asarray(estimator.predict(frame)))


def test_rows_that_are_the_same_are_counted_once_in_this_process(cluster, monkeypatch):
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 1)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 128)
    frame = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (600, 4)), columns=list("abcd"))
    there = as_table(dd.from_pandas(frame, npartitions=3), client=cluster.client)
    assert len(there.rows.chunks) > 2
    here = as_table(frame)
    once = there.distinct.rows
    assert isinstance(once, MemoryRows)
    np.testing.assert_array_equal(once.codes, here.distinct.rows.codes)
    np.testing.assert_array_equal(once.weights, here.distinct.rows.weights)
    monkeypatch.setattr("latree.table.rows._MAX_DISTINCT_SHARE", 0.0)
    assert there.rows.distinct() is there.rows


def test_bootstraps_of_rows_in_memory_go_through_joblib_to_a_cluster(cluster):
    table = simulated_table(300)

    def trees():
        return [tree.to_newick() for tree in bootstrap_trees(table, lambda some, _: joined(some).tree, 3, 0)]

    expected = trees()
    with cluster.client.as_current(), joblib.parallel_config("dask"):
        assert trees() == expected


def test_experiments_go_through_joblib_to_a_cluster(cluster, tmp_path):
    def cell(rng, number):
        return [{"number": number, "value": float(rng.random()), "process": os.getpid(), "threads": n_threads()}]

    def rows(name):
        run = Run(tmp_path / name, seed=3)
        run.prepare()
        return run.rows("x", [Cell(f"cell{number}", cell, {"number": number}) for number in range(6)])

    expected = rows("here")
    with cluster.client.as_current(), joblib.parallel_config("dask"):
        found = rows("there")
    assert [(row["number"], row["value"]) for row in found] == [(row["number"], row["value"]) for row in expected]
    assert {row["process"] for row in found} <= {worker.pid for worker in cluster.workers}
    assert {row["threads"] for row in found} == {1}


def test_the_fingerprint_is_the_same_wherever_the_rows_are(on_cluster, chunks_of_128_rows):
    table = simulated_table(1000)
    assert on_cluster(table).fingerprint() == table.fingerprint()


def test_scores_are_the_same_wherever_the_rows_are(cluster, on_cluster, chunks_of_128_rows):
    table = simulated_table(1000)
    fitted = LatentTree("nj", n_states=2, random_state=0).fit(table)
    there = on_cluster(table)
    pd.testing.assert_frame_equal(fitted.transform(there), fitted.transform(table))
    pd.testing.assert_frame_equal(fitted.reliability(there), fitted.reliability(table))
    frame = dd.from_pandas(pd.DataFrame(table.decode()), npartitions=3)
    with cluster.client.as_current():
        pd.testing.assert_frame_equal(fitted.transform(frame), fitted.transform(table))
        pd.testing.assert_frame_equal(fitted.predict(frame), fitted.predict(table))


def test_what_a_cluster_cannot_do_is_said_in_one_line(cluster, tmp_path, monkeypatch):
    frame = mixed_frame(20)
    for data, options, message in (
        (write_frame(frame, tmp_path / "a.csv"), {}, "a cluster reads Parquet files"),
        (frame, {}, "a client is for Parquet files and Dask dataframes"),
        (dd.from_pandas(frame, npartitions=1), {"weights": np.ones(20)}, "must be a column of the data"),
        (dd.from_pandas(frame, npartitions=1), {"weights": "grades"}, "there is no column 'grades'"),
        (dd.from_pandas(frame.assign(w=-1.0), npartitions=2), {"weights": "w"}, "'w': a row has weight -1"),
    ):
        with pytest.raises(InputError, match=message):
            as_table(data, client=cluster.client, **options)
    with pytest.raises(InputError, match=r"needs a cluster.*dask\.distributed\.Client"):
        as_table(dd.from_pandas(frame, npartitions=1))
    for address in ("foo", "http://127.0.0.1:8786", "127.0.0.1:8786x", ""):
        with pytest.raises(InputError, match=r"not the address of a Dask scheduler; an address is like tcp://"):
            connect(address)
    monkeypatch.setattr("latree.table.dask.CONNECT_SECONDS", 0.2)
    with pytest.raises(InputError, match="no Dask scheduler answers"):
        connect("tcp://127.0.0.1:1")
    monkeypatch.setitem(sys.modules, "latree.table.dask", None)
    with pytest.raises(InputError, match=r"pip install 'dask\[dataframe\]' distributed"):
        as_table(dd.from_pandas(frame, npartitions=1))


def test_a_port_that_says_nothing_is_named_within_seconds(monkeypatch):
    monkeypatch.setattr("latree.table.dask.CONNECT_SECONDS", 0.5)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            connect(f"tcp://127.0.0.1:{server.getsockname()[1]}")


def test_workers_without_latree_are_named_and_left_alone(cluster, tmp_path):
    """Dask ends a worker that is sent a function of a module that it lacks, and others may need that worker."""
    path = write_frame(mixed_frame(20), tmp_path / "a.parquet")
    cluster.client.wait_for_workers(2, timeout=60)
    lacking = cluster.start_worker(has_latree=False)
    cluster.client.wait_for_workers(3, timeout=60)
    try:
        for data in (path, dd.from_pandas(mixed_frame(20), npartitions=1)):
            with pytest.raises(
                InputError, match=r"cannot be imported on 1 of 3 workers .*\(No module: latree\): install"
            ):
                as_table(data, client=cluster.client)
        assert len(cluster.client.nthreads()) == 3
        assert lacking.poll() is None
    finally:
        lacking.kill()
        lacking.wait()


def test_a_scheduler_without_latree_is_named(tmp_path):
    path = write_frame(mixed_frame(20), tmp_path / "a.parquet")
    cluster = Cluster(tmp_path, n_workers=0, has_latree=False)
    try:
        with pytest.raises(InputError, match=r"cannot be imported on the scheduler .*\(No module: latree\): install"):
            as_table(path, client=cluster.client)
    finally:
        cluster.close()


class Abandoned:
    """A client whose workers are all gone."""

    def nthreads(self):
        return {}

    def as_current(self):
        return nullcontext()


def test_a_cluster_without_workers_is_named_within_seconds(monkeypatch):
    monkeypatch.setattr("latree.table.dask.CONNECT_SECONDS", 0.3)
    monkeypatch.setattr("latree.table.dask.wait", mock.Mock(side_effect=TimeoutError))
    with pytest.raises(InputError, match="the cluster has no workers any more"):
        _gather(Abandoned(), [])
