"""Assumptions of models, with a statement that the analytic twin can print.

Every family of models has a tuple ``ASSUMPTIONS``. An assumption that several families share is one
object, so that the twin checks it only once for a scenario.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Assumption:
    """One condition under which a model holds.

    Parameters
    ----------
    name : str
        A short key; the same condition has the same key in all families.
    statement : str
        One sentence in the present tense.
    """

    name: str
    statement: str

    def __str__(self) -> str:
        return f"{self.name}: {self.statement}"


ONE_CELL = Assumption("one_cell", "Every station detects every other one.")
NO_FRAME_ERRORS = Assumption("no_frame_errors", "Frames are lost only in collisions.")
NO_CAPTURE = Assumption("no_capture", "All frames of a collision are lost.")
SATURATED = Assumption("saturated", "Every station has a frame to send at any time.")
DECOUPLED = Assumption(
    "decoupled", "An attempt collides with the same probability in every back-off stage."
)
BIANCHI_SLOTS = Assumption(
    "bianchi_slots",
    "A busy period counts as one slot of every back-off, as in Bianchi's chain.",
)
EQUAL_STATIONS = Assumption(
    "equal_stations", "All stations have the same contention window, rate and payload."
)
NO_AGGREGATION = Assumption("no_aggregation", "Every access to the medium carries one frame.")
NO_TCP_LOSS = Assumption(
    "no_tcp_loss", "Queues and retry limits are large enough that TCP loses no segment."
)
NO_TCP_TIMEOUT = Assumption("no_tcp_timeout", "TCP's retransmission timer never expires.")
WINDOW_REACHED = Assumption(
    "window_reached", "The congestion window of every flow has grown to its limit and stays there."
)
FAST_WIRE = Assumption("fast_wire", "The path between access point and server takes no time.")
PERSISTENT_FLOWS = Assumption("persistent_flows", "Every flow has data to send at any time.")
ONE_FLOW_PER_STATION = Assumption("one_flow_per_station", "Every station has one TCP flow.")
RTS_CTS = Assumption("rts_cts", "RTS/CTS precedes every data frame, including those of TCP ACKs.")
ONE_SENDER = Assumption("one_sender", "No other node contends for the medium.")
ONE_FLOW = Assumption("one_flow", "One TCP flow has the network to itself.")
FULL_PPDUS = Assumption("full_ppdus", "The sender's queue always fills the largest PPDU allowed.")
FIXED_MCS = Assumption("fixed_mcs", "The MCS does not change.")
BLOCK_ACK = Assumption("block_ack", "Every PPDU is answered by a Block Ack.")
