"""Alignments and characters of taxa: FASTA, PHYLIP and NEXUS files.

Taxa become columns, and sites become rows. A gap, an unknown site and a code for several states, such as N or R of
nucleotides, are missing.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from latree.errors import InputError
from latree.table.formats import FileFormat, Files
from latree.table.formats.text import bad_line, text_lines
from latree.table.raw import RawColumn, check_names, text_array
from latree.table.sources import LocalSource, memory_source

# The kinds of characters, by the words of NEXUS.
_DATATYPES: dict[str, str] = {
    **dict.fromkeys(("dna", "rna", "nucleotide"), "nucleotide"),
    "protein": "protein",
    **dict.fromkeys(("standard", "restriction", "morphology"), "standard"),
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


class _Command(NamedTuple):
    """A command of a block: its first word in small letters, the rest of its text, and the line of that rest."""

    name: str
    text: str
    line: int


def read_nexus(path: Path, lines: Sequence[str]) -> tuple[list[Taxon], str]:
    """Read the first data or characters block of a NEXUS file."""
    if not lines or lines[0].strip().lower()[:6] != "#nexus":
        raise bad_line(path, 1, "a NEXUS file begins with #NEXUS: add it, or name another format")
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
        raise bad_line(path, 1 + text.count("\n", 0, start), "a comment that never ends: close it with ]")
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


def _matrix(path: Path, command: _Command, options: dict[str, str]) -> tuple[list[Taxon], str]:
    datatype = options.get("datatype", "standard").lower()
    if datatype not in _DATATYPES:
        raise bad_line(path, command.line, f"characters of type {datatype!r:.40}: use one of {', '.join(_DATATYPES)}")
    for word in ("transpose", "tokens", "nolabels"):
        if options.get(word, "no").lower() != "no":
            raise bad_line(path, command.line, f"a matrix with {word.upper()}: write one row of letters per taxon")
    n_sites = options.get("nchar", "")
    if not re.fullmatch(r"[0-9]{1,9}", n_sites):
        raise bad_line(path, command.line, "the number of sites is not known: add a line DIMENSIONS NCHAR=...;")
    rows = _interleaved_rows if options.get("interleave", "no").lower() != "no" else _sequential_rows
    replaced = {options.get("gap", ""): "-", options.get("missing", ""): _UNKNOWN}
    taxa: list[Taxon] = []
    for name, line, letters in rows(path, command, int(n_sites)):
        if len(letters) != int(n_sites):
            problem = f"{name!r:.60} has {len(letters)} of {n_sites} sites: correct its sequence, or NCHAR"
            raise bad_line(path, line, problem)
        match = options.get("matchchar")
        first = taxa[0].sequence if taxa else ""
        sequence = [
            first[site] if letter == match and taxa else replaced.get(letter, letter)
            for site, letter in enumerate(letters)
        ]
        taxa.append(Taxon(name, line, "".join(sequence)))
    n_taxa = options.get("ntax", str(len(taxa)))
    if n_taxa != str(len(taxa)):
        raise bad_line(path, command.line, f"{len(taxa)} taxa where NTAX is {n_taxa:.12}: correct one of the two")
    return taxa, _DATATYPES[datatype]


_Row = tuple[str, int, list[str]]


def _sequential_rows(path: Path, command: _Command, n_sites: int) -> Iterator[_Row]:
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


def _interleaved_rows(path: Path, command: _Command, n_sites: int) -> Iterator[_Row]:
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
        raise bad_line(path, line, f"{found[0]!r} where the name of a taxon should stand: check the sequence before it")
    return str(found[3])


# The states of each kind of characters, the codes that stand for several of them, and how one is called in messages.
_STATES = {
    "nucleotide": ("ACGT", "RYSWKMBDHVNX", "nucleotide"),
    "protein": ("ACDEFGHIKLMNPQRSTVWY", "BJZX*UO", "amino acid"),
}
_GAPS = "-?."
# A name of strict PHYLIP has this many letters, blanks included.
_STRICT_NAME = 10


def alignment_source(files: Files) -> LocalSource:
    """Return a source of the sites of an alignment."""
    path = files.path
    read = {"fasta": _read_fasta, "phylip": _read_phylip, "nexus": read_nexus}[files.format]
    taxa, datatype = read(path, text_lines(path))
    if not taxa:
        raise InputError(f"{path}: no sequences: check that this is a file of format {files.format}")
    check_names([taxon.name for taxon in taxa], str(path))
    return memory_source(str(path), list(_columns(path, taxa, datatype)))


def _columns(path: Path, taxa: Sequence[Taxon], datatype: str | None) -> Iterator[RawColumn]:
    """Yield a raw column for each taxon; without a datatype, it is guessed from the letters."""
    first, length = taxa[0], len(taxa[0].sequence)
    used = set().union(*(set(taxon.sequence.upper()) for taxon in taxa)) - set(_GAPS)
    if datatype is None:
        letters_of = {kind: {*states, *several, "U"} for kind, (states, several, _) in _STATES.items()}
        datatype = next((kind for kind, letters in letters_of.items() if used <= letters), "standard")
    own = "".join(sorted(letter for letter in used if letter.isascii() and letter.isalnum()))
    states, several, one = _STATES.get(datatype, (own, "", "letter or digit"))
    # Code 0 is missing, the others are states; 255 is a letter that the kind of characters does not have.
    code_of = np.full(256, 255, dtype=np.uint8)
    code_of[[ord(letter) for letter in _GAPS + several]] = 0
    code_of[[ord(letter) for letter in states]] = np.arange(1, len(states) + 1)
    if datatype == "nucleotide":
        code_of[ord("U")] = code_of[ord("T")]
    code_of[ord("a") : ord("z") + 1] = code_of[ord("A") : ord("Z") + 1]
    labels = text_array(["", *states])
    # Present and absent are in an order; other states are not.
    order = ("0", "1") if used <= {"0", "1"} else ()
    for name, line, sequence in taxa:
        if len(sequence) != length:
            problem = f"{name!r:.60} has {len(sequence)} sites, and {first.name!r:.60} has {length}"
            raise bad_line(path, line, f"{problem}: align the sequences, so that all have the same length")
        letters = np.frombuffer(sequence.encode("utf-32-le"), dtype=np.uint32)
        codes = code_of[np.minimum(letters, 255)]
        if (codes == 255).any():
            site = int(np.argmax(codes == 255))
            problem = f"{sequence[site]!r} at site {site + 1} of {name!r:.60} is not a {one}"
            raise bad_line(path, line, f"{problem}: correct it, or write ? for an unknown site")
        present, place = np.unique(codes, return_inverse=True)
        yield RawColumn(name, labels[present], place, order)


def _read_fasta(path: Path, lines: Sequence[str]) -> tuple[list[Taxon], None]:
    """Read a FASTA file; the name of a sequence ends at the first blank."""
    found: list[tuple[str, int, list[str]]] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if text.startswith(">"):
            words = text[1:].split(maxsplit=1)
            if not words:
                raise bad_line(path, number, "a sequence without a name: write the name behind >")
            found.append((words[0], number, []))
        elif text and not text.startswith(";"):
            if not found:
                raise bad_line(path, number, f"{text!r:.40} stands before the first name: begin with a line like >name")
            found[-1][2].append(re.sub(r"\s", "", text))
    return [Taxon(name, line, "".join(parts)) for name, line, parts in found], None


def _read_phylip(path: Path, lines: Sequence[str]) -> tuple[list[Taxon], None]:
    """Read a PHYLIP file: sequential or interleaved, names of ten letters or up to the first blank.

    A file does not say which. The first reading in which every sequence has the length of the first line is taken.
    """
    filled = [(number, line.rstrip()) for number, line in enumerate(lines, start=1) if line.strip()]
    header = filled[0][1].split() if filled else []
    if len(header) < 2 or not all(re.fullmatch(r"[0-9]{1,9}", word) for word in header[:2]):
        raise bad_line(path, 1, "the first line must have two numbers, of sequences and of sites: write it like 12 898")
    n_taxa, n_sites = map(int, header[:2])
    rest = filled[1:]
    if not 0 < n_taxa <= len(rest):
        raise bad_line(path, 1, f"{n_taxa} sequences, but {len(rest)} lines follow: correct the first line")
    tried = [
        list(reading(rest, n_taxa, n_sites, divide))
        for divide in (_relaxed, _strict)
        for reading in (_sequential, _interleaved)
    ]
    for taxa in tried:
        if len(taxa) == n_taxa and all(len(taxon.sequence) == n_sites and taxon.name for taxon in taxa):
            return [taxa[0], *(_with_matches(taxon, taxa[0]) for taxon in taxa[1:])], None
    wrong = next((taxon for taxon in tried[0] if len(taxon.sequence) != n_sites), None)
    if wrong is None:
        raise bad_line(path, 1, f"there are other lines than those of {n_taxa} sequences: correct the first line")
    problem = f"{wrong.name!r:.60} has {len(wrong.sequence)} of {n_sites} sites"
    raise bad_line(path, wrong.line, f"{problem}: correct the sequence or the numbers on the first line")


_BLANK = re.compile(r"\s")
_Lines: TypeAlias = Sequence[tuple[int, str]]  # numbers and texts of lines that are not blank
_Divide: TypeAlias = Callable[[str], tuple[str, str]]  # from a line to a name and letters


def _relaxed(text: str) -> tuple[str, str]:
    """Divide a line at the first blank."""
    name, *rest = text.split(maxsplit=1)
    return name, _BLANK.sub("", "".join(rest))


def _strict(text: str) -> tuple[str, str]:
    """Divide a line after ten letters."""
    return text[:_STRICT_NAME].strip(), _BLANK.sub("", text[_STRICT_NAME:])


def _sequential(lines: _Lines, n_taxa: int, n_sites: int, divide: _Divide) -> Iterator[Taxon]:
    """Yield sequences one after the other, each on one or more lines, and an empty one for each line that is left."""
    remaining = iter(lines)
    for number, text in islice(remaining, n_taxa):
        name, sequence = divide(text)
        while len(sequence) < n_sites and (more := next(remaining, None)):
            sequence += _BLANK.sub("", more[1])
        yield Taxon(name, number, sequence)
    for number, text in remaining:
        yield Taxon(text[:_STRICT_NAME], number, "")


def _interleaved(lines: _Lines, n_taxa: int, n_sites: int, divide: _Divide) -> Iterator[Taxon]:
    """Yield sequences whose parts stand in blocks, with names in the first block."""
    for position, (number, text) in enumerate(lines[:n_taxa]):
        name, sequence = divide(text)
        others = "".join(other for _, other in lines[position + n_taxa :: n_taxa])
        yield Taxon(name, number, sequence + _BLANK.sub("", others))


def _with_matches(taxon: Taxon, first: Taxon) -> Taxon:
    """Replace dots, which mean the same as in the first sequence."""
    if "." not in taxon.sequence:
        return taxon
    letters = zip(taxon.sequence, first.sequence, strict=True)
    return taxon._replace(sequence="".join(other if letter == "." else letter for letter, other in letters))


_FASTA, _PHYLIP, _NEXUS = (".fasta", ".fa", ".fas", ".fna", ".faa"), (".phy", ".phylip"), (".nex", ".nexus", ".nxs")
_NAMES = "sequential or interleaved, names of ten letters or up to the first blank"
_BLOCK = "the first data or characters block, sequential or interleaved"
FORMATS = (
    FileFormat("fasta", "FASTA", _FASTA, alignment_source, "see [alignments](#alignments-and-cognates)", gzipped=True),
    FileFormat("phylip", "PHYLIP", _PHYLIP, alignment_source, _NAMES, gzipped=True),
    FileFormat("nexus", "NEXUS", _NEXUS, alignment_source, _BLOCK, gzipped=True),
)
