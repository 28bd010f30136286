"""Marking in the MAC's queue, and in a queue above a device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.runs.evidence import Check
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure
from simoom.studies.lab import Lab, figure_function
from simoom_studies.l4s_wifi.networks import (
    LINKS,
    ONE,
    PANELS,
    SOME,
    cell,
    curves_of_links,
    dualpi2,
    measure_total,
    paired,
)
from simoom_studies.l4s_wifi.steps import classics, replications

claim = Claims(__package__)

INSIDE = "in the MAC"
FORMED = "above 2 A-MPDUs"
RING = "above 64 frames"
DEVICES: Mapping[str, Mapping[str, Any]] = {
    INSIDE: {},
    FORMED: {"hardware_aggregates": 2},
    RING: {"ring_packets": 64},
}
"""What the device below the queue holds."""
STEP_MS = 5.0


@figure_function("figure place")
def figure_place(lab: Lab) -> Figure:
    """Goodput and delay by where marks are set: when a packet leaves for the air, or before."""
    labels = (ONE, SOME)
    mac80211 = {
        "mac80211": {"ce_threshold_us": 1e3 * STEP_MS, "ce_threshold_for": "ect1"},
    }
    cases = {
        (label, place): cell(dualpi2(STEP_MS), device=device, **LINKS[label])
        for place, device in DEVICES.items()
        for label in labels
    } | {(label, "mac80211"): cell(mac80211, **LINKS[label]) for label in labels}
    found = lab.sample(cases, measure_total, replications=replications(lab))
    places = (*DEVICES, "mac80211")
    curves = curves_of_links(labels, places, found, classics(lab))

    def longer(place: str, label: str) -> Check:
        ratio = paired(found[label, place], found[label, INSIDE], "p99_ms")
        return Check(
            label, ratio.named("p99_ms by simulation", f"{place} over {INSIDE}", label),
            low={FORMED: 1.25, RING: 1.5}.get(place, 0.8),
            high=1.25 if place == "mac80211" else float("inf"),
        )  # fmt: skip

    claims = (
        claim("a_ring_hides_the_delay", checks=[longer(RING, label) for label in labels]),
        claim("formed_aggregates_hide_it", checks=[longer(FORMED, label) for label in labels]),
        claim(
            "a_threshold_in_mac80211_is_a_step",
            checks=[longer("mac80211", label) for label in labels],
        ),
    )
    return Figure(
        "figure place",
        f"a step of {STEP_MS:g} ms in the MAC's queue and above it",
        Axis("place", "where packets are marked"),
        PANELS,
        tuple(each for both in curves.values() for each in both),
        claims,
    )
