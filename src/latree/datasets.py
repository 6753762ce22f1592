"""Small tables for examples and first steps. Nothing is downloaded.

- :func:`make_questionnaire`: people × items, with the true scales. Simulated by latree, free to use.
- :func:`make_everyday`: people × questions in words, with two surprises. Simulated by latree, free to use.
- :func:`make_alignment`: sites × taxa, with the true tree. Simulated by latree, free to use.
- :func:`load_python_manual`: paragraphs × words of Python's language reference. It comes with Python, under the licence
  of the Python Software Foundation.

scikit-learn has more tables that suit latree: ``load_breast_cancer``, ``load_digits`` and ``load_wine``.

Examples
--------
>>> import latree
>>> from latree.datasets import make_questionnaire
>>> answers = make_questionnaire(200, random_state=0)
>>> model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(answers.data)
>>> model.model_.tree.n_observed
20
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.stats import binom

from latree._util.arrays import FloatArray, RandomState, generator, make_frame
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

__all__ = ["load_python_manual", "make_alignment", "make_everyday", "make_questionnaire"]


@dataclass(frozen=True)
class Dataset:
    """A table for examples, with what is known about it.

    Attributes
    ----------
    data : data frame
        Of pandas, polars or pyarrow, the first of them that is installed; without any, a dict of columns.
    labels : dict of str to str
        The true group of each column, where there is one. ``latree.plot`` and reports take it as colours.
    rows : data frame
        What is known about each row, such as its true scores.
    tree : Tree or None
        The true tree of the columns, where there is one.
    description : str
        What the table is, where it comes from, and its licence.
    texts : dict of str to str
        The wording of the questions, where columns are questions.

    Examples
    --------
    >>> from latree.datasets import make_questionnaire
    >>> answers = make_questionnaire(3, random_state=0)
    >>> answers.labels["worry_1"], answers.tree.n_hidden
    ('worry', 5)
    >>> print(answers.rows)
       worry  social  order  ideas
    0      0       0      1      2
    1      1       1      1      0
    2      2       1      0      0
    """

    data: Any = field(repr=False)
    labels: dict[str, str] = field(repr=False)
    rows: Any = field(repr=False)
    tree: Tree | None = field(repr=False)
    description: str
    texts: dict[str, str] = field(default_factory=dict, repr=False)


SCALES = ("worry", "social", "order", "ideas")
_ITEMS = 5  # per scale; the last one is reversed
_ANSWERS = 5  # from 1 to 5
# How much an answer rises from one level of the scale to the next, item by item: the first items are the best.
_SLOPES = (0.35, 0.32, 0.29, 0.26, -0.26)
# P(level of a scale | level of the general factor): columns are the general factor's two levels.
_SCALE_TABLE = np.array([[0.5, 0.15], [0.35, 0.35], [0.15, 0.5]])


def make_questionnaire(n_people: int = 800, *, missing: float = 0.0, random_state: RandomState = 0) -> Dataset:
    """Simulate a questionnaire of four scales with five items each, answered from 1 to 5.

    Every person has a level on each scale: 0 (low), 1 or 2 (high). The scales depend on each other through a general
    factor with two levels. Given the level, the answer to an item is ``1 + Binomial(4, p)``, where p rises with the
    level, and falls in the last item of each scale, which is reversed.

    Parameters
    ----------
    n_people : int
        Number of rows.
    missing : float
        Share of the answers that are missing, at random.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        ``labels`` has the scale of each item, ``rows`` the levels of each person, ``tree`` the true tree.

    Examples
    --------
    >>> from latree.datasets import make_questionnaire
    >>> answers = make_questionnaire(2, random_state=0)
    >>> answers.data[["worry_1", "worry_2", "worry_5"]]
       worry_1  worry_2  worry_5
    0        2        2        5
    1        3        2        2
    """
    if not 0 <= missing < 1:
        raise InputError(f"the share of missing answers must be from 0 to less than 1, not {missing}")
    rng = generator(random_state)
    model = _model()
    states = model.sample_all(n_people, rng)
    n_items = model.tree.n_observed
    absent = rng.random((n_people, n_items)) < missing
    data = {name: _answers(states[:, column] + 1, absent[:, column]) for column, name in enumerate(model.tree.names)}
    levels = {scale: states[:, n_items + number].astype(np.int64) for number, scale in enumerate(SCALES)}
    return Dataset(
        data=make_frame(data),
        labels={name: name.partition("_")[0] for name in model.tree.names},
        rows=make_frame(levels),
        tree=model.tree,
        description=f"{n_people} people × {n_items} items of {len(SCALES)} scales; simulated by latree, free to use",
    )


def _answers(answers: Any, absent: Any) -> Any:
    """Return whole numbers, or, if some are missing, numbers with NaN."""
    return np.where(absent, np.nan, answers) if absent.any() else answers.astype(np.int64)


def _model() -> LatentTreeModel:
    """Return the model that answers of `make_questionnaire` are drawn from."""
    items = {scale: [f"{scale}_{number + 1}" for number in range(_ITEMS)] for scale in SCALES}
    return _scales_model(items, [_SLOPES] * len(SCALES), [_SCALE_TABLE] * len(SCALES))


def _scales_model(
    items: Mapping[str, Sequence[str]], slopes: Sequence[Sequence[float]], tables: Sequence[FloatArray]
) -> LatentTreeModel:
    """Return a model with items below scales, and scales below a general factor."""
    names = [name for scale in items.values() for name in scale]
    scales = range(len(names), len(names) + len(items))
    of_item = [scale for scale, below in zip(scales, items.values(), strict=True) for _ in below]
    general = len(names) + len(items)
    edges = [*enumerate(of_item), *((scale, general) for scale in scales)]
    of_items = [_item_table(slope) for below in slopes for slope in below]
    categories = tuple(str(answer + 1) for answer in range(_ANSWERS))
    columns = tuple(Column(name, "integer", categories, ordered=True) for name in names)
    return LatentTreeModel(Tree(names, edges), columns, (*of_items, *tables, np.full((2, 1), 0.5)))


def _item_table(slope: float) -> FloatArray:
    """Return P(answer | level) of an item: binomial, with a probability that moves by the slope."""
    probabilities = 0.5 + slope * np.array([-1, 0, 1])
    return np.asarray(binom.pmf(np.arange(_ANSWERS)[:, None], _ANSWERS - 1, probabilities))


# Questions by what they are printed under, each with its wording and how much answers rise from one level to the next.
_EVERYDAY: dict[str, dict[str, tuple[str, float]]] = {
    "mood": {
        "worries a lot": ("I worry about what might go wrong.", 0.36),
        "gets nervous": ("I get nervous before phone calls.", 0.33),
        "broods": ("I think about my mistakes for days.", 0.31),
        "upset by trifles": ("Small things can spoil my day.", 0.28),
        "stays calm": ("I stay calm when others do not.", -0.27),
    },
    "people": {
        "likes parties": ("I like parties with many guests.", 0.36),
        "talks to strangers": ("I talk to people on the train.", 0.33),
        "invites friends": ("I invite friends to my home.", 0.3),
        "speaks up": ("I speak up in meetings.", 0.27),
        "needs quiet": ("I need an evening alone after a day with people.", -0.28),
    },
    "order": {
        "makes lists": ("I make lists of what I have to do.", 0.34),
        "tidy desk": ("My desk is tidy in the evening.", 0.32),
        "is on time": ("I am on time.", 0.3),
        "plans ahead": ("I plan my week on Sunday.", 0.28),
        "puts things off": ("I put things off until the last day.", -0.31),
    },
    "ideas": {
        "reads a lot": ("I read books that nobody told me to read.", 0.33),
        "visits museums": ("I go to museums when I have a free day.", 0.32),
        "tries new food": ("I order dishes that I do not know.", 0.29),
        "asks why": ("I look up how things work.", 0.28),
        "likes to travel": ("I like to travel to places that are new to me.", 0.3),
        "keeps habits": ("I like every day to be like the one before.", -0.28),
    },
    "health": {
        "does sports": ("I do sports every week.", 0.36),
        "takes the stairs": ("I take the stairs, not the lift.", 0.31),
        "walks to work": ("I walk or cycle to work.", 0.29),
        "feels fit": ("I feel fit.", 0.3),
        "sleeps badly": ("I wake up at night and cannot sleep again.", 0.31),
    },
}


def make_everyday(n_people: int = 800, *, random_state: RandomState = 0) -> Dataset:
    """Simulate a questionnaire about everyday life: 26 questions in five sections, answered from 1 to 5.

    People have a level on each section, as in :func:`make_questionnaire`. Two questions are not what their section
    says: "sleeps badly" is printed under health and answered like mood, and "likes to travel" is answered like ideas by
    half of the people and like people by the others. One answer in fifty is missing. ``latree demo`` learns this table.

    Parameters
    ----------
    n_people : int
        Number of rows.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        ``labels`` has the section of each question, ``texts`` its wording, ``rows`` the levels of each person.

    Examples
    --------
    >>> from latree.datasets import make_everyday
    >>> everyday = make_everyday(500)
    >>> everyday.labels["sleeps badly"], everyday.texts["sleeps badly"]
    ('health', 'I wake up at night and cannot sleep again.')
    """
    rng = generator(random_state)
    labels = {name: section for section, below in _EVERYDAY.items() for name in below}
    names = list(labels)
    true = labels | {"sleeps badly": "mood"}
    items = {section: [name for name in names if true[name] == section] for section in _EVERYDAY}
    slope = {name: value for below in _EVERYDAY.values() for name, (_, value) in below.items()}
    slopes = [[slope[name] for name in below] for below in items.values()]
    tables = [_SCALE_TABLE[::-1] if section == "mood" else _SCALE_TABLE for section in items]
    model = _scales_model(items, slopes, tables)
    states = model.sample_all(n_people, rng)
    levels = dict(zip(items, states[:, len(names) : len(names) + len(items)].T, strict=True))
    answers = dict(zip(model.tree.names, states[:, : len(names)].T + 1, strict=True))
    like_people = 1 + rng.binomial(_ANSWERS - 1, 0.5 + slope["likes to travel"] * (levels["people"] - 1))
    answers["likes to travel"] = np.where(rng.random(n_people) < 0.5, answers["likes to travel"], like_people)
    absent = rng.random((n_people, len(names))) < 0.02
    return Dataset(
        data=make_frame({name: _answers(answers[name], absent[:, place]) for place, name in enumerate(names)}),
        labels=labels,
        rows=make_frame({section: values.astype(np.int64) for section, values in levels.items()}),
        tree=None,
        description=f"{n_people} people × {len(names)} questions; simulated by latree, free to use",
        texts={name: text for below in _EVERYDAY.values() for name, (text, _) in below.items()},
    )


# Twelve invented taxa in three clades. Lengths are expected changes per site.
_NEWICK = (
    "((((Abo:0.10,Abu:0.08):0.06,Aka:0.15):0.07,Ami:0.2):0.12,"
    "(((Bela:0.07,Bero:0.1):0.08,(Bita:0.12,Bora:0.09):0.05):0.1,Buna:0.22):0.1,"
    "((Cami:0.1,Ceno:0.12):0.09,Cilo:0.18):0.14);"
)
_CLADES = {"A": "northern", "B": "middle", "C": "southern"}
_BASES = ("A", "C", "G", "T")


def make_alignment(n_sites: int = 1000, *, random_state: RandomState = 0) -> Dataset:
    """Simulate aligned DNA of twelve invented taxa on a known tree.

    Sites change along the edges of the tree as in the model of Jukes and Cantor (1969): after a length t, a base is
    still the same with probability ``1/4 + 3/4 exp(-4 t / 3)``, and each other base is equally probable. Sites are
    independent of each other.

    Parameters
    ----------
    n_sites : int
        Number of rows.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        Rows are sites, columns are taxa. ``labels`` has the clade of each taxon, ``tree`` the true tree with lengths.

    Examples
    --------
    >>> import latree
    >>> from latree.datasets import make_alignment
    >>> taxa = make_alignment()
    >>> found = latree.learn_tree(taxa.data, method="nj")
    >>> found.robinson_foulds(taxa.tree)
    0
    """
    tree = Tree.from_newick(_NEWICK)
    assert tree.lengths is not None
    rooted = tree.rooted()
    length = {frozenset(edge): value for edge, value in zip(tree.edges.tolist(), tree.lengths.tolist(), strict=True)}
    tables = []
    for node, parent in enumerate(rooted.parent.tolist()):
        if parent < 0:
            tables.append(np.full((4, 1), 1 / 4))
        else:
            decay = np.exp(-4 / 3 * length[frozenset((node, parent))])
            tables.append(np.full((4, 4), (1 - decay) / 4) + decay * np.eye(4))
    columns = tuple(Column(name, "text", _BASES) for name in tree.names)
    rows = LatentTreeModel(tree, columns, tuple(tables)).sample(n_sites, generator(random_state))
    return Dataset(
        data=make_frame(rows.decode()),
        labels={name: _CLADES[name[0]] for name in tree.names},
        rows=make_frame({"site": np.arange(1, n_sites + 1)}),
        tree=tree,
        description=f"{n_sites} sites of {tree.n_observed} invented taxa; simulated by latree, free to use",
    )


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
