"""Scope: scenarios that no model represents, and models that do not concern a scenario."""

from __future__ import annotations

from dataclasses import replace

from simoom.base.kinds import WITH_MCS
from simoom.models import FAMILIES, assumption
from simoom.models.assumption import Assumption
from simoom.twin.inputs import Cell, choice
from simoom.twin.verdict import AssumptionCheck, Fit, broken, stretched

AGGREGATING = ("aggregation", "tcp_aggregation", "ofdma", "ofdma_uplink")
"""The families for the standards in which an access to the medium carries several frames."""

BESIDE_VOICE = ("bluetooth", "tcp_corruption")
"""The families for cells beside a voice link of Bluetooth."""

NO_PROTECTION = Assumption(
    "no_protection", "All stations decode all frames, and no protection precedes OFDM frames."
)

HALF_DUPLEX = Assumption("half_duplex", "No node sends and receives at the same time.")

NO_BEACONS = Assumption("no_beacons", "Nodes send frames of flows only.")

ALL_AWAKE = Assumption("all_awake", "Stations are awake all the time.")

IN_RANGE = Assumption("in_range", "The values lie in the range in which the model has a solution.")


def irrelevant_families(cell: Cell) -> dict[str, AssumptionCheck]:
    """Return the families that do not concern a scenario, and what the scenario lacks."""
    named = {}
    if cell.keys["routing"] is None:
        named["chain"] = ("straight_chain", "a cell has one hop")
    sources = [choice(each["source"])[0] for each in cell.keys["interferers"]]
    if sources != ["sco"]:
        how = "the sources are other ones" if sources else "there is no Bluetooth link"
        named |= dict.fromkeys(BESIDE_VOICE, ("bluetooth_voice", how))
    standard = cell.keys["standard"]
    if standard not in WITH_MCS:
        how = f"{standard} answers each frame by an ACK"
        named |= dict.fromkeys(("aggregation", "tcp_aggregation"), ("block_ack", how))
    mu = cell.keys["wlan"].get("mu")
    if mu is None:
        named["ofdma"] = ("several_users", "each PPDU is for one station")
    if mu is None or mu["uplink"] is None:
        named["ofdma_uplink"] = ("triggered", "the access point triggers nobody")
    if not cell.is_full_duplex:
        how = "the access point does not send and receive at the same time"
        named["full_duplex"] = ("full_duplex_access_point", how)
    if not cell.coded_flows:
        how = "no flow sends parity units"
        named["lt_tcp"] = ("independent_loss", how)
    return {
        family: broken(next(a for a in FAMILIES[family].ASSUMPTIONS if a.name == name), how)
        for family, (name, how) in named.items()
    }


def unsupported(cell: Cell, family: str) -> AssumptionCheck | None:
    """Return a property of a scenario that a family does not represent, if there is one."""
    standard = cell.keys["standard"]
    if standard is None:
        return broken(assumption.ONE_CELL, "there is no cell, only links")
    if standard in WITH_MCS and family not in AGGREGATING:
        return broken(assumption.NO_AGGREGATION, f"{standard} sends A-MPDUs")
    if how := _protection(cell):
        return broken(NO_PROTECTION, how)
    return None


def no_interference(cell: Cell, family: str) -> AssumptionCheck | None:
    """Return why a model without interferers does not represent a cell that has some."""
    count = len(cell.keys["interferers"])
    if family in BESIDE_VOICE or count == 0:
        return None
    how = f"frames are lost to {count} interferer" + ("s" if count > 1 else "")
    return broken(assumption.NO_FRAME_ERRORS, how)


def half_duplex(cell: Cell, family: str) -> AssumptionCheck | None:
    """Return why a model of half duplex does not represent a full-duplex cell."""
    if family == "full_duplex" or not cell.is_full_duplex:
        return None
    return broken(HALF_DUPLEX, "the access point sends while it receives")


def beside_beacons(cell: Cell, fit: Fit) -> Fit:
    """Add to the verdict on a model that it does not represent beacons and power save."""
    beacons = cell.air.wlan.get("beacons")
    if beacons is None:
        return fit
    how = f"a beacon every {beacons['interval_tu']} TU takes airtime"
    checks = [*fit.checks, stretched(NO_BEACONS, how)]
    if asleep := sum(station.get("power_save") is not None for station in cell.stations):
        verb = "station saves" if asleep == 1 else "stations save"
        checks.append(stretched(ALL_AWAKE, f"{asleep} {verb} power"))
    return replace(fit, checks=tuple(checks))


def _protection(cell: Cell) -> str:
    """Return how 802.11b stations change an 802.11g network; an empty text if there are none."""
    if cell.keys["standard"] != "11g":
        return ""
    if any(station.get("standard") == "11b" for station in cell.stations):
        return "11b stations in an 11g network"
    protection = cell.air.wlan.get("protection") or "none"
    return "" if protection == "none" else f"wlan.protection is {protection}"


def out_of_range(family: str, how: str) -> Fit:
    """Return the verdict on a family that rejects a value, for example ``wlan.cw_min = 0``."""
    return Fit(family, "", (broken(IN_RANGE, how),))
