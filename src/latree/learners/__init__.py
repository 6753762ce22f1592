"""Learners of structure: evidence about columns -> tree."""
