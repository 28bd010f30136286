"""Aggregation in 802.11n, ac and ax: what one sender gets through at each MCS.

A cycle is AIFS, mean back-off, one PPDU with X MPDUs of Y MSDUs each, SIFS and Block Ack:

    thr = X Y 8 L (1 - BER)^(8 O + 8 Y Len) / (AIFS + BO + T_ppdu + SIFS + T_BA)               (1)

with X as large as Block Ack window, A-MPDU length, PPDU duration and the user's own cap allow.

References
----------
.. [1] O. Sharon, Y. Alpert, "MAC level throughput comparison: 802.11ac vs. 802.11n", Physical
   Communication 12, 2014 (the form, as in the authors' later papers).
.. [2] A. Okada, D. Nobayashi, T. Ikenaga, "TCP congestion control based on transmission rate of
   wireless LAN interfaces".
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption, timing
from simoom.models._check import Array, broadcast, choice, positive, real, whole
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.ONE_SENDER,
    assumption.FULL_PPDUS,
    assumption.FIXED_MCS,
    assumption.BLOCK_ACK,
    assumption.Assumption("independent_bit_errors", "Bits fail independently, if at all."),
)

MAX_MPDU_BYTES = MappingProxyType({"11n": 7991, "11ac": 11_454, "11ax": 11_454})  # Table 9-34
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
    """Throughput over PHY rate."""
    mpdus: Array
    """MPDUs in a PPDU."""
    psdu_bytes: Array
    ppdu_us: Array
    cycle_us: Array
    """From one PPDU to the next."""


def effective_throughput(
    mcs: ArrayLike,
    *,
    standard: str = "11ac",
    width_mhz: int = 20,
    streams: int = 1,
    guard_ns: int | None = None,
    payload_bytes: ArrayLike = 1448,
    overhead_bytes: ArrayLike = 60,
    msdus_per_mpdu: ArrayLike = 1,
    max_mpdus: ArrayLike | None = None,
    max_ampdu_bytes: ArrayLike | None = None,
    max_ppdu_us: ArrayLike = timing.MAX_PPDU_US,
    control_mbps: ArrayLike | None = None,
    cw_min: ArrayLike = 15,
    bit_error_rate: ArrayLike = 0.0,
    round_short_guard: bool = True,
) -> Aggregation:
    """Predict what one sender gets through, (1).

    Parameters
    ----------
    mcs : array_like
        From 0, for every number of streams.
    standard, width_mhz, streams, guard_ns, round_short_guard
        The PPDU, see `timing.ppdu_us`.
    payload_bytes, overhead_bytes : array_like
        Of one MSDU: what is counted, and what is around it. The default is a segment with TCP and
        its timestamps (32), IP (20) and LLC (8).
    msdus_per_mpdu : array_like
        Y: 1 for no A-MSDU.
    max_mpdus : array_like, optional
        Cap on X; the Block Ack window (64; 256 for ax) if not given.
    max_ampdu_bytes : array_like, optional
        Cap on the A-MPDU; that of the amendment if not given.
    max_ppdu_us : array_like
        5484 us.
    control_mbps : array_like, optional
        Rate of the Block Ack.
    cw_min : array_like
        Mean back-off is half of it.
    bit_error_rate : array_like
        BER after decoding.

    Returns
    -------
    Aggregation

    Raises
    ------
    ValueError
        Naming the argument; also if not one MPDU fits the limits.

    Examples
    --------
    The cell of [2] at MCS 0, 5 and 8:

    >>> effective_throughput([0, 5, 8], **OKADA).throughput_mbps.round(2)
    array([ 6.52, 52.27, 77.82])
    >>> effective_throughput([0, 5, 8], **OKADA).mpdus
    array([ 3., 25., 32.])
    """
    known = timing.standard(choice("standard", standard, MAX_MPDU_BYTES))
    ber = real("bit_error_rate", bit_error_rate, low=0.0, below=1.0)
    each = whole("msdus_per_mpdu", msdus_per_mpdu, low=1)
    payload = whole("payload_bytes", payload_bytes, low=1)
    mpdu = mpdu_bytes(payload + whole("overhead_bytes", overhead_bytes), each, known)
    if control_mbps is None:
        control_mbps = timing.control_rate_mbps(standard=standard, mcs=mcs)
    mode: dict[str, Any] = {
        "standard": standard,
        "width_mhz": width_mhz,
        "streams": streams,
        "guard_ns": guard_ns,
        "round_short_guard": round_short_guard,
    }
    index, size, y, paid, window, errors, longest = broadcast(
        mcs=whole("mcs", mcs, low=0, high=known.max_mcs),
        mpdu=mpdu,
        msdus_per_mpdu=each,
        payload_bytes=payload,
        cw_min=whole("cw_min", cw_min),
        bit_error_rate=ber,
        max_ppdu_us=positive("max_ppdu_us", max_ppdu_us),
    )
    count = _most_mpdus(
        size,
        whole("max_mpdus", known.block_ack_window if max_mpdus is None else max_mpdus, low=1),
        positive(
            "max_ampdu_bytes", known.max_ampdu_bytes if max_ampdu_bytes is None else max_ampdu_bytes
        ),
        longest,
        index,
        mode,
    )
    psdu = psdu_bytes(count, size)
    ppdu = timing.ppdu_us(psdu, mcs=index, **mode)
    answer = timing.control_us(timing.BLOCK_ACK_BYTES, standard=standard, rate_mbps=control_mbps)
    cycle = known.aifs_us + window / 2 * known.slot_us + ppdu + known.sifs_us + answer
    intact = np.exp(8 * (timing.MPDU_DELIMITER_BYTES + size) * np.log1p(-errors))
    rate = timing.data_bits_per_symbol(
        index, standard=standard, width_mhz=width_mhz, streams=streams
    ) / timing.symbol_us(standard=standard, guard_ns=guard_ns)
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


def psdu_bytes(count: Array, mpdu: Array) -> Array:
    """Return the size of an A-MPDU: delimiters, MPDUs, and padding but after the last (9.7.1)."""
    subframe: Array = timing.MPDU_DELIMITER_BYTES + 4 * np.ceil(mpdu / 4)
    return (count - 1) * subframe + timing.MPDU_DELIMITER_BYTES + mpdu


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
    if np.any(timing.ppdu_us(psdu_bytes(low, mpdu), mcs=mcs, **mode) > longest_us):
        raise ValueError(f"max_ppdu_us: no MPDU of {mpdu.max():g} bytes fits at every MCS given")
    while np.any(low < high):
        middle = np.ceil((low + high) / 2)
        fits = timing.ppdu_us(psdu_bytes(middle, mpdu), mcs=mcs, **mode) <= longest_us
        low, high = np.where(fits, middle, low), np.where(fits, high, middle - 1)
    return low
