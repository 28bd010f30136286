"""TXOPs of 802.11n, ac, ax and be: what a station sends when it has won the medium.

Within the TXOP limit a station sends A-MPDUs a SIFS apart, each with its Block Ack. An A-MPDU has
as many MPDUs as the window of the block ack agreement, the length of A-MPDUs, the duration of PPDUs
and the rest of the TXOP allow. Only the first PPDU can collide. A station that receives no Block
Ack sends a Block Ack Request before anything else.

References
----------
.. [1] IEEE 802.11-2020, clauses 9.3.1.7 and 9.3.1.8, 9.7, 10.23.2 and 10.25.6.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simoom.models import timing

BLOCK_ACK_REQUEST_BYTES = 24  # 9.3.1.7, compressed


@dataclass(frozen=True)
class Sender:
    """How a node sends MPDUs of one size.

    Parameters
    ----------
    standard : str
        "11n", "11ac", "11ax" or "11be".
    mpdu_bytes : int
        Size of an MPDU with MAC header and FCS.
    mcs : int
        Modulation and coding, counted within a stream.
    most_mpdus, most_bytes, most_us
        Limits of an A-MPDU: the window, its length, and the duration of its PPDU. One MPDU is sent
        without aggregation, and answered by an Ack.
    limit_us : float
        The TXOP limit; 0 is one frame exchange.
    control_mbps : float
        Rate of control frames.
    block_ack_bytes : int
        Size of a Block Ack, which depends on the window.
    format : mapping
        The parameters of `timing.Format`.
    """

    standard: str
    mpdu_bytes: int
    mcs: int
    most_mpdus: int
    most_bytes: float
    most_us: float
    limit_us: float
    control_mbps: float
    block_ack_bytes: int = timing.BLOCK_ACK_BYTES
    format: Mapping[str, Any] = field(default_factory=dict)

    @property
    def aggregates(self) -> bool:
        """Whether it sends A-MPDUs."""
        return self.most_mpdus > 1

    def control_us(self, size: int) -> float:
        """Return how long a control frame lasts."""
        return float(timing.control_us(size, standard=self.standard, rate_mbps=self.control_mbps))

    def answer_us(self) -> float:
        """Return SIFS and the answer to a PPDU."""
        size = self.block_ack_bytes if self.aggregates else timing.ACK_BYTES
        return timing.standard(self.standard).sifs_us + self.control_us(size)

    def ppdu_us(self, mpdus: int) -> float:
        """Return how long a PPDU with so many MPDUs lasts."""
        size = np.asarray(self.mpdu_bytes, dtype=np.float64)
        psdu = timing.psdu_bytes(np.asarray(float(mpdus)), size) if self.aggregates else size
        return float(timing.ppdu_us(psdu, mcs=self.mcs, standard=self.standard, **self.format))

    def mpdus_within(self, left_us: float, available: int) -> int:
        """Return how many MPDUs fit into a PPDU whose exchange has so much time, by bisection."""
        subframe = timing.MPDU_DELIMITER_BYTES + 4 * -(-self.mpdu_bytes // 4)
        by_bytes = 1 + int((self.most_bytes - 4 - self.mpdu_bytes) // subframe)
        low, high = 0, min(self.most_mpdus, max(by_bytes, 1), available)
        while low < high:
            middle = (low + high + 1) // 2
            ppdu = self.ppdu_us(middle)
            if ppdu <= self.most_us and ppdu + self.answer_us() <= left_us:
                low = middle
            else:
                high = middle - 1
        return low


@dataclass(frozen=True)
class Txop:
    """The frame exchanges of one TXOP."""

    mpdus: int
    """MPDUs of all its PPDUs."""
    lasting_us: float
    """From its first bit to the end of the AIFS after its last answer."""
    exposed_us: float
    """Duration of its first PPDU, which a collision destroys."""
    exchanges: int
    """Its frame exchanges."""


def txop(sender: Sender, *, available: int = 1 << 20, requests: bool = False) -> Txop:
    """Return a TXOP of a sender with so many MPDUs.

    Parameters
    ----------
    sender : Sender
        How it sends.
    available : int, optional
        MPDUs in its queue.
    requests : bool, optional
        Whether the TXOP begins with a Block Ack Request, because the Block Ack before was missed.

    Examples
    --------
    A TXOP of 2528 us at 65 Mb/s has 12 MPDUs of 1538 bytes, one without a limit 28, which last
    5484 us at most:

    >>> sender = Sender("11n", 1538, 7, 64, 65535, 5484.0, 2528.0, 24.0)
    >>> txop(sender).mpdus
    12
    >>> import dataclasses
    >>> txop(dataclasses.replace(sender, limit_us=0.0)).mpdus
    28
    """
    known = timing.standard(sender.standard)
    left = sender.limit_us or np.inf
    lasting, exposed, mpdus, exchanges = 0.0, 0.0, 0, int(requests)
    if requests:
        exposed = sender.control_us(BLOCK_ACK_REQUEST_BYTES)
        lasting = exposed + sender.answer_us() + known.sifs_us
        left -= lasting
    while available > mpdus:
        count = sender.mpdus_within(left, available - mpdus)
        if count == 0 and mpdus == 0 and not requests:
            count = 1  # a first PPDU may exceed the limit (10.23.2.9)
        if count == 0 or (requests and not sender.limit_us):
            break
        ppdu = sender.ppdu_us(count)
        exposed = exposed or ppdu
        mpdus += count
        exchanges += 1
        step = ppdu + sender.answer_us() + known.sifs_us
        lasting += step
        left -= step
        if not sender.limit_us:
            break
    return Txop(mpdus, lasting - known.sifs_us + known.aifs_us, exposed, exchanges)
