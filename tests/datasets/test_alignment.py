"""The simulated alignment: changes along its tree."""

from itertools import combinations

import numpy as np
import pytest

from latree.datasets import make_alignment


def test_taxa_differ_as_the_lengths_of_their_paths_say():
    import dendropy

    taxa = make_alignment(20_000)
    tree = dendropy.Tree.get(data=taxa.tree.to_newick(), schema="newick")
    distances = tree.phylogenetic_distance_matrix()
    by_name = {taxon.label: taxon for taxon in tree.taxon_namespace}
    for one, other in combinations(taxa.data.columns, 2):
        differing = (taxa.data[one] != taxa.data[other]).mean()
        length = distances.patristic_distance(by_name[one], by_name[other])
        assert differing == pytest.approx(0.75 * (1 - np.exp(-4 / 3 * length)), abs=0.015)


def test_clades_are_splits_of_the_tree():
    taxa = make_alignment(10)
    members = {clade: {name for name, own in taxa.labels.items() if own == clade} for clade in taxa.labels.values()}
    assert sorted(map(len, members.values())) == [3, 4, 5]
    names = taxa.tree.names
    sides = [
        {name for i, name in enumerate(names) if side >> i & 1}
        for s in taxa.tree.splits
        for side in (s.side, s.other_side)
    ]
    assert all(clade in sides for clade in members.values())
