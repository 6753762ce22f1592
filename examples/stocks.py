"""
Sectors from prices alone
=========================

Twenty large companies, their daily prices from 2014 to 2022. Each day a stock rises or falls: latree cuts the daily
changes into four bins and finds out which stocks move together. The prices come with skfolio, which is not needed by
latree itself: ``pip install skfolio``.
"""

# sphinx_gallery_thumbnail_path = 'figures/sectors.svg'
from skfolio.datasets import load_sp500_dataset

import latree

changes = load_sp500_dataset().loc["2014":].pct_change().dropna()
model = latree.LatentTree(reading={"bins": 4}, random_state=0).fit(changes)
sectors = {
    **dict.fromkeys(["AAPL", "MSFT", "AMD"], "technology"),
    **dict.fromkeys(["BAC", "JPM"], "banks"),
    **dict.fromkeys(["CVX", "XOM", "RRC"], "oil and gas"),
    **dict.fromkeys(["JNJ", "LLY", "MRK", "PFE", "UNH"], "health"),
    **dict.fromkeys(["KO", "PEP", "PG", "WMT"], "consumer goods"),
    **dict.fromkeys(["BBY", "HD", "GE"], "others"),
}
picture = model.plot(labels={name: sectors[name] for name in changes})

# %%
# What the model is worth: a new day is this much more probable than if all stocks moved independently.

print(f"{model.summary_['worth']['gain']:.2f} nats per day")
