"""The overhead of a Dask cluster: python benchmarks/cluster.py.

Two Dask workers on this machine hold simulated rows, 30 columns of 4 states. Prints the seconds for three sums over all
rows, in this process and on the workers: of nothing (the overhead of Dask itself), of all pair counts, and of EM's
expected counts. Also prints the bytes of the result of each chunk. Then the seconds of the search of `auto` for the
tree of `--columns` items of scales, with one worker and with two.
"""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

from latree import learn_tree
from latree.counts.contingency import pair_tables
from latree.inference.messages import expected_counts
from latree.inference.network import Network
from latree.inference.patterns import PlanCache
from latree.inference.starts import random_start
from latree.paper.simulate import random_tree
from latree.table import Block, Table, as_table, rows
from latree.table.rows import Sums
from size import write
from timing import interleaved
from wide import scales


def nothing(block: Block) -> Sums:
    """Return almost nothing."""
    return np.zeros(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=2e6)
    parser.add_argument("--chunk-cells", type=int, default=rows.CHUNK_CELLS, help="fewer make more chunks")
    parser.add_argument("--columns", type=int, default=600, help="of the table that is searched")
    parser.add_argument("--only-search", action="store_true")
    arguments = parser.parse_args()
    if not arguments.only_search:
        sums(arguments)
    search(arguments.columns)


def search(columns: int) -> None:
    """Print how long the search takes with one worker and with two."""
    seconds, found = [], []
    with TemporaryDirectory() as folder:
        path = Path(folder) / "items.parquet"
        pq.write_table(pa.table(scales(columns, 1000).table.decode()), path)
        for n_workers in (1, 2):
            with (
                LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
                Client(cluster) as client,
            ):
                table = as_table(path, client=client)
                started = time.perf_counter()
                found.append(learn_tree(table, random_state=0).to_newick())
                seconds.append(time.perf_counter() - started)
    print(f"search of {columns} columns: 1 worker {seconds[0]:.1f} s, 2 workers {seconds[1]:.1f} s, ", end="")
    print(f"{seconds[0] / seconds[1]:.2f} times as fast; the same tree: {found[0] == found[1]}")


def sums(arguments: argparse.Namespace) -> None:
    """Print the seconds of sums over all rows."""
    rows.CHUNK_CELLS = arguments.chunk_cells
    with TemporaryDirectory() as folder:
        path = Path(folder) / "data.parquet"
        write(path, int(arguments.rows), numbers=False)
        here = as_table(path)
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
            Client(cluster) as client,
        ):
            there = as_table(path, client=client)
            tree = random_tree(30, 0.5, 0)
            network = Network.on_tree(tree, random_start(here, tree, 4, 0))
            plans = PlanCache(network)

            def counts(block: Block) -> Sums:
                return expected_counts(network, plans.plan_for(block), block.weights)

            tasks: dict[str, Callable[[Table], Sums]] = {
                "nothing": lambda table: table.sum(nothing),
                "pair tables": pair_tables,
                "expected counts": lambda table: table.sum(counts, plans.max_rows),
            }
            n_chunks = len(there.rows.chunks)  # type: ignore[attr-defined]
            print(f"{int(arguments.rows)} rows in {n_chunks} chunks")
            print(f"{'sum':18}{'here, s':>9}{'there, s':>10}{'bytes':>10}")
            for name, task in tasks.items():
                result = task(here)
                size = sum(part.nbytes for part in result) if isinstance(result, tuple) else result.nbytes
                taken = interleaved({"here": partial(task, here), "there": partial(task, there)}, 3)
                print(f"{name:18}{taken['here'].wall:9.3f}{taken['there'].wall:10.3f}{size:10}", flush=True)


if __name__ == "__main__":
    main()
