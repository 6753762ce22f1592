"""Models and prices for tests of the paper's experiments."""

import numpy as np

from latree.paper.simulate import random_model, random_tree


def write_prices(tmp_path, name="prices.csv", n_stocks=14, days=130):
    rng = np.random.default_rng(0)
    market = rng.normal(0, 0.02, (days, 3))
    changes = market[:, np.arange(n_stocks) % 3] + rng.normal(0, 0.01, (days, n_stocks))
    values = 100 * np.cumprod(1 + changes, axis=0)
    tickers = [f"T{i}" for i in range(n_stocks)]
    lines = [",".join(["date", *tickers])]
    lines += [",".join([f"day{d}", *(f"{x:.4f}" for x in row)]) for d, row in enumerate(values)]
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    sectors = ["ticker,sector", *(f"T{i},sector {i % 3}" for i in range(n_stocks))]
    (tmp_path / "sectors.csv").write_text("\n".join(sectors) + "\n")
    return tmp_path / name


def easy_model():
    tree = random_tree(6, 0.5, 0)
    return random_model(tree, n_states=4, hidden_states=2, start="identity", perturbation=0.1, random_state=0)
