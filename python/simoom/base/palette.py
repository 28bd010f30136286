"""Colours of figures and of the page, and how frames on the air look in both.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and which differ
in grey. The simulator declares what there is, in an order; what is new takes the next look. This
module loads no package: the server shows a timeline before matplotlib is loaded.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

from simoom.base.kinds import AIRTIME, FRAMES, LOST

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)
CYCLE = (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, YELLOW, BLACK)


class FrameLook(NamedTuple):
    """How a kind of frame looks; a lane has the height 1."""

    colour: str
    height: float


FRAME_LOOKS = tuple(
    FrameLook(*look)
    for look in (
        (ORANGE, 0.46), (YELLOW, 0.46), (YELLOW, 0.46), (BLUE, 0.62), (GREEN, 0.28), (PURPLE, 0.22),
        (SKY, 0.36), (VERMILION, 0.46), (BLACK, 0.22), (BLACK, 0.22), (BLUE, 0.22), (PURPLE, 0.34),
        (BLUE, 0.34), (YELLOW, 0.34), (PURPLE, 0.54), (VERMILION, 0.34), (BLACK, 0.34),
        (YELLOW, 0.22),
    )
)  # fmt: skip
"""The looks of kinds of frames, a cycle by their order."""

KINDS = dict(zip(FRAMES, itertools.cycle(FRAME_LOOKS), strict=False))
"""The look of each kind of frame."""


def frame_look(kind: str) -> FrameLook:
    """Return the look of a kind of frame, also of one that only another version knows."""
    return KINDS.get(kind, FRAME_LOOKS[-1])


LOSS_HATCHES = ("////", "////", "....", "\\\\\\\\", "\\\\\\\\", "....", "xxxx", "oooo")
"""The hatchings of losses, a cycle by their order: those of like causes are alike."""

HATCHES = dict(zip(LOST, itertools.cycle(LOSS_HATCHES), strict=False)) | {"unknown": "||||"}
"""Hatching of each outcome in which the addressed node did not receive the frame."""


class AirtimeLook(NamedTuple):
    """How a use of airtime looks: in figures, and on a terminal with and without colour."""

    colour: str
    style: str
    shade: str


AIRTIME_LOOKS = (
    AirtimeLook(BLUE, "blue", "█"),
    AirtimeLook(SKY, "bright_blue", "▓"),
    AirtimeLook("#9CC5DF", "cyan", "▒"),
    AirtimeLook(GREEN, "green", "▚"),
    AirtimeLook("#8FD3BE", "bright_green", "▞"),
    AirtimeLook("#B8E2D2", "bright_green", "B"),
    AirtimeLook("#4F7F6F", "bright_cyan", "p"),
    AirtimeLook(YELLOW, "yellow", "░"),
    AirtimeLook(VERMILION, "red", "#"),
    AirtimeLook(PURPLE, "magenta", "x"),
    AirtimeLook(ORANGE, "bright_yellow", "═"),
    AirtimeLook("#F5D6A8", "white", "~"),
    AirtimeLook("#7F6FA8", "bright_magenta", "+"),
    AirtimeLook("#A87F6F", "bright_red", "o"),
)
"""The looks of uses of airtime, a cycle by their order."""

REST = AirtimeLook("#E4E4E4", "bright_black", "·")
"""The look of the last one: what is left of the time."""

USES = {
    **dict(zip(tuple(AIRTIME)[:-1], itertools.cycle(AIRTIME_LOOKS), strict=False)),
    tuple(AIRTIME)[-1]: REST,
}
"""The look of each use of airtime."""
