"""Independent libraries as judges."""

import warnings

import dendropy
import numpy as np
import pandas as pd
import pytest
from dendropy.calculate.treecompare import symmetric_difference

from helpers.models import model_on, table_of
from helpers.strategies import noisy_distances, path_distances, with_lengths
from latree import learn_tree
from latree.inference.em import ConvergenceMonitor, fit_model
from latree.learners.neighbor_joining import join, neighbor_joining
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

with warnings.catch_warnings():  # their compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    import pyagrum as gum
    from pgmpy.estimators import TreeSearch
    from skbio import DistanceMatrix
    from skbio.tree import nj
    from stepmix.stepmix import StepMix


def agrum_network(model):
    """The same model as a Bayesian network of pyAgrum."""
    network = gum.BayesNet()
    names = model.tree.node_names
    parent = model.tree.rooted().parent.tolist()
    for name, size in zip(names, model.n_states.tolist(), strict=True):
        network.add(gum.LabelizedVariable(name, name, size))
    for node, up in enumerate(parent):
        if up >= 0:
            network.addArc(names[up], names[node])
    for node, up in enumerate(parent):
        table = model.tables[node]
        if up < 0:
            network.cpt(names[node])[:] = table[:, 0]
            continue
        for state in range(table.shape[1]):
            network.cpt(names[node])[{names[up]: state}] = table[:, state]
    return network


def test_pyagrum_agrees_on_likelihoods_and_posteriors():
    tree = random_tree(14, 0.3, 1)
    model = random_model(tree, n_states=4, hidden_states=(2, 5), start="identity", perturbation=0.4, random_state=1)
    rows = model.sample(25, 2).codes()
    rows[np.random.default_rng(3).random(rows.shape) < 0.2] = -1
    table = table_of(model, rows)
    ours, posteriors = model.log_likelihood_rows(table), model.posteriors(table)
    inference = gum.LazyPropagation(agrum_network(model))
    for i, row in enumerate(rows.tolist()):
        inference.setEvidence({name: x for name, x in zip(tree.names, row, strict=True) if x >= 0})
        inference.makeInference()
        assert ours[i] == pytest.approx(np.log(inference.evidenceProbability()), abs=1e-9)
        for name, posterior in posteriors.items():
            np.testing.assert_allclose(posterior[i], inference.posterior(name).toarray(), rtol=0, atol=1e-9)


def test_pyagrum_agrees_on_a_joint_of_four_columns():
    tree = random_tree(12, 0.2, 4)
    model = random_model(tree, n_states=3, hidden_states=(2, 4), start="identity", random_state=4)
    inference = gum.LazyPropagation(agrum_network(model))
    nodes = [7, 2, 11, 4]
    names = [tree.names[node] for node in nodes]
    inference.addJointTarget(set(names))
    inference.makeInference()
    theirs = inference.jointPosterior(set(names))
    ours = model.joint(nodes)
    for states in np.ndindex(*ours.shape):
        assert ours[states] == pytest.approx(theirs[dict(zip(names, states, strict=True))], rel=1e-9)


def stepmix(max_iterations):
    return StepMix(
        n_components=3,
        measurement="categorical",
        max_iter=max_iterations,
        abs_tol=1e-14,
        rel_tol=1e-14,
        random_state=5,
        progress_bar=0,
    )


def test_em_on_one_hidden_variable_reaches_stepmix_from_the_same_start():
    """StepMix after one iteration is the start; both go on from there to an optimum."""
    d, n = 6, 3
    tree = Tree([f"x{i}" for i in range(d)], [(i, d) for i in range(d)])
    truth = model_on(tree, [n] * d + [3], 0)
    table = truth.sample(400, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that one iteration is not enough
        first = stepmix(1).fit(table.codes())
        last = stepmix(3000).fit(table.codes())
    parameters = first.get_parameters()
    leaves = parameters["measurement"]["pis"].reshape(3, d, -1)
    tables = [leaves[:, i, :n].T / leaves[:, i, :n].sum(axis=1) for i in range(d)]
    start = LatentTreeModel(tree, truth.columns, (*tables, parameters["weights"][:, None]))
    fit = fit_model(table, tree, 3, smoothing=0, start=start, monitor=ConvergenceMonitor(1e-14, 5000))
    assert fit.model.log_likelihood(table) > start.log_likelihood(table) + 10
    assert fit.model.log_likelihood(table) == pytest.approx(last.score(table.codes()) * 400, abs=0.01)
    assert fit.model.n_parameters == last.n_parameters


def scikit_bio_tree(names, distance, **options):
    """Neighbour joining by scikit-bio, and the distances in its tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nj(DistanceMatrix(distance, names), **options)
        return Tree.from_newick(str(found)), found.cophenet().filter(names).data


@pytest.mark.parametrize("kind", ["tree", "noisy tree", "noise"])
@pytest.mark.parametrize("d", [4, 5, 8, 20, 60, 150])
def test_scikit_bio_joins_the_same_neighbours(d, kind):
    for seed in range(3 if d < 100 else 1):
        tree = with_lengths(random_tree(d, 0.3, seed), seed)
        upper = np.triu(np.random.default_rng(seed).random((d, d)), 1)
        distance = upper + upper.T if kind == "noise" else noisy_distances(tree, 0.1 * (kind == "noisy tree"), seed)
        raw = Tree(tree.names, *join(distance))
        theirs, between = scikit_bio_tree(tree.names, distance, neg_as_zero=False)
        assert raw.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(raw), between, rtol=1e-9, atol=1e-9)
        ours = neighbor_joining(tree.names, distance).tree
        theirs, between = scikit_bio_tree(tree.names, distance)
        assert ours.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(ours), between, rtol=1e-9, atol=1e-9)
        assert (raw.lengths < 0).any() or kind != "noise"


@pytest.mark.parametrize("seed", range(4))
def test_pgmpy_finds_the_same_chow_liu_tree(seed):
    tree = random_tree(15, 0.3, seed)
    model = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.3, random_state=seed)
    codes = model.sample(500, seed).codes()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = TreeSearch(pd.DataFrame(codes, columns=tree.names), n_jobs=1)
        theirs = search.estimate(estimator_type="chow-liu", show_progress=False)
    learned = learn_tree(codes, method="chow-liu")
    ours = {frozenset(tree.names[end] for end in edge) for edge in learned.edges.tolist()}
    assert ours == {frozenset(edge) for edge in theirs.edges()}


def with_all_columns_at_leaves(tree):
    """Observed inner nodes replaced by hidden ones with a leaf: the same splits, in a form that DendroPy knows."""
    inner = [node for node in range(tree.n_observed) if len(tree.neighbors[node]) > 1]
    number = {node: tree.n_nodes + i for i, node in enumerate(inner)}
    edges = [[number.get(end, end) for end in edge] for edge in tree.edges.tolist()]
    return Tree(tree.names, [*edges, *number.items()])


@pytest.mark.parametrize("method", ["spectral", "rg", "clrg", "clnj"])
def test_dendropy_agrees_on_how_far_learned_trees_are_from_the_truth(method):
    distances, many = [], 0
    for seed in range(6):
        tree = random_tree(14, 0.3, seed)
        model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.4, random_state=seed)
        learned = learn_tree(model.sample(300, seed), method=method, n_states=3)
        taxa = dendropy.TaxonNamespace(tree.names)
        texts = [with_all_columns_at_leaves(one).to_newick() for one in (learned, tree)]
        theirs = symmetric_difference(
            *(
                dendropy.Tree.get(data=text, schema="newick", rooting="force-unrooted", taxon_namespace=taxa)
                for text in texts
            )
        )
        distances.append(learned.robinson_foulds(tree))
        assert distances[-1] == theirs
        many += len(learned.splits) < 11
    assert max(distances) > 0
    assert many or method == "spectral"
