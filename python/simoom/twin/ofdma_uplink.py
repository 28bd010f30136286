"""802.11ax: an access point that triggers stations that always have data, by uplink OFDMA."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

from simoom.models import assumption, ofdma_uplink, timing, txop
from simoom.models.ofdma_uplink import NULL_AROUND, Contention, Triggers, Uplink
from simoom.models.resource_units import Answers, none_empty
from simoom.models.txop import Sender
from simoom.twin import aggregates, saturated
from simoom.twin.inputs import Cell, choice
from simoom.twin.medium import fixed_mcs, no_capture, noise, one_cell
from simoom.twin.ofdma import MOST_MCS
from simoom.twin.verdict import AssumptionCheck, Fit, broken, met

_NAMES = {each.name: each for each in ofdma_uplink.ASSUMPTIONS}
UPLOADS, TRIGGERED, ANSWERS, KNOWN_QUEUES, ONE_MANNER = (
    _NAMES[name] for name in ("uploads", "triggered", "answers", "known_queues", "one_manner")
)
USED = {key: value for key, value in aggregates.USED.items() if key != "mu"}
USED |= {"rts_rate_mbps": None}
"""Keys of ``wlan`` and the values that the model represents; others have checks of their own."""
USUAL_UPLINK: dict[str, Any] = {
    "after_bsrp": "basic",
    "reports.told_in": "data",
    "reports.lifetime_ms": None,
    "reports.unknown_bytes": 0,
}
"""The same of ``wlan.mu.uplink``."""
TIMER_US = 8192.0
"""The unit of the timers of MU EDCA."""
KEPT = 2
"""The accesses for which a saturated source keeps datagrams."""


def fit(cell: Cell) -> Fit:
    """Check the assumptions of `ofdma_uplink` for a scenario and predict."""
    scope = (
        _uploads(cell),
        saturated.one_hop(cell),
        saturated.sent_all_along(cell),
        _saturated(cell),
        one_cell(cell),
        aggregates.usual(cell, USED),
        aggregates.one_category(cell),
        fixed_mcs(cell),
        met(assumption.BLOCK_ACK),
        _triggered(cell),
        _answers(cell),
        _known_queues(cell),
        aggregates.equal(cell),
    )
    early = (*scope, _contends_by(cell))
    if any(check.verdict == "broken" for check in early):
        return Fit("ofdma_uplink", "", early)
    flow, behind = cell.flows[0], Counter(each.station for each in cell.flows)
    stations = len(behind)
    sender = aggregates.sender(cell, flow.packet_bytes, at_access_point=False)
    triggers = _triggers(cell, sender, stations, max(behind.values()))
    mu_edca = _mu_edca(cell)
    if mu_edca is not None:
        point = ofdma_uplink.muted(
            sender,
            triggers,
            payload_bytes=flow.payload_bytes,
            interval_us=_interval_us(cell),
            cw_min=aggregates.windows(cell, at_access_point=True)[0],
        )
        cycles = math.ceil(stations / triggers.users)
        nothing = met(assumption.DECOUPLED, "nothing collides")
        manner: tuple[AssumptionCheck, ...] = (_stays_muted(cell, point, cycles, mu_edca), nothing)
        what = "muted"
    else:
        point = ofdma_uplink.beside_edca(
            stations,
            sender,
            triggers,
            payload_bytes=flow.payload_bytes,
            contention=_contention(cell),
        )
        manner = (_always_asks(cell, sender), no_capture(cell), saturated.decoupled(cell))
        what = "beside EDCA"
    total = float(point.throughput_mbps)
    values = {
        "total.goodput_mbps": total,
        "total.collision_probability": float(point.collided_exchanges),
    }
    values |= {
        f"{each.path}.goodput_mbps": total / stations / behind[each.station] for each in cell.flows
    }
    form = f"{what}: {triggers.users} of {stations} stations"
    return Fit("ofdma_uplink", form, (*scope, noise(cell), *manner), values)


def _triggers(cell: Cell, sender: Sender, stations: int, behind: int) -> Triggers:
    """Return how the access point triggers stations, each with so many flows."""
    wlan = cell.keys["wlan"]
    mu: dict[str, Any] = wlan["mu"]
    uplink = mu["uplink"]
    width, streams = int(sender.format["width_mhz"]), int(sender.format["streams"])
    tones, users = none_empty(width, min(stations, mu["max_users"] or stations))
    is_capped = tones < 242 and not mu["small_1024_qam"]
    return Triggers(
        users=users,
        answers=Answers(
            tones,
            min(sender.mcs, MOST_MCS) if is_capped else sender.mcs,
            streams,
            3200 if wlan["guard_ns"] == 3200 else 1600,
        ),
        bsrp=uplink["bsrp"],
        duration_us=float(uplink["duration_us"]),
        limit_us=aggregates.sender(cell, 1500, at_access_point=True).limit_us,
        padding_us=float(uplink["trigger_padding_us"]),
        null_bytes=int(wlan["mac_header_bytes"]) + 2 + NULL_AROUND,
        waiting=KEPT * sender.most_mpdus * behind,
        legacy_sizes=uplink["queue_size"] == "legacy",
    )


def _mu_edca(cell: Cell) -> Mapping[str, Any] | None:
    """Return the parameters by which triggered stations contend, if they have a timer."""
    own: Mapping[str, Any] | None = (cell.keys["wlan"]["mu"]["edca"] or {}).get("best_effort")
    return own if own is not None and own["timer"] > 0 else None


def _interval_us(cell: Cell) -> float:
    return float(cell.keys["wlan"]["mu"]["uplink"]["access_interval_us"])


def _contention(cell: Cell) -> Contention:
    of_station, of_access_point = (
        aggregates.contention(cell, at_access_point=is_it) for is_it in (False, True)
    )
    return Contention(
        of_station["mean_slots"],
        of_access_point["mean_slots"],
        of_station["silence_us"],
        of_station["head_slots"],
        of_station["slot_us"],
    )


def _uploads(cell: Cell) -> AssumptionCheck:
    down = next((flow for flow in cell.flows if flow.direction != "up"), None)
    return met(UPLOADS) if down is None else broken(UPLOADS, f"{down.path} is no upload")


def _saturated(cell: Cell) -> AssumptionCheck:
    """Check that sources are saturated: of others it is not known how much waits, and is told."""
    other = next((flow for flow in cell.flows if flow.kind != "saturated"), None)
    if other is None:
        return met(assumption.SATURATED)
    return broken(assumption.SATURATED, f"{other.path} has {other.kind} traffic")


def _triggered(cell: Cell) -> AssumptionCheck:
    mu: dict[str, Any] = cell.keys["wlan"]["mu"]
    uplink = mu["uplink"]
    if not uplink["access_interval_us"]:
        return broken(TRIGGERED, "the access point never asks for the medium without a packet")
    if uplink["random_access"] is not None:
        return broken(TRIGGERED, "wlan.mu.uplink.random_access is given")
    own = {"after_bsrp": uplink["after_bsrp"]}
    own |= {f"reports.{key}": value for key, value in uplink["reports"].items()}
    for key, value in own.items():
        if value != USUAL_UPLINK[key]:
            return broken(TRIGGERED, f"wlan.mu.uplink.{key} is {value}")
    if mu["protection"] != "none":
        return broken(TRIGGERED, f"wlan.mu.protection is {mu['protection']}")
    if any(station.get("power_save") is not None for station in cell.stations):
        return broken(TRIGGERED, "stations that sleep are not triggered")
    sending = {number for flow in cell.flows for number in flow.stations}
    if idle := len(cell.stations) - len(sending):
        verb = "station has" if idle == 1 else "stations have"
        return broken(TRIGGERED, f"{idle} {verb} no flow, and BSRPs ask all")
    return met(TRIGGERED)


def _answers(cell: Cell) -> AssumptionCheck:
    mu: dict[str, Any] = cell.keys["wlan"]["mu"]
    scheduler, _ = choice(mu["scheduler"])
    if scheduler != "round_robin":
        return broken(ANSWERS, f"wlan.mu.scheduler is {scheduler}")
    if padding := mu["nominal_padding_us"]:
        return broken(ANSWERS, f"wlan.mu.nominal_padding_us is {padding}")
    return met(ANSWERS)


def _known_queues(cell: Cell) -> AssumptionCheck:
    for number in sorted({number for flow in cell.flows for number in flow.stations}):
        name, settings = choice(cell.stations[number]["queue"])
        if name != "drop_tail" or any(value is not None for value in settings.values()):
            return broken(KNOWN_QUEUES, f"the queue of sta{number} is {name}, or has a limit")
    return met(KNOWN_QUEUES)


def _contends_by(cell: Cell) -> AssumptionCheck:
    """Check that MU EDCA mutes stations, if it does anything."""
    own = _mu_edca(cell)
    if own is None:
        return met(ONE_MANNER, "stations contend, too")
    if aifsn := own["aifsn"]:
        return broken(ONE_MANNER, f"triggered stations contend with AIFSN {aifsn}")
    return met(ONE_MANNER, "MU EDCA mutes stations")


def _stays_muted(cell: Cell, point: Uplink, cycles: int, own: Mapping[str, Any]) -> AssumptionCheck:
    """Check that the timer of a station lasts until it has been triggered again."""
    timer_us = TIMER_US * own["timer"]
    slots = aggregates.windows(cell, at_access_point=True)[0]
    slot_us = timing.standard(cell.keys["standard"]).slot_us
    longest_us = cycles * max(point.triggered_us + slots * slot_us, _interval_us(cell) + slot_us)
    how = f"timers of {timer_us / 1000:.3g} ms, triggers after up to {longest_us / 1000:.3g} ms"
    return met(ONE_MANNER, how) if longest_us < timer_us else broken(ONE_MANNER, how)


def _always_asks(cell: Cell, sender: Sender) -> AssumptionCheck:
    """Check that the access point asks for the medium again before a collision ends."""
    interval_us, data_us = _interval_us(cell), txop.txop(sender).exposed_us
    how = f"the access point asks {interval_us:g} us after its last access"
    if interval_us > data_us:
        return broken(ONE_MANNER, f"{how}, and collisions last {data_us:g} us")
    return met(ONE_MANNER, how)
