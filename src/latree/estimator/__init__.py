"""The scikit-learn estimator."""

from latree.estimator.estimator import LatentTree as LatentTree
