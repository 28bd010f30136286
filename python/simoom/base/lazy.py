"""What is imported when it is first used, so that programs start fast: public names, and doors.

A package may have public names in modules that are imported when a name is used (`export`). A
result may have methods that later rooms carry out: `Run.report`, by the room of what people read.
Such a method is a door (`door`). The top of the package says which function is behind each
(`hang`), so that no room names a later one.
"""

from __future__ import annotations

import ast
import dis
import importlib.util
import sys
from collections.abc import Callable, Mapping
from functools import cache, cached_property, wraps
from importlib.abc import InspectLoader
from types import ModuleType
from typing import Any, ParamSpec, TypeVar

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


class LazyPackage(ModuleType):
    """A package that imports the module of a public name when the name is used.

    Its file declares the names: it lists them in ``__all__``, and imports them for type checkers.
    """

    _modules: Mapping[str, str]
    _load: Callable[[str], ModuleType]

    @cached_property
    def homes(self) -> Mapping[str, str]:
        """The module of each public name, below the package."""
        declared = {
            name: module.removeprefix(f"{self.__name__}.")
            for name, module in imported_by(self.__name__).items()
            if name in self.__all__
        }
        return {**declared, **self._modules}

    def __getattr__(self, name: str) -> Any:
        if name not in self.__dict__["__all__"]:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        home = self._load(f"{self.__name__}.{self.homes[name]}")
        value = getattr(home, name, home)
        setattr(self, name, value)
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        # When a module has been imported, Python gives the package an attribute of its name. Where
        # the name is that of a public function, `run` of simoom.run, it stays the function.
        if isinstance(value, ModuleType) and name in self.__all__ and self.homes[name] == name:
            value = getattr(value, name, value)
        super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.__all__})


def export(
    package: str,
    modules: Mapping[str, str] | None = None,
    load: Callable[[str], ModuleType] = importlib.import_module,
) -> None:
    """Let a package import its public names when they are used.

    Parameters
    ----------
    package : str
        The package, ``__name__``. It lists its public names in ``__all__``, and imports them under
        ``if TYPE_CHECKING``.
    modules : mapping of str to str, optional
        Where those names are that are modules themselves.
    load : callable, optional
        Imports a module; another one than Python's says what needs a package that is missing.
    """
    module = sys.modules[package]
    module.__dict__.update(_modules=modules or {}, _load=load)
    module.__class__ = LazyPackage


_behind: dict[str, str] = {}
"""The function behind each door."""


def hang(doors: Mapping[str, str]) -> None:
    """Say which functions are behind doors.

    Parameters
    ----------
    doors : mapping of str to str
        By the name of each door, ``Run.report``, the module of the function and its name, with a
        colon between them.
    """
    _behind.update(doors)


@cache
def behind(name: str) -> Callable[..., Any]:
    """Return the function behind a door, whose module is imported when the door is first opened."""
    module, _, function = _behind[name].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def door(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Let the function behind a door carry out a method or function, which has no body of its own.

    Its name is that of the door, with its class: ``Run.report``.
    """

    @wraps(function)
    def opened(*arguments: Given.args, **named: Given.kwargs) -> Returned:
        found: Returned = behind(function.__qualname__)(*arguments, **named)
        return found

    return opened


def imported_by(module: str) -> dict[str, str]:
    """Return the names that a module imports from others, each with its module.

    They are read from its code: frozen programs have no sources.
    """
    code = _loader(module).get_code(module)
    assert code is not None
    found, home = {}, ""
    for step in dis.get_instructions(code):
        if step.opname == "IMPORT_NAME":
            home = step.argval
        elif step.opname == "IMPORT_FROM":
            found[step.argval] = home
    return found


@cache
def source_of(module: str) -> ast.Module:
    """Return the source of a module, which is not imported: what tells of it need not use it."""
    return ast.parse(_loader(module).get_source(module) or "")


def _loader(module: str) -> InspectLoader:
    spec = importlib.util.find_spec(module)
    assert spec is not None
    assert isinstance(spec.loader, InspectLoader)
    return spec.loader


def home_of(package: str, name: str) -> str:
    """Return the module of a public name, below the package."""
    found: Mapping[str, str] = sys.modules[package].homes
    return found[name]
