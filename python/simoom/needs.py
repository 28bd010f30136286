"""Packages that only some functions need, and how to install them."""

from __future__ import annotations

import importlib
from typing import Any


class MissingPackageError(ImportError):
    """A package of an extra is not installed; the message says how to install it."""


def need(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an extra.

    Parameters
    ----------
    module : str
        The module, ``duckdb``.
    extra : str
        The extra of Simoom that installs its package.
    purpose : str
        What needs it, the beginning of the message: ``a query in SQL``.

    Raises
    ------
    MissingPackageError
        The package is not installed.

    Examples
    --------
    >>> need("no_such_module", "store", "a query in SQL")
    Traceback (most recent call last):
    simoom.needs.MissingPackageError: a query in SQL needs no_such_module, ...
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != module.partition(".")[0]:
            raise  # it is installed, and what it imports is not
        message = f"{purpose} needs {error.name}, which is missing: pip install 'simoom[{extra}]'"
        raise MissingPackageError(message, name=error.name) from None
