"""Packages that only some functions need, and how to install them."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import TYPE_CHECKING, Any


class MissingPackageError(ModuleNotFoundError):
    """A package of an extra is not installed; the message says how to install it."""


def need(module: str, purpose: str) -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module : str
        The module, ``duckdb``.
    purpose : str
        What needs it, the beginning of the message: ``a query in SQL``.

    Returns
    -------
    module
        The module.

    Raises
    ------
    MissingPackageError
        The package is not installed.
    """
    with needed(purpose):
        return importlib.import_module(module)


class Later(ModuleType):
    """A module that is imported when it is first used, so that programs start fast.

    It stands among the imports at the top of a file, which imports the module for type checkers.

    Parameters
    ----------
    name : str
        The module.
    purpose : str, optional
        What needs it, as for `need`, if it belongs to an extra.
    """

    def __init__(self, name: str, purpose: str = "this") -> None:
        super().__init__(name)
        self._purpose = purpose

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # programs that look at any object ask for such names
            raise AttributeError(name)
        value = getattr(need(self.__name__, self._purpose), name)
        # What has been asked for once is an attribute from then on.
        setattr(self, name, value)
        return value


if TYPE_CHECKING:
    from importlib import metadata
else:
    metadata = Later("importlib.metadata")


@contextmanager
def needed(purpose: str) -> Iterator[None]:
    """Say of an import that fails what needs the package and how to install it.

    Parameters
    ----------
    purpose : str
        What needs it, the beginning of the message: ``a data frame``.

    Raises
    ------
    MissingPackageError
        The package is not installed, and an extra of Simoom has it.

    Examples
    --------
    >>> with needed("this example"):
    ...     import json
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if (remedy := remedy_of(error)) is None:
            raise
        raise MissingPackageError(f"{purpose} {remedy}", name=error.name) from None


def remedy_of(error: ModuleNotFoundError) -> str | None:
    """Return which extra has the package that is missing, unless none has it.

    Examples
    --------
    >>> remedy_of(ModuleNotFoundError(name="duckdb"))
    "needs duckdb, which is missing: pip install 'simoom[store]'"
    """
    package = (error.name or "").partition(".")[0]
    for requirement in metadata.requires("simoom") or ():
        found = re.match(r"([\w-]+).*; *extra *== *['\"]([\w-]+)['\"]", requirement)
        if found is None or found[2] in ("all", "demo", "dev"):
            continue
        if found[1].replace("-", "_").lower() == package.lower():
            return f"needs {package}, which is missing: pip install 'simoom[{found[2]}]'"
    return None
