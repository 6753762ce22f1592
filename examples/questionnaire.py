"""
Scales of a questionnaire
=========================

Eight hundred people answer twenty items. Which items belong together? The answers are simulated, so that we know: four
scales with five items each, one of them reversed. latree is told neither the number of scales nor which items are
reversed.
"""

import latree
from latree.datasets import make_questionnaire

answers = make_questionnaire()
model = latree.LatentTree(random_state=0).fit(answers.data)
for group in model.groups_:
    if group.level == "main":
        print(f"{group.name:8} stability {group.stability:.2f}  {', '.join(group.columns)}")

# %%
# The tree, with markers of the true scales. Numbers are the support of edges in per cent: build on 90 and more.

picture = model.plot(labels=answers.labels)

# %%
# The scores follow the true levels of the people, which latree never saw:

import matplotlib.pyplot as plt

scores = model.transform(answers.data)
figure, axes = plt.subplots(1, 4, figsize=(9, 2.6), sharey=True, layout="constrained")
for axis, scale in zip(axes, answers.rows, strict=True):
    of_level = [scores[scale][answers.rows[scale] == level] for level in range(3)]
    axis.boxplot(of_level, whis=(5, 95), showfliers=False)
    axis.set(title=scale, xticklabels=["low", "middle", "high"], xlabel="true level")
axes[0].set_ylabel("score")
plt.show()
