"""How messages name a setting: as an argument of Python, or as an option of the command line."""

import shlex
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

# Options of the command line whose names differ from those of the arguments.
SHELL_NAMES = {"identifier": "id", "n_states": "states", "random_state": "seed"}

# How many commands are running in this process. It is not a ContextVar, because threads write messages, too.
_n_commands = 0


@contextmanager
def as_in_shell() -> Iterator[None]:
    """Spell settings as options of the command line."""
    global _n_commands
    _n_commands += 1
    try:
        yield
    finally:
        _n_commands -= 1


def in_shell() -> bool:
    """Return whether a command is running."""
    return _n_commands > 0


def setting(name: str, value: object = None) -> str:
    """Return how to choose a setting where the reader is: in Python by default, or on the command line.

    Parameters
    ----------
    name : str
        The name of the argument.
    value : object
        Its value; a list is separated by commas on the command line. None for the name alone.

    Examples
    --------
    >>> from latree._util.spelling import as_in_shell, setting
    >>> setting("n_states", 4), setting("drop", ["day", "shop, street"]), setting("identifier", "person")
    ('n_states=4', "drop=['day', 'shop, street']", "identifier='person'")
    >>> with as_in_shell():
    ...     print(setting("n_states", 4), setting("drop", ["day", "shop, street"]), setting("identifier", "person"))
    --states 4 --drop 'day,"shop, street"' --id person
    """
    if not in_shell():
        return name if value is None else f"{name}={value!r}"
    option = f"--{SHELL_NAMES.get(name, name).replace('_', '-')}"
    if value is None:
        return option
    text = ",".join(_cell(str(one)) for one in value) if isinstance(value, list) else str(value)
    return f"{option} {shlex.quote(text)}"


def settings_in_a_row(texts: Sequence[str]) -> str:
    """Return several settings, as they are typed one after the other."""
    return (" " if in_shell() else ", ").join(texts)


def _cell(name: str) -> str:
    """Return a name as a cell of a list that is separated by commas."""
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name
