"""A group of commands, each of which is imported when it is used."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from simoom.base.lazy import source_of


def epilog(examples: Sequence[str]) -> str | None:
    """Return the end of the help of a command: its examples, each in a line."""
    # The character keeps the help from filling the lines of a paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {each}" for each in examples)]) if examples else None


def summary(module: ast.Module, name: str) -> str:
    """Return the help of a command: the docstring of a function, or what a group is given."""
    for each in module.body:
        match each:
            case ast.FunctionDef(name=found) if found == name:
                return ast.get_docstring(each) or ""
            case ast.Assign(targets=[ast.Name(id=found)], value=ast.Call(keywords=given)):
                if found == name:
                    return str(ast.literal_eval({k.arg: k.value for k in given}["help"]))
    return ""


class Later(TyperCommand):
    """A command that is imported when it is used; until then it has its help alone.

    Parameters
    ----------
    name : str
        The name of the command.
    load : callable
        Returns the command.
    summary : str
        The help.
    """

    def __init__(self, name: str, load: Callable[[], Any], summary: str) -> None:
        super().__init__(name, help=summary)
        self._load = load

    def make_context(self, *arguments: Any, **settings: Any) -> Any:
        """Return the context of the command."""
        return self._load().make_context(*arguments, **settings)


class Commands(Mapping[str, Any]):
    """The commands of a program, by name.

    Parameters
    ----------
    package : str
        The package of the modules of the commands.
    modules : mapping of str to str
        The module of each command, in the order of the help. It has a function, or a `typer.Typer`,
        of the name of the command, with ``_`` for ``-``, and maybe ``EXAMPLES`` for the help.
    settings : mapping of str to Any
        The arguments of `typer.Typer` for each command.
    """

    def __init__(self, package: str, modules: Mapping[str, str], settings: Mapping[str, Any]):
        self._package = package
        self._modules = modules
        self._settings = settings
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        # The list of commands, and the completion of their names, import none of them.
        text = summary(source_of(self._home(name)), name.replace("-", "_"))
        return Later(name, partial(self.load, name), text)

    def _home(self, name: str) -> str:
        return f"{self._package}.{self._modules[name]}"

    def load(self, name: str) -> Any:
        """Import a command."""
        if name not in self._made:
            module = importlib.import_module(self._home(name))
            command = getattr(module, name.replace("-", "_"))
            if not isinstance(command, typer.Typer):
                function, command = command, typer.Typer(add_completion=False, **self._settings)
                command.command(name, epilog=epilog(getattr(module, "EXAMPLES", ())))(function)
            self._made[name] = typer.main.get_command(command)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


def lazy_group(
    package: str, modules: Mapping[str, str], settings: Mapping[str, Any]
) -> type[TyperGroup]:
    """Return a class of groups for `typer.Typer` with `Commands` of these arguments."""
    commands: Any = Commands(package, modules, settings)

    class LazyGroup(TyperGroup):
        """A group whose commands are imported when they are used."""

        def __init__(self, **attributes: Any) -> None:
            super().__init__(**attributes | {"commands": commands})

    return LazyGroup
