"""One TCP flow along a chain of wireless hops: capacity, and the window that fills it.

A packet and its TCP ACK occupy the medium around a hop for one exchange each. Hops that are r apart
transmit at the same time (spatial reuse), so that the throughput of a chain of h hops is 1 / min(h,
r) of that of one hop. A window of w packets in flight needs w / h of one hop's throughput. The
window that fills the chain is therefore h / min(h, r); a larger one only causes collisions.

References
----------
.. [1] J. Li, C. Blake, D. De Couto, H. Lee, R. Morris, "Capacity of ad hoc wireless networks",
   MobiCom 2001 (a chain carries at most 1/4 of one hop).
.. [2] Z. Fu, P. Zerfos, H. Luo, S. Lu, L. Zhang, M. Gerla, "The impact of multihop wireless channel
   on TCP throughput and loss", IEEE INFOCOM 2003 (best window h/4).
.. [3] K. Chen, Y. Xue, K. Nahrstedt, "On setting TCP's congestion window limit in mobile ad hoc
   networks", IEEE ICC 2003 (limit about 1/5 of the round-trip hop count).
.. [4] K. Nahm, A. Helmy, C.-C. J. Kuo, "TCP over multihop 802.11 networks: issues and performance
   enhancement", ACM MobiHoc 2005 (FeW, which keeps the window near that).
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from simoom.models import timing
from simoom.models._check import Array, broadcast, choice, positive, real, whole
from simoom.models.assumption import ONE_FLOW, Assumption
from simoom.models.prediction import Prediction

ASSUMPTIONS = (
    ONE_FLOW,
    Assumption("straight_chain", "Hops are equally long and only neighbours can receive."),
    Assumption("static_route", "The route does not change or break."),
    Assumption("perfect_schedule", "Hops far enough apart share the medium without losses."),
    Assumption("no_tcp_loss_below_window", "TCP loses nothing below the window limit."),
)

WINDOW_RULES = MappingProxyType(
    {"hops/4": (1 / 4, False), "rthc/4": (1 / 4, True), "rthc/5": (1 / 5, True)}
)
"""Rule: fraction, and whether of the round-trip hop count (RTHC) or of the forward hops."""


def window_limit(
    hops: ArrayLike, *, rule: str = "rthc/5", return_hops: ArrayLike | None = None
) -> Array:
    """Return the window beyond which the throughput does not grow, in segments, at least 1.

    Parameters
    ----------
    hops : array_like
        Forward hops, from 1.
    rule : str
        "hops/4": a packet every fourth hop [2]. "rthc/5": one fifth of the round-trip hop count
        [3], for 802.11 with a carrier-sense range of about 2.2 hops. "rthc/4": one fourth of it,
        if every fourth hop can transmit at the same time. The last two are upper bounds.
    return_hops : array_like, optional
        Hops of the return path; by default as many as forward hops.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> window_limit([1, 4, 10, 20])
    array([1. , 1.6, 4. , 8. ])
    """
    fraction, both_ways = WINDOW_RULES[choice("rule", rule, WINDOW_RULES)]
    forward = whole("hops", hops, low=1)
    back = forward if return_hops is None else whole("return_hops", return_hops, low=1)
    forward, back = broadcast(hops=forward, return_hops=back)
    return np.maximum(1.0, fraction * (forward + back if both_ways else forward))


def one_hop_mbps(
    *,
    standard: str = "11b",
    payload_bytes: ArrayLike = 1024,
    tcp_ip_bytes: int = 40,
    mac_bytes: int = 28,
    rate_mbps: ArrayLike = 2.0,
    control_mbps: ArrayLike = 1.0,
    rts: bool = True,
    cw_min: int | None = None,
) -> Array:
    """Return the throughput of a flow over one hop with one packet in flight, in Mb/s.

    A segment and its TCP ACK take turns, each after DIFS and the mean back-off.

    Parameters
    ----------
    payload_bytes, tcp_ip_bytes, mac_bytes
        Application bytes, headers of TCP and IP, MAC header and FCS (34 in ns-2).
    rate_mbps, control_mbps : array_like
        Rates of data and of RTS, CTS and ACK.
    rts : bool
        RTS/CTS for both.
    cw_min : int, optional
        Contention window; by default that of the standard.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    ns-2.35 has 1.046 Mb/s with one segment in flight, 1.057 Mb/s with two:

    >>> float(one_hop_mbps(mac_bytes=34, cw_min=30).round(3))
    1.057
    """
    known = timing.standard(standard)
    around = tcp_ip_bytes + mac_bytes
    data, ack = (
        timing.exchange(
            size,
            standard=standard,
            rts=rts,
            rate_mbps=rate_mbps,
            control_mbps=control_mbps,
        ).success_us
        for size in (whole("payload_bytes", payload_bytes, low=1) + around, around)
    )
    window = whole("cw_min", known.cw_min if cw_min is None else cw_min)
    return 8 * np.asarray(payload_bytes) / (data + ack + window * known.slot_us)


@dataclass(frozen=True, eq=False, repr=False)
class Chain(Prediction):
    """One flow along a chain."""

    throughput_mbps: Array
    """With the window given."""
    capacity_mbps: Array
    """With the window that fills the chain."""
    filling_window: Array
    """Segments in flight that fill the chain."""


def flow(
    hops: ArrayLike,
    *,
    one_hop_mbps: ArrayLike,
    window: ArrayLike = np.inf,
    reuse: ArrayLike = 5.0,
) -> Chain:
    """Predict the throughput of one TCP flow along a chain.

    Parameters
    ----------
    hops : array_like
        h, from 1.
    one_hop_mbps : array_like
        Throughput of the same flow over one hop, including TCP ACKs; see the function of this name.
    window : array_like
        Segments in flight.
    reuse : array_like
        r: distance in hops at which the medium can be reused: 4 if a hop disturbs its next two [1],
        5 with the ranges of ns-2 (250 and 550 m) and hops of 200 m.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    ns-2.35 with 1.057 Mb/s over one hop: 0.522, 0.260 and 0.173 Mb/s for a window of 1, and
    0.201 Mb/s over six hops for a window of 2.

    >>> flow([2, 4, 6], one_hop_mbps=1.046, window=1).throughput_mbps.round(3)
    array([0.523, 0.262, 0.174])
    >>> round(flow(6, one_hop_mbps=1.057, window=2).throughput_mbps, 4)
    0.2114
    """
    h, hop, w, r = broadcast(
        hops=whole("hops", hops, low=1),
        one_hop_mbps=positive("one_hop_mbps", one_hop_mbps),
        window=real("window", window, low=1.0),
        reuse=real("reuse", reuse, low=1.0, below=np.inf),
    )
    busy = np.minimum(h, r)
    capacity = hop / busy
    return Chain(np.minimum(hop * w / h, capacity), capacity, h / busy)
