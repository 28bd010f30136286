"""Words and bins of figures: labels in words with units, findings, and series at screen size."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from simoom.results.tables import digits, number
from simoom.scenario.address import generic
from simoom.scenario.observables import catalogue, observable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simoom.results.run import Run

MOST_MS = 10_000
"""Longer times are in seconds."""
MOST_POINTS = 200
"""A series has at most so many points in a figure; more are noise on a screen."""

UNITS = {
    "mbps": "Mb/s", "ms": "ms", "s": "s", "us": "us", "ns": "ns", "bytes": "bytes", "mhz": "MHz",
    "ghz": "GHz", "db": "dB", "dbm": "dBm", "m": "m", "packets": "packets", "segments": "segments",
}  # fmt: skip
"""Units by the last word of a key."""

PLACES = {
    "ap": "the access point", "wire.down": "the wire, downwards", "wire.up": "the wire, upwards",
}  # fmt: skip
"""Places of results in words."""


def words(path: str) -> str:
    """Return a result, a probe or a key of a scenario in words with its unit.

    Examples
    --------
    >>> words("flows[3].goodput_mbps"), words("stations[0].rate_mbps"), words("stations")
    ('goodput of flows[3], Mb/s', 'rate of stations[0], Mb/s', 'stations')
    >>> words("ap.queue_packets"), words("flows[*].control.window_segments")
    ('queue of the access point, packets', 'window by flow, segments')
    """
    function, _, inner = path.rstrip(")").rpartition("(")
    if function:
        return f"{function} of {words(inner)}"
    place, _, name = path.rpartition(".")
    plain = generic(path)
    if plain in catalogue():
        each = observable(plain)
        title, unit = each.title, each.unit
        if plain.endswith((".mean", ".p50", ".p90", ".p95", ".p99", ".max", ".sd")):
            part = name if name in ("mean", "sd", "max") else f"{name[1:]} %"
            title, place = f"{title}, {part}", place.rpartition(".")[0]
    else:
        *parts, last = name.split("_")
        title, unit = (" ".join(parts), UNITS[last]) if parts and last in UNITS else (name, "1")
        title = title.replace("_", " ")
    known = ("1", "text", "")
    title = title.removeprefix("control ").removesuffix(f" {unit}")
    return f"{title}{_whose(place)}{'' if unit in known else f', {unit}'}"


def in_ms(path: str, *values: NDArray[np.float64]) -> tuple[float, Callable[[str], str]]:
    """Return a factor for values of a result or probe, and what it does to their words.

    Delays are drawn in milliseconds: values in seconds that are all below ten.
    """
    plain = generic(path)
    if plain not in catalogue() or observable(plain).unit != "s":
        return 1.0, str
    highest = max((float(np.nanmax(each, initial=0.0)) for each in values), default=0.0)
    if highest >= MOST_MS / 1e3:
        return 1.0, str
    return 1e3, lambda text: f"{text.removesuffix(', s')}, ms"


def _whose(place: str) -> str:
    """Return in words whose a value is; nothing if it is that of the whole network."""
    place = place.removesuffix(".control")
    if place in ("", "total", "airtime", "contending"):
        return ""
    if kind := re.fullmatch(r"(\w+?)s\[\*\](\.\w+)?", place):
        return f" by {kind[1]}{(kind[2] or '').replace('.', ', ')}"
    return f" of {PLACES.get(place, place)}"


def binned(
    time_s: NDArray[np.float64], value: NDArray[np.float64], most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means of a series over equal stretches of time, if it has more points than that.

    Examples
    --------
    >>> binned(np.arange(4.0), np.array([1.0, 3.0, 5.0, 9.0]), most=2)
    (array([0.5, 2.5]), array([2., 7.]))
    """
    if time_s.size <= most:
        return time_s, value
    size = -(-time_s.size // most)
    edges = np.arange(0, time_s.size, size)
    finite = np.isfinite(value)
    count = np.add.reduceat(finite.astype(float), edges)
    total = np.add.reduceat(np.where(finite, value, 0.0), edges)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(count > 0, total / count, np.nan)
    times = np.add.reduceat(time_s, edges) / np.add.reduceat(np.ones(time_s.size), edges)
    return times, mean


def findings(run: Run) -> dict[str, str]:
    """Return what each figure of a run shows, in a sentence, by the first word of its title."""
    found = {}
    shares = {
        observable(path).heading: number(value) or 0.0
        for path, value in run.summary.items()
        if path.startswith("airtime.")
    }
    if shares:
        most = sorted(shares, key=lambda name: -shares[name])[:3]
        parts = ", ".join(f"{name} {100 * shares[name]:.0f} %" for name in most)
        found["Airtime"] = f"The most airtime goes to: {parts}."
    rates = {str(row["name"]): number(row["goodput_mbps"]) or 0.0 for row in run.flows}
    low, high = min(rates, key=lambda n: rates[n]), max(rates, key=lambda n: rates[n])
    least, most_ = (f"{digits(rates[name])} Mb/s ({name})" for name in (low, high))
    found["Goodput"] = f"Goodputs are from {least} to {most_}."
    for word, key in (("Packet", "delay_s"), ("Round-trip", "rtt_s"), ("Time", "session_delay_s")):
        delays = {
            str(row["name"]): value
            for row in run.flows
            if (value := number(row.get(f"{key}.p90"))) is not None
        }
        if delays:
            worst = max(delays, key=lambda name: delays[name])
            ms = digits(1e3 * delays[worst])
            found[word] = f"The longest is that of {worst}: 90 % are within {ms} ms."
    return found
