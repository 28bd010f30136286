"""TCP over a cell whose access point transmits and receives at the same time.

While a station transmits, the access point sends to another station at the rate r2 that the
interference between the two stations allows. The access point is not a bottleneck: all nodes stay
backlogged.

Equations are those of [1]: Result 1 is (6) to (8), Result 2 is (9) to (11). Options select between
printed and corrected equations. The defaults are the authors' own model, which is (9) to (11) as
printed with the corrected (6).

References
----------
.. [1] V. U. Pai, N. B. Mehta, C. Singh, "TCP throughput over full-duplex WLANs: novel implications
   of the AP's new capability".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, half_duplex
from simoom.models._check import Array, broadcast, choice, positive, probability, real, whole
from simoom.models.fixed_point import backoff_slots, solve
from simoom.models.half_duplex import CellTimes as HalfDuplexTimes
from simoom.models.parameters import REQUIRED, Numbers, Parameter, Parameters, Plain, takes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_CELL,
    assumption.NO_FRAME_ERRORS,
    assumption.NO_CAPTURE,
    assumption.PERSISTENT_FLOWS,
    assumption.ONE_FLOW_PER_STATION,
    assumption.NO_TCP_LOSS,
    assumption.WINDOW_REACHED,
    assumption.FAST_WIRE,
    assumption.RTS_CTS,
    assumption.DECOUPLED,
    assumption.BIANCHI_SLOTS,
    assumption.Assumption("no_delayed_ack", "Every segment is acknowledged by a TCP ACK."),
    assumption.Assumption(
        "full_duplex_access_point", "Only the access point transmits and receives at the same time."
    ),
    assumption.Assumption(
        "all_backlogged", "Access point and stations always have a packet (20 stations or more)."
    ),
)


@dataclass(frozen=True)
class RtsTimes:
    """Durations and sizes of Table I of [1]; a frame exchange is RTS, CTS, data, ACK."""

    slot_us: float = 9.0
    sifs_us: float = 16.0
    difs_us: float = 34.0
    rts_us: float = 36.0
    cts_us: float = 44.0
    ack_us: float = 44.0
    phy_us: float = 24.0
    data_bits: float = 16_000.0
    """L_d, "16 Kb": 16384 would change the gains by less than a point."""
    tcp_ack_bits: float = 320.0
    """L_a. With L_h the TCP header of a TCP ACK counts twice; with 160 it would not."""
    header_bits: float = 432.0
    """L_h."""

    def exchange_us(self, payload_bits: ArrayLike, rate_mbps: ArrayLike) -> Array:
        """T_p(r) and T_a(r), below (11)."""
        fixed = self.rts_us + 3 * self.sifs_us + self.cts_us + self.phy_us + self.ack_us
        bits = np.asarray(payload_bits, dtype=np.float64) + self.header_bits
        return np.asarray(fixed + self.difs_us + bits / np.asarray(rate_mbps, dtype=np.float64))

    def collision_us(self, cts_timeout_us: ArrayLike) -> Array:
        """T_RTS + T_DIFS plus the additional silence."""
        extra = real("cts_timeout_us", cts_timeout_us, low=-self.difs_us, below=np.inf)
        return np.asarray(self.rts_us + self.difs_us + extra)

    def half_duplex(
        self, rate_mbps: ArrayLike = 54.0, *, cts_timeout_us: ArrayLike = 0.0
    ) -> HalfDuplexTimes:
        """Return the durations of the half-duplex cell with which [1] compares."""
        rate = positive("rate_mbps", rate_mbps)
        lost = self.collision_us(cts_timeout_us)
        return HalfDuplexTimes(
            slot_us=self.slot_us,
            data_us=self.exchange_us(self.data_bits, rate),
            ack_us=self.exchange_us(self.tcp_ack_bits, rate),
            data_collision_us=lost,
            ack_collision_us=lost,
            payload_bits=self.data_bits,
        )


TABLE_I = RtsTimes()
"""The parameters of [1]."""


@dataclass(frozen=True, eq=False, repr=False)
class BackoffPoint(Prediction):
    """Result 1: attempt and collision probabilities of stations and access point."""

    station_attempt: Array
    """beta_STA, (8)."""
    station_collision: Array
    """gamma_STA."""
    ap_attempt: Array
    """beta_AP, (6)."""
    ap_collision: Array
    """gamma_AP: the probability that two stations or more attempt."""
    ap_secondary: Array
    """s_AP: the probability that one station attempts, so that the access point joins it."""


@dataclass(kw_only=True, eq=False)
class Backoff(Parameters):
    """The back-off of nodes, and the reading of (6)."""

    cw_min: Plain[int] = Parameter(31, "Smallest contention window: C_min = cw_min + 1.")
    cw_max: Plain[int] = Parameter(1023, "Largest contention window.")
    eq6: Plain[str] = Parameter(
        "corrected",
        """
        "corrected": the first term of the denominator of (6) is z_0(s), which follows from global
        balance. "printed": it is z'_0 = 1.
        """,
        choice,
        allowed=("corrected", "printed"),
    )


@dataclass(eq=False)
class Stations(Backoff):
    """Stations that back off."""

    stations: Numbers = Parameter(REQUIRED, "N, from 1.", whole, low=1)


@takes(Stations)
def backoff_point(at: Stations) -> BackoffPoint:
    """Solve Result 1 of [1] for N saturated stations.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> backoff_point(80)
    BackoffPoint(station_attempt=0.0114715, station_collision=0.598074, ap_attempt=0.0326718, \
ap_collision=0.233829, ap_secondary=0.368856)
    """
    n = at.stations
    beta, gamma = solve(n, backoff_slots(at.cw_min, at.cw_max), True)
    alone = np.minimum(n * beta * (1 - beta) ** (n - 1), 1.0)
    crowd = np.maximum(1 - (1 - beta) ** n - alone, 0.0)
    own = ap_attempt_probability(alone, crowd, **at.part(Backoff))
    return BackoffPoint(beta, gamma, own, crowd, alone)


@dataclass(eq=False)
class Interrupted(Backoff):
    """The event that interrupts the back-off of the access point."""

    secondary: Numbers = Parameter(
        REQUIRED, "s_AP: the access point is chosen as the secondary transmitter.", probability
    )
    collision: Numbers = Parameter(REQUIRED, "gamma_AP.", probability)


@takes(Interrupted)
def ap_attempt_probability(at: Interrupted) -> Array:
    """Return beta_AP of (6) and (7).

    With q_i = 1 - (1-s)^{W_i} (some prints lack the exponent) and W_i = 2^i C_min,

    z_i = W_i / q_i - (1-s)/s,   z'_i = prod_{1<=j<=i} gamma q_j / (s W_j),

    and z'_m divided by 1 - gamma q_m / (s W_m); all have removable singularities at s = 0, where
    (6) becomes (8).

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> float(ap_attempt_probability(0.3, 0.2))
    0.0333...
    >>> float(ap_attempt_probability(0.3, 0.2, eq6="printed"))
    0.612...
    """
    s, gamma = broadcast(secondary=at.secondary, collision=at.collision)
    windows = 2 * backoff_slots(at.cw_min, at.cw_max) - 1
    top, reach = np.zeros(s.shape), np.ones(s.shape)
    bottom = np.zeros(s.shape)
    for i, window in enumerate(windows):
        share, slots = _interrupted_stage(s, window)
        if i > 0:
            reach = reach * gamma * share
        if i > 0 and i == windows.size - 1:
            with np.errstate(divide="ignore"):  # s = 0, gamma = 1: the last stage does not end
                reach = reach / (1 - gamma * share)
        top = top + reach
        bottom = bottom + reach * (1.0 if i == 0 and at.eq6 == "printed" else slots)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(reach), 1 / slots, top / bottom)


def _interrupted_stage(s: Array, window: float) -> tuple[Array, Array]:
    """Return q / (s W) and z of one stage: probability that it ends, and its mean slots."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        q = -np.expm1(window * np.log1p(-s))
        share = np.where(s > 0, q / (s * window), 1.0)
        slots = window / q - (1 - s) / s
        # Both terms of z are 1/s at first order. Below s W = 0.1 use the binomial series of
        # s z q = s W - (1-s) q = sum_k (-1)^(k+1) C(W+1, k+1) s^(k+1), k >= 1, instead.
        term = (window + 1) / 2 * np.ones(s.shape)
        series = term
        for k in range(2, 11):
            term = -term * s * (window + 1 - k) / (k + 1)
            series = series + term
    return share, np.where(s * window < 0.1, series / share, slots)


@dataclass(frozen=True, eq=False, repr=False)
class FullDuplex(Prediction):
    """A cell with a full-duplex access point, and the same cell with a half-duplex one."""

    total_mbps: Array
    download_mbps: Array
    """Theta_DwL, (9)."""
    upload_mbps: Array
    """Theta_UpL, (10)."""
    half_duplex_mbps: Array
    """The same cell without full duplex, see `half_duplex`."""
    gain_percent: Array
    """Gain of full duplex over half duplex."""
    renewal_us: Array
    """E[T], (11)."""


@dataclass(kw_only=True, eq=False)
class Rates(Parameters):
    """Rates of stations."""

    rate_mbps: Numbers = Parameter(
        54.0, "r1: from a station, and to a station when the access point sends alone.", positive
    )
    cli_rate_mbps: Numbers = Parameter(
        36.0, "r2: to a station while another station sends.", positive
    )


@dataclass(eq=False)
class StationClass(Rates):
    """Stations of one direction with the same rates."""

    stations: Numbers = Parameter(REQUIRED, "N_c, from 1.", whole, low=1)
    upload: Plain[bool] = Parameter(REQUIRED, "Whether they upload; otherwise they download.")


@dataclass(kw_only=True, eq=False)
class Reading(Backoff):
    """Parameters of all cells, and the reading of Result 2 of [1]."""

    times: Plain[RtsTimes] = Parameter(TABLE_I, "Durations and sizes.")
    cts_timeout_us: Numbers = Parameter(
        0.0,
        """
        Duration of a collision in addition to T_RTS + T_DIFS: 0 in [1], about 26 (SIFS + slot) or
        60 (SIFS + CTS) in a real MAC, and -34 if no DIFS follows. Only this convention changes the
        gains by more than a point.
        """,
        real,
    )
    counting: Plain[str] = Parameter(
        "printed",
        """
        "printed": (9) and (11) count an attempt of the access point together with that of exactly
        one station as a success of both. "single": it counts only as that of the station.
        """,
        choice,
        allowed=("printed", "single"),
    )
    flow: Plain[str] = Parameter(
        "open",
        """
        "open": the access point has the successes of (9), more than TCP ACKs return. "capped": it
        has as many departures as the stations, and the durations stay. "repaid": as "capped", but
        an exchange is shorter if the access point has no packet to send in it.
        """,
        choice,
        allowed=("open", "capped", "repaid"),
    )


@dataclass(eq=False)
class Cell(Reading, Rates):
    """A cell whose stations have the same rates."""

    stations: Numbers = Parameter(REQUIRED, "N, from 1.", whole, low=1)
    _: KW_ONLY
    upload_fraction: Numbers = Parameter(REQUIRED, "f_UpL = N_U / N.", probability)


@takes(Cell)
def cell(at: Cell) -> FullDuplex:
    """Predict the TCP throughput of a full-duplex cell, Result 2 of [1].

    Returns
    -------
    FullDuplex

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    The gains at N = 80 and r2 = 36 Mb/s (the paper's simulation: 26.2 and 50.3 %):

    >>> cell(80, upload_fraction=[0.0, 0.65]).gain_percent.round(1)
    array([28.7, 59.8])
    """
    n, f, r1, r2, timeout = broadcast(
        stations=at.stations,
        upload_fraction=at.upload_fraction,
        rate_mbps=at.rate_mbps,
        cli_rate_mbps=at.cli_rate_mbps,
        cts_timeout_us=at.cts_timeout_us,
    )
    classes = [(f, True, r1, r2), (1 - f, False, r1, r2)]
    down, up, renewal = _renewal(n, classes, timeout, at)
    half = half_duplex.cell(
        n,
        times=at.times.half_duplex(r1, cts_timeout_us=timeout),
        upload_fraction=f,
        cw_min=at.cw_min,
        cw_max=at.cw_max,
    ).total_mbps
    total = down + up
    return FullDuplex(total, down, up, half, 100 * (total / half - 1), renewal)


@dataclass(frozen=True, eq=False, repr=False)
class MixedFullDuplex(Prediction):
    """A full-duplex cell of several classes of stations."""

    total_mbps: Array
    download_mbps: Array
    upload_mbps: Array
    renewal_us: Array


@dataclass(eq=False)
class Classes(Reading):
    """A cell of several classes of stations."""

    classes: Plain[Sequence[StationClass]] = Parameter(REQUIRED, "At least one.")

    def __post_init__(self) -> None:
        if not self.classes:
            raise ValueError("classes: must not be empty")


@takes(Classes)
def mixed(at: Classes) -> MixedFullDuplex:
    """Predict the throughput with rates by class.

    All stations have the same back-off, so that a successful station is of class c with probability
    N_c / N, and the access point's packet is for class c with the same probability. An exchange
    lasts as long as the longer of its two transmissions ([1] assumes L_d / r1 > L_a / r2).

    Examples
    --------
    >>> near, far = StationClass(40, True), StationClass(40, False, cli_rate_mbps=12)
    >>> mixed([near, far]).total_mbps < cell(80, upload_fraction=0.5).total_mbps
    True
    """
    n = np.sum([each.stations for each in at.classes])
    rows = [
        (each.stations / n, each.upload, each.rate_mbps, each.cli_rate_mbps) for each in at.classes
    ]
    down, up, renewal = _renewal(n, rows, at.cts_timeout_us, at)
    return MixedFullDuplex(down + up, down, up, renewal)


def _renewal(
    n: Array, classes: Sequence[tuple[Array, bool, Array, Array]], timeout: Array, reading: Reading
) -> tuple[Array, Array, Array]:
    """(9), (10) and (11): downloads, uploads in Mb/s, and E[T]."""
    point, times = backoff_point(n, **reading.part(Backoff)), reading.times
    beta, own = real("beta", point.station_attempt), real("beta_ap", point.ap_attempt)
    crowd, station = real("gamma_ap", point.ap_collision), real("s_ap", point.ap_secondary)
    quiet = (1 - beta) ** n
    alone = own * (1 - crowd) if reading.counting == "printed" else own * quiet
    idle = quiet * (1 - own)
    lost = 1 - idle - station - alone  # below zero with the printed (6)

    # A downloading station receives segments and sends TCP ACKs, an uploading one the reverse.
    primary = secondary = single = uploads = np.zeros(())
    for weight, upload, r1, _ in classes:
        sent = times.exchange_us(times.data_bits if upload else times.tcp_ack_bits, r1)
        received = times.tcp_ack_bits if upload else times.data_bits
        primary = primary + weight * times.exchange_us(received, r1)
        single = single + weight * sent
        uploads = uploads + weight * upload
        for other, other_upload, _, other_r2 in classes:
            bits = times.tcp_ack_bits if other_upload else times.data_bits
            beside = np.maximum(sent, times.exchange_us(bits, other_r2))
            secondary = secondary + weight * other * beside

    fixed = idle * times.slot_us + alone * primary + lost * times.collision_us(timeout)
    if (
        reading.flow == "repaid"
    ):  # each transmission alone replaces one that the access point would send with a station
        both = np.maximum(station - alone, 0.0)
        renewal = fixed + both * secondary + (station - both) * single
    else:
        renewal = fixed + station * secondary
    sent_down = station + alone if reading.flow == "open" else station
    bits = times.data_bits
    return (1 - uploads) * bits * sent_down / renewal, uploads * bits * station / renewal, renewal
