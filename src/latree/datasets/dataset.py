"""What every dataset has: the table, and what is known about its columns and rows."""

from dataclasses import dataclass, field
from typing import Any

from latree.tree import Tree


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
