"""
The tree of pixels
==================

scikit-learn's digits are pictures of 8 × 8 pixels, written by hand. latree sees a table of 64 columns whose order means
nothing. It finds out which pixels go together, and the groups turn out to be strokes: connected places of the picture.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import latree

digits = load_digits(as_frame=True)
ink = (digits.data > 7).astype(int)  # black or white
ink = ink.loc[:, ink.mean().between(0.05, 0.95)]  # pixels that are almost always white say nothing
model = latree.LatentTree("clnj", n_states=2, random_state=0).fit(ink)

# %%
# Each pixel has the colour of its group. Lines connect pixels that are neighbours in the tree, or that hang on
# neighbouring hidden variables: hidden variables are drawn in the middle of the pixels around them.

place = {f"pixel_{row}_{column}": (column, row) for row in range(8) for column in range(8)}
tree = model.tree_
position = np.array([place[name] for name in tree.names] + [(3.5, 3.5)] * tree.n_hidden)
for _ in range(100):  # each hidden variable moves to the mean of its neighbours
    for node in range(tree.n_observed, tree.n_nodes):
        touching = tree.edges[(tree.edges == node).any(axis=1)]
        position[node] = position[touching[touching != node]].mean(axis=0)

figure, axis = plt.subplots(figsize=(6, 6), layout="constrained")
shown = np.full((8, 8), np.nan)
for name, label in zip(ink.columns, model.labels_, strict=True):
    column, row = place[name]
    shown[row, column] = label if label >= 0 else np.nan
axis.imshow(shown, cmap="tab20", alpha=0.6)
for one, other in tree.edges:
    axis.plot(*position[[one, other]].T, color="black", lw=1)
axis.plot(*position[tree.n_observed :].T, "o", color="black", ms=3)
axis.set(xticks=[], yticks=[], title=f"{len(set(model.labels_))} groups of {len(ink.columns)} pixels")
plt.show()
