"""Learners of structure, from evidence about columns to a tree, and their registry by name."""
