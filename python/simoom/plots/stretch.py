"""A stretch of a trace: its lanes, frames, MPDUs and waits, and how a frame is described.

The figure `plots.air` and the page of `simoom.show.rows` show the same stretch in the same
words.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Protocol

from simoom.base.frames import pl
from simoom.base.palette import HATCHES

if TYPE_CHECKING:
    from simoom.results.run import Run
    from simoom.trace.trace import Trace

Record = dict[str, Any]


class Recorded(Protocol):
    """What a picture needs of a trace."""

    @property
    def frames(self) -> pl.DataFrame:
        """One row for each PPDU."""

    @property
    def mpdus(self) -> pl.DataFrame:
        """One row for each MPDU with data."""

    @property
    def waits(self) -> pl.DataFrame:
        """One row for each back-off, defer period, NAV and busy tone."""


@dataclass(frozen=True)
class Stretch:
    """What is on the air from `start_s` to `end_s`."""

    start_s: float
    end_s: float
    lanes: tuple[str, ...]
    frames: list[Record]
    mpdus: dict[int, list[Record]]
    """By the number of their frame, in the order of transmission."""
    waits: list[Record]

    @property
    def has_categories(self) -> bool:
        """Whether the frames are of several access categories."""
        return len({frame["access_category"] for frame in self.frames}) > 1


def stretch(
    trace: Recorded,
    start_s: float,
    end_s: float,
    *,
    nodes: Iterable[str] | None = None,
    most: int,
) -> Stretch:
    """Return a stretch of a trace with at most so many frames.

    Raises
    ------
    ValueError
        No frame is in the stretch, more than `most` are, or a node is unknown.
    """
    if not (math.isfinite(start_s) and math.isfinite(end_s) and start_s < end_s):
        raise ValueError(f"start_s, end_s: from {start_s:g} to {end_s:g} s is no stretch of time")
    frames, waits = cut(trace, start_s, end_s)
    if nodes is not None:
        chosen = _known(nodes, trace)
        frames = frames.filter(pl.col("transmitter").cast(pl.String).is_in(chosen))
        waits = waits.filter(pl.col("node").cast(pl.String).is_in(chosen))
    if frames.is_empty():
        raise ValueError(_empty(trace.frames, start_s, end_s, "" if nodes is None else " of them"))
    if len(frames) > most:
        span_s = end_s - start_s
        raise ValueError(
            f"start_s, end_s: {len(frames):,} frames are in {span_s:g} s, and at most "
            f"{most:,} can be shown; choose {fitting(span_s, most, len(frames))}"
        )
    return Stretch(
        start_s,
        end_s,
        tuple(chosen) if nodes is not None else nodes_of(frames, waits),
        frames.to_dicts(),
        _mpdus(trace.mpdus, frames),
        waits.to_dicts(),
    )


def cut(trace: Recorded, start_s: float, end_s: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the frames and the waits that are in a stretch of time, also in part."""
    inside = (pl.col("start_s") < end_s) & (pl.col("end_s") > start_s)
    return trace.frames.filter(inside).sort("start_s"), trace.waits.filter(inside).sort("start_s")


def fitting(span_s: float, most: int, count: int) -> str:
    """Return which stretch has so many rows, if one of this length has more."""
    return f"about {0.9 * span_s * most / count:.2g} s, or fewer nodes"


def trace_of(run: Run) -> Trace:
    """Return the trace of a run; an error says how a run gets one."""
    trace: Trace | None = getattr(run, "trace", None)
    if trace is None:
        raise ValueError("run: has no trace; make it with run(..., trace=True)")
    return trace


def nodes_of(frames: pl.DataFrame, waits: pl.DataFrame) -> tuple[str, ...]:
    """Return the nodes that take part: access points first, then by name and number."""
    columns = (frames["transmitter"], frames["receiver"], waits["node"])
    names = {str(name) for column in columns for name in column.unique() if name is not None}
    return tuple(sorted(names, key=_order))


def is_lost(frame: Record) -> bool:
    """Return whether the addressed node did not receive a frame."""
    return frame["outcome"] in HATCHES and frame["outcome"] != "unknown"


def mode(frame: Record) -> str:
    """Return the mode of a frame: its MCS or its rate."""
    if frame["mcs"] is not None:
        return f"MCS {frame['mcs']}"
    return f"{frame['rate_mbps']:g} Mb/s"


def retries(frame: Record) -> str:
    """Return how many MPDUs of a frame are retransmissions; empty if none."""
    count = frame["mpdus_retried"]
    if frame["mpdus"] == 1:
        return "retry" if count else ""
    return f"{count} {'retry' if count == 1 else 'retries'}" if count else ""


def _known(lanes: Iterable[str], trace: Recorded) -> Sequence[str]:
    """Return the lanes; raise if the trace does not have one of them."""
    chosen = [lanes] if isinstance(lanes, str) else list(dict.fromkeys(lanes))
    names = nodes_of(trace.frames, trace.waits)
    for name in chosen:
        if name not in names:
            close = get_close_matches(name, names, n=1)
            hint = f"; the nearest is {close[0]}" if close else ""
            raise ValueError(f"nodes: there is no {name!r} in the trace{hint}")
    if not chosen:
        raise ValueError("nodes: names no node; leave it out to show all")
    return chosen


def _empty(frames: pl.DataFrame, start_s: float, end_s: float, whose: str) -> str:
    """Return the message that a stretch has no frame, with the frame that is nearest."""
    message = f"start_s, end_s: no frame{whose} is on the air from {start_s:g} to {end_s:g} s"
    if frames.is_empty():
        return f"{message}: the trace has none at all"
    starts = sorted(frames["start_s"].to_list())
    after = next((start for start in starts if start >= end_s), None)
    if after is not None:
        return f"{message}; the next begins at {after:.6f} s"
    return f"{message}; the last begins at {starts[-1]:.6f} s"


def _mpdus(mpdus: pl.DataFrame, frames: pl.DataFrame) -> dict[int, list[Record]]:
    found: dict[int, list[Record]] = {}
    for record in mpdus.filter(mpdus["frame"].is_in(frames["number"].implode())).to_dicts():
        found.setdefault(record["frame"], []).append(record)
    return found


def _order(name: str) -> tuple[bool, list[tuple[int, str]]]:
    """Sort access points first, and sta2 before sta10."""
    parts = re.findall(r"\d+|\D+", name)
    key = [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
    return re.fullmatch(r"ap\d*|cells\[\d+\]", name) is None, key
