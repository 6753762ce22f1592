"""What belongs to the paper alone: its random trees and models, its theory, its experiments.

The paper is Ishteva, Park and Song, *Unfolding Latent Tree Structures using 4th Order Tensors*.
"""
