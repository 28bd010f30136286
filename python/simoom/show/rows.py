"""The page of a trace: the timeline of `simoom serve` in one file, which opens without a network.

The page carries the rows of a stretch as JSON, which ``web/src/air/rows.ts`` reads.
"""

from __future__ import annotations

import errno
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from simoom import _core
from simoom.base.files import write_text
from simoom.base.frames import pl
from simoom.base.kinds import WAITS
from simoom.base.pages import render
from simoom.base.palette import HATCHES, KINDS, frame_look
from simoom.plots.stretch import Recorded, cut, fitting, is_lost, nodes_of
from simoom.trace.columns import Columns

MOST = {"frames": 20_000, "MPDUs": 100_000, "waits": 300_000}
"""What a page holds: a browser draws it at once, and the file has at most some 20 MB."""

NS = 1e9
STATIC = Path(__file__).parents[1] / "serve" / "static"
"""The code of the timeline and the styles, as `make web` builds them."""


class Watched(Recorded, Protocol):
    """What the page needs of a trace."""

    @property
    def segments(self) -> pl.DataFrame:
        """One row for each segment that is sent or received."""

    @property
    def routes(self) -> pl.DataFrame:
        """One row for each event of a router."""


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
    rows = _Rows(first, lanes)
    rows.of(frames["lost_to"])  # The names of nodes are the first words.
    data = {
        "start_s": first,
        "end_ns": round((last - first) * NS),
        "lanes": lanes,
        "kinds": {kind: frame_look(kind)._asdict() for kind in _kinds(frames)},
        "hatches": HATCHES,
        "wait_kinds": WAITS,
        "frames": rows.columns(frames),
        "mpdus": rows.columns(mpdus) | {"segment": _notes(mpdus, trace.segments)},
        "waits": rows.columns(waits),
        "routes": rows.columns(_routes(trace.routes, first, last)),
        "words": rows.words,
    }
    facts = [
        ("from", f"{first:.6f} s"),
        ("to", f"{last:.6f} s"),
        ("nodes", f"{len(lanes):,}"),
        ("frames", f"{len(frames):,}"),
        ("lost", f"{sum(_lost_by(frames).values()):,}"),
    ]
    code = (STATIC / "trace.js").read_text(encoding="utf-8")
    return render(
        "trace.html",
        title=title,
        facts=facts,
        # In an element of script, "<" of the data could begin a tag.
        data=json.dumps(data, separators=(",", ":")).replace("<", r"\u003c"),
        code=code.replace("</script", r"<\/script"),
        styles=(STATIC / "app.css").read_text(encoding="utf-8"),
        losses=sorted(_lost_by(frames).items()),
        nodes=_by_node(frames, lanes, last - first),
    )


def _kinds(frames: pl.DataFrame) -> list[str]:
    """Return the kinds of the frames, in the order of the simulator; last those it lacks."""
    present = set(map(str, frames["kind"].unique()))
    return [*filter(present.__contains__, KINDS), *sorted(present.difference(KINDS))]


class PageWriter:
    """The page as a format of a trace's file: it keeps the rows until the run has ended."""

    def __init__(self, folder: Path, scenario: _core.Scenario) -> None:
        self._path = folder / ".html"
        self._title = str(json.loads(scenario.get("title")) or "Trace")
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
            timed = [*self._tables.get("frames", []), *self._tables.get("waits", [])]
            firsts, lasts = zip(*(_ends(part) for part in timed if len(part)), strict=True)
            raise OSError(errno.EFBIG, _too_many(name, count, max(lasts) - min(firsts)))

    def finish(self) -> None:
        """Write the page."""
        tables = {
            name: pl.concat([self._columns.empty(name), *self._tables.pop(name, [])])
            for name in ("frames", "mpdus", "waits", "segments", "routes")
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
    routes: pl.DataFrame


def _inside(
    trace: Watched, start_s: float | None, end_s: float | None
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Return frames, MPDUs and waits of a stretch; raise if they are none or too many."""
    least = -math.inf if start_s is None else start_s
    frames, waits = cut(trace, least, math.inf if end_s is None else end_s)
    if frames.is_empty():
        raise ValueError("the trace has no frame in this stretch of time, so a page is empty")
    mpdus = trace.mpdus.filter(pl.col("frame").is_in(frames["number"].implode()))
    counts = {"frames": len(frames), "MPDUs": len(mpdus), "waits": len(waits)}
    worst = max(MOST, key=lambda name: counts[name] / MOST[name])
    if counts[worst] > MOST[worst]:
        first, last = _ends(frames)
        raise ValueError(_too_many(worst, counts[worst], last - first))
    return frames, mpdus, waits


def _too_many(name: str, count: int, span_s: float) -> str:
    """Return the message that a stretch has too many records, and how to choose another."""
    return (
        f"{count:,} {name} are in {span_s:.3g} s, and a page holds at most {MOST[name]:,}: "
        f"trace {fitting(span_s, MOST[name], count)}"
    )


def _ends(frames: pl.DataFrame) -> tuple[float, float]:
    """Return when the first frame begins and the last one ends."""
    return min(frames["start_s"].to_list()), max(frames["end_s"].to_list())


class _Rows:
    """Tables as columns of numbers: times in ns since the first frame, texts by their number.

    Each text is written once; null has the number -1.
    """

    def __init__(self, first: float, words: tuple[str, ...]) -> None:
        self.words = list(words)
        self._first = first
        self._numbers = {word: number for number, word in enumerate(words)}

    def columns(self, table: pl.DataFrame) -> dict[str, list[Any]]:
        """Return each column by its name, which for times has no unit."""
        return {each.name.removesuffix("_s"): self.of(each) for each in table}

    def of(self, column: pl.Series) -> list[Any]:
        """Return a column as it is written."""
        if column.name.endswith("_s"):
            return [int(value) for value in ((column - self._first) * NS).round().to_list()]
        values = column.to_list()
        if column.dtype.is_numeric():
            return [round(value, 3) if isinstance(value, float) else value for value in values]
        return [self._number(value) for value in values]

    def _number(self, value: str | bool | None) -> int:
        if value is None or isinstance(value, bool):
            return -1 if value is None else int(value)
        if value not in self._numbers:
            self._numbers[value] = len(self.words)
            self.words.append(value)
        return self._numbers[value]


def _routes(routes: pl.DataFrame, first: float, last: float) -> pl.DataFrame:
    """Return the events of routers while there are frames."""
    if routes.is_empty():
        return routes
    return routes.filter(routes["time_s"].is_between(first, last)).sort("time_s")


def _notes(mpdus: pl.DataFrame, segments: pl.DataFrame) -> list[str]:
    """Return a line for the TCP segment of each MPDU; empty where it carries none."""
    if segments.is_empty():
        return [""] * len(mpdus)
    chosen = segments.filter(pl.col("packet").is_in(mpdus["packet"].implode()))
    notes = {
        row["packet"]: "".join((
            f"{row['flags']} seq {row['seq']}, {row['length_bytes']} B, ack {row['ack']}",
            ", TCP retransmission" if row["retransmission"] else "",
        ))
        for row in chosen.unique("packet", keep="first", maintain_order=True).to_dicts()
    }  # fmt: skip
    return [notes.get(packet, "") for packet in mpdus["packet"].to_list()]


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
        # A PPDU to several stations is on the air once.
        ppdus = own.unique(["start_s", "end_s"])
        share = 100 * float((ppdus["end_s"] - ppdus["start_s"]).sum()) / span_s
        rows.append({
            "node": name,
            "frames": f"{len(own):,}",
            "data": f"{len(data):,}",
            "lost": f"{sum(_lost_by(own).values()):,}",
            "retries": f"{int(own['mpdus_retried'].sum()):,}",
            "share": f"{share:.1f} %",
        })  # fmt: skip
    return rows
