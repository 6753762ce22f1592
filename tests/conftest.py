"""Shared by all tests: settings of hypothesis."""

from hypothesis import settings

# Time limits per example say more about the machine than about the code.
settings.register_profile("latree", deadline=None)
settings.load_profile("latree")
