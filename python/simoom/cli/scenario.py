"""``simoom check`` and ``simoom schema``."""

from __future__ import annotations

from typing import Annotated

import typer

from simoom import _core
from simoom.cli.terminal import File, Settings, load


def check(
    file: File,
    settings: Settings = [],  # noqa: B006  typer copies it
    full: Annotated[
        bool, typer.Option("--full", help="Print the scenario as it was understood.")
    ] = False,
) -> None:
    """Say what is wrong with a scenario: every fault, each at its path."""
    scenario = load(file, settings)
    scenario.check()
    print(scenario.to_toml() if full else f"{file}: sound: {scenario!r}")


def schema() -> None:
    """Print the JSON schema of scenario files, for editors."""
    print(_core.schema().rstrip("\n"))
