"""Texts that come with Python: its own language reference, as words that occur in a paragraph or not."""

import re

import numpy as np

from latree._util.frames import make_frame
from latree.datasets.dataset import Dataset

WORDS = (
    *("argument", "attribute", "breakpoint", "byte", "case", "character", "class", "command", "debugger", "dictionary"),
    *("exception", "global", "import", "instance", "integer", "key", "keyword", "mapping", "match", "metaclass"),
    *("method", "module", "namespace", "number", "numeric", "operator", "parameter", "pattern", "positional", "scope"),
    *("string", "subject", "traceback", "unicode"),
)
_LEAST_WORDS = 13  # of a paragraph; shorter ones are headings and lines of code


def load_python_manual() -> Dataset:
    """Return which of 34 words occur in the paragraphs of Python's language reference.

    The texts are those that ``help("topics")`` shows; they come with Python itself, in ``pydoc_data.topics``. A word
    also counts if it occurs in the plural. The words were chosen by eye, so that the topics are easy to name: the table
    is an example, and shows nothing about how well topics are found elsewhere. Versions of Python have different texts,
    so that the table differs a little between machines.

    Returns
    -------
    Dataset
        Rows are paragraphs, columns are words, cells are 0 or 1. ``rows`` has the topic of the manual and the text.

    Examples
    --------
    >>> from latree.datasets import load_python_manual
    >>> manual = load_python_manual()
    >>> len(manual.data.columns), len(manual.data) > 900
    (34, True)
    """
    from pydoc_data.topics import topics

    paragraphs: dict[frozenset[str], tuple[str, str]] = {}  # a paragraph that several topics have counts once
    for topic, text in sorted(topics.items()):
        for paragraph in re.split(r"\n\s*\n", text):
            words = frozenset(re.findall(r"[a-z]+", paragraph.lower()))
            if len(words) >= _LEAST_WORDS:
                paragraphs.setdefault(words, (topic, " ".join(paragraph.split())))
    cells = {word: np.array([bool(_forms(word) & words) for words in paragraphs], dtype=np.int64) for word in WORDS}
    rows = list(paragraphs.values())
    return Dataset(
        data=make_frame(cells),
        labels={},
        rows=make_frame({"topic": [topic for topic, _ in rows], "text": [text for _, text in rows]}),
        tree=None,
        description=(
            f"{len(rows)} paragraphs of Python's language reference, {len(WORDS)} words; they come with Python, under "
            "the licence of the Python Software Foundation"
        ),
    )


def _forms(word: str) -> set[str]:
    """Return a word and what may be its plural."""
    return {word, f"{word}s", f"{word}es", f"{word[:-1]}ies"}
