"""``simoom check`` and ``simoom schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from simoom import _core
from simoom.cli.streams import print_json
from simoom.cli.terminal import File, Settings, Unset, load
from simoom.tables import visible


def check(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    unset: Unset = [],  # noqa: B006
    full: Annotated[
        bool, typer.Option("--full", help="Print every key with its value or default, as JSON.")
    ] = False,
) -> None:
    """Check a scenario and print all its faults, each with its path."""
    scenario = load(file, settings, unset=unset)
    scenario.check()
    if full:
        print_json(scenario.to_dict())
    else:
        print(visible(f"{file}: sound: {scenario!r}"))


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    print(_core.schema().rstrip("\n"))
