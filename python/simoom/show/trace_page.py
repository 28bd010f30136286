"""The page of a trace: one file with the timeline of a stretch, which opens without a network.

``templates/trace.html`` and the files beside it in ``templates/trace/`` draw the timeline; the page
carries its data as JSON.
"""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from simoom.base.files import write_text
from simoom.base.palette import HATCHES, KINDS, frame_look
from simoom.plots.stretch import Recorded, is_lost, nodes_of
from simoom.scenario.scenario import Scenario
from simoom.show.pages import render
from simoom.trace.columns import Columns

if TYPE_CHECKING:
    import polars as pl

MOST = {"frames": 20_000, "MPDUs": 100_000, "waits": 300_000}
"""What a page holds: a browser draws it at once, and the file has at most some 20 MB."""

NS = 1e9


class Watched(Recorded, Protocol):
    """What the page needs of a trace."""

    @property
    def segments(self) -> pl.DataFrame:
        """One row for each segment that is sent or received."""


def write(
    trace: Watched,
    path: Path | str,
    *,
    title: str = "Trace",
    start_s: float | None = None,
    end_s: float | None = None,
) -> None:
    """Write the page of a trace; the parameters are those of `page`."""
    write_text(Path(path), page(trace, title=title, start_s=start_s, end_s=end_s))


def page(
    trace: Watched,
    *,
    title: str = "Trace",
    start_s: float | None = None,
    end_s: float | None = None,
) -> str:
    """Return the page of a trace.

    Parameters
    ----------
    trace : Trace
        The trace of a run.
    title : str, optional
        The heading.
    start_s, end_s : float, optional
        The stretch of simulated time; by default all of the trace.

    Raises
    ------
    ValueError
        The stretch has no frame, or more than a page holds.
    """
    frames, mpdus, waits = _inside(trace, start_s, end_s)
    lanes = nodes_of(frames, waits)
    first, last = _ends(frames)
    names = _Names(lanes)
    data = {
        "start_s": first,
        "end_ns": round((last - first) * NS),
        "lanes": lanes,
        "kinds": {kind: frame_look(kind)._asdict() for kind in _kinds(frames)},
        "hatches": HATCHES,
        "frames": _frames(frames, first, names),
        "mpdus": _mpdus(mpdus, frames, trace.segments, names),
        "waits": _waits(waits, first, names),
        "words": names.words,
    }
    facts = [
        ("from", f"{first:.6f} s"),
        ("to", f"{last:.6f} s"),
        ("nodes", f"{len(lanes):,}"),
        ("frames", f"{len(frames):,}"),
        ("lost", f"{sum(_lost_by(frames).values()):,}"),
    ]
    return render(
        "trace.html",
        title=title,
        facts=facts,
        # In an element of script, "<" could begin a tag.
        data=json.dumps(data, separators=(",", ":")).replace("<", r"\u003c"),
        losses=sorted(_lost_by(frames).items()),
        nodes=_by_node(frames, lanes, last - first),
    )


def _kinds(frames: pl.DataFrame) -> list[str]:
    """Return all kinds of frames, and those of a trace that another version has made."""
    return list(dict.fromkeys([*KINDS, *sorted(map(str, frames["kind"].unique()))]))


class PageWriter:
    """The page as a format of a trace's file: it keeps the rows until the run has ended."""

    def __init__(self, folder: Path, scenario: Scenario) -> None:
        self._path = folder / ".html"
        self._title = str(scenario.get("title") or "Trace")
        self._columns = Columns(scenario)
        self._tables: dict[str, list[pl.DataFrame]] = {}

    def add(self, table: str, rows: pl.DataFrame) -> None:
        """Keep the next rows of a table, unless they are more than a page holds."""
        if table == "packets":
            return
        kept = self._tables.setdefault(table, [])
        kept.append(rows)
        name = "MPDUs" if table == "mpdus" else table
        count = sum(map(len, kept))
        if count > MOST.get(name, count):
            frames = self._tables.get("frames", [])
            ends = [_ends(part) for part in frames if len(part)]
            span = max(end for _, end in ends) - ends[0][0] if ends else 0.0
            raise OSError(errno.EFBIG, _too_many(name, count, span))

    def finish(self) -> None:
        """Write the page."""
        from simoom.base.frames import pl

        tables = {
            name: pl.concat([self._columns.empty(name), *self._tables.pop(name, [])])
            for name in ("frames", "mpdus", "waits", "segments")
        }
        try:
            write(_Tables(**tables), self._path, title=self._title)
        except ValueError as error:
            raise OSError(errno.ENODATA, str(error)) from None


@dataclass(frozen=True)
class _Tables:
    frames: pl.DataFrame
    mpdus: pl.DataFrame
    waits: pl.DataFrame
    segments: pl.DataFrame


def _inside(
    trace: Watched, start_s: float | None, end_s: float | None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return frames, MPDUs and waits of a stretch; raise if they are none or too many."""
    from simoom.base.frames import pl

    inside = pl.lit(value=True)
    if start_s is not None:
        inside &= pl.col("end_s") > start_s
    if end_s is not None:
        inside &= pl.col("start_s") < end_s
    frames = trace.frames.filter(inside).sort("start_s")
    if frames.is_empty():
        raise ValueError("the trace has no frame in this stretch of time, so a page is empty")
    mpdus = trace.mpdus.filter(pl.col("frame").is_in(frames["number"].implode()))
    waits = trace.waits.filter(inside)
    counts = {"frames": len(frames), "MPDUs": len(mpdus), "waits": len(waits)}
    worst = max(MOST, key=lambda name: counts[name] / MOST[name])
    if counts[worst] > MOST[worst]:
        first, last = _ends(frames)
        raise ValueError(_too_many(worst, counts[worst], last - first))
    return frames, mpdus, waits


def _too_many(name: str, count: int, span_s: float) -> str:
    """Return the message that a stretch has too many records, and how to choose another."""
    fits = 0.9 * span_s * MOST[name] / count
    return (
        f"{count:,} {name} are in {span_s:.3g} s, and a page holds at most {MOST[name]:,}: "
        f"trace about {fits:.2g} s, or fewer nodes"
    )


def _ends(frames: pl.DataFrame) -> tuple[float, float]:
    """Return when the first frame begins and the last one ends."""
    return min(frames["start_s"].to_list()), max(frames["end_s"].to_list())


class _Names:
    """Texts by number, so that each is written once; null has the number -1."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = list(words)
        self._numbers = {word: number for number, word in enumerate(words)}

    def of(self, column: pl.Series) -> list[int]:
        """Return the numbers of a column's texts."""
        return [-1 if word is None else self._number(str(word)) for word in column.to_list()]

    def _number(self, word: str) -> int:
        if word not in self._numbers:
            self._numbers[word] = len(self.words)
            self.words.append(word)
        return self._numbers[word]


def _ns(column: pl.Series, first: float) -> list[int]:
    """Return times as whole nanoseconds since the first frame."""
    return [int(value) for value in ((column - first) * NS).round().to_list()]


def _frames(frames: pl.DataFrame, first: float, names: _Names) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        name.removesuffix("_s"): _ns(frames[name], first)
        for name in ("start_s", "payload_s", "end_s")
    }
    texts = ("transmitter", "receiver", "kind", "access_category", "format", "outcome", "lost_to")
    columns |= {name: names.of(frames[name]) for name in texts}
    numbers = (
        "number", "rate_mbps", "mcs", "streams", "width_mhz", "psdu_bytes", "mpdus",
        "mpdus_retried", "mpdus_received", "nav_us", "exchange", "signal_dbm",
    )  # fmt: skip
    for name in numbers:
        values = frames[name].to_list()
        is_float = frames[name].dtype.is_float()
        columns[name] = [v if v is None or not is_float else round(v, 3) for v in values]
    return columns


def _mpdus(
    mpdus: pl.DataFrame, frames: pl.DataFrame, segments: pl.DataFrame, names: _Names
) -> dict[str, list[Any]]:
    """Return the MPDUs in the order of their frames, each with the TCP segment that it carries."""
    place = {number: index for index, number in enumerate(frames["number"].to_list())}
    notes = _notes(segments, set(mpdus["packet"].to_list()))
    columns: dict[str, list[Any]] = {
        "frame": [place[number] for number in mpdus["frame"].to_list()],
        "flow": names.of(mpdus["flow"]),
    }
    for name in ("packet", "sequence", "bytes"):
        columns[name] = mpdus[name].to_list()
    for name in ("retry", "received"):
        columns[name] = [int(value) for value in mpdus[name].to_list()]
    columns["segment"] = [notes.get(packet, "") for packet in mpdus["packet"].to_list()]
    return columns


def _notes(segments: pl.DataFrame, packets: set[int]) -> dict[int, str]:
    """Return a line for the TCP segment of each packet."""
    from simoom.base.frames import pl

    if segments.is_empty():
        return {}
    chosen = segments.filter(pl.col("packet").is_in(list(packets)))
    return {
        row["packet"]: "".join((
            f"{row['flags']} seq {row['seq']}, {row['length_bytes']} B, ack {row['ack']}",
            ", TCP retransmission" if row["retransmission"] else "",
        ))
        for row in chosen.unique("packet", keep="first", maintain_order=True).to_dicts()
    }  # fmt: skip


def _waits(waits: pl.DataFrame, first: float, names: _Names) -> dict[str, list[Any]]:
    waits = waits.sort("start_s")
    columns: dict[str, list[Any]] = {
        name.removesuffix("_s"): _ns(waits[name], first) for name in ("start_s", "end_s")
    }
    columns |= {name: names.of(waits[name]) for name in ("node", "access_category", "kind")}
    columns |= {name: waits[name].to_list() for name in ("slots_before", "slots_after")}
    return columns


def _lost_by(frames: pl.DataFrame) -> dict[str, int]:
    """Return how many frames were lost, by cause."""
    counts: dict[str, int] = {}
    for outcome in frames["outcome"].to_list():
        if is_lost({"outcome": outcome}):
            counts[str(outcome)] = counts.get(str(outcome), 0) + 1
    return counts


def _by_node(
    frames: pl.DataFrame, lanes: tuple[str, ...], span_s: float
) -> list[Mapping[str, str]]:
    """Return what each node sends, for the text below the timeline."""
    rows: list[Mapping[str, str]] = []
    for name in lanes:
        own = frames.filter(frames["transmitter"] == name)
        data = own.filter(own["kind"] == "Data")
        share = 100 * float((own["end_s"] - own["start_s"]).sum()) / span_s
        rows.append({
            "node": name,
            "frames": f"{len(own):,}",
            "data": f"{len(data):,}",
            "lost": f"{sum(_lost_by(own).values()):,}",
            "retries": f"{int(own['mpdus_retried'].sum()):,}",
            "share": f"{share:.1f} %",
        })  # fmt: skip
    return rows
