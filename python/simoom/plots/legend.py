"""The legend of the air: what is drawn in a stretch, in rows below the axis."""

from __future__ import annotations

import itertools
import math
from typing import Any, NamedTuple

from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.legend_handler import HandlerPatch
from matplotlib.patches import Patch, Rectangle

from simoom.base import kinds
from simoom.base.palette import BLACK, HATCHES, KINDS, frame_look
from simoom.plots.stretch import Stretch


class WaitLook(NamedTuple):
    """How a wait looks in its row and in the legend, which has the height of a bar at most."""

    label: str
    box: dict[str, Any]
    low: float
    high: float
    height: float


WAIT_LOOKS = tuple(
    WaitLook(*look)
    for look in (
        ("back-off, in slots", {"facecolor": "white", "edgecolor": BLACK, "linewidth": 0.5},
         0.0, 0.12, 0.35),
        ("defers: medium busy, or IFS", {"facecolor": "#AAAAAA"}, 0.05, 0.08, 0.12),
        ("NAV", {"facecolor": "#777777"}, 0.0, 0.09, 0.25),
        ("busy tone", {"facecolor": "#444444"}, 0.0, 0.09, 0.25),
    )
)  # fmt: skip
"""The looks of waits, a cycle by their order."""
WAITS = dict(zip(kinds.WAITS, itertools.cycle(WAIT_LOOKS), strict=False))
"""The look of each kind of wait."""

ENTRY_IN = 1.6
"""Width of an entry."""


def legend_rows(shown: Stretch, width_in: float) -> int:
    """Return how many rows the legend has in a figure of a width."""
    return math.ceil(len(_entries(shown)) / _columns(width_in))


def draw_legend(figure: Figure, shown: Stretch) -> None:
    """Draw the legend at the bottom of a figure."""
    entries = _entries(shown)
    heights = {id(handle): height for handle, _, height in entries}

    def bar(
        *,
        orig_handle: Patch,
        xdescent: float,
        ydescent: float,
        width: float,
        height: float,
        **_: Any,
    ) -> Rectangle:
        return Rectangle((-xdescent, -ydescent), width, height * heights[id(orig_handle)])

    figure.legend(
        [handle for handle, _, _ in entries],
        [label for _, label, _ in entries],
        handler_map={Patch: HandlerPatch(patch_func=bar)},
        loc="lower left",
        bbox_to_anchor=(0, 0),
        borderaxespad=0.2,
        columnspacing=1.2,
        fontsize=7,
        handlelength=1.8,
        handleheight=0.9,
        labelspacing=0.35,
        ncols=_columns(figure.get_figwidth()),
    )


def _columns(width_in: float) -> int:
    return max(2, int(width_in / ENTRY_IN))


def _entries(shown: Stretch) -> list[tuple[Any, str, float]]:
    """Return the key, the label and the relative height of what the stretch has."""
    kinds = {frame["kind"] for frame in shown.frames}
    outcomes = {frame["outcome"] for frame in shown.frames}
    waits = {wait["kind"] for wait in shown.waits}
    mpdus = [mpdu for several in shown.mpdus.values() for mpdu in several]
    edge: Any = {"edgecolor": BLACK, "linewidth": 0.4}
    entries: list[tuple[Any, str, float]] = []
    for kind in sorted(kinds, key=[*KINDS, *sorted(kinds)].index):
        colour, height = frame_look(kind)
        entries.append((Patch(facecolor=colour, **edge), kind, height / KINDS["Data"].height))
    for hatch in dict.fromkeys(HATCHES.values()):
        names = [name for name in HATCHES if HATCHES[name] == hatch and name in outcomes]
        if names:
            label = "run ends" if names == ["unknown"] else f"lost: {', '.join(names)}"
            entries.append((Patch(facecolor="#EEEEEE", hatch=hatch, **edge), label, 1.0))
    if any(
        frame["outcome"] == "received" and frame["mpdus_received"] < frame["mpdus"]
        for frame in shown.frames
    ):
        face = to_rgba(KINDS["Data"].colour, 0.22)
        part = Patch(facecolor=face, hatch=HATCHES["interference"], **edge)
        entries.append((part, "MPDU not received", 1.0))
    if any(mpdu["retry"] for mpdu in mpdus):
        entries.append((Patch(facecolor=BLACK), "on top: retransmission", 0.18))
    for kind, look in WAITS.items():
        if kind in waits:
            entries.append((Patch(**look.box), look.label, look.height))
    return entries
