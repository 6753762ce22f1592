"""What tests need to know about the pages of the documentation."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
_BLOCK = r"^```{language}[^\S\n]*\n(.*?)^```[^\S\n]*$"


def fenced(text, language):
    """Return the code of all blocks that are fenced in a language."""
    return [found[1] for found in re.finditer(_BLOCK.format(language=language), text, re.DOTALL | re.MULTILINE)]


def runnable(text):
    """Return the Python blocks of a page that can run here: those without a comment `not run` before them."""
    without = re.sub(r"<!-- not run: [^\n]*-->\n\n?```python\n.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    return fenced(without, "python")
