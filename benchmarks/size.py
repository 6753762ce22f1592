"""The memory of a fit for growing numbers of rows: python benchmarks/size.py --rows 1e6 5e6.

For each number of rows, a Parquet file with 30 simulated columns of 4 states is written in chunks (8 % of the cells of
each column are missing), and `latree fit` runs on it in a process of its own. Prints the size of the file, the seconds,
and the peak memory of the process (ru_maxrss). `--csv` uses a text file, `--numbers` columns of distinct numbers, whose
quantiles must be found. Arguments after -- go to `latree fit`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from latree.paper.simulate import random_model, random_tree

COLUMNS = 30
AT_ONCE = 250_000


def pieces(rows: int, numbers: bool) -> Iterator[pa.Table]:
    """Yield simulated rows in chunks."""
    tree = random_tree(COLUMNS, 0.5, 0)
    model = random_model(tree, n_states=4, hidden_states=4, start="identity", perturbation=0.2, random_state=0)
    for start in range(0, rows, AT_ONCE):
        size = min(AT_ONCE, rows - start)
        codes = model.sample_all(size, start)[:, :COLUMNS]
        holes = np.random.default_rng([start, 1]).random(size) < 0.08
        noise = np.random.default_rng([start, 2])
        cells = codes + noise.normal(size=codes.shape) if numbers else codes.astype(np.int8)
        yield pa.table({f"x{j}": pa.array(cells[:, j], mask=np.roll(holes, j)) for j in range(COLUMNS)})


def write(path: Path, rows: int, numbers: bool) -> None:
    """Write the file chunk by chunk."""
    stream = pieces(rows, numbers)
    first = next(stream)
    writer = (
        pyarrow.csv.CSVWriter(path, first.schema) if path.suffix == ".csv" else pq.ParquetWriter(path, first.schema)
    )
    with writer:
        writer.write_table(first)
        for piece in stream:
            writer.write_table(piece)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", nargs="+", type=float, default=[1e6, 5e6])
    parser.add_argument("--csv", action="store_true")
    parser.add_argument("--numbers", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder by default")
    parser.add_argument("options", nargs="*", help="of latree fit, after --")
    arguments = parser.parse_args()
    print(f"{'rows':>12}{'file, MB':>10}{'seconds':>9}{'peak memory, MB':>17}")
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        for rows in map(int, arguments.rows):
            data = Path(folder) / f"data{'.csv' if arguments.csv else '.parquet'}"
            write(data, rows, arguments.numbers)
            command = [sys.executable, "-m", "latree", "fit", str(data), "--out", str(Path(folder) / f"run-{rows}")]
            started = time.perf_counter()
            process = subprocess.Popen([*command, "--quiet", *arguments.options])
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - started
            if status:
                raise SystemExit(f"latree fit failed with {status}")
            peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
            print(f"{rows:12}{data.stat().st_size / 1e6:10.0f}{seconds:9.0f}{peak / 1e6:17.0f}", flush=True)


if __name__ == "__main__":
    main()
