"""The time, the memory and the result of the default on wide tables: a part of benchmarks/speed.py.

Every fit runs in a process of its own, as `latree fit` would. The reference, in the same run, is what people use for
such tables: scikit-learn's LDA with 50 topics and 10 passes for words, and one fit of StepMix with four classes for
others of up to 1000 columns. It learns no tree and is given a number of topics or classes.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Collection
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array
from sklearn.decomposition import LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.metrics import adjusted_rand_score

from documents import documents
from em import stepmix
from latree import Table, as_table, random_model, random_tree
from latree.learn import Learned, learn_model
from latree.settings import Settings
from latree.table import Column
from timing import exponent

# Scales of so many items; so many scales are a domain, under one general factor.
ITEMS, SCALES_PER_DOMAIN = 5, 50


class Wide(NamedTuple):
    """A table, and a function that says how right a fit is; none where the truth is not known."""

    table: Table
    judge: Callable[[Learned], str] | None = None
    words: csr_array | None = None


def scales(columns: int, rows: int, states: int = 4, seed: int = 0) -> Wide:
    """Return items of scales: each copies its scale with probability .6, a scale its domain (.7), that the top (.6)."""
    rng = np.random.default_rng(seed)

    def copies(above: Any, share: float, n: int) -> Any:
        return np.where(rng.random(above.shape) < share, above, rng.integers(0, n, above.shape)).astype(np.int8)

    n_scales = columns // ITEMS
    top = rng.integers(0, min(3, states), (rows, 1))
    domains = copies(np.repeat(top, -(-n_scales // SCALES_PER_DOMAIN), axis=1), 0.6, min(3, states))
    of_scale = copies(domains[:, np.arange(n_scales) // SCALES_PER_DOMAIN], 0.7, min(3, states))
    codes = copies(np.repeat(of_scale, ITEMS, axis=1), 0.6, states)
    names = [f"s{column // ITEMS + 1}_{column % ITEMS + 1}" for column in range(n_scales * ITEMS)]
    values = tuple(map(str, range(states)))
    return Wide(Table.from_codes([Column(name, "integer", values) for name in names], codes.astype(np.int32)), _groups)


def _groups(learned: Learned) -> str:
    true = [name.partition("_")[0] for name in learned.model.tree.names]
    shares = []
    for level in ("main", "fine"):
        label = {name: number for number, group in enumerate(_of(learned, level)) for name in group.columns}
        shares.append(adjusted_rand_score(true, [label.get(name, -1) for name in learned.model.tree.names]))
    return f"ARI of groups with the scales: main {shares[0]:.3f}, fine {shares[1]:.3f}"


def _of(learned: Learned, level: str) -> list[Any]:
    """Return the groups of a level; main groups that are not divided are fine ones, too."""
    groups = learned.model.groups
    divided = {group.parent for group in groups if group.level == "fine"}
    return [
        group
        for number, group in enumerate(groups)
        if group.level == level or (level == "fine" and group.level == "main" and number not in divided)
    ]


def paper(columns: int, rows: int, states: int, hidden: int | tuple[int, int] = 4, seed: int = 0) -> Wide:
    """Return rows of one of the paper's binary trees."""
    tree = random_tree(columns, random_state=seed)
    model = random_model(
        tree, n_states=states, hidden_states=hidden, start="identity", perturbation=0.2, random_state=seed
    )

    def judge(learned: Learned) -> str:
        found, most = learned.model.tree, tree.max_robinson_foulds
        return f"Robinson-Foulds distance {found.robinson_foulds(tree)} of {most}"

    return Wide(model.sample(rows, seed), judge)


def words(columns: int, rows: int, texts: Path | None, seed: int = 0) -> Wide:
    """Return words in documents: of a file with one text per line, or simulated."""
    if texts is None:
        counts, names = documents(rows, columns, seed), None
    else:
        lines = texts.read_text().splitlines()
        chosen = np.random.default_rng(seed).permutation(len(lines))[:rows]
        vectorizer = CountVectorizer(stop_words="english", max_df=0.2, max_features=columns, token_pattern="[a-z]{3,}")
        counts = csr_array(vectorizer.fit_transform([lines[number] for number in chosen]))
        names = vectorizer.get_feature_names_out()
    return Wide(as_table(counts, names=names), words=counts)


def binary(columns: int, rows: int) -> Wide:
    """Return scales with two answers."""
    return scales(columns, rows, states=2)


def tables(texts: Path | None) -> dict[str, Callable[[], Wide]]:
    """Return all tables by their names."""
    return {
        "300 words x 5066": lambda: words(300, 5066, texts),
        "1000 words x 20000": lambda: words(1000, 20_000, texts),
        "1000 x 1500 x 10": lambda: paper(1000, 1500, 10),
        "the same, 2-8 hidden": lambda: paper(1000, 1500, 10, (2, 8)),
        "1000 x 5000 x 4": lambda: paper(1000, 5000, 4),
        "1000 scales x 2000": lambda: scales(1000, 2000),
        "10000 scales x 5000": lambda: scales(10_000, 5000),
        "10000 words x 50000": lambda: words(10_000, 50_000, texts),
        "50000 binary x 2000": lambda: binary(50_000, 2000),
    }


def wide(texts: str | None = None, only: Collection[str] = ()) -> None:
    """Measure the default on wide tables, and how its time grows with the columns."""
    print(f"{'':22}{'seconds':>9}{'cpu':>9}{'GB':>7}   {'reference':>9}   result")
    for name, make in tables(None if texts is None else Path(texts)).items():
        if only and name not in only:
            continue
        seconds, cpu, memory, result = apart(_fitted, make)
        reference, _, _, what = apart(_reference, make)
        print(f"{name:22}{seconds:9.1f}{cpu:9.1f}{memory:7.2f}   {reference:9.1f}   {result}; {what}", flush=True)
    if not only or "growth" in only:
        sizes = (250, 500, 1000, 2000, 4000, 8000)
        taken = [apart(_fitted, partial(scales, size, 1000))[1] for size in sizes]
        line = ", ".join(f"{size}: {cpu:.0f} s" for size, cpu in zip(sizes, taken, strict=True))
        print(f"  growth with columns, scales x 1000 rows, cpu: {exponent(sizes, taken):.2f}  ({line})", flush=True)


def apart(task: Callable[[Callable[[], Wide]], tuple[float, str]], make: Callable[[], Wide]) -> tuple[Any, ...]:
    """Run a task in a process of its own; return its seconds, processor seconds, gigabytes, and what it says."""
    here, there = get_context("fork").Pipe()
    process = get_context("fork").Process(target=_report, args=(there, task, make))
    process.start()
    there.close()
    found: tuple[Any, ...] = here.recv()
    process.join()
    return found


def _report(pipe: Connection, task: Callable[[Callable[[], Wide]], tuple[float, str]], make: Any) -> None:
    cpu = sum(os.times()[:4])
    seconds, said = task(make)
    peaks = [resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    unit = 1 if sys.platform == "darwin" else 1024
    pipe.send((seconds, sum(os.times()[:4]) - cpu, sum(peaks) * unit / 1e9, said))


def _fitted(make: Callable[[], Wide]) -> tuple[float, str]:
    made = make()
    started = time.perf_counter()
    learned = learn_model(made.table, Settings(random_state=0))
    said = [f"{learned.model.tree.n_hidden} hidden variables"]  # reads the model, as the report does
    seconds = time.perf_counter() - started
    return seconds, ", ".join([*said, *([made.judge(learned)] if made.judge else [])])


def _reference(make: Callable[[], Wide]) -> tuple[float, str]:
    made = make()
    started = time.perf_counter()
    if made.words is not None:
        LatentDirichletAllocation(50, max_iter=10, learning_method="batch", random_state=0).fit(made.words)
        return time.perf_counter() - started, "LDA"
    if made.table.n_columns > 1000:
        return float("nan"), "no reference"
    stepmix(made.table, 4, iterations=None)()
    return time.perf_counter() - started, "StepMix"
