"""The table of counterfactuals."""

from __future__ import annotations

from collections.abc import Callable

from simoom.why import air, cures, marking, ofdma, path, puncturing, roaming, transport
from simoom.why.case import Case
from simoom.why.counterfactual import Answer, Counterfactual


def _cure(
    name: str, title: str, change: Callable[[Case], Answer], *, needs_hops: bool = True
) -> Counterfactual:
    return Counterfactual(name, title, change, finds_cause=False, cures=True, needs_hops=needs_hops)


def _by_hops(
    name: str, title: str, change: Callable[[Case], Answer], *, cures: bool = False
) -> Counterfactual:
    return Counterfactual(name, title, change, cures=cures, needs_hops=True)


COUNTERFACTUALS = (
    Counterfactual("receive_window", "a large receive window", transport.receive_window),
    Counterfactual("reader", "an application that reads at once", transport.reader),
    Counterfactual("delayed_ack", "an ACK for each segment", transport.delayed_ack),
    Counterfactual("nagle", "no wait for full segments", transport.nagle),
    _by_hops("buffer", "buffers without limit", path.buffer),
    _by_hops("fq_codel", "FQ-CoDel in the busiest queue", path.fq_codel, cures=True),
    _by_hops("marking", "no marks beyond a delay", marking.marking),
    _by_hops("wire", "fast links for the data", path.wire),
    _by_hops("reverse_wire", "fast links for the TCP ACKs", path.reverse_wire),
    Counterfactual("wire_loss", "links without losses", path.wire_loss),
    Counterfactual("collisions", "no collisions", air.collisions),
    Counterfactual("hidden_nodes", "no hidden nodes", air.hidden_nodes),
    Counterfactual("noise", "no noise in data frames", air.noise),
    Counterfactual("ack_loss", "no noise in MAC ACKs", air.ack_loss),
    Counterfactual("fading", "no fading", air.fading),
    Counterfactual("signal", "a strong signal", air.signal),
    Counterfactual("interferers", "no interferers", air.interferers),
    Counterfactual("own_mode", "the fastest mode", air.own_mode),
    _by_hops("slow_stations", "fast modes for the others", air.slow_stations),
    Counterfactual("rts", "no RTS", air.rts),
    Counterfactual("always_rts", "an RTS before each frame", air.always_rts),
    Counterfactual("small_unit", "no OFDMA", ofdma.small_unit, cures=True),
    Counterfactual("padding", "long queues served alone", ofdma.padding, cures=True),
    Counterfactual("muted", "no MU EDCA", ofdma.muted, cures=True),
    Counterfactual("no_trigger", "a poll every 5 ms", ofdma.no_trigger, cures=True),
    Counterfactual("unit_collisions", "longer random access", ofdma.unit_collisions, cures=True),
    Counterfactual("unpunctured", "the whole channel", puncturing.unpunctured, cures=True),
    Counterfactual("punctured", "without a neighbour's channels", puncturing.punctured, cures=True),
    Counterfactual("medium", "without what is busy of its channel", puncturing.medium, cures=True),
    Counterfactual("scans", "no scans of other channels", roaming.scans),
    Counterfactual("announced", "scans that are announced", roaming.announced, cures=True),
    Counterfactual("forwarded", "handovers without losses", roaming.forwarded, cures=True),
    Counterfactual("authentication", "a fast transition", roaming.authentication, cures=True),
    _by_hops("greediest", "without the greediest station", air.greediest),
    Counterfactual("alone", "without the other flows", air.alone),
    _cure("cake", "CAKE in the busiest queue", cures.cake),
    _cure("airtime_fairness", "airtime fairness", cures.airtime_fairness),
    _cure("shaper", "a shaper before the access point", cures.shaper),
    _cure("voice", "the access category of voice", cures.voice, needs_hops=False),
    _cure("limit", "a short queue where packets wait", cures.limit),
    _cure("senders_limit", "a short queue of the busiest sender", cures.senders_limit),
)
"""In the order in which equal gains are listed."""
