"""Loadings and profiles: how columns depend on hidden variables, in one number each and in full."""

from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.frames import make_frame
from latree.explain.dependence import Dependence, correlation
from latree.explain.order import state_scores
from latree.model import LatentTreeModel


def loadings(model: LatentTreeModel, backend: str | None = None) -> Any:
    """Return the loading of every column on every hidden variable.

    A loading says how strongly a column depends on a hidden variable, from -1 to 1, under the model. For an ordered
    column (numbers, bins, booleans, ordered categories) it is the correlation of the column's code with the score of
    the hidden variable's states, which :func:`order_states` describes: positive if the column grows with the hidden
    variable, negative for a reversed item. For a column without an order, and for a hidden variable without ordered
    columns, there is no direction. The loading is then the informational correlation ``sqrt(1 - exp(-2 I))``, where I
    is the mutual information in nats; for two normal variables that is the absolute correlation.

    Read it like the structure matrix of a factor analysis: loadings on distant hidden variables are not zero, because
    hidden variables depend on each other.

    Parameters
    ----------
    model : LatentTreeModel
    backend : str, optional
        The library of the data frame, such as "polars"; by default one that is installed.

    Returns
    -------
    data frame
        One row per column of the data: its name in ``column``, then its loading on each hidden variable.

    References
    ----------
    E. H. Linfoot: *An informational measure of correlation*, 1957.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import loadings
    >>> tree = latree.Tree.from_newick("((a,b,c),d,e);")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> loadings(model, "pandas").round(2)
      column    H1    H2
    0      a  0.59  0.46
    1      b  0.67  0.53
    2      c  0.45  0.35
    3      d  0.37  0.47
    4      e  0.46  0.59
    """
    tree = model.tree
    values = loading_matrix(model)
    hidden = model.node_names[tree.n_observed :]
    return make_frame({"column": list(tree.names)} | dict(zip(hidden, values.T, strict=True)), backend)


def loading_matrix(model: LatentTreeModel) -> FloatArray:
    """Return the loadings as an array with one row per column, and one column per hidden variable in their order."""
    tree = model.tree
    dependence, scores = Dependence(model), state_scores(model)
    codes = [
        _standardised(share) if c.ordered else None
        for c, share in zip(model.columns, dependence.marginals, strict=False)
    ]
    result = np.zeros((tree.n_observed, tree.n_hidden))
    for hidden, conditionals in dependence.columns_given(range(tree.n_observed, tree.n_nodes)):
        shares = dependence.marginals[hidden]
        for column, (conditional, code) in enumerate(zip(conditionals, codes, strict=True)):
            if code is not None and hidden in scores:
                # r = Σ_h P(h) score(h) E[code | h], where score and code have mean 0 and variance 1.
                loading = float((shares * scores[hidden]) @ (code @ conditional))
            else:
                loading = float(correlation(np.array(dependence.information(hidden, column, conditional))))
            result[column, hidden - tree.n_observed] = np.clip(loading, -1, 1)
    return result


def _standardised(shares: FloatArray) -> FloatArray:
    """Return codes 0, 1, ... with mean 0 and variance 1; zeros for a column that is constant under the model."""
    codes = np.arange(len(shares), dtype=np.float64)
    codes -= codes @ shares
    variance = float(codes**2 @ shares)
    return codes / np.sqrt(variance) if variance > 0 else np.zeros(len(shares))
