"""The table of counterfactuals."""

from __future__ import annotations

from simoom.why import air, marking, path, transport
from simoom.why.counterfactual import Counterfactual

COUNTERFACTUALS = (
    Counterfactual("receive_window", "a large receive window", transport.receive_window),
    Counterfactual("reader", "an application that reads at once", transport.reader),
    Counterfactual("delayed_ack", "an ACK for each segment", transport.delayed_ack),
    Counterfactual("nagle", "no wait for full segments", transport.nagle),
    Counterfactual("buffer", "buffers without limit", path.buffer),
    Counterfactual("fq_codel", "FQ-CoDel in the busiest queue", path.fq_codel),
    Counterfactual("marking", "no marks beyond a delay", marking.marking),
    Counterfactual("wire", "fast links for the data", path.wire),
    Counterfactual("reverse_wire", "fast links for the TCP ACKs", path.reverse_wire),
    Counterfactual("wire_loss", "links without losses", path.wire_loss),
    Counterfactual("collisions", "no collisions", air.collisions),
    Counterfactual("hidden_nodes", "no hidden nodes", air.hidden_nodes),
    Counterfactual("noise", "no noise in data frames", air.noise),
    Counterfactual("ack_loss", "no noise in MAC ACKs", air.ack_loss),
    Counterfactual("fading", "no fading", air.fading),
    Counterfactual("signal", "a strong signal", air.signal),
    Counterfactual("interferers", "no interferers", air.interferers),
    Counterfactual("own_mode", "the fastest mode", air.own_mode),
    Counterfactual("slow_stations", "fast modes for the others", air.slow_stations),
    Counterfactual("rts", "no RTS", air.rts),
    Counterfactual("always_rts", "an RTS before each frame", air.always_rts),
    Counterfactual("greediest", "without the greediest station", air.greediest),
    Counterfactual("alone", "without the other flows", air.alone),
)
"""In the order in which equal gains are listed."""
