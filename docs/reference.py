"""Writes the generated pages: docs/commands.md from the command line's help, docs/api/*.md from the public names.

The table of formats in docs/data.md is generated, too.

Run by `make docs`. A name is public if `__all__` of a public module lists it. Docstrings follow
numpydoc; their sections become lists and code blocks.
"""

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from textwrap import dedent
from types import FunctionType, ModuleType
from typing import Any

import click

from latree.__main__ import commands
from latree.table.opening import FORMATS

DOCS = Path(__file__).parent

# The public modules, in the order of the reference.
PUBLIC = ["latree", "latree.datasets", "latree.research"]

_WIDTH = 100  # the longest signature on one line
_UNDERLINE = re.compile(r"^-{3,}$")
_LISTS = ("Parameters", "Returns", "Yields", "Raises", "Warns", "Attributes", "Methods", "See Also")


def pages() -> dict[Path, str]:
    """Return the text of every generated page by its file."""
    made = {DOCS / "commands.md": commands_page()}
    for module in PUBLIC:
        made[DOCS / "api" / f"{module}.md"] = api_page(import_module(module))
    made[DOCS / "api" / "README.md"] = index_page()
    made[DOCS / "data.md"] = with_formats((DOCS / "data.md").read_text(encoding="utf-8"))
    return made


def with_formats(page: str) -> str:
    """Return docs/data.md with the table of the formats that latree reads; all else is written by hand."""
    lines = ["| file | ending | `--format` | what is read | needs |", "|---|---|---|---|---|"]
    for format in FORMATS:
        endings = ", ".join(f"`{ending}`" for ending in format.endings) + (", also with `.gz`" * format.gzipped)
        needs = f"`pip install '.[{format.needs}]'` " * bool(format.needs)
        lines.append(f"| {format.title} | {endings} | `{format.name}` | {format.what} | {needs}|")
    table = "\n".join(lines)
    return re.sub(r"(<!-- formats: .*? -->\n\n)(?:\|.*\n)+", lambda found: f"{found[1]}{table}\n", page)


def commands_page() -> str:
    """Return the page of all commands."""
    parts = ["# Commands\n\nWritten by `make docs` from what `latree COMMAND --help` prints.\n"]
    group = commands.make_context("latree", [], resilient_parsing=True, terminal_width=100, max_content_width=100)
    for name, command in sorted(commands.commands.items()):
        context = click.Context(command, parent=group, info_name=name)
        parts.append(f"## latree {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def index_page() -> str:
    """Return the page that lists the public modules and their names."""
    parts = [
        "# Python reference",
        "Written by `make docs` from the docstrings of all public names. Names that are not listed here are private "
        "and may change at any time.",
    ]
    for module in map(import_module, PUBLIC):
        names = ", ".join(f"[{name}]({module.__name__}.md#{slug(name)})" for name in public_names(module))
        parts += [f"## [{module.__name__}]({module.__name__}.md)", summary(module), names]
    return "\n\n".join(parts) + "\n"


def api_page(module: ModuleType) -> str:
    """Return the page of one public module."""
    parts = [f"# {module.__name__}", *markdown(docstring(module))]
    for name in public_names(module):
        value = getattr(module, name)
        parts.append(f"## {name}")
        if inspect.isclass(value):
            parts += class_parts(f"{module.__name__}.{name}", value)
        else:
            parts += [signature(f"{module.__name__}.{name}", value), *markdown(docstring(value))]
    return "\n\n".join(parts) + "\n"


def class_parts(name: str, value: type) -> Iterator[str]:
    """Yield the paragraphs about a class and its public members."""
    if not issubclass(value, BaseException):
        yield signature(name, value)
    yield from markdown(docstring(value))
    for member, found in public_members(value):
        yield f"### {value.__name__}.{member}"
        if not isinstance(found, property | cached_property):
            yield signature(f"{value.__name__}.{member}", getattr(value, member), method=inspect.isfunction(found))
        yield from markdown(docstring(found))


def public_names(module: ModuleType) -> list[str]:
    """Return the names that a module lists, sorted."""
    return sorted(getattr(module, "__all__", []), key=str.lower)


def public_members(value: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties of a class that latree itself defines."""
    for name in sorted(dir(value)):
        owner = next((base for base in value.__mro__ if name in vars(base)), value)
        found = inspect.getattr_static(value, name)
        ours = not name.startswith("_") and owner.__module__.split(".")[0] == "latree"
        kinds = (FunctionType, classmethod, staticmethod, property, cached_property)
        if ours and isinstance(found, kinds) and docstring(found):
            yield name, found


def docstring(value: Any) -> str:
    """Return an object's own docstring, cleaned; empty if it has none."""
    text = getattr(value, "__doc__", None) or ""
    generated = inspect.isclass(value) and text.startswith(f"{value.__name__}(")  # what dataclasses write themselves
    return "" if generated else inspect.cleandoc(text)


def summary(value: Any) -> str:
    """Return the first paragraph of a docstring on one line."""
    return inline(" ".join(docstring(value).split("\n\n")[0].split()))


def signature(name: str, value: Any, method: bool = False) -> str:
    """Return the call as a code block: names and defaults, without types, which the parameters' list has."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    if method:
        parameters = parameters[1:]  # self
    words, keyword_only = [], False
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            keyword_only = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            words.append("*")
            keyword_only = True
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        default = "" if parameter.default is parameter.empty else f"={literal(parameter.default)}"
        words.append(f"{stars}{parameter.name}{default}")
    line = f"{name}({', '.join(words)})"
    if len(line) > _WIDTH:
        line = f"{name}(\n" + "".join(f"    {word},\n" for word in words) + ")"
    return f"```text\n{line}\n```"


def literal(default: Any) -> str:
    """Return a default as text that is the same in every run: no addresses, sets in order."""
    if isinstance(default, set | frozenset):
        return "{" + ", ".join(sorted(map(repr, default))) + "}"
    if inspect.isroutine(default) or inspect.isclass(default):
        return str(default.__name__)
    text = repr(default)
    return "..." if text.startswith("<") or " at 0x" in text else text


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def inline(text: str) -> str:
    """Turn the reStructuredText inside a line into Markdown; code stays as it is."""
    text = re.sub(r":\w+(?::\w+)?:`~?([^`<]+?)(?:\s*<[^`]*>)?`", r"`\1`", text)  # :func:`name <path>` -> `name`
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    text = re.sub(r"\[(\w+)\]_", r"[\1]", text)  # a reference to a footnote
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else re.sub(r"([<*])", r"\\\1", piece) for piece in pieces)


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the heading, empty for the beginning, and the lines of each section of a docstring."""
    heading, lines = "", list[str]()
    for line in text.splitlines():
        if _UNDERLINE.match(line.strip()) and lines and lines[-1].strip():
            title = lines.pop().strip()
            yield heading, lines
            heading, lines = title, []
        else:
            lines.append(line)
    yield heading, lines


def markdown(text: str) -> Iterator[str]:
    """Yield a docstring as paragraphs of Markdown."""
    for heading, lines in sections(text):
        if heading:
            yield f"**{heading}**"
        if heading in _LISTS:
            yield from filter(None, [listed(lines)])
        else:
            yield from body(lines)


def listed(lines: list[str]) -> str:
    """Return the entries of a section such as Parameters as a list: `name : type` and an indented description."""
    entries: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            entries.append((line.strip(), []))
        elif entries:
            entries[-1][1].append(line)
    made = []
    for head, description in entries:
        name, colon, kind = head.partition(" : ")
        shown = f"`{name}` ({inline(kind)})" if colon else f"`{name}`" if head.isidentifier() else inline(head)
        paragraphs = list(body(dedent("\n".join(description)).splitlines()))
        first = f": {paragraphs[0]}" if paragraphs else ""
        rest = "".join("\n\n" + "\n".join(f"  {line}".rstrip() for line in p.splitlines()) for p in paragraphs[1:])
        made.append(f"- {shown}{first}{rest}")
    return "\n".join(made)


def body(lines: list[str]) -> Iterator[str]:
    """Yield running text, doctests and indented blocks as paragraphs of Markdown."""
    for block in blocks(lines):
        first = block[0].strip()
        if first.startswith(">>>"):
            shown = (re.sub(r"\s*# doctest:.*", "", line) for line in dedent("\n".join(block)).splitlines())
            yield "```pycon\n" + "\n".join(shown) + "\n```"
        elif block[0].startswith(" "):
            yield "```text\n" + dedent("\n".join(block)).strip("\n") + "\n```"
        elif re.match(r"\.\. \w+::", first):
            continue  # a directive such as math: the indented block that follows is shown
        elif re.match(r"([-*]|\d+\.) ", first):
            yield "\n".join(inline_item(line) for line in block)
        elif re.match(r"\.\. \[", first):
            joined = " ".join(line.strip() for line in block)
            yield "\n".join(f"- {inline(entry)}" for entry in re.split(r"\s*\.\. (?=\[)", joined) if entry)
        else:
            yield re.sub(r"::$", ":", inline(" ".join(line.strip() for line in block)))


def inline_item(line: str) -> str:
    """Return a line of a list, with its mark as it is."""
    mark, rest = re.match(r"(\s*(?:(?:[-*]|\d+\.) )?)(.*)", line).groups()  # type: ignore[union-attr]
    return mark + inline(rest)


def blocks(lines: list[str]) -> Iterator[list[str]]:
    """Yield runs of lines that belong together: an indented block may hold empty lines, others end at one."""
    block: list[str] = []
    for number, line in enumerate(lines):
        if line.strip():
            if block and not block[0].startswith((" ", ">>>", "-", "*")) and line.startswith(" ") and is_break(block):
                yield block
                block = []
            block.append(line)
        elif block and block[0].startswith(" ") and next_text(lines, number).startswith(" "):
            block.append("")
        elif block:
            yield block
            block = []
    if block:
        yield block


def is_break(block: list[str]) -> bool:
    """Return whether an indented line after these lines begins a literal block."""
    return block[-1].rstrip().endswith("::")


def next_text(lines: list[str], number: int) -> str:
    """Return the first line after a number that is not empty."""
    return next((line for line in lines[number:] if line.strip()), "")


def main() -> None:
    """Write all generated pages, and remove those of modules that are no longer public."""
    made = pages()
    (DOCS / "api").mkdir(exist_ok=True)
    for path in set((DOCS / "api").glob("*.md")) - set(made):
        path.unlink()
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
