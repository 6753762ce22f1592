"""Quartet tests: which two of four columns belong together.

A test is any function from quadruples of columns to :class:`Pairings`.
"""

from latree.counts.quartets.covariance import covariance_test
from latree.counts.quartets.four_point import four_point_test
from latree.counts.quartets.nuclear import nuclear_test
from latree.counts.quartets.pairings import Pairings
from latree.counts.quartets.spectral import spectral_products, spectral_test

__all__ = ["Pairings", "covariance_test", "four_point_test", "nuclear_test", "spectral_products", "spectral_test"]
