"""The air in print: a lane for each node, with what it sends and what it waits for.

Kind and outcome of a frame can be told without colours. Data frames are the highest bars, RTS and
CTS are lower, Ack and BlockAck the lowest. A frame that is lost is pale and hatched, with a cross.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from matplotlib import patheffects
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from simoom.base.palette import BLACK, HATCHES, KINDS, frame_look
from simoom.plots.legend import WAIT_LOOKS, WAITS, draw_legend, legend_rows
from simoom.plots.stretch import (
    Record,
    Stretch,
    is_lost,
    mode,
    retries,
    stretch,
    trace_of,
)
from simoom.plots.style import Picture, literal, style
from simoom.results.run import Run

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_FRAMES = 3000
"""More bars than this cannot be told apart in print."""

FRAME_ROOM, WAIT_ROOM = 0.74, 0.17
"""Heights of a lane's parts: frames, and each row of waits below them."""

Nodes = Iterable[str] | None


def air(
    run: Run,
    start_s: float,
    end_s: float,
    *,
    nodes: Nodes = None,
    title: str | None = None,
    labels: bool = True,
    width_in: float = 6.4,
) -> Figure:
    """Return who sends what, and who waits for what, in a stretch of time.

    Parameters
    ----------
    run : Run
        A run with a trace: ``sm.run(scenario, trace=True)``.
    start_s, end_s : float
        The stretch, in seconds of simulated time.
    nodes : iterable of str, optional
        The nodes that have a lane, from top to bottom; by default all that take part.
    title : str, optional
        The heading; by default that of the scenario.
    labels : bool, optional
        Whether frames are labelled where there is room.
    width_in : float, optional
        The width in inches; a column of a two-column paper has about 3.4.
    """
    shown = _stretch(run, start_s, end_s, nodes)
    with style():
        height = sum(lane.height for lane in _lanes(shown))
        unit = min(0.52, max(0.18, 5.5 / height))
        above, below = 0.28, 0.42 + 0.17 * legend_rows(shown, width_in)
        figure = Picture(figsize=(width_in, above + unit * height + below))
        left = 0.2 + max(_width_pt(name, 8.0) for name in shown.lanes) / 72
        whole = figure.get_figheight()
        box = (
            left / width_in,
            below / whole,
            1 - (left + 0.2) / width_in,
            1 - (above + below) / whole,
        )
        axes = figure.add_axes(box)
        _Drawing(axes, shown).draw(labels=labels)
        draw_legend(figure, shown)
        figure.text(
            0.08 / width_in,
            1 - 0.06 / whole,
            literal(run.title if title is None else title),
            va="top",
            weight="bold",
            size=9,
        )
    return figure


def draw_air(
    axes: Axes,
    run: Run,
    start_s: float,
    end_s: float,
    *,
    nodes: Nodes = None,
    labels: bool = True,
) -> None:
    """Draw a stretch of time on given axes, without legend and title."""
    _Drawing(axes, _stretch(run, start_s, end_s, nodes)).draw(labels=labels)


def _stretch(run: Run, start_s: float, end_s: float, nodes: Nodes) -> Stretch:
    trace = trace_of(run)
    for name, value in (("start_s", start_s), ("end_s", end_s)):
        if not 0 <= value <= run.simulated_s:
            raise ValueError(
                f"{name}: {value:g} is outside the run, which lasts from 0 to {run.simulated_s:g} s"
            )
    return stretch(trace, start_s, end_s, nodes=nodes, most=MOST_FRAMES)


@dataclass(frozen=True)
class _Lane:
    """Where a node is drawn; its frames stand on `base`, and y grows downwards."""

    name: str
    top: float
    rows: tuple[str, ...]
    """What has a row of waits: access categories, and NAV."""

    @property
    def base(self) -> float:
        """The line on which frames stand."""
        return self.top + FRAME_ROOM

    @property
    def height(self) -> float:
        """Height with the gap to the next lane."""
        return FRAME_ROOM + WAIT_ROOM * len(self.rows) + 0.12

    def row(self, wait: Record) -> float:
        """Return the top of the row of a wait."""
        return self.base + 0.05 + WAIT_ROOM * self.rows.index(_row(wait))


def _ppdu(frame: Record) -> tuple[str, float]:
    """Return what the records of all users of a PPDU have in common."""
    return str(frame["transmitter"]), float(frame["start_s"])


def _row(wait: Record) -> str:
    return str(wait["kind"] if wait["kind"] == "NAV" else wait["access_category"])


def _lanes(shown: Stretch) -> list[_Lane]:
    """Lay out the lanes from top to bottom."""
    found: dict[str, set[str]] = {name: set() for name in shown.lanes}
    for wait in shown.waits:
        found[wait["node"]].add(_row(wait))
    lanes: list[_Lane] = []
    top = 0.0
    for name, rows in found.items():
        order = tuple(row for row in ("VO", "VI", "BE", "BK", "NAV") if row in rows)
        lanes.append(_Lane(name, top, order))
        top += lanes[-1].height
    return lanes


class _Drawing:
    """A stretch on axes; times are seconds after its beginning until the axis labels them."""

    def __init__(self, axes: Axes, shown: Stretch) -> None:
        self.axes = axes
        self.shown = shown
        lanes = _lanes(shown)
        self.lanes = {lane.name: lane for lane in lanes}
        self.bottom = lanes[-1].top + lanes[-1].height
        position = axes.get_position()
        figure = axes.get_figure(root=True)
        if figure is None:
            raise ValueError("axes: belong to no figure")
        width, height = figure.get_size_inches() * 72
        self.points_per_s = width * position.width / (shown.end_s - shown.start_s)
        self.points_per_lane = height * position.height / self.bottom
        self.boxes: dict[Any, list[list[tuple[float, float]]]] = {}
        self.users = Counter(_ppdu(frame) for frame in shown.frames if frame["user"] is not None)

    def draw(self, *, labels: bool) -> None:
        """Draw everything."""
        self._axis()
        for wait in self.shown.waits:
            self._wait(wait)
        for frame in self.shown.frames:
            self._frame(frame)
        for (face, edge, hatch, linewidth, layer), boxes in self.boxes.items():
            self.axes.add_collection(
                PolyCollection(
                    boxes,
                    facecolor=face,
                    edgecolor=edge,
                    hatch=hatch,
                    linewidth=linewidth,
                    zorder=layer,
                ),
                autolim=False,
            )
        if labels:
            for name in self.lanes:
                own = [f for f in self.shown.frames if f["transmitter"] == name]
                self._labels([f for f in own if self.users[_ppdu(f)] < 2])
            self._user_labels()
            self._slots()

    def _axis(self) -> None:
        """Draw lanes, their names and the axis of time."""
        axes, span = self.axes, self.shown.end_s - self.shown.start_s
        axes.set(xlim=(self.shown.start_s, self.shown.end_s), ylim=(self.bottom, 0))
        lanes = self.lanes.values()
        axes.set_yticks([lane.base - FRAME_ROOM / 3 for lane in lanes], list(self.lanes))
        size = min(8.0, 0.75 * self.points_per_lane)
        axes.tick_params("y", length=0, labelsize=size)
        axes.grid(visible=False, axis="y")
        axes.spines["left"].set_visible(False)
        axes.hlines(
            [lane.base for lane in lanes],
            *axes.get_xlim(),
            color="#888888",
            linewidth=0.5,
            zorder=3,
        )
        origin = self.shown.start_s if span < 2e-3 else 0.0
        scale, unit = (1e6, "µs") if span < 2e-3 else (1e3, "ms")
        step = nice_step(span * scale, max(3, int(self.points_per_s * span / 38)))
        first = math.ceil((self.shown.start_s - origin) * scale / step - 1e-6)
        ticks = []
        while (value := first * step / scale + origin) <= self.shown.end_s * (1 + 1e-12):
            ticks.append((value, f"{first * step:.10g}"))
            first += 1
        axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
        since = f" since {origin:.6f} s" if origin else ""
        axes.set_xlabel(f"time{since}, {unit}", labelpad=2, size=8)
        axes.tick_params("x", labelsize=7)
        if self.points_per_lane * WAIT_ROOM > 4:
            self._row_names()

    def _row_names(self) -> None:
        """Name the rows of waits of lanes that have several categories."""
        for lane in self.lanes.values():
            if sum(row != "NAV" for row in lane.rows) < 2:
                continue
            for number, row in enumerate(lane.rows):
                middle = lane.base + 0.05 + WAIT_ROOM * (number + 0.4)
                self.axes.annotate(
                    row, (0, middle), (-3, 0), xycoords=self.axes.get_yaxis_transform(),
                    textcoords="offset points", size=4.5, ha="right", va="center",
                )  # fmt: skip

    def _box(self, x: tuple[float, float], y: tuple[float, float], **look: Any) -> None:
        edge, hatch, width = look.get("edge", "none"), look.get("hatch"), look.get("linewidth", 0)
        key = (look["face"], edge, hatch, width, look.get("layer", 1.0))
        (left, right), (low, high) = x, y
        box = [(left, low), (right, low), (right, high), (left, high)]
        self.boxes.setdefault(key, []).append(box)

    def _wait(self, wait: Record) -> None:
        top = self.lanes[wait["node"]].row(wait)
        look = WAITS.get(wait["kind"], WAIT_LOOKS[-1])
        box = {name.removesuffix("color"): value for name, value in look.box.items()}
        self._box((wait["start_s"], wait["end_s"]), (top + look.low, top + look.high), **box)

    def _frame(self, frame: Record) -> None:
        """Draw a frame: preamble, MPDUs, losses, retransmissions."""
        colour, height = frame_look(frame["kind"])
        y = self._room(frame, height)
        whole = frame["start_s"], frame["end_s"]
        edge: Any = {"edge": BLACK, "linewidth": 0.4}
        pale, fine = _tint(colour, 0.22), _tint(colour, 0.6)
        if hatch := HATCHES.get(frame["outcome"]):
            self._box(whole, y, face=pale, hatch=hatch, **edge)
            self.axes.plot(
                [(whole[0] + whole[1]) / 2], [y[0] - 0.02], "x", color=BLACK, markersize=4.5,
                markeredgewidth=1.3, clip_on=True, zorder=6,
            )  # fmt: skip
        else:
            self._box((whole[0], frame["payload_s"]), y, face=fine, **edge)
            self._box((frame["payload_s"], whole[1]), y, face=colour, **edge)
        for x, mpdu in self._cells(frame):
            if not mpdu["received"] and not is_lost(frame):
                self._box(x, y, face=pale, hatch=HATCHES["interference"], layer=1.1, **edge)
            elif frame["mpdus"] > 1:
                self._box(x, y, face="none", edge="white", linewidth=0.4, layer=1.1)
            if mpdu["retry"]:
                self._box(x, (y[0], y[0] + 0.09), face=BLACK, layer=1.2)

    def _room(self, frame: Record, height: float) -> tuple[float, float]:
        """Return where a frame stands: users of a PPDU to several have a part of it each."""
        base = self.lanes[frame["transmitter"]].base
        users = self.users[_ppdu(frame)]
        if users < 2:
            return base - height, base
        part = height / users
        low = base - part * frame["user"]
        return low - part, low

    def _cells(self, frame: Record) -> Iterator[tuple[tuple[float, float], Record]]:
        """Yield the MPDUs of a frame, each with the time that its bytes take."""
        mpdus = self.shown.mpdus.get(frame["number"], [])
        rate = (frame["end_s"] - frame["payload_s"]) / max(1, sum(m["bytes"] for m in mpdus))
        at = frame["payload_s"]
        for mpdu in mpdus:
            after = at + rate * mpdu["bytes"]
            yield (at, after), mpdu
            at = after

    def _labels(self, frames: list[Record]) -> None:
        """Label the frames of a lane, the longest label that fits first."""
        room = self.points_per_lane * KINDS["Data"].height
        size = min(6.5, room * 0.7)
        if size < 4:
            return
        edges = [(self.shown.start_s, self.shown.start_s)]
        edges += [(frame["start_s"], frame["end_s"]) for frame in frames]
        edges.append((self.shown.end_s, self.shown.end_s))
        for number, frame in enumerate(frames, start=1):
            left = max(frame["start_s"], self.shown.start_s)
            right = min(frame["end_s"], self.shown.end_s)
            height = frame_look(frame["kind"]).height
            inside = frame["kind"] == "Data"
            if inside and not is_lost(frame) and frame["payload_s"] - left < 0.3 * (right - left):
                left = max(left, frame["payload_s"])
            if not inside:
                # A low bar has its label above it, as wide as the gaps to its neighbours allow.
                middle = (left + right) / 2
                before, after = edges[number - 1][1], edges[number + 1][0]
                half = min(middle - (before + left) / 2, (right + after) / 2 - middle)
                left, right = middle - half, middle + half
            width = (right - left) * self.points_per_s - 1
            if inside and is_lost(frame):
                width *= 0.8  # Some of the hatching remains to be seen.
            lines = 2 if inside and room > 2.5 * size else 1
            text = next(
                (
                    t
                    for t in _texts(frame, self.shown.has_categories, lines)
                    if _width_pt(t, size) <= width
                ),
                None,
            )
            if text is None:
                continue
            base = self.lanes[frame["transmitter"]].base
            dark = inside and not is_lost(frame) and frame["outcome"] != "unknown"
            look: dict[str, Any] = {"color": "white" if dark else BLACK}
            if inside and frame["mpdus"] > 1:
                # MPDUs that were lost are pale.
                look["path_effects"] = [
                    patheffects.withStroke(linewidth=2.2, foreground=KINDS["Data"].colour)
                ]
            if inside and not dark:
                look["bbox"] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
            self.axes.text(
                (left + right) / 2,
                base - height / 2 if inside else base - height - 0.03,
                text,
                size=size,
                ha="center",
                va="center" if inside else "bottom",
                zorder=7,
                linespacing=1.1,
                **look,
            )

    def _user_labels(self) -> None:
        """Write the receiver into the part of each user of a PPDU to several, where it fits."""
        for frame in self.shown.frames:
            if self.users[_ppdu(frame)] < 2:
                continue
            low, high = self._room(frame, frame_look(frame["kind"]).height)
            left = max(frame["start_s"], self.shown.start_s)
            right = min(frame["end_s"], self.shown.end_s)
            size = min(6.5, 0.8 * (high - low) * self.points_per_lane)
            name = str(frame["receiver"])
            texts = (f"→ {name}, {frame['ru_tones']} tones, {mode(frame)}", f"→ {name}", name)
            room = (right - left) * self.points_per_s - 1
            text = next((text for text in texts if _width_pt(text, size) <= room), None)
            if text is not None and size >= 2.5:
                outline = patheffects.withStroke(linewidth=1.2, foreground=BLACK)
                self.axes.text(
                    (left + right) / 2, (low + high) / 2, text, size=size, color="white",
                    ha="center", va="center", zorder=7, path_effects=[outline],
                )  # fmt: skip

    def _slots(self) -> None:
        """Divide back-offs into slots, and write the counter, where there is room."""
        lines = []
        for wait in self.shown.waits:
            before, after = wait["slots_before"], wait["slots_after"]
            if wait["kind"] != "backoff" or before is None or after is None or before == after:
                continue
            slot = (wait["end_s"] - wait["start_s"]) / (before - after)
            top = self.lanes[wait["node"]].row(wait)
            if slot * self.points_per_s >= 2:
                xs = [wait["start_s"] + slot * n for n in range(1, before - after)]
                lines += [[(x, top), (x, top + 0.12)] for x in xs]
            text, size = f"{before}→{after}", min(5.0, 0.12 * self.points_per_lane)
            left = max(wait["start_s"], self.shown.start_s)
            right = min(wait["end_s"], self.shown.end_s)
            room = (right - left) * self.points_per_s
            if size >= 4 and _width_pt(text, size) < room - 3:
                self.axes.text(
                    (left + right) / 2, top + 0.06, text, size=size, zorder=7,
                    ha="center", va="center",
                    path_effects=[patheffects.withStroke(linewidth=1.5, foreground="white")],
                )  # fmt: skip
        self.axes.add_collection(
            LineCollection(lines, colors=BLACK, linewidths=0.3, zorder=4), autolim=False
        )


def nice_step(span: float, most: int) -> float:
    """Return the step of 1, 2 or 5 times a power of ten that makes at most so many intervals.

    >>> nice_step(50.0, 6), nice_step(0.9, 6)
    (10.0, 0.2)
    """
    power = 10.0 ** math.floor(math.log10(span / most))
    return next(
        power * factor for factor in (1, 2, 5, 10) if power * factor * most >= span * 0.9999
    )


def _texts(frame: Record, has_categories: bool, lines: int) -> Iterator[str]:
    """Yield the labels of a frame, the longest first."""
    kind = str(frame["kind"])
    to = f"→ {frame['receiver'] or 'all'}"
    if kind == "CTS-to-self":
        yield from (kind, "CTS")
    elif kind == "Data":
        name = f"{kind} {frame['access_category']}" if has_categories else kind
        short = frame["access_category"] if has_categories else ""
        count = f"{frame['mpdus']} MPDUs" if frame["mpdus"] > 1 else ""
        details = [text for text in (mode(frame), count, retries(frame)) if text]
        between = "\n" if lines == 2 else ", "
        yield f"{name} {to}{between}{', '.join(details)}"
        yield f"{short} {to}{between}{', '.join(details)}".strip()
        if lines == 2:
            yield "\n".join([f"{short} {to}".strip(), details[0]])
        yield from (f"{short} {to}".strip(), short or to.removeprefix("→ "))
    else:
        yield from (f"{kind} {to}", kind)
        if kind.startswith("Block"):
            yield "BAR" if kind == "BlockAckReq" else "BA"


@lru_cache(maxsize=4096)
def _width_pt(text: str, size: float) -> float:
    """Return the width of a text in points."""
    font = FontProperties(family="sans-serif", size=size)
    return max(
        (float(TextPath((0, 0), line, size=size, prop=font).get_extents().width)
         for line in text.split("\n") if line.strip()),
        default=0.0,
    )  # fmt: skip


def _tint(colour: str, amount: float) -> tuple[float, float, float]:
    """Return a colour mixed with white: `amount` of it remains."""
    red, green, blue = (1 - amount * (1 - part) for part in to_rgb(colour))
    return red, green, blue
