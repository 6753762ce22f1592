"""What a fitted model says about its columns: the groups they form."""

from latree.explain.groups import Group, find_groups, group_labels

__all__ = ["Group", "find_groups", "group_labels"]
