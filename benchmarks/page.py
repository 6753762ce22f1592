"""Tables of pages such as docs/lab/peers.md: a benchmark prints its own table and, with --write, puts it there."""

import argparse
from pathlib import Path

from latree.learners.methods import METHODS

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "lab" / "peers.md"


def parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options that these benchmarks share."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    made.add_argument("--write", action="store_true", help="put the table into docs/lab/peers.md")
    return made


class Section:
    """A table that is printed line by line and can be put into the page at the end."""

    def __init__(self, name: str, write: bool, page: Path = PAGE) -> None:
        self.name, self.write, self.page = name, write, page
        self.lines: list[str] = []

    def add(self, line: str) -> None:
        """Print one more line."""
        print(line, flush=True)
        self.lines.append(line.rstrip())

    def publish(self) -> None:
        """Replace the section of the page between its two marks, if `--write` was given."""
        if self.write:
            begin, end = f"<!-- begin {self.name} -->\n", f"<!-- end {self.name} -->"
            before, rest = self.page.read_text(encoding="utf-8").split(begin)
            after = rest.split(end)[1]
            block = "```text\n" + "\n".join(self.lines) + "\n```\n"
            self.page.write_text(before + begin + block + end + after, encoding="utf-8")
