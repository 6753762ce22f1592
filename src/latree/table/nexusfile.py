"""Reading the matrix of a NEXUS file: its data or characters block."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from latree.errors import InputError
from latree.table.textfile import bad_line

# The kinds of characters, by the words of NEXUS.
_DATATYPES: dict[str, Literal["nucleotide", "protein", "standard"]] = {
    "dna": "nucleotide",
    "rna": "nucleotide",
    "nucleotide": "nucleotide",
    "protein": "protein",
    "standard": "standard",
    "restriction": "standard",
    "morphology": "standard",
}
# A word: quoted, with '' for a quote, or up to a blank; or a sign that stands alone.
_TOKEN = re.compile(r"'((?:[^']|'')*)'|([=;{}()])|([^\s=;'{}()]+)")
# A site: one letter, or several states in brackets, which is as good as unknown.
_SITE = re.compile(r"\([^)\s]{0,99}\)|\{[^}\s]{0,99}\}|\S")
_UNKNOWN = "?"


class Taxon(NamedTuple):
    """A sequence: its name, the line on which it begins, and its letters, one per site."""

    name: str
    line: int
    sequence: str


class Characters(NamedTuple):
    """All sequences of a file, and the kind of their letters, if the file says it."""

    taxa: list[Taxon]
    datatype: Literal["nucleotide", "protein", "standard"] | None = None


class _Command(NamedTuple):
    """A command of a block: its first word in small letters, the rest of its text, and the line of that rest."""

    name: str
    text: str
    line: int


def read_nexus(path: Path, lines: Sequence[str]) -> Characters:
    """Read the first data or characters block of a NEXUS file."""
    if not lines or lines[0].strip().lower()[:6] != "#nexus":
        raise bad_line(path, 1, "a NEXUS file begins with #NEXUS", "add it, or name another format")
    options: dict[str, str] = {}
    for command in _commands(_without_comments(path, "\n".join(["", *lines[1:]]))):
        if command.name in ("dimensions", "format"):
            options |= _options(command)
        elif command.name == "matrix":
            return _matrix(path, command, options)
    raise InputError(f"{path}: no matrix in a data or characters block: add one, or name another format")


def _without_comments(path: Path, text: str) -> str:
    """Replace comments in brackets, which may be nested, by blanks; lines keep their numbers."""
    pieces = []
    depth = start = 0
    quoted = False
    for sign in re.finditer(r"['\[\]]", text):
        if sign[0] == "'" and not depth:
            quoted = not quoted
        elif sign[0] == "[" and not quoted:
            if not depth:
                pieces.append(text[start : sign.start()])
                start = sign.start()
            depth += 1
        elif sign[0] == "]" and depth:
            depth -= 1
            if not depth:
                pieces.append(re.sub(r"[^\n]", " ", text[start : sign.end()]))
                start = sign.end()
    if depth:
        raise bad_line(path, 1 + text.count("\n", 0, start), "a comment that never ends", "close it with ]")
    return "".join([*pieces, text[start:]])


def _commands(text: str) -> Iterator[_Command]:
    """Yield the commands of data and characters blocks."""
    inside = False
    start, line = 0, 1
    for sign in re.finditer(r"'[^']*(?:'|$)|;", text):
        if sign[0] != ";":
            continue
        piece = text[start : sign.start()]
        words = piece.split(maxsplit=1)
        name = words[0].lower() if words else ""
        behind = piece.find(words[0]) + len(words[0]) if words else 0
        if name == "begin":
            inside = piece[behind:].strip().lower() in ("data", "characters")
        elif name in ("end", "endblock"):
            inside = False
        elif inside:
            yield _Command(name, piece[behind:], line + piece.count("\n", 0, behind))
        start, line = sign.end(), line + piece.count("\n")


def _options(command: _Command) -> dict[str, str]:
    """Return the settings of a command in small letters, such as ``{"datatype": "dna", "interleave": "yes"}``."""
    found = re.findall(r"([A-Za-z]+)(?:\s*=\s*(\"[^\"]*\"|\S+))?", command.text)
    return {name.lower(): (value or "yes") for name, value in found}


def _matrix(path: Path, command: _Command, options: dict[str, str]) -> Characters:
    datatype = options.get("datatype", "standard").lower()
    if datatype not in _DATATYPES:
        raise bad_line(
            path, command.line, f"characters of type {datatype!r:.40}", f"use one of {', '.join(_DATATYPES)}"
        )
    for word in ("transpose", "tokens", "nolabels"):
        if options.get(word, "no").lower() != "no":
            raise bad_line(
                path, command.line, f"a matrix with {word.upper()}", "write it with one row of letters per taxon"
            )
    n_sites = options.get("nchar", "")
    if not re.fullmatch(r"[0-9]{1,9}", n_sites):
        raise bad_line(
            path, command.line, "a matrix whose number of sites is not known", "add a line DIMENSIONS NCHAR=...;"
        )
    rows = _interleaved if options.get("interleave", "no").lower() != "no" else _sequential
    replaced = {options.get("gap", ""): "-", options.get("missing", ""): _UNKNOWN}
    taxa: list[Taxon] = []
    for name, line, letters in rows(path, command, int(n_sites)):
        if len(letters) != int(n_sites):
            what = f"{name!r:.60} has {len(letters)} of {n_sites} sites"
            raise bad_line(path, line, what, "correct its sequence, or NCHAR")
        match = options.get("matchchar")
        first = taxa[0].sequence if taxa else ""
        sequence = [
            first[site] if letter == match and taxa else replaced.get(letter, letter)
            for site, letter in enumerate(letters)
        ]
        taxa.append(Taxon(name, line, "".join(sequence)))
    n_taxa = options.get("ntax", str(len(taxa)))
    if n_taxa != str(len(taxa)):
        raise bad_line(path, command.line, f"{len(taxa)} taxa where NTAX is {n_taxa:.12}", "correct one of the two")
    return Characters(taxa, _DATATYPES[datatype])


_Row = tuple[str, int, list[str]]


def _sequential(path: Path, command: _Command, n_sites: int) -> Iterator[_Row]:
    """Yield the name, the line and the letters of each taxon; letters may stand on several lines."""
    place, line = 0, command.line
    while name := _TOKEN.search(command.text, place):
        line += command.text.count("\n", place, name.start())
        place = name.end()
        letters: list[str] = []
        while len(letters) < n_sites and (found := _SITE.search(command.text, place)):
            letters.append(found[0] if len(found[0]) == 1 else _UNKNOWN)
            place = found.end()
        yield _name(path, line, name), line, letters
        line += command.text.count("\n", name.end(), place)


def _interleaved(path: Path, command: _Command, n_sites: int) -> Iterator[_Row]:
    """Yield the name, the first line and the letters of each taxon; each line has a name and some letters."""
    rows: dict[str, _Row] = {}
    for number, text in enumerate(command.text.split("\n"), start=command.line):
        if found := _TOKEN.search(text):
            name = _name(path, number, found)
            row = rows.setdefault(name, (name, number, []))
            row[2].extend(site if len(site) == 1 else _UNKNOWN for site in _SITE.findall(text[found.end() :]))
    yield from rows.values()


def _name(path: Path, line: int, found: "re.Match[str]") -> str:
    """Return the name that a word stands for."""
    if found[1] is not None:
        return found[1].replace("''", "'")
    if found[3] is None:
        raise bad_line(
            path, line, f"{found[0]!r} where the name of a taxon should stand", "check the sequence before it"
        )
    return str(found[3])
