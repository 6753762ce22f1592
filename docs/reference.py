"""Writes docs/commands.md from the command line's own help: `make docs`."""

from pathlib import Path

import click

from latree.__main__ import commands

PAGE = Path(__file__).parent / "commands.md"


def reference() -> str:
    """Give the page of all commands."""
    parts = ["# Commands\n\nWritten by `make docs` from what `latree COMMAND --help` prints.\n"]
    group = commands.make_context("latree", [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    for name, command in sorted(commands.commands.items()):
        context = click.Context(command, parent=group, info_name=name)
        parts.append(f"## latree {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference(), encoding="utf-8")
