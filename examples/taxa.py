"""
A tree of taxa
==============

Aligned DNA of twelve invented taxa, simulated on a known tree with three clades. Columns are taxa, rows are sites.
latree finds the unrooted tree; the numbers are the support of its edges.
"""

import latree
from latree.datasets import make_alignment

taxa = make_alignment(600)
model = latree.LatentTree(random_state=0).fit(taxa.data)
picture = model.plot(labels=taxa.labels, layout="unrooted")

# %%
# The Robinson-Foulds distance counts the edges that only one of two trees has. Here it is compared with the true tree,
# for the default and for two published methods:

print("auto", model.tree_.robinson_foulds(taxa.tree))
for method in ("nj", "tensor"):
    print(method, latree.learn_tree(taxa.data, method=method, random_state=0).robinson_foulds(taxa.tree))

# %%
# Programs for phylogenetics read the tree as Newick:

print(model.export("nwk"))
