r"""Topics beside LDA and NMF: python benchmarks/topics.py --texts FILE (or --table FILE) [--write NAME].

A file of texts has one document per line; the most frequent words that are no stop words are taken. A table has one row
per document and one column of zeros and ones per word, and may be compressed. Debian's descriptions of packages are
such texts, one per source, on a machine that has them in English (`apt-get -o Acquire::Languages=en update`):

    apt-cache -o Acquire::Languages=en show $(apt-cache pkgnames) | awk -v RS= '{
        source = match($0, /\nSource: [^ \n]+/) ? substr($0, RSTART + 9, RLENGTH - 9) : $2
        start = index($0, "\nDescription-en: ")
        if (start && !(source in seen)) {
            seen[source]; text = substr($0, start + 17)
            sub(/\n[A-Z].*/, "", text); gsub(/[ \n]+/, " ", text); print text}}' > debian.txt

Half of the documents are fitted, and the coherence of topics is measured in the other half. LDA and NMF of scikit-learn
get as many topics as latree finds at the bottom of its hierarchy, and the same words: LDA their counts, and NMF their
tf-idf; latree sees only whether they occur. Their topics have 10 words; those of latree have at most 10, and often
fewer. So the column "same length" cuts the topics of the others to the lengths that latree's have, large ones
first. A level above is made for LDA and NMF by as many topics as latree has there, fitted for themselves, and each
topic below belongs to the one with the most similar weights of words (cosine).

- NPMI: mean over pairs of a topic's words of log(p_ij / (p_i p_j)) / -log p_ij; -1 for pairs that are never together.
- covered: the share of all words that are in the list of a topic at the bottom.
- TD, topic diversity: the share of words in the lists of all topics at the bottom that are in no other list.
- PCC, parent-child coherence: NPMI of pairs of a parent's and a child's words that are not in both lists; -1 for pairs
  of words that are.
- PCD, parent-child diversity: the share of words in the two lists that are in one of them only.
- SD, sibling diversity: TD of the children of a parent.
- PnCD, parent-non-child diversity: PCD of a parent and topics of the level below it that are not its children.

The last four are those of TopMost (X. Wu and others: On the affinity, rationality, and diversity of hierarchical topic
modeling, 2024), as means over all pairs. A parent of latree is the union of its children and lists their words, which
PCC counts as a fault.
"""

import argparse
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.decomposition import NMF, LatentDirichletAllocation
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

import latree
from page import DOCS, Section

N_WORDS = 10
COLUMNS = ("topics", "words", "NPMI", "same length", "covered", "TD", "PCC", "PCD", "SD", "PnCD", "seconds")
ONE_DECIMAL = ("topics", "words", "seconds")


class Found(NamedTuple):
    """Topics: their words by number, the strongest first, and the numbers of their parents, -1 for none."""

    words: list[list[int]]
    parents: list[int]

    @property
    def bottom(self) -> list[list[int]]:
        """The words of the topics that have no topics below them."""
        return [words for at, words in enumerate(self.words) if at not in self.parents]


def npmi_matrix(there: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the normalised pointwise mutual information of every two words in documents."""
    matrix = csr_array(there.astype(np.float64))
    joint = (matrix.T @ matrix).toarray() / len(there)
    single = joint.diagonal()
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(joint / np.outer(single, single)) / -np.log(joint)
    return np.where(joint == 0, -1.0, np.where(joint == 1, 1.0, found))


def coherence(topics: list[list[int]], npmi: NDArray[np.float64]) -> float:
    """Return the mean over topics of the mean NPMI of their pairs of words."""
    pairs = [npmi[np.ix_(words, words)][np.triu_indices(len(words), 1)] for words in topics if len(words) > 1]
    return float(np.mean([some.mean() for some in pairs])) if pairs else np.nan


def diversity(topics: list[list[int]]) -> float:
    """Return the share of words in lists that are in one list only."""
    counts = np.unique([word for words in topics for word in words], return_counts=True)[1]
    return float((counts == 1).sum() / counts.sum())


def parent_child_coherence(parent: list[int], child: list[int], npmi: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the NPMI of pairs of words of two topics, those that both have apart; see the top of this file."""
    both = set(parent) & set(child)
    first, second = ([word for word in words if word not in both] for words in (parent, child))
    return np.concatenate([npmi[np.ix_(first, second)].ravel(), np.full(len(both) ** 2, -1.0)])


def hierarchy(found: Found, npmi: NDArray[np.float64]) -> dict[str, float]:
    """Return the four measures of a hierarchy; NaN if there is none."""
    levels = [0] * len(found.words)
    for at, parent in enumerate(found.parents):  # parents come first
        levels[at] = levels[parent] + 1 if parent >= 0 else 0
    children = [[at for at, parent in enumerate(found.parents) if parent == above] for above in range(len(levels))]
    coherences, pairs, siblings, others = [], [], [], []
    for above, below in enumerate(children):
        if not below:
            continue
        siblings.append(diversity([found.words[at] for at in below]))
        for at in range(len(levels)):
            if at in below:
                coherences.append(parent_child_coherence(found.words[above], found.words[at], npmi))
                pairs.append(diversity([found.words[above], found.words[at]]))
            elif levels[at] == levels[above] + 1:
                others.append(diversity([found.words[above], found.words[at]]))
    values_of: dict[str, Any] = {
        "PCC": np.concatenate(coherences or [np.empty(0)]),
        "PCD": pairs,
        "SD": siblings,
        "PnCD": others,
    }
    return {name: float(np.mean(values)) if len(values) else np.nan for name, values in values_of.items()}


def of_latree(there: NDArray[np.bool_], names: list[str], seed: int) -> Found:
    """Return the topics of latree."""
    frame = pd.DataFrame(there, columns=names)
    topics = latree.LatentTree(random_state=seed).fit(frame).topics(n_words=N_WORDS)
    number, at = ({name: place for place, name in enumerate(some)} for some in (names, topics["topic"]))
    words = [[number[word] for word in some.split(", ")] for some in topics["words"]]
    return Found(words, [at.get(parent, -1) for parent in topics["parent"]])


def of_factors(make: Any, matrix: Any, n_bottom: int, n_above: int) -> Found:
    """Return topics of a model with weights of words, and a level above them of another such model."""
    above = make(n_above).fit(matrix).components_ if n_above > 1 else np.empty((0, matrix.shape[1]))
    model = make(n_bottom)
    weights = model.fit_transform(matrix)
    bottom = model.components_[np.argsort(-weights.sum(axis=0), kind="stable")]  # large topics first
    unit = [some / np.maximum(np.linalg.norm(some, axis=1, keepdims=True), 1e-12) for some in (above, bottom)]
    nearest = (unit[1] @ unit[0].T).argmax(axis=1) if len(above) else np.full(n_bottom, -1)
    with_children, parents = np.unique(nearest, return_inverse=True)
    if not len(above):
        with_children, parents = with_children[:0], nearest
    words = [np.argsort(-some, kind="stable")[:N_WORDS].tolist() for some in (*above[with_children], *bottom)]
    return Found(words, [-1] * len(with_children) + parents.tolist())


def measured(found: Found, npmi: NDArray[np.float64], lengths: list[int], seconds: float) -> dict[str, float]:
    """Return the figures of one line."""
    bottom, n_columns = found.bottom, len(npmi)
    cut = [words[:length] for words, length in zip(bottom, lengths, strict=False)]
    return {
        "topics": len(bottom),
        "words": float(np.mean(list(map(len, bottom)))),
        "NPMI": coherence(bottom, npmi),
        "same length": coherence(cut, npmi),
        "covered": len({word for words in bottom for word in words}) / n_columns,
        "TD": diversity(bottom),
        **hierarchy(found, npmi),
        "seconds": seconds,
    }


def compare(counts: csr_array, names: list[str], n_topics: int | None, seed: int) -> dict[str, dict[str, float]]:
    """Return the figures of every method on a random half of the documents, measured in the other half."""
    order = np.random.default_rng(seed).permutation(counts.shape[0])
    train, test = counts[order[: len(order) // 2]], counts[order[len(order) // 2 :]]
    npmi = npmi_matrix(test.toarray() > 0)
    started = time.process_time()
    own = of_latree(train.toarray() > 0, names, seed)
    lines = {"latree": measured(own, npmi, list(map(len, own.bottom)), time.process_time() - started)}
    n_above = len(set(own.parents) - {-1})
    lengths = list(map(len, own.bottom))
    makers = {
        "LDA": (lambda k: LatentDirichletAllocation(k, max_iter=50, random_state=seed), train),
        "NMF": (
            lambda k: NMF(k, init="nndsvda", max_iter=1000, random_state=seed),
            TfidfTransformer().fit_transform(train),
        ),
    }
    for name, (make, matrix) in makers.items():
        started = time.process_time()
        found = of_factors(make, matrix, n_topics or len(own.bottom), n_above)
        lines[name] = measured(found, npmi, lengths, time.process_time() - started)
    return lines


def read(arguments: argparse.Namespace) -> tuple[csr_array, list[str]]:
    """Return counts of words in documents, and the words."""
    rng = np.random.default_rng(0)
    if arguments.table:
        frame = pd.read_csv(arguments.table).drop(columns=arguments.drop)
        frame = frame.iloc[np.sort(rng.permutation(len(frame))[: arguments.documents]), : arguments.words]
        return csr_array(frame.to_numpy()), list(frame.columns)
    texts = arguments.texts.read_text(encoding="utf-8").splitlines()
    chosen = [texts[row] for row in np.sort(rng.permutation(len(texts))[: arguments.documents])]
    pattern = r"[A-Za-z]{3,}"
    how: dict[str, Any] = {"stop_words": "english", "max_df": 0.2, "token_pattern": pattern}
    vectorizer = CountVectorizer(max_features=arguments.words, **how)
    return csr_array(vectorizer.fit_transform(chosen)), list(vectorizer.get_feature_names_out())


def _width(name: str) -> int:
    return max(8, len(name) + 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--texts", type=Path, help="one document per line")
    source.add_argument("--table", type=Path, help="CSV file of zeros and ones")
    parser.add_argument("--drop", nargs="*", default=[], help="columns of the table that are no words")
    parser.add_argument("--words", type=int, default=150, help="most words")
    parser.add_argument("--documents", type=int, default=8000, help="most documents, fitted and held out")
    parser.add_argument("--topics", type=int, help="topics of LDA and NMF; by default as many as latree finds")
    parser.add_argument("--seeds", type=int, default=3, help="number of random halves")
    parser.add_argument("--write", metavar="NAME", help="put the table into this section of docs/topics.md")
    arguments = parser.parse_args()
    counts, names = read(arguments)
    found = [compare(counts, names, arguments.topics, seed) for seed in range(arguments.seeds)]
    section = Section(arguments.write or "", bool(arguments.write), DOCS / "topics.md")
    file = arguments.texts or arguments.table
    n_halves = f"{arguments.seeds} random halves" if arguments.seeds > 1 else "one random half"
    section.add(f"{file.name}: {counts.shape[0]} documents, {len(names)} words; means over {n_halves}")
    section.add(" " * 8 + "".join(f"{name:>{_width(name)}}" for name in COLUMNS))
    for method in found[0]:
        means = {name: np.mean([one[method][name] for one in found]) for name in COLUMNS}
        cells = (f"{value:{_width(name)}.{1 if name in ONE_DECIMAL else 2}f}" for name, value in means.items())
        section.add(f"{method:8}" + "".join(cells))
    section.publish()


if __name__ == "__main__":
    main()
