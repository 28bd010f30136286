"""Words and bins of figures: units, findings, and series at screen size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from simoom.base.frames import np
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
