"""Aggregation in 802.11n, ac, ax and be: the throughput of one sender at each MCS.

A cycle is AIFS, mean back-off, one PPDU with X MPDUs of Y MSDUs each, SIFS and Block Ack:

    thr = X Y 8 L (1 - BER)^(8 O + 8 Y Len) / (AIFS + BO + T_ppdu + SIFS + T_BA)               (1)

X is the largest number that block ack window, A-MPDU length, PPDU duration and the user's limit
allow.

References
----------
.. [1] O. Sharon, Y. Alpert, "MAC level throughput comparison: 802.11ac vs. 802.11n", Physical
   Communication 12, 2014 (the form, as in the authors' later papers).
.. [2] A. Okada, D. Nobayashi, T. Ikenaga, "TCP congestion control based on transmission rate of
   wireless LAN interfaces".
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, fixed_point, saturation, timing, txop
from simoom.models._check import Array, broadcast, positive, real, whole
from simoom.models.parameters import REQUIRED, Numbers, OptionalNumbers, Parameter, Plain, takes
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_SENDER,
    assumption.FULL_PPDUS,
    assumption.FIXED_MCS,
    assumption.BLOCK_ACK,
    assumption.Assumption("independent_bit_errors", "Bit errors, if any, are independent."),
)

MAX_MPDU_BYTES = MappingProxyType(  # Table 9-34
    {"11n": 7991, "11ac": 11_454, "11ax": 11_454, "11be": 11_454}
)
MAX_AMSDU_BYTES_11N = 7935  # Table 9-34

OKADA = MappingProxyType(
    {
        "standard": "11ac",
        "guard_ns": 400,
        "payload_bytes": 1448,
        "overhead_bytes": 50,
        "max_mpdus": 32,
        "control_mbps": 6.0,
        "round_short_guard": False,
    }
)
"""Arguments of `effective_throughput` for the scenario of [2]: 20 MHz, one stream, an MPDU body of
1498 bytes ("A-MSDU 1498 B"), 32 MPDUs, control frames at MCS 0, symbols of 3.6 us, no rounding."""


@dataclass(frozen=True, eq=False, repr=False)
class Aggregation(Prediction):
    """One sender with full PPDUs."""

    throughput_mbps: Array
    """Payload, (1)."""
    phy_rate_mbps: Array
    efficiency: Array
    """Throughput divided by the PHY rate."""
    mpdus: Array
    """MPDUs in a PPDU."""
    psdu_bytes: Array
    ppdu_us: Array
    cycle_us: Array
    """Time from one PPDU to the next."""


@dataclass(eq=False)
class Ampdus(timing.Format):
    """The contents of the PPDUs of one sender."""

    mcs: Numbers = Parameter(REQUIRED, "Counts from 0 for every number of streams.", whole)
    _: KW_ONLY
    standard: Plain[str] = timing.amendment("11ac", MAX_MPDU_BYTES)
    payload_bytes: Numbers = Parameter(
        1448, "Bytes of one MSDU that count as throughput.", whole, low=1
    )
    max_mpdus: OptionalNumbers = Parameter(
        None, "Cap on X; None: the Block Ack window (64; 256 for ax).", whole, low=1
    )
    max_ampdu_bytes: OptionalNumbers = Parameter(
        None, "Cap on the A-MPDU; None: that of the amendment.", positive
    )


@dataclass(kw_only=True, eq=False)
class Link(Ampdus):
    """One sender without contention."""

    overhead_bytes: Numbers = Parameter(
        60,
        """
        Headers of one MSDU. The default is TCP with timestamps (32), IP (20) and LLC (8).
        """,
        whole,
    )
    msdus_per_mpdu: Numbers = Parameter(1, "Y; 1 without A-MSDU.", whole, low=1)
    max_ppdu_us: Numbers = Parameter(timing.MAX_PPDU_US, "Cap on the PPDU.", positive)
    control_mbps: OptionalNumbers = Parameter(
        None, "Rate of the Block Ack; None: that of `timing.control_rate_mbps`.", real
    )
    cw_min: Numbers = Parameter(15, "Mean back-off is half of it.", whole)
    bit_error_rate: Numbers = Parameter(0.0, "BER after decoding.", real, low=0.0, below=1.0)


@takes(Link)
def effective_throughput(link: Link) -> Aggregation:
    """Predict the throughput of one sender, (1).

    Returns
    -------
    Aggregation

    Raises
    ------
    ValueError
        If an argument is out of range, or no MPDU fits the limits.

    Examples
    --------
    The cell of [2] at MCS 0, 5 and 8:

    >>> effective_throughput([0, 5, 8], **OKADA).throughput_mbps.round(2)
    array([ 6.52, 52.27, 77.82])
    >>> effective_throughput([0, 5, 8], **OKADA).mpdus
    array([ 3., 25., 32.])
    """
    known, each = timing.standard(link.standard), link.msdus_per_mpdu
    mpdu = mpdu_bytes(link.payload_bytes + link.overhead_bytes, each, known)
    index, size, y, paid, window, errors, longest = broadcast(
        mcs=whole("mcs", link.mcs, high=known.max_mcs),
        mpdu=mpdu,
        msdus_per_mpdu=each,
        payload_bytes=link.payload_bytes,
        cw_min=link.cw_min,
        bit_error_rate=link.bit_error_rate,
        max_ppdu_us=link.max_ppdu_us,
    )
    mode = {"standard": known.name} | link.part(timing.Format)
    cap = known.block_ack_window if link.max_mpdus is None else link.max_mpdus
    most_bytes = known.max_ampdu_bytes if link.max_ampdu_bytes is None else link.max_ampdu_bytes
    count = _most_mpdus(size, np.asarray(cap), np.asarray(most_bytes), longest, index, mode)
    psdu = timing.psdu_bytes(count, size)
    ppdu = timing.ppdu_us(psdu, mcs=index, **mode)
    answer_mbps = link.control_mbps
    if answer_mbps is None:
        answer_mbps = timing.control_rate_mbps(standard=known.name, mcs=link.mcs)
    answer = timing.control_us(timing.BLOCK_ACK_BYTES, standard=known.name, rate_mbps=answer_mbps)
    cycle = known.aifs_us + window / 2 * known.slot_us + ppdu + known.sifs_us + answer
    intact = np.exp(8 * (timing.MPDU_DELIMITER_BYTES + size) * np.log1p(-errors))
    rate = timing.data_bits_per_symbol(
        index,
        standard=known.name,
        width_mhz=link.width_mhz,
        streams=link.streams,
        punctured_mhz=link.punctured_mhz,
    ) / timing.symbol_us(standard=known.name, guard_ns=link.guard_ns)
    throughput = 8 * count * y * paid * intact / cycle
    return Aggregation(throughput, rate, throughput / rate, count, psdu, ppdu, cycle)


def ideal_window_bytes(throughput_mbps: ArrayLike, *, rtt_ms: ArrayLike) -> Array:
    """Return cwnd_i = throughput_eff RTT_en / 2, equation (2) of [2].

    Examples
    --------
    With the round-trip time of a queue of ten packets at MCS 0, the published 100 and 147 kB:

    >>> fast = effective_throughput([5, 8], **OKADA).throughput_mbps
    >>> ideal_window_bytes(fast, rtt_ms=30.4).round(-3)
    array([ 99000., 148000.])
    """
    rate = positive("throughput_mbps", throughput_mbps)
    return np.asarray(rate * 1000 * positive("rtt_ms", rtt_ms) / 2 / 8)


def mpdu_bytes(msdu: Array, each: Array, known: timing.Standard) -> Array:
    """Return header, body and FCS; two MSDUs or more make an A-MSDU (9.3.2.2)."""
    subframe = 4 * np.ceil((msdu + timing.MSDU_SUBHEADER_BYTES) / 4)
    body = np.where(each > 1, (each - 1) * subframe + msdu + timing.MSDU_SUBHEADER_BYTES, msdu)
    if known.family == "ht" and np.any((each > 1) & (body > MAX_AMSDU_BYTES_11N)):
        raise ValueError(f"msdus_per_mpdu: A-MSDUs of 11n have at most {MAX_AMSDU_BYTES_11N} bytes")
    mpdu = known.mac_header_bytes + body + timing.FCS_BYTES
    if np.any(mpdu > MAX_MPDU_BYTES[known.name]):
        raise ValueError(
            f"msdus_per_mpdu: an MPDU of {known.name} has at most "
            f"{MAX_MPDU_BYTES[known.name]} bytes, this one {mpdu.max():g}"
        )
    return mpdu


def _most_mpdus(
    mpdu: Array,
    cap: Array,
    ampdu_bytes: Array,
    longest_us: Array,
    mcs: Array,
    mode: dict[str, Any],
) -> Array:
    """X: the largest number of MPDUs within all limits, by bisection on the duration."""
    subframe = timing.MPDU_DELIMITER_BYTES + 4 * np.ceil(mpdu / 4)
    by_bytes = 1 + np.floor((ampdu_bytes - timing.MPDU_DELIMITER_BYTES - mpdu) / subframe)
    high = np.minimum(cap, by_bytes)
    if np.any(high < 1):
        raise ValueError(f"max_ampdu_bytes: no MPDU of {mpdu.max():g} bytes fits")
    high, mpdu, longest_us, mcs = np.broadcast_arrays(high, mpdu, longest_us, mcs)
    low = np.ones(high.shape)
    if np.any(timing.ppdu_us(timing.psdu_bytes(low, mpdu), mcs=mcs, **mode) > longest_us):
        raise ValueError(f"max_ppdu_us: no MPDU of {mpdu.max():g} bytes fits at every MCS given")
    while np.any(low < high):
        middle = np.ceil((low + high) / 2)
        fits = timing.ppdu_us(timing.psdu_bytes(middle, mpdu), mcs=mcs, **mode) <= longest_us
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low


@dataclass(frozen=True, eq=False, repr=False)
class AggregatingCell(Prediction):
    """A cell of equal stations that always have full PPDUs."""

    throughput_mbps: float
    """Payload of all stations together."""
    collision_probability: float
    """Probability that an access collides."""
    collided_exchanges: float
    """Of all frame exchanges, of which a TXOP may have several, those that collide."""
    mpdus: int
    """MPDUs of a TXOP that begins with data."""


def cell(
    stations: int,
    sender: txop.Sender,
    *,
    payload_bytes: int,
    mean_slots: Array,
    silence_us: float,
    head_slots: float,
    slot_us: float,
) -> AggregatingCell:
    """Predict equal stations that contend with full PPDUs.

    The back-off is that of `saturation`. The first attempt is a PPDU of data. If it fails, Block
    Ack Requests follow until one succeeds and resets the window; data follow it in the same TXOP.
    A collision of two lasts as long as a PPDU unless both are requests.

    Parameters
    ----------
    stations : int
        Stations, from 1.
    sender : txop.Sender
        How each sends.
    payload_bytes : int
        Bytes of an MPDU that count as throughput.
    mean_slots : array
        The mean back-off by stage, see `fixed_point.backoff_slots`.
    silence_us, head_slots, slot_us : float
        The silence after a collision for stations that did not collide, by how many slots the
        others resume before them, and the duration of a slot.

    Examples
    --------
    >>> sender = txop.Sender("11n", 1538, 7, 64, 65535, 5484.0, 2528.0, 24.0)
    >>> slots = fixed_point.backoff_slots(15, 1023, attempts=7)
    >>> round(cell(1, sender, payload_bytes=1472, mean_slots=slots, silence_us=103.0,
    ...            head_slots=0.0, slot_us=9.0).throughput_mbps, 1)
    57.0
    """
    fresh = txop.txop(sender)
    renewed = txop.txop(sender, requests=True) if sender.aggregates else fresh

    def point(success_us: float, collision_us: float, mpdus: float) -> saturation.Saturation:
        return saturation.saturation(
            stations,
            mean_slots=mean_slots,
            forever=False,
            slot_us=slot_us,
            success_us=success_us,
            collision_us=collision_us + silence_us,
            payload_bits=max(8 * payload_bytes * mpdus, 1e-9),
            countdown="frozen",
            head_slots=head_slots,
        )

    fixed = fixed_point.frozen_fixed_point(
        stations, mean_slots=mean_slots, forever=False, head_slots=head_slots
    )
    first = float(fixed.first_failure_probability)
    failures = float(fixed.failures_per_frame)
    # Of the successes those that begin with a request; of the failures those of two requests.
    renewals = (first - float(fixed.drop_probability)) / (1 - float(fixed.drop_probability))
    both = (1 - first / failures) ** 2 if failures > 0 else 0.0
    found = point(
        (1 - renewals) * fresh.lasting_us + renewals * renewed.lasting_us,
        (1 - both) * fresh.exposed_us + both * renewed.exposed_us,
        (1 - renewals) * fresh.mpdus + renewals * renewed.mpdus,
    )
    gamma = float(found.collision_probability)
    each = (1 - renewals) * fresh.exchanges + renewals * renewed.exchanges
    collided = gamma / (gamma + (1 - gamma) * each)
    return AggregatingCell(float(found.throughput_mbps), gamma, collided, fresh.mpdus)
