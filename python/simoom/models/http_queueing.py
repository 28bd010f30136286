"""Throughput of long-lived TCP downloads over 802.11b with RTS/CTS.

Equations (1) to (12) and appendix A of [1]; `http_sessions` has the sessions, (13) to (17). Some
printed equations have errors; for each correction there is an option with the value "printed".

References
----------
.. [1] D. Miorandi, A. Kherani, E. Altman, "A queueing model for HTTP traffic over IEEE 802.11
   WLANs", Computer Networks 50(1), 2006.
.. [2] G. Bianchi, "Performance analysis of the IEEE 802.11 distributed coordination function",
   IEEE JSAC 18(3), 2000.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from simoom.models import assumption
from simoom.models._check import Array, broadcast, choice, whole
from simoom.models.parameters import REQUIRED, Numbers, Parameter, Parameters, Plain, takes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_CELL,
    assumption.NO_FRAME_ERRORS,
    assumption.NO_CAPTURE,
    assumption.RTS_CTS,
    assumption.DECOUPLED,
    assumption.NO_AGGREGATION,
    assumption.NO_TCP_LOSS,
    assumption.NO_TCP_TIMEOUT,
    assumption.FAST_WIRE,
    assumption.Assumption("downloads", "Data flows from the access point to the stations only."),
    assumption.Assumption(
        "window_of_d", "The advertised window W* equals d, the segments per TCP ACK."
    ),
)


@dataclass(frozen=True)
class Cell:
    """Table 1 and section 2.3 of [1]; the defaults are the paper's."""

    slot_us: float = 20.0
    sifs_us: float = 10.0
    difs_us: float = 50.0
    plcp_us: float = 192.0
    """T_P + T_PHY: long preamble and header."""
    cw_min: int = 31
    """The paper's CWmin = 32 is the number of values, 0 to 31."""
    doublings: int = 5
    """gamma: CWmax = 2^gamma CWmin."""
    retry_limit: int = 7
    """m."""
    data_mbps: float = 11.0
    control_mbps: float = 2.0
    payload_bits: float = 8000.0
    """L_TCP."""
    tcp_ip_bits: float = 320.0
    """L_IPH, also the size of a TCP ACK."""
    mac_bits: float = 272.0
    """L_MAC: four addresses and FCS; with three addresses 224, with LLC 288."""
    rts_bits: float = 180.0
    """L_RTS as printed; an RTS of the standard has 160."""
    cts_bits: float = 112.0
    ack_bits: float = 112.0

    def exchange_us(self, bits: float) -> float:
        """T_TCPdata and T_TCPack: RTS, CTS, data and ACK after a DIFS."""
        control = (self.rts_bits + self.cts_bits + self.ack_bits) / self.control_mbps
        frame = (self.mac_bits + self.tcp_ip_bits + bits) / self.data_mbps
        return self.difs_us + 4 * self.plcp_us + 3 * self.sifs_us + control + frame

    @property
    def data_us(self) -> float:
        """T_TCPdata."""
        return self.exchange_us(self.payload_bits)

    @property
    def ack_us(self) -> float:
        """T_TCPack."""
        return self.exchange_us(0.0)

    @property
    def first_backoff_us(self) -> float:
        """The mean back-off without contention, T_slot (CWmin - 1) / 2."""
        return self.slot_us * self.cw_min / 2

    @property
    def cycle_us(self) -> float:
        """A segment and its TCP ACK without contention, W* = 1."""
        return self.data_us + self.ack_us + 2 * self.first_backoff_us

    def setup_us(self, setup: str = "printed") -> float:
        """E[T_setup], (13). "protected" adds the RTS/CTS and MAC header that (13) lacks."""
        choice("setup", setup, ("printed", "protected"))
        if setup == "protected":
            return 2 * (self.ack_us + self.first_backoff_us)
        frames = self.tcp_ip_bits / self.data_mbps + self.ack_bits / self.control_mbps
        return 2 * (self.difs_us + 2 * self.plcp_us + self.sifs_us + self.first_backoff_us + frames)


TABLE_1 = Cell()
"""The parameters of [1]."""

_STATES = 64  # of (9) and (11): beyond 40 backlogged nodes their probability is below 1e-40


@dataclass(frozen=True, eq=False, repr=False)
class CollisionPoint(Prediction):
    """Equations (1) to (5) for a number of backlogged nodes."""

    collision_probability: Array
    """P_C."""
    drop_probability: Array
    """P_C^m."""
    backoff_us: Array
    """T_b, (1)."""
    collision_us: Array
    """T_coll, (3)."""
    wasted_us: Array
    """T_W: collisions per success, (4)."""
    waiting_us: Array
    """T_tbo: back-off per success, (5)."""


@dataclass(kw_only=True, eq=False)
class Reading(Parameters):
    """A cell, and the reading of (1) to (4)."""

    cell: Plain[Cell] = Parameter(TABLE_1, "Durations and sizes; by default those of Table 1.")
    backoff: Plain[str] = Parameter(
        "printed",
        """
        "printed": the weights of (1) add up to 1 - P_C^m, so that T_b decreases above P_C = 0.81,
        and from about 100 nodes on there is a second, spurious root. The solver uses the smaller
        root, which exists for up to 185 nodes. "normalised": the weights add up to 1, and the root
        is unique for any number of nodes.
        """,
        choice,
        allowed=("printed", "normalised"),
    )
    collisions: Plain[str] = Parameter(
        "printed",
        """
        "printed": (3) and (4) as printed, which add T_b a second time and count a collision once
        for each of its stations. "single": without T_b, and each collision counts once.
        """,
        choice,
        allowed=("printed", "single"),
    )


@dataclass(eq=False)
class Backlogged(Reading):
    """Nodes that contend."""

    backlogged: Numbers = Parameter(REQUIRED, "n_b, from 1.", whole, low=1)


@takes(Backlogged)
def collision_point(at: Backlogged) -> CollisionPoint:
    """Solve (1) and (2) for P_C and evaluate (3) to (5).

    Returns
    -------
    CollisionPoint

    Raises
    ------
    ValueError
        If `backoff` is "printed" and there are too many nodes for the smaller root.

    Examples
    --------
    >>> collision_point(2).collision_probability  # the paper: about 0.060
    0.0602...
    """
    cell, n, normalised = at.cell, at.backlogged, at.backoff == "normalised"
    low, high = np.zeros(n.shape), np.full(n.shape, 1.0 if normalised else _turning_point(cell))
    for _ in range(60):
        middle = 0.5 * (low + high)
        rate = np.minimum(cell.slot_us / _mean_backoff_us(middle, cell, normalised), 1.0)
        above = 1 - (1 - rate) ** (n - 1) > middle
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    if not normalised and np.any(low > _turning_point(cell) - 1e-9):
        raise ValueError(
            f"backlogged: (1) and (2) have no root on their rising branch for {n.max():g} nodes; "
            'backoff="normalised" has one'
        )
    p = np.where(n == 1, 0.0, 0.5 * (low + high))
    mean = _mean_backoff_us(p, cell, normalised)
    rate = np.minimum(cell.slot_us / mean, 1.0)
    alone = (1 - rate) ** (n - 1)  # 1 - P_C, because P_C itself lacks the resolution for many nodes
    request = cell.difs_us + cell.plcp_us + cell.rts_bits / cell.control_mbps + cell.sifs_us
    lost = request + mean
    wasted = lost * p / alone
    if at.collisions == "single":
        clash = 1 - (1 - rate) ** n - n * rate * alone
        colliders = np.where(n > 1, n * rate * p / np.where(n > 1, clash, 1.0), 2.0)
        wasted = request * p / alone / colliders
    return CollisionPoint(
        collision_probability=p,
        drop_probability=p**cell.retry_limit,
        backoff_us=mean,
        collision_us=lost,
        wasted_us=wasted,
        waiting_us=mean / (n * alone),
    )


def _mean_backoff_us(p: Array, cell: Cell, normalised: bool) -> Array:
    """T_b of (1) as a sum, which has no 0/0 at P_C = 1/2."""
    stage = np.arange(cell.retry_limit)
    slots = ((cell.cw_min + 1) * 2.0 ** np.minimum(stage, cell.doublings) - 1) / 2
    weight = p[..., None] ** stage
    total: Array = cell.slot_us * np.sum(weight * slots, axis=-1)
    return total / weight.sum(-1) if normalised else (1 - p) * total


def _turning_point(cell: Cell) -> float:
    """The P_C above which (1) decreases: 0.81 for Table 1."""
    low, high = 0.3, 1.0
    for _ in range(100):  # T_b has one maximum
        left, right = (2 * low + high) / 3, (low + 2 * high) / 3
        pair = _mean_backoff_us(np.array([left, right]), cell, False)
        low, high = (left, high) if pair[0] < pair[1] else (low, right)
    return low


@dataclass(frozen=True, eq=False, repr=False)
class TcpThroughput(Prediction):
    """Long-lived downloads."""

    total_mbps: Array
    per_flow_mbps: Array


@dataclass(eq=False)
class SingleFlow(Reading):
    """One flow."""

    delayed_ack: Numbers = Parameter(1, "d, segments per TCP ACK.", whole, low=1)
    _: KW_ONLY
    eq8: Plain[str] = Parameter(
        "corrected",
        '"printed" lacks T_slot in the last term of (8), which then counts slots as seconds.',
        choice,
        allowed=("corrected", "printed"),
    )


@takes(SingleFlow)
def single_flow(at: SingleFlow) -> Array:
    """Return S_TCP(1, d) in Mb/s for a window W* much larger than d, (7) and (8).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> single_flow([1, 2, 3]).round(3)
    array([2.371, 2.901, 3.135])
    """
    cell, d = at.cell, at.delayed_ack
    two = collision_point(2, **at.part(Reading))
    contended = cell.ack_us + 2 * (two.waiting_us + two.wasted_us)
    alone = cell.first_backoff_us if at.eq8 == "corrected" else cell.cw_min / 2 * 1e6
    return cell.payload_bits / (cell.data_us + contended / d + (d - 1) / d * alone)


@dataclass(kw_only=True, eq=False)
class Backlog(Parameters):
    """The number of stations with a TCP ACK to send."""

    law: Plain[str] = Parameter(
        "binomial",
        """
        "binomial": (9) and (11), with a backlog probability of 1 / (d n_c). "birth_death": the law
        ~ (n+1) / (d^n n!), n <= n_c, which follows from per-node fairness (see `half_duplex`); (9)
        contradicts the premise P_0^S = 1/2 of its derivation.
        """,
        choice,
        allowed=("binomial", "birth_death"),
    )


@dataclass(eq=False)
class Connections(Backlog):
    """Long-lived downloads."""

    connections: Numbers = Parameter(REQUIRED, "n_c, from 1.", whole, low=1)
    _: KW_ONLY
    delayed_ack: Numbers = Parameter(1, "d, segments per TCP ACK; also W*.", whole, low=1)


@takes(Connections)
def backlogged_pmf(at: Connections) -> Array:
    """Return the distribution of the number of stations with a TCP ACK to send.

    Returns
    -------
    ndarray
        Probabilities of 0, 1, 2, ... backlogged stations along the last axis (the paper's k - 1).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> backlogged_pmf(2)[:3]
    array([0.25, 0.5 , 0.25])
    """
    from scipy.special import gammaln

    n, d = broadcast(connections=at.connections, delayed_ack=at.delayed_ack)
    n, d, k = n[..., None], d[..., None], np.arange(min(float(_STATES), n.max(initial=1.0)) + 1)
    rest = np.maximum(n - k, 0.0)
    if at.law == "binomial":
        ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(rest + 1)
        share = 1 / (d * n)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = ways + k * np.log(share) + np.where(rest > 0, rest * np.log1p(-share), 0.0)
    else:
        logs = np.log(k + 1) - k * np.log(d) - gammaln(k + 1)
    weight = np.where(k <= n, np.exp(logs), 0.0)
    return weight if at.law == "binomial" else weight / weight.sum(axis=-1, keepdims=True)


@dataclass(eq=False)
class Downloads(Connections, Reading):
    """Long-lived downloads in a cell."""


@takes(Downloads)
def tcp_throughput(at: Downloads) -> TcpThroughput:
    """Predict the throughput of n_c long-lived downloads with W* = d, (10) and (12).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> tcp_throughput([1, 10, 50]).total_mbps.round(3)
    array([2.371, 2.327, 2.324])
    """
    n, d = broadcast(connections=at.connections, delayed_ack=at.delayed_ack)
    pmf = backlogged_pmf(n, delayed_ack=d, law=at.law)
    nodes = np.arange(1.0, pmf.shape[-1] + 1)
    point = collision_point(nodes, **at.part(Reading))
    each = (point.waiting_us + point.wasted_us) * (1 + 1 / d[..., None])
    round_us = at.cell.data_us + at.cell.ack_us / d[..., None] + each
    total = at.cell.payload_bits * np.sum(pmf / round_us, axis=-1)
    return TcpThroughput(total, total / n)


@dataclass(eq=False)
class Window(Reading):
    """One download."""

    window: Numbers = Parameter(REQUIRED, "W*, from 1.", whole, low=1)


@takes(Window)
def window_throughput(at: Window) -> Array:
    """Return the throughput of one download against its window W*, (A.3), in Mb/s.

    Of the W* + 1 states of (A.1) the two outer ones have no contention.

    Examples
    --------
    >>> window_throughput([1, 2, 1000]).round(4)
    array([2.2504, 2.309 , 2.3706])
    """
    cell, w = at.cell, at.window
    two = collision_point(2, **at.part(Reading))
    inner = 2 * (w - 1) * (two.waiting_us + two.wasted_us)
    phi = (inner + 2 * cell.first_backoff_us) / w
    return cell.payload_bits / (cell.ack_us + cell.data_us + phi)
