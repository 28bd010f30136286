"""Colours of figures and of the page, and how frames on the air look in both.

The colours are those of Okabe and Ito, which colour-blind readers can distinguish, and which differ
in grey. This module imports nothing: the server shows a timeline before matplotlib is loaded.
"""

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

KINDS = {
    "Data": (BLUE, 0.62),
    "RTS": (ORANGE, 0.46),
    "CTS": (YELLOW, 0.46),
    "CTS-to-self": (YELLOW, 0.46),
    "BlockAckReq": (PURPLE, 0.22),
    "BlockAck": (SKY, 0.36),
    "Ack": (GREEN, 0.28),
    "Beacon": (VERMILION, 0.46),
    "Null": (BLACK, 0.22),
    "QoS Null": (BLACK, 0.22),
    "PS-Poll": (BLUE, 0.22),
    "Authentication": (PURPLE, 0.34),
    "Reassociation Request": (BLUE, 0.34),
    "Reassociation Response": (YELLOW, 0.34),
}
"""Colour and height of each kind of frame; a lane has the height 1."""

HATCHES = {
    "collision": "////",
    "interference": "////",
    "receiver transmits": "\\\\\\\\",
    "receiver busy": "\\\\\\\\",
    "noise": "....",
    "too weak": "....",
    "unknown": "||||",
}
"""Hatching of each outcome in which the addressed node did not receive the frame."""
