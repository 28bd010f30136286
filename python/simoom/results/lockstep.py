"""Sources that lose all they send because they are in step with others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simoom.results.tables import number, rows

if TYPE_CHECKING:
    from simoom.results.run import Run

ALL = 0.99
"""The fraction of attempts that collide from which a source gets nothing through."""
FEWEST = 3
"""Fewer attempts may all collide by chance."""
MOST_FLOWS = 5
REMEDY = (
    "sources that send at the same instants collide for ever: give flows[*].start_spread_s more "
    "than 0, and broadcasts jitter (routing.protocol.aodv.originated_jitter_ms, "
    "routing.arp_jitter_ms)"
)


def lockstep(run: Run) -> list[str]:
    """Return a sentence about the flows of which nothing arrives because all frames collide.

    Such sources usually send at the same instants: with one start and one interval, or broadcasts
    without jitter.
    """
    summary = run.summary
    flows = [flow for flow in rows(summary, "flows") if _collides(flow, summary)]
    if not flows:
        return []
    more = f" and {len(flows) - MOST_FLOWS} more" if len(flows) > MOST_FLOWS else ""
    names = ", ".join(str(flow["name"]) for flow in flows[:MOST_FLOWS])
    return [
        f"nothing arrives, because all frames collide: {names}{more}; {REMEDY}",
    ]


def _collides(flow: Mapping[str, Any], summary: Mapping[str, Any]) -> bool:
    """Return whether a flow delivers nothing, and all frames of its radio collide."""
    if not number(flow.get("packets_sent")) or number(flow.get("goodput_mbps")):
        return False
    source = str(flow.get("from"))
    path = f"stations[{source[3:]}]" if source.startswith("sta") else "ap"
    attempts = number(summary.get(f"{path}.attempts")) or 0.0
    collided = number(summary.get(f"{path}.collision_probability")) or 0.0
    return attempts >= FEWEST and collided >= ALL
