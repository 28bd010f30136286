"""Bluetooth voice near 802.11b: corruption of packets, and residual loss after the MAC's retries.

A voice link (SCO) transmits in pairs of slots of 625 us and hops over 79 channels of 1 MHz. A hop
into the 22 MHz of a WLAN during a packet corrupts the packet. Three rules count the hops:

========  ==========================================================================================
slots     Whole slots in the packet's duration (payload bits over rate, no preamble), each occupied
          with probability lambda: PCR = 1 - (1 - lambda q)^N. The rule of [1], optimistic.
dwell     Every slot that a packet of random phase touches at all, occupied as above.
bursts    The bursts of 366 us that the packet really overlaps, in the periodic pattern of SCO.
========  ==========================================================================================

References
----------
.. [1] V. Subramanian, K. K. Ramakrishnan, S. Kalyanaraman, L. Ji, "Impact of interference and
   capture effects in 802.11 wireless networks on TCP".
.. [2] N. Golmie, R. E. Van Dyck, A. Soltanian, A. Tonnerre, O. Rebala, "Interference evaluation of
   Bluetooth and IEEE 802.11b systems", Wireless Networks 9(3), 2003.
.. [3] Bluetooth Core Specification, volume 2, part B: baseband (slots, HV packets, SCO).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import assumption
from simoom.models._check import (
    Array,
    broadcast,
    choice,
    not_negative,
    positive,
    probability,
    real,
    whole,
)
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    assumption.Assumption("bluetooth_voice", "One SCO link of HV1, HV2 or HV3 is active."),
    assumption.Assumption(
        "any_overlap_kills", "A hop into the channel during a packet corrupts it at any power."
    ),
    assumption.Assumption("no_frequency_avoidance", "The link hops over all 79 channels."),
    assumption.Assumption(
        "independent_attempts", "The attempts at one packet meet the voice link independently."
    ),
    assumption.ONE_SENDER,
)

DWELL_US = 625.0  # [3], 2.2: slot of the piconet
BURST_US = 366.0  # [3], 6: 72 + 54 + 240 bits of an HV packet at 1 Mb/s
HOPS = 79  # [3], 2.1
PLCP_US = 192.0  # 802.11-2020, 16.2.2: long preamble and header at 1 Mb/s


@dataclass(frozen=True)
class VoiceFormat:
    """A packet type of SCO links."""

    period_slots: int
    """T_SCO; the first two slots of each period are on the air."""
    printed_utilisation: float
    """lambda as in [1]."""

    @property
    def utilisation(self) -> float:
        """lambda: the fraction of slots on the air."""
        return 2 / self.period_slots


FORMATS = MappingProxyType(
    {"HV1": VoiceFormat(2, 1.0), "HV2": VoiceFormat(4, 0.5), "HV3": VoiceFormat(6, 0.3)}
)


def slot_hit_probability(voice: str, *, p: str = "exact", width_mhz: float = 22.0) -> float:
    """Return p: a slot is on the air and hops into the WLAN's channel.

    "printed" is 0.27 lambda with lambda = 0.3 for HV3, as in [1]; 22/79 is 0.278, 4/12 a third.

    Examples
    --------
    >>> slot_hit_probability("HV3", p="printed"), round(slot_hit_probability("HV3"), 4)
    (0.081, 0.0928)
    """
    kind = FORMATS[choice("voice", voice, FORMATS)]
    choice("p", p, ("exact", "printed"))
    if p == "printed":
        return 0.27 * kind.printed_utilisation
    return float(positive("width_mhz", width_mhz)) / HOPS * kind.utilisation


def packet_corruption(
    packet_bytes: ArrayLike,
    *,
    rate_mbps: ArrayLike,
    voice: str,
    rule: str = "slots",
    p: str = "exact",
    preamble: bool = False,
    width_mhz: float = 22.0,
) -> Array:
    """Return PCR, the probability that one attempt at a packet is corrupted.

    Parameters
    ----------
    packet_bytes, rate_mbps : array_like
        Size and rate of the packet.
    voice : str
        "HV1", "HV2" or "HV3".
    rule : str
        "slots", "dwell" or "bursts"; see the head of the module.
    p : str
        "exact" or "printed", see `slot_hit_probability`; not for "bursts".
    preamble : bool
        Count the long preamble and header of 802.11b, 192 us, as part of the packet.
    width_mhz : float
        Channel width: 22 for 802.11b.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    1500 bytes near HV1 at 1, 2, 5.5 and 11 Mb/s, as in [1]:

    >>> packet_corruption(1500, rate_mbps=[1, 2, 5.5, 11], voice="HV1", p="printed").round(4)
    array([0.9975, 0.9411, 0.611 , 0.27  ])
    """
    choice("rule", rule, ("slots", "dwell", "bursts"))
    hit = slot_hit_probability(voice, p=p, width_mhz=width_mhz)
    size, rate = broadcast(
        packet_bytes=positive("packet_bytes", packet_bytes),
        rate_mbps=positive("rate_mbps", rate_mbps),
    )
    length = 8 * size / rate + (PLCP_US if preamble else 0.0)
    if rule == "slots":
        return np.asarray(-np.expm1(np.floor(length / DWELL_US) * np.log1p(-hit)))
    if rule == "dwell":
        touched = np.floor(length / DWELL_US) + 1
        more = length / DWELL_US + 1 - touched  # phases that touch one slot more
        clean = np.exp(touched * np.log1p(-hit))
        return np.asarray(1 - clean * (1 - more * hit))
    if p == "printed":
        raise ValueError("p: rule 'bursts' takes the exact channel fraction")
    return _burst_corruption(length, FORMATS[voice].period_slots * DWELL_US, width_mhz / HOPS)


def _burst_corruption(length: Array, period: float, q: float) -> Array:
    """PCR for a packet of random phase among bursts at 0 and 625 us of every period.

    A burst overlaps the packet if it starts during the packet, or less than one burst before it.
    Each of the two streams has at least n = floor((length + burst) / period) such bursts, and one
    more in an arc of phases. The two arcs are 625 us apart; where they overlap, both streams have
    one more burst.
    """
    reach = length + BURST_US
    sure = np.floor(reach / period)
    arc = reach - sure * period
    both = np.maximum(arc - DWELL_US, 0.0) + np.maximum(arc - (period - DWELL_US), 0.0)
    one = 2 * (arc - both)
    none = period - both - one
    clean = (none + one * (1 - q) + both * (1 - q) ** 2) / period
    return np.asarray(1 - (1 - q) ** (2 * sure) * clean)


def residual_error(packet_corruption: ArrayLike, attempts: ArrayLike) -> Array:
    """Return PER = PCR^K, the probability that all attempts of a packet are corrupted.

    Examples
    --------
    >>> residual_error(0.27, [3, 7]).round(6)
    array([0.019683, 0.000105])
    """
    return np.asarray(
        probability("packet_corruption", packet_corruption) ** whole("attempts", attempts, low=1)
    )


@dataclass(frozen=True)
class Dot11b:
    """An 802.11b link without RTS/CTS, as [1] simulates it."""

    slot_us: float = 20.0
    sifs_us: float = 10.0
    difs_us: float = 50.0
    cw_min: int = 31
    cw_max: int = 1023
    mac_header_bytes: int = 34
    """Four addresses and FCS."""
    mac_ack_bytes: int = 14

    def frame_us(self, packet_bytes: ArrayLike, rate_mbps: ArrayLike) -> Array:
        """A data frame with its preamble."""
        bits = 8 * (np.asarray(packet_bytes, dtype=np.float64) + self.mac_header_bytes)
        return PLCP_US + bits / np.asarray(rate_mbps, dtype=np.float64)

    def mac_ack_us(self, rate_mbps: ArrayLike) -> Array:
        """A MAC ACK with its preamble."""
        return PLCP_US + 8 * self.mac_ack_bytes / np.asarray(rate_mbps, dtype=np.float64)

    def windows(self, stages: int, *, capped: bool = True) -> Array:
        """CW of the first stages; without a limit CW doubles in every stage."""
        grown = (self.cw_min + 1) * 2.0 ** np.arange(stages) - 1
        return np.asarray(np.minimum(grown, self.cw_max if capped else np.inf))


@dataclass(frozen=True, eq=False, repr=False)
class MacGoodput(Prediction):
    """One sender whose packets are corrupted independently."""

    goodput_mbps: Array
    attempts_per_packet: Array
    residual_error: Array


def mac_goodput(
    packet_corruption: ArrayLike,
    *,
    attempts: ArrayLike,
    rate_mbps: ArrayLike,
    packet_bytes: ArrayLike = 1500,
    mac_ack_mbps: ArrayLike | None = None,
    link: Dot11b = Dot11b(),
) -> MacGoodput:
    """Return the goodput of one sender: delivered packet bits divided by the time of all attempts.

    Every attempt takes DIFS, the mean back-off of its stage, the frame, SIFS and the duration of a
    MAC ACK, whether the ACK is sent or not.

    Parameters
    ----------
    packet_corruption : array_like
        PCR.
    attempts : array_like
        K.
    rate_mbps, packet_bytes : array_like
        Of the packet.
    mac_ack_mbps : array_like, optional
        Rate of MAC ACKs; that of the packet by default.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> mac_goodput(0.27, attempts=3, rate_mbps=11, mac_ack_mbps=11)
    MacGoodput(goodput_mbps=4.38818, attempts_per_packet=1.3429, residual_error=0.019683)
    """
    pcr, k, rate, size, ack_rate = broadcast(
        packet_corruption=probability("packet_corruption", packet_corruption),
        attempts=whole("attempts", attempts, low=1, high=1000),
        rate_mbps=positive("rate_mbps", rate_mbps),
        packet_bytes=positive("packet_bytes", packet_bytes),
        mac_ack_mbps=positive("mac_ack_mbps", rate_mbps if mac_ack_mbps is None else mac_ack_mbps),
    )
    stage = np.arange(int(k.max(initial=1)))
    reach = np.where(stage < k[..., None], pcr[..., None] ** stage, 0.0)
    tries = reach.sum(axis=-1)
    backoff = link.slot_us / 2 * np.sum(reach * link.windows(stage.size), axis=-1)
    each = link.difs_us + link.frame_us(size, rate) + link.sifs_us + link.mac_ack_us(ack_rate)
    lost = pcr**k
    return MacGoodput(8 * size * (1 - lost) / (tries * each + backoff), tries, lost)


def retry_duration_ms(
    attempts: ArrayLike,
    *,
    draws: str = "mean",
    first_backoff: bool = True,
    capped: bool = True,
    packet_bytes: ArrayLike = 1500,
    rate_mbps: ArrayLike = 11.0,
    mac_ack_mbps: ArrayLike = 11.0,
    link: Dot11b = Dot11b(),
) -> Array:
    """Return how long a packet occupies the MAC if all its attempts fail, in milliseconds.

    Parameters
    ----------
    attempts : array_like
        K.
    draws : str
        "mean": the mean of every back-off. "max": the largest draw of every back-off.
    first_backoff : bool
        False: the packet finds the medium idle and starts at once, with K - 1 back-offs, the first
        from CWmin, between the attempts.
    capped : bool
        Whether CWmax bounds the windows.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    [1] quotes 6.5 ms for K = 3, which is a mean, and 60 to 75 ms for K = 7, which is a maximum:

    >>> retry_duration_ms([3, 7]).round(1), retry_duration_ms([3, 7], draws="max").round(1)
    (array([ 7. , 41.5]), array([ 9.2, 71.8]))
    """
    choice("draws", draws, ("mean", "max"))
    k, size, rate, ack_rate = broadcast(
        attempts=whole("attempts", attempts, low=1, high=50),
        packet_bytes=positive("packet_bytes", packet_bytes),
        rate_mbps=positive("rate_mbps", rate_mbps),
        mac_ack_mbps=positive("mac_ack_mbps", mac_ack_mbps),
    )
    stages = np.arange(int(k.max(initial=1)))
    windows = link.windows(stages.size, capped=capped)
    drawn = stages < (k if first_backoff else k - 1)[..., None]
    slots = np.sum(np.where(drawn, windows, 0.0), axis=-1) / (2 if draws == "mean" else 1)
    timeout = link.sifs_us + link.slot_us + link.mac_ack_us(ack_rate)
    total: Array = k * (link.difs_us + link.frame_us(size, rate) + timeout) + link.slot_us * slots
    return total / 1000


def clean_goodput_mbps(
    *,
    payload_bytes: ArrayLike = 1460,
    packet_bytes: ArrayLike = 1500,
    tcp_ack_bytes: ArrayLike = 40,
    segments_per_ack: ArrayLike = 1,
    rate_mbps: ArrayLike = 11.0,
    mac_ack_mbps: ArrayLike = 11.0,
    spaces_us: ArrayLike = 60.0,
    backoff_us: ArrayLike = 310.0,
    link: Dot11b = Dot11b(),
) -> Array:
    """Return the goodput of one TCP flow without interference and without collisions.

    Parameters
    ----------
    payload_bytes, packet_bytes, tcp_ack_bytes : array_like
        Application bytes in a packet, size of the packet, and size of a TCP ACK; the sizes include
        the IP header.
    segments_per_ack : array_like
        Of delayed ACK.
    rate_mbps, mac_ack_mbps : array_like
        Rates of frames and of MAC ACKs.
    spaces_us, backoff_us : array_like
        DIFS + SIFS, and the mean back-off, of every frame; 0 to count overhead bytes only.
    link : Dot11b
        MAC header and MAC ACK sizes.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    "Less than 55 %" of 11 Mb/s, counting only preambles, MAC ACKs and TCP ACKs; the MAC ACK of 48
    bytes includes its preamble of 24 bytes [1]:

    >>> bare = Dot11b(mac_header_bytes=0, mac_ack_bytes=24)
    >>> float(clean_goodput_mbps(payload_bytes=1500, mac_ack_mbps=1, spaces_us=0, backoff_us=0,
    ...                          link=bare).round(4))
    5.2817
    """
    extra = not_negative("spaces_us", spaces_us) + not_negative("backoff_us", backoff_us)
    around = link.mac_ack_us(positive("mac_ack_mbps", mac_ack_mbps)) + extra
    rate = positive("rate_mbps", rate_mbps)
    data = link.frame_us(positive("packet_bytes", packet_bytes), rate) + around
    ack = link.frame_us(positive("tcp_ack_bytes", tcp_ack_bytes), rate) + around
    per_ack = real("segments_per_ack", segments_per_ack, low=1.0)
    return 8 * positive("payload_bytes", payload_bytes) / (data + ack / per_ack)
