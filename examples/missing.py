"""
Fill in missing answers
=======================

A fifth of the answers to a questionnaire is missing. The model fills each of them in, given what the person did answer,
and says how sure it is.
"""

import matplotlib.pyplot as plt
import numpy as np

import latree
from latree.datasets import make_questionnaire

whole = make_questionnaire(1000).data
holes = make_questionnaire(1000, missing=0.2).data
model = latree.LatentTree(random_state=0).fit(holes)
filled = model.impute(holes)

# %%
# The true answers are known here. Compare with the most frequent answer to each item:

missing = holes.isna().to_numpy()
truth = whole.to_numpy()[missing]
right = filled.to_numpy()[missing] == truth
often = holes.fillna(holes.mode().iloc[0]).to_numpy()[missing]
print(f"right, by latree:               {right.mean():.2f}")
print(f"right, by most frequent answer: {(often == truth).mean():.2f}")

# %%
# Nobody can guess most single answers: people with the same level answer differently. So the probability of each value
# is more useful than the value. It should be honest: of the cells whose value has a probability of 40 %, about 40 %
# should be right.

table = model.model_.impute_proba(holes)
rows, columns = np.nonzero(missing)
values = filled.to_numpy()[missing].astype(int)
names = [f"{holes.columns[column]}={value}" for column, value in zip(columns, values, strict=True)]
said = table.to_numpy()[rows, table.columns.get_indexer(names)]

figure, axis = plt.subplots(figsize=(4, 4), layout="constrained")
for part in np.array_split(np.argsort(said), 8):  # from the least to the most certain
    axis.errorbar(said[part].mean(), right[part].mean(), 2 * right[part].std() / len(part) ** 0.5, fmt="o", color="C0")
axis.plot([0.25, 0.55], [0.25, 0.55], color="grey")
axis.set(xlabel="probability of the value that was filled in", ylabel="share of values that are right")
plt.show()
