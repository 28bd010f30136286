"""Packages whose public names are imported when they are first used: programs start fast."""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Mapping
from functools import cache
from importlib.abc import InspectLoader
from types import ModuleType
from typing import Any


class LazyPackage(ModuleType):
    """A package that imports the module of a public name when the name is used.

    Attributes
    ----------
    homes : dict of str to str
        The module of each public name, below the package.
    """

    homes: Mapping[str, str]

    def __getattr__(self, name: str) -> Any:
        if name not in self.homes:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = importlib.import_module(f"{self.__name__}.{self.homes[name]}")
        value = getattr(home, name, home)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # When a module has been imported, Python gives the package an attribute of its name. Where
        # the name is that of a public function, `run` of simoom.run, it stays the function.
        if isinstance(value, ModuleType) and self.homes.get(name) == name:
            value = getattr(value, name, value)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.homes})


def export(package: str, names: Mapping[str, str]) -> None:
    """Give a package public names that are imported when they are used.

    Parameters
    ----------
    package : str
        The package, ``__name__``.
    names : mapping of str to str
        The names of each of its modules, with spaces between them; a module that is public itself
        has its own name.
    """
    module = sys.modules[package]
    module.__dict__["homes"] = {name: home for home, own in names.items() for name in own.split()}
    module.__class__ = LazyPackage


@cache
def source_of(module: str) -> ast.Module:
    """Return the source of a module, which is not imported: what tells of it need not use it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    return ast.parse(spec.loader.get_source(module) or "")


def home_of(package: str, name: str) -> str:
    """Return the module of a public name, below the package."""
    return str(sys.modules[package].__dict__["homes"][name])
