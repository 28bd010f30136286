"""A group of commands, each of which is imported when it is used."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import typer
from typer.core import TyperGroup


def epilog(examples: Sequence[str]) -> str | None:
    """Return the end of the help of a command: its examples, each in a line."""
    # The character keeps the help from filling the lines of a paragraph.
    return "\n".join(["\b", "Examples:", *(f"  {each}" for each in examples)]) if examples else None


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
        if name not in self._made:
            module = importlib.import_module(f"{self._package}.{self._modules[name]}")
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
