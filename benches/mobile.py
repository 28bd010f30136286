"""Mobile nodes at one density: the instructions of a transmission as the network grows.

If the medium examines only the nodes near a transmitter, a transmission in a large area costs as
much as in a small one, but for the border: near it nodes have fewer neighbours.
"""

from __future__ import annotations

import math

PER_KM2 = 50
"""Nodes on a square kilometre."""


def mobile(nodes: int) -> str:
    """Return a scenario of random waypoint nodes, each of which sends to another."""
    side_m = 1000.0 * math.sqrt(nodes / PER_KM2)
    lines = [
        'standard = "11b"',
        "warmup_s = 0.0",
        "wlan = { rate_mbps = 2.0, basic_rates_mbps = [1.0] }",
        'radio = { preset = "ns2", ad_hoc = true }',
        "[stations]",
        f"count = {nodes}",
        "[stations.movement.random_waypoint]",
        f"area_m = [{side_m}, {side_m}]",
        "speed_mps = [1.0, 20.0]",
        "pause_s = 2.0",
    ]
    for node in range(nodes):
        lines += ["[[flows]]", f'from = "sta{node}"', f'to = "sta{(node + 1) % nodes}"']
        lines += ["traffic.cbr = { rate_mbps = 0.004, payload_bytes = 500 }", "start_spread_s = 0"]
    return "\n".join(lines) + "\n"
