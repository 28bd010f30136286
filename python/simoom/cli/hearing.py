"""``simoom hearing``: the links of a scenario with a radio."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simoom.cli.api import Source, check_time, from_api
from simoom.cli.streams import print_json
from simoom.scenario.hearing import Hearing, NodePair
from simoom.scenario.hearing import hearing as pairs_of
from simoom.show.layout import table

MOST_NAMES = 4


@from_api("hearing")
def hearing(
    source: Source,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all pairs as one JSON array, nothing else.")
    ] = False,
    **given: Any,
) -> None:
    """Show which nodes of a scenario with a radio receive each other, without a run."""
    scenario = source.load()
    check_time("--at", given["at_s"])
    heard = pairs_of(scenario, **given)
    if as_json:
        print_json([vars(pair) for pair in heard.pairs])
        return

    console = Console(highlight=False)
    console.print(_links(heard))
    console.print(Text(_hidden(heard)))


def _links(heard: Hearing) -> Table:
    """Return a row for each direction of each link."""
    headings = ("link", "signal\ndBm", "SNR\ndB", "rate\nMb/s", "frames that\narrive, %", "")
    return table(headings, map(_cells, heard.links), left=(0, 5))


def _cells(link: NodePair) -> tuple[str, ...]:
    return (
        f"{link.source} → {link.sink}",
        "-" if link.signal_dbm is None else f"{link.signal_dbm:.1f}",
        "-" if link.snr_db is None else f"{link.snr_db:.1f}",
        f"{link.rate_mbps:.4g}",
        f"{100 * (link.success or 0.0):.1f}",
        _remark(link),
    )


def _remark(link: NodePair) -> str:
    if not link.detected:
        return "too weak to be detected"
    return "" if (link.success or 0.0) > 0.5 else "mostly lost"


def _hidden(heard: Hearing) -> str:
    if heard.all_detect_all:
        return "\nAll nodes detect each other."
    lines = []
    for node in heard.nodes:
        others = [a if b == node else b for a, b in heard.hidden if node in (a, b)]
        if others:
            names = ", ".join(others[:MOST_NAMES])
            more = f" and {len(others) - MOST_NAMES} more" if len(others) > MOST_NAMES else ""
            lines.append(f"  {node} from {names}{more}")
    if not lines:
        return "\nNo node is hidden from another whose frames it disturbs."
    return "\n".join(["", "Hidden from each other", *lines])
