"""MU EDCA: how long its timers may be, by whether the access point polls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.ofdma_tcp.networks import TRIGGERS, bulk, cell, measure, paired, replications

claim = Claims(__package__)

TIMERS = (0, 1, 8, 64, 255)
"""In units of 8.192 ms; 0 is no MU EDCA."""
HOSTAPD = 255
"""That of hostapd's example, 2.089 s."""
POLLS = "polls every 5 ms"
NEVER = "never polls"
UPLINK: Mapping[str, dict[str, Any]] = {
    POLLS: {"access_interval_us": 5000.0},
    NEVER: {"access_interval_us": 0.0, "bsrp": False},
}
"""`wlan.mu.uplink` of an access point: one that never polls triggers those of whose packets their
own frames have told it, after its own packets."""
CONTROLS = ("cubic", "bbr")
STATIONS = 4
UPLOADS = {
    "name": "uploads",
    "from": "sta*",
    "to": "server",
    "traffic": {"requests": {"size": {"exponential": {"mean_bytes": 100_000}}, "think_s": 1.0}},
}
"""Uploads of each station, with pauses between them."""


def measure_both(run: Run) -> dict[str, float]:
    """Extract the goodput of downloads, and the mean time of an upload."""
    found = run.summary
    flows = range(sum(path.startswith("flows[") and path.endswith(".name") for path in found))
    names = {n: str(found[f"flows[{n}].name"]) for n in flows}
    downs = [n for n in flows if names[n].startswith("bulk")]
    times = [found[f"flows[{n}].session_delay_s.mean"] for n in flows if n not in downs]
    return {
        **measure(run),
        "downloads_mbps": sum(float(found[f"flows[{n}].goodput_mbps"]) for n in downs),
        "upload_s": float(np.mean([float(time) for time in times if time is not None])),
    }


@figure_function("figure timers")
def figure_timers(lab: Lab) -> Figure:
    """Goodput of downloads, and times of uploads beside them, by MU EDCA timer and polls."""
    timers = lab.pick(TIMERS, (0, 1, 255))
    controls = lab.pick(CONTROLS, CONTROLS[:1])
    cases = {
        (control, polls, timer): cell(
            TRIGGERS,
            STATIONS,
            [bulk(control), UPLOADS],
            uplink={**UPLINK[polls], "timer": timer},
            duration_s=24.0,
        )
        for control in controls
        for polls in UPLINK
        for timer in timers
    }
    found = lab.sample(cases, measure_both, replications=replications(lab))
    curves: list[Curve] = []
    for colour, (control, polls) in enumerate((c, p) for c in controls for p in UPLINK):
        label = f"{control}, {polls}"
        runs = [found[control, polls, timer] for timer in timers]
        shares = [paired(run, runs[0], "downloads_mbps") for run in runs]
        uploads = [Value.mean(run["upload_s"]) for run in runs]
        curves.append(curve(label, Source.SIMULATION, timers, shares, "share", colour=colour))
        curves.append(curve(label, Source.SIMULATION, timers, uploads, "upload_s", colour=colour))
    return Figure(
        "figure timers",
        "Downloads and uploads of four stations, by the MU EDCA timer (AIFSN 0)",
        Axis("timer", "timer, units of 8.192 ms", -1, 260),
        (
            Axis("share", "goodput over that without MU EDCA", 0, 1.3),
            Axis("upload_s", "mean time of an upload of 100 kB, s", 0, 3),
        ),
        tuple(curves),
        timer_claims(found, controls, timers),
    )


def timer_claims(
    found: Mapping[tuple[str, str, int], Sample],
    controls: tuple[str, ...],
    timers: tuple[int, ...],
) -> tuple[Claim, ...]:
    """Check that only an access point that never polls needs short timers."""

    def ratio(control: str, polls: str, timer: int, quantity: str = "downloads_mbps") -> Value:
        under = found[control, polls, 0]
        return paired(found[control, polls, timer], under, quantity, polls, f"{control}, {timer}")

    short = timers[1]
    return (
        claim(
            "with_polls_the_timer_does_not_matter",
            checks=[
                Check.agrees(
                    f"{control}, {timer}",
                    ratio(control, POLLS, timer),
                    ratio(control, POLLS, short),
                    within=0.02,
                )
                for control in controls
                for timer in timers[2:]
            ],
        ),
        claim(
            "without_polls_a_long_timer_costs_goodput",
            checks=[
                Check(control, ratio(control, NEVER, HOSTAPD), high=0.7) for control in controls
            ],
        ),
        claim(
            "without_polls_a_short_timer_costs_little",
            checks=[Check(control, ratio(control, NEVER, short), low=0.97) for control in controls],
        ),
        claim(
            "uploads_wait_for_a_long_timer",
            checks=[
                Check(control, ratio(control, NEVER, HOSTAPD, "upload_s"), low=5.0)
                for control in controls
            ],
        ),
    )
