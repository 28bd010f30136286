"""``simoom probes``: the time series that a scenario can record."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.padding import Padding
from rich.text import Text

from simoom.cli.api import Source, of_scenario
from simoom.cli.streams import print_json
from simoom.cli.terminal import console
from simoom.show.layout import table

NARROW = 60
"""Columns below which a table would cut off the meanings."""


@of_scenario
def probes(
    source: Source,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print them as one JSON array, nothing else.")
    ] = False,
) -> None:
    """List the probes of a scenario: paths for --probe, with unit and meaning.

    `[*]` stands for any number, and gives a time series of each flow, station or link that has the
    probe.
    """
    found = source.load().probes()
    if as_json:
        print_json([probe._asdict() for probe in found])
        return

    screen = console()
    if screen.width < NARROW:
        for probe in found:
            screen.print(Text(f"{probe.path}, {probe.unit}" if probe.unit != "1" else probe.path))
            screen.print(Padding(Text(probe.meaning), (0, 0, 0, 2), expand=False))
        return
    rows = [(each.path, str(each.series), "" if each.unit == "1" else each.unit, each.meaning)
            for each in found]  # fmt: skip
    headings = ("probe", "series", "unit", "meaning")
    screen.print(table(headings, rows, left=(0, 2, 3), wrapped=(3,)))
