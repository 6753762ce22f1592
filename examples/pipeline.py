"""
In a pipeline, with a grid search
=================================

``LatentTree`` is a scikit-learn transformer. Here it turns twenty noisy answers into a few scores, and a classifier
uses them to predict whether a person's level of worry is high. Only sixty people are labelled.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import latree
from latree.datasets import make_questionnaire

answers = make_questionnaire(400)
high = (answers.rows["worry"] == 2).astype(int)
labelled, rest = slice(0, 60), slice(60, None)

steps = [("scores", latree.LatentTree("nj", random_state=0)), ("classifier", LogisticRegression())]
choices = {"scores__n_states": [2, 3]}
search = GridSearchCV(Pipeline(steps), choices, cv=3).fit(answers.data[labelled], high[labelled])
print(search.best_params_)

# %%
# The tree may also be learned from everybody, because it needs no labels. Then few labels go further:

scores = latree.LatentTree("nj", n_states=3, random_state=0).fit(answers.data).transform(answers.data)
accuracy = {
    "raw answers": LogisticRegression(max_iter=1000)
    .fit(answers.data[labelled], high[labelled])
    .score(answers.data[rest], high[rest]),
    "scores, tree of 60 people": search.score(answers.data[rest], high[rest]),
    "scores, tree of 400 people": LogisticRegression()
    .fit(scores[labelled], high[labelled])
    .score(scores[rest], high[rest]),
}

figure, axis = plt.subplots(figsize=(6, 2), layout="constrained")
axis.barh(list(accuracy), list(accuracy.values()))
axis.bar_label(axis.containers[0], fmt="%.2f")
axis.set(xlim=(0.5, 1.02), xlabel="accuracy for the other 340 people")
plt.show()
