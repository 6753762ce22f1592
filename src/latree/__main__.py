"""``python -m latree`` is the command line."""

from latree.cli import main

main()
