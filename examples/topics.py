"""
Topics of a text
================

Python comes with its own language reference. We divide it into paragraphs, and look which of 34 words occur in each.
Words that occur together form topics: groups of columns with a hidden variable each.
"""

import matplotlib.pyplot as plt

import latree
from latree.datasets import load_python_manual

manual = load_python_manual()
print(manual.description)
model = latree.LatentTree(random_state=0).fit(manual.data)
for group in model.groups_:
    if group.level == "main":
        print(f"{', '.join(group.columns)}")

# %%
# The topics form a tree, too:

picture = model.plot(layout="horizontal")

# %%
# How much of each topic there is in some chapters of the manual: the mean score of their paragraphs.

scores = model.transform(manual.data)
chapters = ["calls", "class", "debugger", "import", "match", "strings", "typesmapping"]
means = scores.groupby(manual.rows["topic"]).mean().reindex(chapters).dropna()
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.imshow(means, cmap="Blues")
axis.set_yticks(range(len(means)), means.index)
axis.set_xticks(range(len(means.columns)), means.columns, rotation=30, ha="right")
plt.show()
