"""Steps of the search: each changes a whole fitted model in one way, while that is worth it.

A step remembers the places where it found nothing to do, and looks at them again only when they have changed.
"""
