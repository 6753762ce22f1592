"""The time and the memory of a fit to documents and words: python benchmarks/documents.py --rows 20000 --columns 5000.

Documents are about a few of 50 topics; each topic prefers some words, and words are as frequent as Zipf's law says.
The matrix of counts is written as .npz, and `latree fit` runs on it in a process of its own. Prints how many cells are
not zero, the seconds, and the peak memory of the process (ru_maxrss). Arguments after -- go to `latree fit`.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array, csr_array, save_npz

TOPICS = 50
WORDS_PER_DOCUMENT = 120


def documents(rows: int, columns: int, seed: int = 0) -> csr_array:
    """Return counts of words in simulated documents, without words that are in no document."""
    rng = np.random.default_rng(seed)
    frequency = 1 / (np.arange(columns) + 10.0)
    rates = frequency * rng.gamma(0.1, 1.0, (TOPICS, columns))
    rates /= rates.sum(axis=1, keepdims=True)
    common = frequency / frequency.sum()
    shares = rng.dirichlet(np.full(TOPICS, 0.05), rows)
    lengths = rng.poisson(WORDS_PER_DOCUMENT, rows)
    words = [
        rng.choice(columns, length, p=0.5 * common + 0.5 * (share @ rates))
        for length, share in zip(lengths, shares, strict=True)
    ]
    places = np.repeat(np.arange(rows), lengths), np.concatenate(words)
    counts = coo_array((np.ones(len(places[0]), dtype=np.int64), places), shape=(rows, columns)).tocsr()
    return counts[:, (counts > 0).sum(axis=0) > 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=5_000)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder by default")
    parser.add_argument("options", nargs="*", help="of latree fit, after --")
    arguments = parser.parse_args()
    counts = documents(arguments.rows, arguments.columns)
    print(f"{counts.shape[0]} documents, {counts.shape[1]} words, {counts.nnz} cells that are not zero", flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        data = Path(folder) / "documents.npz"
        save_npz(data, counts)
        command = [sys.executable, "-m", "latree", "fit", str(data), "--out", str(Path(folder) / "run"), "--quiet"]
        started = time.perf_counter()
        process = subprocess.Popen([*command, *arguments.options])
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - started
        if status:
            raise SystemExit(f"latree fit failed with {status}")
        peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        print(f"{' '.join(arguments.options) or 'all defaults'}: {seconds:.0f} s, peak memory {peak / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
