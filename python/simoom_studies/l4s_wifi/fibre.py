"""Prague beside CUBIC over a wire."""

from __future__ import annotations

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.l4s_wifi.networks import dualpi2, fibre, measure_pair

claim = Claims(__package__)

RTTS_MS = (5.0, 10.0, 20.0, 50.0, 100.0)


@figure_function("figure fibre")
def figure_fibre(lab: Lab) -> Figure:
    """Share and queueing delay of Prague and CUBIC behind DualPI2 against the round-trip time."""
    cases = {rtt_ms: fibre(rtt_ms, dualpi2()) for rtt_ms in RTTS_MS}
    found = lab.sample(cases, measure_pair, replications=lab.pick(8, 4))
    ratio = {x: Value.mean(found[x]["prague_mbps"] / found[x]["cubic_mbps"]) for x in RTTS_MS}
    delays = {
        label: {x: Value.mean(found[x][name]) for x in RTTS_MS}
        for label, name in (("L queue", "l_ms"), ("C queue", "c_ms"))
    }
    shares = curve("Prague over CUBIC", Source.SIMULATION, RTTS_MS, ratio.values(), "ratio")
    queues = [
        curve(
            label,
            Source.SIMULATION,
            RTTS_MS,
            values.values(),
            "queueing_ms",
            colour=1 + k,
            subject=f"delay of the {label}",
        )
        for k, (label, values) in enumerate(delays.items())
    ]
    claims = (
        claim(
            "coexistence",
            checks=[Check(f"ratio, {x:g} ms", shares.at(x), 0.5, 2.0) for x in RTTS_MS],
        ),
        claim(
            "l_queue_below_a_millisecond",
            checks=[Check(f"L, {x:g} ms", queues[0].at(x), high=1.0) for x in RTTS_MS],
        ),
        claim(
            "c_queue_at_its_target",
            checks=[Check(f"C, {x:g} ms", queues[1].at(x), 7.5, 20.0) for x in RTTS_MS if x >= 20],
        ),
    )
    return Figure(
        "figure fibre",
        "Prague beside CUBIC through DualPI2 over 100 Mb/s",
        Axis("rtt_ms", "round-trip time without queues, ms", 4, 120, log=True, ticks=RTTS_MS),
        (
            Axis("ratio", "goodput of Prague over that of CUBIC", 0, 3),
            Axis("queueing_ms", "mean delay of the queue, ms", 0, 20),
        ),
        (shares, *queues),
        claims,
    )
