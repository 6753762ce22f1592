"""Exact inference in a tree of discrete variables: messages, EM, soft evidence."""
