"""Documents about known topics."""

import numpy as np
import pandas as pd

TOPICS = {
    "space": ("orbit", "moon", "nasa", "shuttle", "launch"),
    "faith": ("god", "bible", "church", "prayer", "soul"),
    "sport": ("team", "season", "league", "goal", "coach"),
    "health": ("doctor", "patient", "disease", "cure", "clinic"),
}
SHARES = {"space": 0.1, "faith": 0.15, "sport": 0.2, "health": 0.3}
# The shares of documents with a topic, and of those without it, that have a word of the topic.
INSIDE, OUTSIDE = (0.6, 0.55, 0.5, 0.45, 0.4), 0.02
BACKGROUND = ("today", "people", "thing", "number", "way", "time")


def planted_documents(n_rows=2000, seed=0):
    """Return documents that have each topic by chance, and some words that depend on nothing; and their topics."""
    rng = np.random.default_rng(seed)
    has = pd.DataFrame({name: rng.random(n_rows) < share for name, share in SHARES.items()})
    words = {
        word: rng.random(n_rows) < np.where(has[name], inside, OUTSIDE)
        for name, of_topic in TOPICS.items()
        for word, inside in zip(of_topic, INSIDE, strict=True)
    }
    words |= {word: rng.random(n_rows) < 0.5 / rank for rank, word in enumerate(BACKGROUND, start=1)}
    frame = pd.DataFrame(words)
    return frame[rng.permutation(frame.columns)], has
