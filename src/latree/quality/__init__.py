"""Drawn rows beside real ones: single columns, pairs, a classifier that tells them apart, and copies of real rows."""
