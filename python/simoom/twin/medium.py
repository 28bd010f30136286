"""Assumptions about the medium: one cell, its access method, its noise."""

from __future__ import annotations

from simoom.models import assumption
from simoom.models.assumption import Assumption
from simoom.twin.inputs import Cell, choice
from simoom.twin.verdict import AssumptionCheck, broken, graded, met

DCF = Assumption("dcf", "Nodes contend by DCF, all with the same interframe space.")

MOST_NODES = 300
"""The nodes for which the twin computes who detects whom."""

NO_LOSS = 1e-6
"""A smaller loss cannot be measured."""

EVEN_DB, UNEVEN_DB = 3.0, 10.0
"""Signals that differ by less destroy each other; otherwise the stronger may be received."""


def medium(cell: Cell) -> tuple[AssumptionCheck, ...]:
    """Check the assumptions about the medium that all models of contention share."""
    together = one_cell(cell)
    access = dcf(cell), fixed_mcs(cell)
    if together.verdict == "broken":
        # Computing all links is slow with many nodes, and would add nothing to this verdict.
        return together, *access
    return together, noise(cell), no_capture(cell), *access


def one_cell(cell: Cell) -> AssumptionCheck:
    """Check that all nodes detect each other at all times."""
    assumed, radio = assumption.ONE_CELL, cell.keys["radio"]
    if radio is None:
        return met(assumed)
    if further := len(cell.keys["cells"]):
        return broken(assumed, f"{further} further cell{'s' * (further > 1)}")
    if radio["ad_hoc"]:
        return broken(assumed, "stations send to each other without the access point")
    if any(station.get("waypoints") or station.get("movement") for station in cell.stations):
        return broken(assumed, "stations move")
    if radio["fading"] is not None:
        return broken(assumed, "fading changes which nodes detect each other")
    if (count := len(cell.stations) + 1) > MOST_NODES:
        # The work is quadratic in the nodes, and a report must not take longer than its run.
        how = f"whether all of {count} nodes detect each other is not computed"
        return broken(assumed, f"{how}; at most {MOST_NODES}")
    heard = cell.hearing
    if heard.all_detect_all:
        return met(assumed, "all nodes detect each other")
    undetected = [
        (node, other)
        for node in heard.nodes
        for other in heard.nodes
        if node != other and not heard.detects(node, other)
    ]
    (node, other), *_ = undetected
    among = len(heard.nodes) * (len(heard.nodes) - 1)
    count = len(undetected)
    return broken(assumed, f"{node} does not detect {other}; this holds for {count} of {among}")


def noise(cell: Cell) -> AssumptionCheck:
    """Check the loss of frames by noise."""
    how = f"noise destroys up to {100 * cell.loss:.2g} % of the frames" if cell.loss else ""
    return graded(assumption.NO_FRAME_ERRORS, cell.loss, how, good=NO_LOSS, bad=0.01)


def no_capture(cell: Cell) -> AssumptionCheck:
    """Check whether a frame of a collision may be received, which needs a radio."""
    assumed, radio = assumption.NO_CAPTURE, cell.keys["radio"]
    if radio is None:
        return met(assumed)
    if radio["capture"] is not None:
        return broken(assumed, "receivers capture later, stronger frames")
    signals: dict[str, list[float]] = {}
    for link in cell.hearing.links:
        if link.signal_dbm is not None:
            signals.setdefault(link.sink, []).append(link.signal_dbm)
    spread = max((max(group) - min(group) for group in signals.values()), default=0.0)
    how = f"signals differ by up to {spread:.2g} dB" if spread > 0 else ""
    return graded(assumed, spread, how, good=EVEN_DB, bad=UNEVEN_DB)


def dcf(cell: Cell) -> AssumptionCheck:
    """Check whether access categories give nodes different interframe spaces and windows."""
    return broken(DCF, "access is by EDCA") if cell.keys["wlan"]["qos"] else met(DCF)


def fixed_mcs(cell: Cell) -> AssumptionCheck:
    """Check whether rate control may change the modes of frames."""
    assumed = assumption.FIXED_MCS
    rules = [cell.keys["wlan"]["rate_control"], cell.keys["ap"]["rate_control"]]
    rules += [station.get("rate_control") for station in cell.stations]
    moving = next((rule for rule in rules if rule not in (None, "fixed")), None)
    return met(assumed) if moving is None else broken(assumed, f"{choice(moving)[0]} chooses it")
