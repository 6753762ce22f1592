"""Public names of a package that are imported on first use, so that importing the package stays cheap."""

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str], folders: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the functions ``__getattr__`` and ``__dir__`` of a package whose public names live in other modules.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    homes : mapping
        From each public name to the module that defines it.
    folders : collection of str
        The names of public packages within the package.

    Examples
    --------
    In the ``__init__.py`` of a package::

        __getattr__, __dir__ = lazy_names(__name__, {"Tree": "latree.tree", "plot": "latree.figure"})
    """

    def get_attribute(name: str) -> Any:
        if name in folders:
            return import_module(f"{package}.{name}")  # sets the attribute of the package, too
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes, *folders})

    return get_attribute, list_names
