"""
What thirty measurements have in common
=======================================

Thirty measurements of 569 tumours: ten properties of cell nuclei, each as a mean, an error and a worst value. latree
sees only the columns. Do its groups say something about the diagnosis, which it never saw?
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score

import latree

tumours = load_breast_cancer(as_frame=True)
model = latree.LatentTree(reading={"bins": 4}, random_state=0).fit(tumours.data)
picture = model.plot(layout="horizontal")

# %%
# Scores of the rows, one per group of columns. The area under the ROC curve (AUC) says how well a score alone tells
# malignant from benign tumours: 0.5 is chance, 1 is perfect.

scores = model.transform(tumours.data)
figure, axes = plt.subplots(1, len(scores.columns), figsize=(11, 2.8), sharey=True, layout="constrained", squeeze=False)
for axis, name in zip(axes[0], scores, strict=True):
    for label, colour in (("benign", "tab:blue"), ("malignant", "tab:red")):
        chosen = tumours.target == list(tumours.target_names).index(label)
        axis.hist(scores[name][chosen], bins=20, range=(0, 1), alpha=0.6, color=colour, label=label)
    area = roc_auc_score(1 - tumours.target, scores[name])
    axis.set_title(f"{name}\nAUC {max(area, 1 - area):.2f}", fontsize=8)
axes[0][0].legend(fontsize=7)
plt.show()
