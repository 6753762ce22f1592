"""pgmpy and pyAgrum as judges of Bayesian networks."""

import warnings
from functools import cache

import numpy as np

from helpers.models import holes, table_of

with warnings.catch_warnings():  # their compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    import pyagrum as gum
    from pgmpy import readwrite
    from pgmpy.inference import VariableElimination


class BIFReader(readwrite.BIFReader):
    """pgmpy's reader, which makes its grammars, the same for all texts, only once: that takes most of its time."""

    @staticmethod
    @cache
    def get_variable_grammar():
        return readwrite.BIFReader.get_variable_grammar(None)

    @staticmethod
    @cache
    def get_probability_grammar():
        return readwrite.BIFReader.get_probability_grammar(None)


def check_agrum(model, path, atol):
    """Assert that pyAgrum computes latree's posteriors and likelihoods from a file; nodes keep their order."""
    network = gum.loadBN(str(path))
    nodes = [network.idFromName(name) for name in variables_in(path)]
    assert [network.variable(node).domainSize() for node in nodes] == model.n_states.tolist()
    rows = holes(model.sample(6, 0).codes(), 1)
    table = table_of(model, rows)
    likelihoods, posteriors = model.log_likelihood_rows(table), list(model.posteriors(table).values())
    inference = gum.LazyPropagation(network)
    for i, row in enumerate(rows.tolist()):
        inference.setEvidence({nodes[column]: state for column, state in enumerate(row) if state >= 0})
        inference.makeInference()
        np.testing.assert_allclose(np.log(inference.evidenceProbability()), likelihoods[i], rtol=0, atol=10 * atol)
        for node, posterior in zip(nodes[model.tree.n_observed :], posteriors, strict=True):
            np.testing.assert_allclose(inference.posterior(node).toarray(), posterior[i], rtol=0, atol=atol)


def variables_in(path):
    """The names of the variables in a BIF or XMLBIF file, in their order, as pgmpy reads them."""
    if path.suffix == ".bif":
        return BIFReader(string=path.read_text(encoding="utf-8")).variable_names
    return readwrite.XMLBIFReader(path=str(path)).variables


def check_pgmpy(model, network, names):
    """Assert that a network of pgmpy has the tree and the exact tables of a model, whose nodes have these names."""
    parent = model.tree.rooted().parent.tolist()
    assert list(network.nodes) == names
    assert set(network.edges) == {(names[up], names[node]) for node, up in enumerate(parent) if up >= 0}
    for node, up in enumerate(parent):
        table = network.get_cpds(names[node])
        assert table.variables == [names[node], *([names[up]] if up >= 0 else [])]
        np.testing.assert_array_equal(table.get_values(), model.tables[node])


def check_pgmpy_posteriors(model, network, names):
    """Assert that pgmpy computes latree's posteriors, given some cells of a row by the names of their states."""
    rows = holes(model.sample(2, 3).codes(), 4)
    posteriors = model.posteriors(table_of(model, rows))
    inference = VariableElimination(network)
    hidden = names[model.tree.n_observed :]
    for i, row in enumerate(rows.tolist()):
        given = {
            name: network.get_cpds(name).state_names[name][state]
            for name, state in zip(names, row, strict=False)
            if state >= 0
        }
        for name, posterior in zip(hidden, posteriors.values(), strict=True):
            found = inference.query([name], evidence=given, show_progress=False).values
            np.testing.assert_allclose(found, posterior[i], rtol=0, atol=1e-9)
