"""A model for other programs: trees, graphs, Bayesian networks and dendrograms."""
