"""The topics of documents as plain data, as columns of a frame, as lines of a table and as text."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from latree._util.words import percent, plural, shortened
from latree.interpret.names import SEPARATOR
from latree.interpret.topics import Topic, TopicRows, find_topics, is_word, topics_in_rows, typical_documents
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.table import Table
from latree.table.formats.text import guarded

# Rows are taken for documents if all columns may be words, and a smaller share of the cells says that a word is there.
# Then a sparse matrix is smaller than a dense one: it needs four bytes for the number of a cell, beside the cell.
_MAX_DENSITY = 1 / 5
# The words and the documents of a topic that are listed, unless the user asks for other numbers.
N_WORDS = 10
N_DOCUMENTS = 3
# The decimals of shares, probabilities and correlations.
_DECIMALS = 6
# Lines fit a terminal. Those of topics below others are indented.
_WIDTH = 80
_INDENT = 2
_SHARE = 7
_MAX_WORD = 40


def topic_facts(
    model: LatentTreeModel, table: Table | None = None, n_words: int = N_WORDS, n_documents: int = N_DOCUMENTS
) -> list[dict[str, Any]]:
    """Return the topics of a model, each after the one that it is a part of, as plain data.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        Documents, encoded with the model's columns: for the share of each topic in them, and for typical ones.
    n_words, n_documents : int
        The most words and documents of a topic.
    """
    topics = find_topics(model)
    names = model.tree.names
    facts = [
        {
            "id": at,
            "name": topic.name,
            "level": topic.level,
            "parent": None if topic.parent is None else topics[topic.parent].name,
            "group": topic.group,
            **_states(model, topic),
            "share": _rounded(topic.share),
            "words": [
                {
                    "name": names[word.column],
                    "inside": _rounded(word.inside),
                    "outside": _rounded(word.outside),
                    "correlation": _rounded(word.correlation),
                }
                for word in topic.words[:n_words]
            ],
        }
        for at, topic in enumerate(topics)
    ]
    if table is None:
        return facts
    found = topics_in_rows(model, topics, table)
    return [
        one | {"share_in_data": share, "documents": documents}
        for one, share, documents in zip(
            facts, _shares(found), _documents(model, topics, found, table, n_words, n_documents), strict=True
        )
    ]


def are_documents(model: LatentTreeModel) -> bool:
    """Return whether rows look like documents: all columns may be words, and few cells say that a word is there."""
    if not all(map(is_word, model.columns)):
        return False
    marginals = view_of(model).marginals
    return bool(np.mean([1 - marginals[node][0] for node in range(model.tree.n_observed)]) < _MAX_DENSITY)


def words_of(one: Mapping[str, Any]) -> str:
    """Return the words of a topic for people, with its name before them if it does not consist of the first ones."""
    words = SEPARATOR.join(shortened(word["name"], _MAX_WORD) for word in one["words"])
    return words if words.startswith(one["name"]) else f"{one['name']}: {words}"


def _states(model: LatentTreeModel, topic: Topic) -> dict[str, Any]:
    """Return the hidden variable whose states a topic is, and these states; none for a topic above others."""
    if len(topic.absent) > 1:
        return {"hidden": None, "states": []}
    ((node, absent),) = topic.absent.items()
    names = view_of(model).state_names(node)
    return {"hidden": model.node_names[node], "states": [names[state] for state in np.flatnonzero(~absent)]}


def _shares(found: TopicRows) -> list[float | None]:
    return [None if np.isnan(share) else _rounded(share) for share in found.shares.tolist()]


def _documents(
    model: LatentTreeModel, topics: Sequence[Topic], found: TopicRows, table: Table, n_words: int, n: int
) -> list[list[dict[str, Any]]]:
    """Return the typical documents of each topic."""
    typical = typical_documents(topics, found, table, n)
    numbers = np.array([one.row for some in typical for one in some], dtype=np.intp)
    names = iter(table.names_of_rows(numbers) if len(numbers) else [])
    return [
        [
            {
                "document": next(names),
                "probability": _rounded(one.probability),
                "words": [model.tree.names[column] for column in one.words[:n_words]],
            }
            for one in some
        ]
        for some in typical
    ]


def _rounded(number: float) -> float:
    return round(number, _DECIMALS)


def words_in_no_topic(model: LatentTreeModel) -> list[str]:
    """Return the words that are in no topic, in the order of the columns."""
    inside = {word.column for topic in find_topics(model) for word in topic.words}
    return [column.name for node, column in enumerate(model.columns) if is_word(column) and node not in inside]


def topic_columns(facts: Sequence[Mapping[str, Any]], with_rows: bool) -> dict[str, list[Any]]:
    """Return the columns of the frame of topics by name."""
    found: dict[str, list[Any]] = {
        "id": [one["id"] for one in facts],
        "topic": [one["name"] for one in facts],
        "level": [one["level"] for one in facts],
        "parent": [one["parent"] or "" for one in facts],
        "group": [one["group"] for one in facts],
        "hidden": [one["hidden"] or "" for one in facts],
        "states": [SEPARATOR.join(one["states"]) for one in facts],
        "share": [one["share"] for one in facts],
        "words": [SEPARATOR.join(word["name"] for word in one["words"]) for one in facts],
    }
    if with_rows:
        found["share_in_data"] = [
            float("nan") if one["share_in_data"] is None else one["share_in_data"] for one in facts
        ]
        found["documents"] = ["; ".join(map(_with_words, one["documents"])) for one in facts]
    return found


def _with_words(document: Mapping[str, Any]) -> str:
    """Return the name of a document, and the words of a topic that it has."""
    return f"{document['document']} ({SEPARATOR.join(document['words'])})"


def topic_table(facts: Sequence[Mapping[str, Any]], with_rows: bool) -> list[tuple[str, ...]]:
    """Return the lines of a table of topics: the header, and one line of text cells per topic."""
    columns = topic_columns(facts, with_rows)
    cells = [["" if value != value else guarded(str(value)) for value in values] for values in columns.values()]
    return [tuple(columns), *zip(*cells, strict=True)]


def topic_lines(facts: Sequence[Mapping[str, Any]], others: Sequence[str], width: int = _WIDTH) -> list[str]:
    """Return topics as lines of text: the share of documents and the words of each, parts below their topic.

    Parameters
    ----------
    facts : sequence of dict
        From :func:`topic_facts`.
    others : sequence of str
        The words that are in no topic.
    width : int
        Of the lines.
    """
    lines = (
        [plural(len(facts), "topic"), ""]
        if facts
        else ["no topics: no hidden variable says of two words that they occur together"]
    )
    for one in facts:
        indent = _SHARE + _INDENT * (one["level"] - 1)
        share = one.get("share_in_data")
        text = _in_percent(one["share"] if share is None else share).rjust(_SHARE - 2)
        lines += _wrapped(text.ljust(indent), words_of(one), indent + _INDENT, width)
        for document in one.get("documents", []):
            lines += _wrapped(" " * (indent + _INDENT) + "in ", _with_words(document), indent + 2 * _INDENT, width)
    if others:
        lines += ["", *_wrapped("", f"in no topic: {SEPARATOR.join(others)}", _INDENT, width)]
    return lines


def _in_percent(share: float) -> str:
    return f"{percent(share)} %" if percent(share) or not share else "<1 %"


def _wrapped(first: str, text: str, indent: int, width: int) -> list[str]:
    return wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=" " * indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
