"""Trees as pictures for papers, pages and notebooks."""

from latree.figure.draw import plot
from latree.figure.picture import Picture

__all__ = ["Picture", "plot"]
