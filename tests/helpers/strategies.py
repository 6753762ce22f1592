"""Random trees, and networkx as a judge of them."""

import dendropy
import networkx
import numpy as np
from hypothesis import strategies as st

from latree.paper.simulate import random_tree
from latree.tree import Tree

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8) | st.sampled_from(
    [
        "it's",
        "''",
        "a b",
        "a_b",
        "(a,b);",
        "[x]",
        "[&support=1]",
        "a:1",
        "1",
        "1e5",
        "-2.5",
        "nan",
        "inf",
        "H1",
        "é",
        "日本",
    ]
)
finite = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def trees(draw, variables, forest=True, numbers=False):
    """Trees over given variables: any of them may be inner nodes, hidden nodes have two neighbours or more."""
    n_observed = len(variables)
    n_nodes = n_observed + draw(st.integers(0, n_observed))
    label = draw(st.permutations(range(n_nodes)))
    above = [draw(st.integers(-1 if forest else 0, node - 1)) for node in range(1, n_nodes)]
    edges = [(label[node], label[parent]) for node, parent in enumerate(above, start=1) if parent >= 0]
    edges = _without_hidden_leaves(edges, n_observed)
    if not numbers:
        return Tree(variables, edges)
    lengths, support = (
        draw(st.lists(values | st.just(np.nan), min_size=len(edges), max_size=len(edges)))
        for values in (finite, st.floats(0, 1))
    )
    return Tree(variables, edges, lengths, support)


def _without_hidden_leaves(edges, n_observed):
    while True:
        ends = [node for edge in edges for node in edge]
        kept = [edge for edge in edges if all(node < n_observed or ends.count(node) > 1 for node in edge)]
        if len(kept) == len(edges):
            break
        edges = kept
    hidden = {node: n_observed + i for i, node in enumerate(sorted({node for node in ends if node >= n_observed}))}
    return [(hidden.get(u, u), hidden.get(v, v)) for u, v in edges]


def several_trees(count, **options):
    """Several trees over the same one to nine variables."""
    return st.integers(1, 9).flatmap(lambda d: st.tuples(*[trees([f"x{i}" for i in range(d)], **options)] * count))


any_tree = several_trees(1).map(lambda found: found[0])
named_trees = st.lists(names, min_size=1, max_size=9, unique=True).flatmap(lambda found: trees(found, numbers=True))


def graph_of(tree):
    graph = networkx.Graph()
    graph.add_nodes_from(range(tree.n_nodes))
    graph.add_edges_from(tree.edges.tolist())
    return graph


def same_graph(one, two):
    """Whether two trees are the same but for the numbers of their hidden nodes, every edge with its exact numbers."""

    def coloured(tree):
        graph = graph_of(tree)
        for node in graph:
            graph.nodes[node]["name"] = tree.names[node] if node < tree.n_observed else None
        for (u, v), *numbers in zip(tree.edges.tolist(), tree.lengths.tolist(), tree.support.tolist(), strict=True):
            graph.edges[u, v]["numbers"] = [number.hex() for number in numbers]
        return graph

    return networkx.is_isomorphic(coloured(one), coloured(two), lambda a, b: a == b, lambda a, b: a == b)


def contracted(tree, share, seed):
    """The same tree with about a share of its inner edges contracted."""
    merged = graph_of(tree)
    rng = np.random.default_rng(seed)
    for u, v in tree.edges.tolist():
        if min(u, v) < tree.n_observed or rng.random() >= share:
            merged.remove_edge(u, v)
    groups = [group for group in networkx.connected_components(merged) if min(group) >= tree.n_observed]
    number = {node: tree.n_observed + i for i, group in enumerate(groups) for node in group}
    edges = [(number.get(u, u), number.get(v, v)) for u, v in tree.edges.tolist() if not merged.has_edge(u, v)]
    return Tree(tree.names, edges)


def with_lengths(tree, seed, low=0.1, high=1.0):
    """The same tree with random lengths."""
    return Tree(tree.names, tree.edges, np.random.default_rng(seed).uniform(low, high, len(tree.edges)))


def bare(tree):
    """The same tree without numbers."""
    return Tree(tree.names, tree.edges)


def mixed_tree(n_leaves, seed):
    """A tree with lengths, observed inner nodes, chains of them, and hidden nodes with three neighbours or more."""
    rng = np.random.default_rng(seed)
    base = contracted(random_tree(n_leaves, 0.4, rng), 0.4, rng)
    edges = base.edges.tolist()
    observed = [*range(n_leaves), *(node for node in range(n_leaves, base.n_nodes) if rng.random() < 0.3)]
    for new in range(base.n_nodes, base.n_nodes + n_leaves // 2):
        u, v = edges.pop(int(rng.integers(len(edges))))
        edges += [[u, new], [new, v]]
        observed.append(new)
    order = [*rng.permutation(observed).tolist(), *sorted(set(range(base.n_nodes)) - set(observed))]
    tree = Tree([f"x{i}" for i in range(len(observed))], np.argsort(order)[np.array(edges)])
    return with_lengths(tree, rng)


def path_distances(tree):
    """The sum of the lengths between every two observed variables of a tree."""
    rooted = tree.rooted()
    distance = np.zeros((tree.n_nodes, tree.n_nodes))
    for place, node in enumerate(rooted.order.tolist()):
        before = rooted.order[:place]
        if place:
            away = distance[rooted.parent[node], before] + tree.lengths[rooted.up[node]]
            distance[node, before] = distance[before, node] = away
    return distance[: tree.n_observed, : tree.n_observed]


def noisy_distances(tree, share, seed):
    """Path lengths of a tree with lengths, each off by about a share of itself."""
    rng = np.random.default_rng(seed)
    distance = path_distances(tree)
    noise = np.triu(rng.normal(size=distance.shape) * share, 1)
    return distance * (1 + noise + noise.T)


def check_valid(tree, names):
    """Assert that this is one tree over all names, without idle hidden nodes and without negative lengths."""
    assert tree.names == tuple(names)
    assert len(tree.edges) == tree.n_nodes - 1
    assert all(len(near) > 2 for near in tree.neighbors[tree.n_observed :])
    assert not (tree.lengths < 0).any()


def names_of(d):
    return [f"x{i}" for i in range(d)]


def observed(tree, nodes):
    return frozenset(tree.names[node] for node in nodes if node < tree.n_observed)


def naive_edge_splits(tree):
    """The pair of sides that each edge's removal leaves."""
    graph = graph_of(tree)
    for u, v in tree.edges.tolist():
        graph.remove_edge(u, v)
        yield frozenset(observed(tree, networkx.node_connected_component(graph, end)) for end in (u, v))
        graph.add_edge(u, v)


def naive_splits(tree):
    return {sides for sides in naive_edge_splits(tree) if len(sides) == 2 and all(len(side) > 1 for side in sides)}


def in_dendropy(text, taxa=None):
    return dendropy.Tree.get(
        data=text,
        schema="newick",
        rooting="force-unrooted",
        taxon_namespace=taxa or dendropy.TaxonNamespace(is_case_sensitive=True),
        case_sensitive_taxon_labels=True,
    )


def hidden_edges(tree):
    return [edge for edge, ends in enumerate(tree.edges.tolist()) if min(ends) >= tree.n_observed]


def numbered(tree, seed):
    """The same tree with random lengths and, on some edges, random support."""
    lengths, support = np.random.default_rng(seed).random((2, len(tree.edges)))
    return Tree(tree.names, tree.edges, lengths, np.where(support < 0.3, np.nan, support))
