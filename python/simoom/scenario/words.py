"""Results, probes and keys in words with their units, as figures and the page label them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from simoom.scenario.address import generic
from simoom.scenario.observables import catalogue, observable

UNITS = {
    "mbps": "Mb/s", "ms": "ms", "s": "s", "us": "us", "ns": "ns", "bytes": "bytes", "mhz": "MHz",
    "ghz": "GHz", "db": "dB", "dbm": "dBm", "m": "m", "packets": "packets", "segments": "segments",
}  # fmt: skip
"""Units by the last word of a key."""

PLACES = {
    "ap": "the access point", "wire.down": "the wire, downwards", "wire.up": "the wire, upwards",
    "airtime": "the airtime",
}  # fmt: skip
"""Places of results in words."""


def words(path: str, names: Mapping[str, str] | None = None) -> str:
    """Return a result, a probe or a key of a scenario in words with its unit.

    Parameters
    ----------
    path : str
        Its path.
    names : mapping, optional
        Names of flows and nodes by their paths.

    Examples
    --------
    >>> words("flows[3].goodput_mbps"), words("stations[0].rate_mbps"), words("stations")
    ('goodput of flows[3], Mb/s', 'rate of stations[0], Mb/s', 'stations')
    >>> words("ap.queue_packets"), words("flows[*].control.window_segments")
    ('queue of the access point, packets', 'window by flow, segments')
    >>> words("total.goodput_ci95_mbps"), words("ap.attempts")
    ('total goodput, half of the 95 % interval, Mb/s', 'attempts of the access point')
    >>> words("flows[3].rtt_s.p95", {"flows[3]": "download"})
    'round-trip time, 95 % of download, s'
    """
    function, _, inner = path.rstrip(")").rpartition("(")
    if function:
        return f"{function} of {words(inner, names)}"
    place, _, name = path.rpartition(".")
    plain = generic(path)
    if plain in catalogue():
        each = observable(plain)
        title, unit = each.title, each.unit
        if (value := plain.replace("_ci95", "")) != plain:
            title = f"{observable(value).title}, half of the 95 % interval"
        if plain.endswith((".count", ".mean", ".p50", ".p90", ".p95", ".p99", ".max", ".sd")):
            part = name if name in ("count", "mean", "sd", "max") else f"{name[1:]} %"
            title, place = f"{title}, {part}", place.rpartition(".")[0]
    else:
        *parts, last = name.split("_")
        title, unit = (" ".join(parts), UNITS[last]) if parts and last in UNITS else (name, "1")
        title = title.replace("_", " ")
    known = ("1", "text", "", title)
    title = title.removeprefix("control ").removesuffix(f" {unit}")
    return f"{title}{_whose(place, names or {})}{'' if unit in known else f', {unit}'}"


def _whose(place: str, names: Mapping[str, str]) -> str:
    """Return in words whose a value is; nothing if it is that of the whole network."""
    place = re.sub(r"\.(control|limited_by|tcp)$", "", place)
    if place in ("", "total", "contending"):
        return ""
    if kind := re.fullmatch(r"(\w+?)s\[\*\](\.\w+)?", place):
        return f" by {kind[1]}{(kind[2] or '').replace('.', ', ')}"
    return f" of {names.get(place) or PLACES.get(place, place)}"
