"""
Topics of a text
================

Python comes with its own language reference. We divide it into paragraphs, and look which of 34 words occur in each.
Words that occur together form topics.
"""

import matplotlib.pyplot as plt
import pandas as pd

import latree
from latree.datasets import load_python_manual

manual = load_python_manual()
print(manual.description)
model = latree.LatentTree(random_state=0).fit(manual.data)
print(model.topics(manual.data)[["topic", "parent", "share_in_data", "words"]].to_string())

# %%
# The topics form a tree, too:

picture = model.plot(layout="horizontal")

# %%
# Which share of the paragraphs of some chapters has each topic: the mean probability, where it is above the average.

scores = pd.DataFrame(model.topic_scores(manual.data).toarray(), columns=model.topics()["topic"])
chapters = ["calls", "class", "debugger", "import", "match", "strings", "typesmapping"]
means = scores.groupby(manual.rows["topic"]).mean().reindex(chapters).dropna()
figure, axis = plt.subplots(figsize=(8, 3.6), layout="constrained")
axis.imshow(means, cmap="Blues")
axis.set_yticks(range(len(means)), means.index)
axis.set_xticks(range(len(means.columns)), means.columns, rotation=30, ha="right")
plt.show()
