"""``simoom check`` and ``simoom schema``."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from simoom import _core
from simoom.cli.terminal import File, Settings, load


def check(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    full: Annotated[
        bool, typer.Option("--full", help="Print every key with its value or default, as JSON.")
    ] = False,
) -> None:
    """Check a scenario and print all its faults, each with its path."""
    scenario = load(file, settings)
    scenario.check()
    if full:
        print(json.dumps(scenario.to_dict(), indent=2, ensure_ascii=False))
    else:
        print(f"{file}: sound: {scenario!r}")


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    print(_core.schema().rstrip("\n"))
