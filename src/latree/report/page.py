"""What all pages are made of: one HTML file that contains its styles, scripts and data, and connects to nothing."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from latree import __version__

_HERE = Path(__file__).parent

# The most bytes of a page: one that every mailbox takes, and every browser opens at once.
MAX_PAGE = 2_000_000


def templates() -> Environment:
    """Return the templates of pages; they escape what they are given."""
    made = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.globals["latree"] = __version__
    return made


def inline(*names: str, frame: str = "{}") -> Markup:
    """Return the text of files as the content of one HTML element."""
    text = frame.format("\n".join((_HERE / name).read_text(encoding="utf-8") for name in names))
    assert "</s" not in text  # the text must not end its own <script> or <style> element
    return Markup(text)


def script(*names: str) -> Markup:
    """Return files of JavaScript as the content of one script, whose names nobody else sees."""
    return inline(*names, frame='(() => {{\n"use strict";\n\n{}}})();\n')


def policy(style: str, scripts: list[str]) -> str:
    """Return a security policy that allows these scripts, this style and embedded images, and nothing else."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src '{_hash(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def page_json(value: Any) -> Markup:
    """Return a value as JSON that an HTML parser cannot take for markup."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)
