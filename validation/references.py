"""Reference values in ``data/``, and the quantities that are compared with them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from functools import cache
from pathlib import Path

from simoom import Run
from simoom.runs.evidence import Reference
from validation.case import DETECTED, Expected, Quantity, Rule

DATA = Path(__file__).parent / "data"
HALF_OF_DETECTED = DETECTED / 2
"""The tolerance of probabilities and shares."""


def table(name: str) -> list[dict[str, str]]:
    """The rows of a table of reference values."""
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def plain(value: object) -> float:
    """The measured value, which must be a number."""
    if isinstance(value, (int, float)):
        return float(value)
    raise TypeError(f"{value!r} is not a number")


def number(path: str) -> Callable[[Run], float]:
    """Return a function that extracts the number at a path from a run."""

    def take(run: Run) -> float:
        return plain(run.summary[path])

    return take


def delay_per_packet_ms(run: Run) -> float:
    """Mean delay of a file divided by the mean number of its packets.

    The mean of heavy-tailed sizes varies by 10 % and more between samples; this ratio does not.
    """
    first = sum(plain(row["segments_sent"]) - plain(row["retransmissions"]) for row in run.flows)
    delay, files = (plain(run.summary[f"total.session_delay_s.{key}"]) for key in ("mean", "count"))
    return 1000 * delay * files / first


@cache
def goodput(relative: float) -> Quantity:
    """Total goodput with this tolerance."""
    return Quantity("goodput, Mb/s", number("total.goodput_mbps"), relative=relative)


@cache
def collisions(whose: str = "total") -> Quantity:
    """Collision probability, of all nodes or of the access point."""
    name = "collision probability" + (" of the access point" if whose == "ap" else "")
    of = number(f"{whose}.collision_probability")
    return Quantity(name, of, relative=HALF_OF_DETECTED, digits=4)


JAIN = Quantity("Jain's index", number("total.jain_index"), absolute=0.01)
PER_PACKET = Quantity("delay per packet, ms", delay_per_packet_ms, relative=0.02)
SESSION = Quantity(
    "session delay, s", number("total.session_delay_s.mean"), relative=0.02, digits=4
)


def given(
    quantity: Quantity,
    row: dict[str, str],
    column: str,
    *,
    scale: float = 1.0,
    rule: Rule | None = None,
) -> Expected:
    """The value of a column with its interval, ``column_ci95``, multiplied by `scale`."""
    value, interval = float(row[column]), float(row[f"{column}_ci95"])
    return Expected(quantity, Reference(value * scale, interval * scale), rule)
