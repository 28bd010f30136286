"""Saturated downlink OFDMA of 802.11ax: an access point that serves several stations in each PPDU.

The access point contends alone, and each user's queue fills its resource unit. All users of a PPDU
end together; the stations acknowledge in one of three sequences.

References
----------
.. [1] IEEE 802.11ax-2021, clauses 26.4.4, 26.5.1, 27.3.
.. [2] D. Magrin, S. Avallone, S. Roy and M. Zorzi, "Performance evaluation of 802.11ax OFDMA
   through theoretical analysis and simulations", IEEE Trans. Wireless Commun., 2023.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from simoom.models import assumption
from simoom.models.prediction import Prediction
from simoom.models.resource_units import BITS, DATA_TONES, NUMBERS
from simoom.models.timing import MAX_PPDU_US, MPDU_DELIMITER_BYTES, standard

ASSUMPTIONS = (
    assumption.ONE_SENDER,
    assumption.FULL_PPDUS,
    assumption.FIXED_MCS,
    assumption.BLOCK_ACK,
    assumption.EQUAL_STATIONS,
    assumption.NO_FRAME_ERRORS,
    assumption.Assumption("several_users", "Each PPDU serves several stations."),
    assumption.Assumption(
        "equal_units",
        "All users of a PPDU have one size of resource unit, in 20 MHz, with one stream.",
    ),
    assumption.Assumption("no_txop_limit", "The access point sends one PPDU in each TXOP."),
)

SIG_B_BITS = (26, 52, 78, 104, 156, 208)
"""Bits of a symbol of HE-SIG-B by its MCS."""
SIG_B_COMMON, SIG_B_PAIR, SIG_B_ONE = 18, 52, 31  # clause 27.3.11.8, one content channel of 20 MHz
RESPONSE_MCS = 5
"""The highest MCS of BlockAcks in HE TB PPDUs."""
BLOCK_ACK_BYTES, REQUEST_BYTES = 56, 24
"""A BlockAck with a window of 256, and a BlockAckReq."""
AIFSN = 3  # of best effort (table 9-155)
SEQUENCES = ("bar_chain", "mu_bar", "aggregated_mu_bar")


@dataclass(frozen=True, eq=False, repr=False)
class Downlink(Prediction):
    """A cycle of a saturated downlink."""

    throughput_mbps: float
    """Goodput of all users."""
    mpdus: float
    """MPDUs of each user in a PPDU."""
    ppdu_us: float
    """Duration of the PPDU."""
    after_us: float
    """From its end to the end of the last acknowledgement."""


def saturated(
    users: int,
    *,
    mcs: int,
    payload_bytes: int,
    acknowledgement: str = "mu_bar",
    header_bytes: int = 66,
    ltf_us: float = 7.2,
    control_mbps: float = 24.0,
    cw_min: int = 15,
    most_us: float = MAX_PPDU_US,
) -> Downlink:
    """Return the goodput of an access point with equal users in 20 MHz, one stream, GI 800 ns.

    Parameters
    ----------
    users : int
        Users of a PPDU: with one the channel is one resource unit.
    mcs : int
        Their MCS.
    payload_bytes : int
        Payload of an MPDU.
    acknowledgement : str, optional
        One of `SEQUENCES`.
    header_bytes : int, optional
        What an MPDU has beside its payload: MAC 30, LLC 8, IP and UDP 28.
    ltf_us : float, optional
        Duration of an HE-LTF of the data: 7.2 (2x), in ns-3 8.
    control_mbps : float, optional
        Rate of control frames.
    cw_min : int, optional
        That of the access point.
    most_us : float, optional
        The longest PPDU.

    Examples
    --------
    A benchmark of ns-3 has 67.98 Mb/s with two users and 63.52 with four:

    >>> two, four = (saturated(n, mcs=7, payload_bytes=1472, ltf_us=8.0,
    ...                        acknowledgement="aggregated_mu_bar") for n in (2, 4))
    >>> two
    Downlink(throughput_mbps=67.9601, mpdus=16, ppdu_us=5338.4, after_us=96)
    >>> round(four.throughput_mbps, 2)
    63.54
    """
    if acknowledgement not in SEQUENCES:
        raise ValueError(f"acknowledgement: {acknowledgement!r} is none of {', '.join(SEQUENCES)}")
    known = standard("11ax")
    tones = _tones(users)
    per_symbol = DATA_TONES[tones] * _bits(mcs)
    sig_b = SIG_B_BITS[min(mcs, len(SIG_B_BITS) - 1)]
    preamble_us = 36.0 + 4.0 * math.ceil(_sig_b(users) / sig_b) + ltf_us
    extra = MPDU_DELIMITER_BYTES + _mu_bar(1) if acknowledgement == "aggregated_mu_bar" else 0

    def ppdu_us(mpdus: int) -> float:
        subframe = MPDU_DELIMITER_BYTES + header_bytes + payload_bytes
        padded = 4 * math.ceil(subframe / 4)
        # What follows an MPDU begins at a multiple of four bytes.
        size = mpdus * padded + extra if extra else (mpdus - 1) * padded + subframe
        return preamble_us + 13.6 * math.ceil((16 + 8 * size + 6) / per_symbol)

    mpdus = 0
    while ppdu_us(mpdus + 1) <= most_us:
        mpdus += 1
    if mpdus == 0:
        raise ValueError(f"mcs: an MPDU of {payload_bytes} bytes does not fit into {tones} tones")
    after_us = _after_us(users, mcs, tones, acknowledgement, control_mbps, known.sifs_us)
    aifs_us = known.sifs_us + AIFSN * known.slot_us
    cycle_us = aifs_us + cw_min / 2 * known.slot_us + ppdu_us(mpdus) + after_us
    bits = 8.0 * users * mpdus * payload_bytes
    return Downlink(bits / cycle_us, float(mpdus), ppdu_us(mpdus), after_us)


def _tones(users: int) -> int:
    for tones, most in reversed(NUMBERS[20].items()):
        if 1 <= users <= most:
            return tones
    raise ValueError(f"users: {users} is not between 1 and {max(NUMBERS[20].values())}")


def _bits(mcs: int) -> float:
    bits, over, under = BITS[mcs]
    return bits * over / under


def _sig_b(users: int) -> int:
    pairs, one = divmod(users, 2)
    return SIG_B_COMMON + SIG_B_PAIR * pairs + SIG_B_ONE * one


def _mu_bar(users: int) -> int:
    return 28 + 9 * users


def _control_us(size: int, mbps: float) -> float:
    return 20.0 + 4.0 * math.ceil((22 + 8 * size) / (4 * mbps))


def _after_us(
    users: int, mcs: int, tones: int, acknowledgement: str, mbps: float, sifs_us: float
) -> float:
    """Return the time from the end of the data to that of the last acknowledgement."""
    if acknowledgement == "bar_chain":
        answer = sifs_us + _control_us(BLOCK_ACK_BYTES, mbps)
        return users * answer + (users - 1) * (sifs_us + _control_us(REQUEST_BYTES, mbps))
    per_symbol = DATA_TONES[tones] * _bits(min(mcs, RESPONSE_MCS))
    bits = 16 + 8 * (BLOCK_ACK_BYTES + MPDU_DELIMITER_BYTES) + 6
    lasts = 48.0 + 14.4 * math.ceil(bits / per_symbol)
    announced = 20.0 + 4.0 * math.ceil(round((lasts - 20.0) / 4.0, 6))
    trigger = sifs_us + _control_us(_mu_bar(users), mbps) if acknowledgement == "mu_bar" else 0.0
    return trigger + sifs_us + announced
