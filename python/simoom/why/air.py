"""Counterfactuals of the air: collisions, noise, modes, RTS, and the other flows."""

from __future__ import annotations

import math
from typing import Any

from simoom.results.tables import digits, number, rows
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Change, Key, setting, without
from simoom.why.draft import OFF, Edit

NEVER_RTS = 2347
"""The RTS threshold that means never."""
NO_CELL = "there is no cell"
NO_RADIO = "there is no table [radio]"
APART_DB = 300.0
"""A loss at which nothing is received."""
MODE_KEYS = (
    *("rate_mbps", "mcs", "ap_mcs", "streams", "ap_streams", "width_mhz", "guard_ns"),
    *("ap_guard_ns", "legacy_rate_mbps", "ap_legacy_rate_mbps"),
)


def collisions(case: Case) -> Answer:
    """Let no two nodes of a cell transmit in the same slot."""
    if not case.has_cell:
        return NO_CELL
    if case.radio is not None:
        return "with [radio] collisions depend on who receives whom"
    if case.cell.is_full_duplex:
        return "not with full duplex"
    share = number(case.summary.get("total.collision_probability"))
    if not share:
        return "no attempt collided"
    cause = f"collisions ({100 * share:.0f} % of the attempts)"
    key = setting("wlan.collisions=none", note="no network can")
    return Change([Edit("wlan.collisions", "none")], cause, "without them", key)


def noise(case: Case) -> Answer:
    """Let noise destroy no data frame."""
    return _noise(case, "data_loss", "data frames")


def ack_loss(case: Case) -> Answer:
    """Let noise destroy no MAC ACK."""
    return _noise(case, "ack_loss", "MAC ACKs")


def _noise(case: Case, key: str, frames: str) -> Answer:
    if not case.has_cell:
        return NO_CELL
    lossy = [(path, table[key]) for path, table, _ in case.station_groups if table.get(key)]
    if not lossy:
        return f"noise destroys no {frames} (stations.{key})"
    worst = max(loss for _, loss in lossy)
    edits = [Edit(f"{path}.{key}", 0.0) for path, _ in lossy]
    cause = f"noise, which destroys {100 * worst:g} % of the {frames}"
    return Change(edits, cause, "without it", setting(*(f"{path}.{key}=0" for path, _ in lossy)))


def hidden_nodes(case: Case) -> Answer:
    """Let all nodes detect each other."""
    if case.radio is None:
        return NO_RADIO
    if case.moves:
        return "stations move, and losses between them change"
    pairs = case.hearing.hidden
    if not pairs:
        return "no node is hidden from another"
    losses = _losses(case)
    if isinstance(losses, str):
        return losses
    # A node that the others must detect arrives there as at the access point.
    place = {name: n for n, name in enumerate(case.hearing.nodes)}
    for first, second in pairs:
        a, b = place[first], place[second]
        loss = max(min(losses[a]), min(losses[b]))
        losses[a][b], losses[b][a] = min(losses[a][b], loss), min(losses[b][a], loss)
    edits = _set_losses(case, losses)
    one = "nodes" if len(pairs) > 1 else "pair"
    cause = f"{len(pairs)} hidden {one} ({pairs[0][0]} and {pairs[0][1]})"
    words = "if all nodes detect each other"
    return Change(edits, cause, words, Key(note="the positions, or radio.losses_db"))


def _losses(case: Case) -> list[list[float]] | str:
    radio = case.radio or {}
    if radio.get("losses_db"):
        return [[float(x) for x in row] for row in radio["losses_db"]]
    if radio.get("shadowing_db"):
        return "each replication draws its own shadowing"
    if case.cell.keys["cells"]:
        return "there are several cells"
    nodes = case.hearing.nodes
    place = {name: n for n, name in enumerate(nodes)}
    losses = [[APART_DB] * len(nodes) for _ in nodes]
    powers = _own_powers_dbm(case)
    for pair in case.hearing.pairs:
        if pair.signal_dbm is not None:
            loss = powers.get(pair.source, radio["tx_power_dbm"]) - pair.signal_dbm
            losses[place[pair.source]][place[pair.sink]] = loss
    return losses


def _own_powers_dbm(case: Case) -> dict[str, float]:
    """Return the transmit powers of nodes that have their own."""
    given = [("ap", case.cell.keys["ap"].get("tx_power_dbm"))]
    for _, table, members in case.station_groups:
        given += [(f"sta{number}", table.get("tx_power_dbm")) for number in members]
    return {name: float(power) for name, power in given if power is not None}


def _set_losses(case: Case, losses: list[list[float]]) -> list[Edit]:
    """Return the changes that set path losses, which then say what positions said."""
    nodes = ["ap", *(f"cells[{n}]" for n in range(len(case.cell.keys["cells"] or ())))]
    nodes += [path for path, table, _ in case.station_groups if table]
    gone = [Edit(f"{path}.{key}") for path in nodes for key in PLACES]
    return [*gone, Edit("radio.losses_db", _rounded(losses))]


PLACES = ("position_m", "ring_m", "placement")
"""The keys that say where a node is."""


def _rounded(losses: list[list[float]]) -> list[list[float]]:
    """Return a matrix whose diagonal is 0."""
    return [[0.0 if a == b else round(x, 3) for b, x in enumerate(row)]
            for a, row in enumerate(losses)]  # fmt: skip


def fading(case: Case) -> Answer:
    """Let signals not fade."""
    if case.radio is None:
        return NO_RADIO
    if case.radio.get("fading") is None:
        return "signals do not fade (radio.fading)"
    m = case.radio["fading"]["m"]
    cause = f"fading (Nakagami, m = {digits(m)})"
    return Change([Edit("radio.fading")], cause, "without it", without("radio.fading"))


def signal(case: Case) -> Answer:
    """Let the signals between the flow's stations and the access point be 20 dB stronger."""
    if case.radio is None:
        return NO_RADIO
    if case.moves:
        return "stations move, and losses between them change"
    own = {f"sta{number}" for number in case.own_stations}
    if not own:
        return "no end of the flow is a station"
    links = [link for link in case.hearing.links if own & {link.source, link.sink}]
    fixed = case.cell.keys["wlan"]["rate_control"] == "fixed"
    is_clear = all((link.success or 0.0) >= CLEAR for link in links)
    if is_clear and fixed and case.radio.get("fading") is None:
        return "noise alone destroys no frames: the signal is strong enough for their mode"
    losses = _losses(case)
    if isinstance(losses, str):
        return losses
    place = {name: n for n, name in enumerate(case.hearing.nodes)}
    for name in own:
        sta = place[name]
        losses[0][sta] = max(losses[0][sta] - STRONGER_DB, 0.0)
        losses[sta][0] = max(losses[sta][0] - STRONGER_DB, 0.0)
    known = [link.snr_db for link in links if link.snr_db is not None]
    at = f" (SNR {digits(min(known))} dB)" if known else ""
    cause, words = f"the weak signal of {', '.join(sorted(own))}{at}", "with 20 dB more"
    where = Key(note=f"the position of {', '.join(sorted(own))}")
    return Change(_set_losses(case, losses), cause, words, where)


STRONGER_DB = 20.0
CLEAR = 0.99
"""From this fraction of received frames on, noise is not what limits a link."""


def interferers(case: Case) -> Answer:
    """Remove interferers."""
    count = len(case.cell.keys["interferers"])
    if not count:
        return "there are no interferers"
    cause = "the interferer" if count == 1 else f"{count} interferers"
    return Change([Edit("interferers")], cause, "without", without("interferers"))


def own_mode(case: Case) -> Answer:
    """Let the frames of the flow's stations have the fastest mode that works."""
    return _modes(case, own=True)


def slow_stations(case: Case) -> Answer:
    """Let the frames of the other stations have the fastest mode."""
    return _modes(case, own=False)


def _modes(case: Case, *, own: bool) -> Answer:
    if not case.has_cell:
        return NO_CELL
    wanted = set(case.own_stations)
    groups = [
        (path, table, members)
        for path, table, members in case.station_groups
        if (bool(wanted & set(members)) if own else set(members) - wanted)
    ]
    slow = [(path, table, members) for path, table, members in groups
            if any(table.get(key) is not None for key in MODE_KEYS)
            or table.get("rate_control") not in (None, "fixed")]  # fmt: skip
    if case.radio is not None:
        return _ideal(case, slow or groups) if own else _nearer(case)
    wlan = case.cell.keys["wlan"]
    set_for_all = [key for key in MODE_KEYS if wlan.get(key) is not None] if own else []
    rates = _rates(case)
    chosen = {n for _, _, members in groups for n in members}
    chosen = chosen & wanted if own else chosen - wanted
    least = min((rates[n] for n in chosen), default=math.inf)
    slow = [each for each in slow if min(rates[n] for n in each[2]) < max(rates.values()) or own]
    if not slow and not set_for_all:
        return "the stations have the fastest mode of the standard"
    edits = [Edit(f"{path}.{key}") for path, _, _ in slow for key in (*MODE_KEYS, "rate_control")]
    edits += [Edit(f"wlan.{key}") for key in set_for_all]
    if not own:
        edits = [e for e in edits if not _is_of(e, case, wanted)]
        if least >= max(rates.values()) or not edits:
            return "no other station is slower than the fastest"
    elif least >= max(rates.values()) and not set_for_all:
        return "the flow's stations are the fastest"
    given = [e.path for e in edits if _given(case, e.path)]
    best = max(rates.values())
    who = "its own station" if own else _names([n for n in sorted(chosen) if rates[n] < best])
    cause = f"the rate of {who} ({digits(least)} Mb/s)"
    return Change(edits, cause, "with the fastest mode", without(*(given or [edits[0].path])))


def _is_of(edit: Edit, case: Case, stations: set[int]) -> bool:
    path = edit.path.rsplit(".", 1)[0]
    return any(path == own and stations & set(members)
               for own, _, members in case.station_groups)  # fmt: skip


def _given(case: Case, path: str) -> bool:
    group, key = path.rsplit(".", 1)
    tables = {path: table for path, table, _ in case.station_groups}
    table: dict[str, Any] = tables.get(group) or case.cell.keys["wlan"]
    return table.get(key) not in (None, "fixed")


def _names(numbers: list[int]) -> str:
    return f"sta{numbers[0]}" if len(numbers) == 1 else f"{len(numbers)} other stations"


def _rates(case: Case) -> dict[int, float]:
    """Return the measured rate of the frames to or from each station."""
    found = {}
    for n, row in enumerate(rows(case.summary, "stations")):
        found[n] = number(row.get("data_rate_mbps")) or math.inf
    finite = [rate for rate in found.values() if rate < math.inf]
    ap = number(case.summary.get("ap.data_rate_mbps"))
    return {n: rate if rate < math.inf else max(finite, default=ap or 0.0)
            for n, rate in found.items()}  # fmt: skip


def _ideal(case: Case, groups: list[tuple[str, dict[str, Any], range]]) -> Answer:
    wlan = case.cell.keys["wlan"]
    fixed = [key for key in MODE_KEYS if wlan.get(key) is not None]
    if not groups:
        return "no end of the flow is a station"
    if wlan["rate_control"] == "ideal" and not fixed:
        return "rate control is ideal already"
    keys = (*MODE_KEYS, "rate_control")
    edits = [Edit(f"{path}.{key}") for path, _, _ in groups for key in keys]
    edits += [Edit(f"wlan.{key}") for key in fixed] + [Edit("ap.rate_control")]
    edits.append(Edit("wlan.rate_control", "ideal"))
    rates = _rates(case)
    mine = [rates[n] for n in case.own_stations if n in rates]
    ap = number(case.summary.get("ap.data_rate_mbps"))
    rate = min([r for r in (*mine, ap) if r], default=0.0)
    cause = f"the mode of the frames ({digits(rate)} Mb/s)"
    return Change(edits, cause, "with ideal rate control", setting("wlan.rate_control=ideal"))


def _nearer(case: Case) -> Answer:
    """Let slow other stations be as near as the nearest, and their modes be what that allows."""
    losses = _losses(case)
    if isinstance(losses, str) or case.moves:
        return losses if isinstance(losses, str) else "stations move"
    rates, used = _rates(case), airtime_of_others(case)
    busy = [n for n in used if used[n] >= SMALL_SHARE]
    slow = [n for n in busy if rates[n] < SLOW * max(rates.values(), default=0.0)]
    if not slow:
        return "no other station is slow and takes a tenth of the airtime"
    place = {name: n for n, name in enumerate(case.hearing.nodes)}
    stations = {
        each.number: place[each.name] for each in case.interfaces.values() if each.kind == "station"
    }
    near = min(losses[0][at] for at in stations.values())
    for at in (stations[n] for n in slow):
        losses[0][at] = losses[at][0] = min(near, losses[0][at])
    groups = [
        (path, table) for path, table, members in case.station_groups if set(slow) <= set(members)
    ]
    keys = [
        f"{path}.{key}" for path, table in groups for key in MODE_KEYS if table.get(key) is not None
    ]
    worst = max(slow, key=lambda n: used[n])
    cause = (
        f"the distance of {_names(slow)}, whose frames have {digits(rates[worst])} Mb/s and take "
        f"{100 * sum(used[n] for n in slow):.0f} % of the airtime"
    )
    key = Key(unset=tuple(keys), note=f"an access point nearer to {_names(slow)}")
    edits = [*_set_losses(case, losses), *(Edit(path) for path in keys)]
    return Change(edits, cause, "if it were as near as the nearest", key)


SLOW, SMALL_SHARE = 0.75, 0.1
"""A station is slow below this part of the fastest mode, if it takes this part of the airtime."""


def airtime_of_stations(case: Case) -> dict[int, float]:
    """Return the airtime that the flows of each station take, by its number."""
    used: dict[int, float] = {}
    by_name = {str(row["name"]): n for n, row in enumerate(rows(case.summary, "flows"))}
    for hop in rows(case.summary, "hops"):
        flow = case.cell.flows[by_name[str(hop["flow"])]]
        for station in flow.stations:
            part = number(hop["airtime_fraction"]) or 0.0
            used[station] = used.get(station, 0.0) + part
    return used


def airtime_of_others(case: Case) -> dict[int, float]:
    """Return the same of the stations at which the flow does not end."""
    used = airtime_of_stations(case)
    return {n: part for n, part in used.items() if n not in case.own_stations}


def rts(case: Case) -> Answer:
    """Send no RTS."""
    if not case.has_cell:
        return NO_CELL
    threshold = case.cell.keys["wlan"]["rts_threshold_bytes"]
    if threshold >= NEVER_RTS:
        return "no frame has an RTS"
    if case.cell.is_full_duplex:
        return "full duplex needs RTS and CTS"
    edits = [Edit("wlan.rts_threshold_bytes", NEVER_RTS)]
    cause = f"RTS and CTS before frames above {threshold} B"
    key = setting(f"wlan.rts_threshold_bytes={NEVER_RTS}")
    return Change(edits, cause, "without them", key)


def always_rts(case: Case) -> Answer:
    """Send an RTS before each data frame."""
    if not case.has_cell:
        return NO_CELL
    if case.cell.keys["wlan"]["rts_threshold_bytes"] == 0:
        return "each frame has an RTS"
    edits = [Edit("wlan.rts_threshold_bytes", 0)]
    key = setting("wlan.rts_threshold_bytes=0")
    return Change(edits, "the lack of RTS and CTS", "with both", key)


def greediest(case: Case) -> Answer:
    """Remove the flows of the other station that takes the most airtime."""
    used = airtime_of_others(case)
    if not used:
        return "no other station has flows"
    number_ = max(used, key=lambda n: used[n])
    worst = f"sta{number_}"
    flows = case.cell.flows
    gone = [n for n in case.others if number_ in flows[n].stations]
    senders = 1 + len(case.others)
    if not gone or len(gone) == len(case.others):
        return f"{worst} has all other flows: see alone" if gone else "no other station has flows"
    share = f"{100 * used[number_]:.0f} % of the airtime"
    return Change(
        _off(gone), f"{worst}, whose flows take {share}", "without them",
        Key(note=f"the flows of {worst}"), (senders, senders - len(gone)),
    )  # fmt: skip


def alone(case: Case) -> Answer:
    """Remove all other flows."""
    if not case.others:
        return "there is no other flow"
    count = len(case.others)
    cause = "the other flow" if count == 1 else f"the {count} other flows"
    others = [case.cell.flows[n] for n in case.others]
    ends = {station for flow in others for station in flow.stations} - {*case.own_stations}
    if len(ends) == 1 and ends & airtime_of_stations(case).keys():
        station = ends.pop()
        name, share = f"sta{station}", airtime_of_stations(case)[station]
        cause += f", that of {name}" if count == 1 else f", those of {name}"
        cause += f", with {100 * share:.0f} % of the airtime"
    return Change(_off(case.others), cause, "alone", Key(note="the other flows"), (1 + count, 1))


def _off(flows: list[int]) -> list[Edit]:
    return [Edit(f"flows[{n}].{key}", value) for n in flows for key, value in OFF.items()]
