"""The time and the memory of a fit to documents and words: python benchmarks/documents.py --rows 20000 --columns 5000.

Documents are about one to three topics. A topic has words of its own, which are much more frequent in its documents
than elsewhere, and which come several times in a document. A quarter of the words belong to no topic. Figures are those
of Debian's descriptions of packages: 20,000 texts, one per source, without stop words.
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
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, save_npz

# The share of documents that have the word of a rank is SCALE / (rank + SHIFT). In Debian's descriptions, the words of
# ranks 175, 350, 500, 1000 and 2500 are in 2.4, 1.4, 1.0, 0.5 and 0.2 % of them; a document has 12, 17 and 24 of the
# 350, 1000 and 5000 most frequent words.
SCALE, SHIFT = 5.3, 44
# One word of so many has no topic.
WITHOUT_TOPIC = 4
TOPICS_PER_AREA = 6
# The share of further topics of a document that are of the area of the first.
NEAR = 0.5
# The share of a word's documents that its topic accounts for. So the most dependent other word says 8 to 13 % of what
# there is to say about a word (mutual information by entropy, 350 to 5000 words); in Debian's descriptions 10 to 12 %.
OF_TOPIC = (0.5, 0.95)
# Inside its topic a word is in this share of the documents at most.
MOST_INSIDE = 0.9
# The share of occurrences that are followed by another one in the same document, in the word's topic and elsewhere.
# Together 23 % of the words of a document come more than once.
AGAIN_INSIDE, AGAIN = 0.3, 0.12


def documents(rows: int, columns: int, seed: int = 0) -> csr_array:
    """Return counts of words in simulated documents, without words that are in no document."""
    rng = np.random.default_rng(seed)
    frequency = SCALE / (np.arange(columns) + 1 + SHIFT)
    # A topic has as many words as a document. They are about equally frequent.
    of_topic = np.flatnonzero(np.arange(columns) % WITHOUT_TOPIC)
    topic = np.full(columns, -1)
    topic[of_topic] = np.arange(len(of_topic)) // round(frequency.sum())
    weight = np.bincount(topic[of_topic], frequency[of_topic]) / np.bincount(topic[of_topic])
    in_topic = _documents_of_topics(rows, weight / weight.sum(), rng)
    # Words inside and outside their topic, such that all occurrences add up to the frequency.
    explained = rng.uniform(*OF_TOPIC, columns)
    words, places, counts = [], [], []
    for word in range(columns):
        inside = in_topic[topic[word]] if topic[word] >= 0 else np.empty(0, dtype=np.intp)
        share = len(inside) / rows
        probability = min(explained[word] * frequency[word] / share, MOST_INSIDE) if share else 0.0
        elsewhere = min(max(frequency[word] - probability * share, 0.0), 1.0)
        for some, chance, again in ((inside, probability, AGAIN_INSIDE), (np.arange(rows), elsewhere, AGAIN)):
            chosen = rng.choice(some, rng.binomial(len(some), chance), replace=False, shuffle=False)
            places.append(chosen)
            words.append(np.full(len(chosen), word))
            counts.append(rng.geometric(1 - again, len(chosen)))
    cells = np.concatenate(counts), (np.concatenate(places), np.concatenate(words))
    matrix = coo_array(cells, shape=(rows, columns)).tocsr()
    return matrix[:, (matrix > 0).sum(axis=0) > 0]


def _documents_of_topics(rows: int, weights: NDArray[np.float64], rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Return the documents of each topic: each is about one to three, most of them of the same area."""
    area = rng.permutation(len(weights)) // TOPICS_PER_AREA
    members = [np.flatnonzero(area == number) for number in range(int(area.max()) + 1)]
    first = rng.choice(len(weights), rows, p=weights)
    n_topics = rng.integers(1, 4, rows)
    places, topics = [np.arange(rows)], [first]
    for number in (2, 3):
        more = np.flatnonzero(n_topics >= number)
        chosen = rng.choice(len(weights), len(more), p=weights)
        is_near = rng.random(len(more)) < NEAR
        for at, some in enumerate(members):
            near = np.flatnonzero(is_near & (area[first[more]] == at))
            chosen[near] = rng.choice(some, len(near), p=weights[some] / weights[some].sum())
        places.append(more)
        topics.append(chosen)
    all_places, all_topics = np.concatenate(places), np.concatenate(topics)
    return [np.unique(all_places[all_topics == topic]) for topic in range(len(weights))]


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
