"""The experiment under the rules of the paper's simulator, ns-3.40, as named options.

The study has the standard's rules but one: CUBIC has no Reno-friendly region, as in ns-3.40.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.evidence import Check, Outcome, Value
from simoom.studies.claim import Claim, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom.studies.mcs_cubic.paper import (
    CONTROLS,
    DRIVEN,
    PLAIN,
    PROBES,
    Rules,
    measure,
    settled_s,
    upload,
)
from simoom.studies.mcs_cubic.throughput import PRINTED, after
from simoom.studies.mcs_cubic.windows import COLOURS, IDEAL_KB, jump_kb

FIRST = {"hystart_rule": "first"}
"""HyStart as first published, which ends slow start at once."""
REDUCTION = {"recovery": {"sack": {"reduction": "proportional_rfc6937"}}}
"""PRR of RFC 6937."""
RECOVERY: Mapping[str, Any] = {
    "recovery": {
        "sack": {
            "rack": False,
            "reduction": "proportional_rfc6937",
            "f_rto": False,
            "undo": False,
        }
    },
    "eifel": False,
    "rtt_scaling": False,
    "delayed_ack": {"fixed": {"segments": 2, "timer_ms": 200.0}},
}
"""TCP of ns-3: losses by RFC 6675, PRR of RFC 6937, no detection of spurious retransmissions."""
WLAN: Mapping[str, Any] = {"ppdu_timing": "ns3", "eifs": "none", "slot_grid": "free"}
AGGREGATION: Mapping[str, Any] = {"retries": "counted", "delivery": "mpdu"}

EACH: Mapping[str, Any] = {**RECOVERY, "delayed_ack": "none"}
"""The same with an ACK for each segment, a reading of the paper, which does not say."""
ALL = "TCP and Wi-Fi of ns-3"
RULES = {
    "the study": Rules(),
    "the first HyStart": Rules(cubic=FIRST),
    "PRR of RFC 6937": Rules(tcp=REDUCTION),
    "TCP of ns-3": Rules(cubic=FIRST, tcp=RECOVERY),
    ALL: Rules(cubic=FIRST, tcp=RECOVERY, wlan=WLAN, aggregation=AGGREGATION),
    "the same, an ACK for each segment": Rules(
        cubic=FIRST, tcp=EACH, wlan=WLAN, aggregation=AGGREGATION
    ),
    "the same, Reno-friendly": Rules(
        cubic={**FIRST, "friendly": True}, tcp=RECOVERY, wlan=WLAN, aggregation=AGGREGATION
    ),
}
"""The last row has the region that ns-3 has from 3.41 on."""
MEASURES = {
    "first_mbps": "first half second, Mb/s",
    "late_mbps": "6 to 8 s after, Mb/s",
    "settled_s": "time to 95 %, s",
    "jump_kb": "largest window, kB",
}


def _values(sample: Sample) -> dict[str, Value]:
    return {
        "first_mbps": after(sample, 0.0, 0.5),
        "late_mbps": after(sample, 6.0, 8.0),
        "settled_s": Value.mean(settled_s(sample)),
        "jump_kb": Value.mean(jump_kb(sample)),
    }


@figure_function("figure rules")
def figure_rules(lab: Lab) -> Figure:
    """Effect of the rules of ns-3 on the values of Figs 2b and 3a."""
    cases = {
        (control, name): upload(8, control, rules=rules)
        for control in CONTROLS
        for name, rules in RULES.items()
    }
    found = lab.sample(cases, measure, replications=lab.pick(20, 4), probes=PROBES)
    taken = {key: _values(sample) for key, sample in found.items()}
    curves = {
        (control, quantity): curve(
            control,
            Source.SIMULATION,
            RULES,
            [taken[control, name][quantity] for name in RULES],
            quantity,
            colour=COLOURS[control],
        )
        for control in CONTROLS
        for quantity in MEASURES
    }
    return Figure(
        "figure rules",
        "values after MCS 0 to 8 under the rules of ns-3",
        Axis("rules", "rules"),
        tuple(Axis(quantity, label) for quantity, label in MEASURES.items()),
        tuple(curves.values()),
        tuple(_claims(curves)),
        notes="ns-3.40 itself is not run here. Rules of it without an option: the ACK train of its "
        "HyStart counts its own clock of 2 ms, and a packet that is in flight occupies the device "
        "queue until its BlockAck arrives.",
    )


def _claims(curves: Mapping[tuple[str, str], Curve]) -> list[Claim]:
    """Check each published value under the rules of ns-3."""
    wanted = (
        (
            "plain_start", "plain_starts_at_35", PLAIN, "first_mbps", 35.0, PRINTED,
            "CUBIC starts at 35 Mb/s",
        ),
        (
            "plain_level", "plain_reaches_43_in_6_s", PLAIN, "late_mbps", 43.0, PRINTED,
            "CUBIC has 43 Mb/s 6 s after",
        ),
        (
            "plain_time", "plain_reaches_43_in_6_s", PLAIN, "settled_s", 6.0, 0.1,
            "CUBIC takes 6 s to its level",
        ),
        (
            "driven_start", "driven_starts_at_43", DRIVEN, "first_mbps", 43.0, PRINTED,
            "CUBIC starts at 43 Mb/s if driven",
        ),
        (
            "driven_jump", "window_jumps_to_147_kb", DRIVEN, "jump_kb", IDEAL_KB[8], PRINTED,
            "the window rises to 147 KB",
        ),
    )  # fmt: skip
    return [
        claim(
            f"rules_{name}",
            f"Under the rules of ns-3, {what}.",
            paper=f"{value:g}",
            checks=[Check.near(ALL, curves[control, quantity].at(ALL), value, within=part * value)],
            tolerance=f"{100 * part:g} %",
            remark=_others(curves[control, quantity], value, part * value),
            reading=ALL,
            repeats=counted,
        )
        for name, counted, control, quantity, value, part, what in wanted
    ]


def _others(values: Curve, target: float, within: float) -> str:
    """Return a text that says which rules give a value."""
    found = [
        name
        for name in RULES
        if Check.near("", values.at(name), target, within=within).outcome is Outcome.HOLDS
    ]
    return f"it holds under: {'; '.join(found)}" if found else "it holds under no rules tried"
