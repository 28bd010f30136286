"""Frames near Bluetooth voice over 802.11b: corruption, residual loss, goodput of the MAC.

Formulas give the numbers. Those of the MAC are also simulated: one station sends packets of 1500
bytes, and each frame is lost with the probability that the formula has.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import pairwise

from simoom.models import bluetooth
from simoom.results.run import Run
from simoom.results.tables import number
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, figure_function

claim = Claims(__package__)

RATES = (1.0, 2.0, 5.5, 11.0)
COLOURS = {"HV1": 0, "HV2": 1, "HV3": 2}
PACKET_BYTES = 1500
RATE_AXIS = Axis("rate_mbps", "rate of 802.11b, Mb/s", 0.9, 12, log=True, ticks=RATES)


def corruption(voice: str, rate_mbps: float, *, rule: str = "slots", p: str = "exact") -> float:
    """Return PCR of a packet of 1500 bytes."""
    return float(
        bluetooth.packet_corruption(PACKET_BYTES, rate_mbps=rate_mbps, voice=voice, rule=rule, p=p)
    )


def _rates(
    label: str, values: dict[float, float], quantity: str, voice: str, *, dashed: bool = False
) -> Curve:
    colour = COLOURS[voice]
    return curve(
        label, Source.ANALYSIS, values, values.values(), quantity, colour=colour, dashed=dashed
    )


@figure_function("figure corruption")
def figure_corruption(_: Lab) -> Figure:
    """Packet corruption rate against the rate, for the three voice formats."""
    quantity = "packet_corruption"
    printed = {
        v: _rates(v, {r: corruption(v, r, p="printed") for r in RATES}, quantity, v)
        for v in COLOURS
    }
    bursts = {
        v: _rates(
            f"{v}, any overlap with a burst",
            {r: corruption(v, r, rule="bursts") for r in RATES},
            quantity,
            v,
            dashed=True,
        )
        for v in COLOURS
    }
    return Figure(
        "figure corruption",
        "packets corrupted by Bluetooth voice, 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "packet corruption rate PCR", 0, 1.02),),
        (*printed.values(), *bursts.values()),
        _claims_corruption(printed, bursts),
        notes="PCR = 1 - (1 - p)^N with the printed p; dashed, the bursts that a packet without "
        "its preamble overlaps.",
    )


def _fraction(cut: Callable[[float], int] | None = None) -> Check:
    """Return the check of the channel's share of the hops, cut to percents if asked for."""
    share = bluetooth.slot_hit_probability("HV1")
    value = Value.exact(cut(100 * share) / 100 if cut else share, "channel fraction")
    return Check.near("slots of HV1, all on the air", value, 0.27, within=0.005)


def _claims_corruption(
    printed: Mapping[str, Curve], bursts: Mapping[str, Curve]
) -> tuple[Claim, ...]:
    """Check the probability of a hop, the rule of whole slots, and the order of the rates."""
    return (
        claim(
            "channel_fraction",
            checks=[_fraction()],
            others=[Reading("cut after two digits", (_fraction(math.floor),))],
        ),
        claim(
            "slots_conservative",
            checks=[
                Check(
                    f"{v}, {r:g} Mb/s, slots over bursts",
                    printed[v].at(r).over(bursts[v].at(r)),
                    low=1.0,
                )
                for v in COLOURS
                for r in RATES
            ],
            others=[
                Reading(
                    "exact p",
                    tuple(
                        Check(
                            f"{v}, {r:g} Mb/s, slots over bursts",
                            Value.exact(corruption(v, r)).over(bursts[v].at(r)),
                            low=1.0,
                        )
                        for v in COLOURS
                        for r in RATES
                    ),
                )
            ],
        ),
        claim(
            "slower_is_worse",
            checks=[
                Check(
                    f"{v}, {a:g} over {b:g} Mb/s", printed[v].at(a).over(printed[v].at(b)), low=1.0
                )
                for v in COLOURS
                for a, b in pairwise(RATES)
            ],
        ),
    )


@figure_function("figure residual")
def figure_residual(_: Lab) -> Figure:
    """Residual error rate after three and after seven attempts."""
    quantity = "residual_error"
    curves = {
        (v, k): _rates(
            f"{v}, K = {k}",
            {r: corruption(v, r, p="printed") ** k for r in RATES},
            quantity,
            v,
            dashed=k == 7,
        )
        for v in COLOURS
        for k in (3, 7)
    }
    claims = (
        claim(
            "rate_adaptation_fails",
            checks=[
                Check(f"{v}, K = {k}, 1 Mb/s", curves[v, k].at(1.0), low=0.95)
                for v in ("HV1", "HV3")
                for k in (3, 7)
            ],
        ),
    )
    return Figure(
        "figure residual",
        "packets lost after K attempts, 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "residual error rate PER", 1e-8, 2, log=True),),
        tuple(curves.values()),
        claims,
        notes="PER = PCR^K with the printed p.",
    )


def _sender(rate_mbps: float, attempts: int, frame_loss: float, seconds: float) -> Scenario:
    """Return one station that always has a packet of 1500 bytes to send."""
    traffic = {"saturated": {"payload_bytes": PACKET_BYTES, "header_bytes": 0}}
    return Scenario(
        title="One sender near Bluetooth voice",
        standard="11b",
        duration_s=1.0 + seconds,
        warmup_s=1.0,
        wlan={
            "basic_rates_mbps": [rate_mbps],
            "mac_header_bytes": 30,
            "llc_bytes": 0,
            "short_retry_limit": attempts,
        },
        stations={"rate_mbps": rate_mbps, "data_loss": frame_loss},
        flows=[{"from": "sta0", "to": "ap", "traffic": traffic}],
    )


def measure_mac(run: Run) -> dict[str, float]:
    """Return the goodput, and the time per packet that is discarded."""
    get = run.summary.get
    goodput, drops = number(get("total.goodput_mbps")), number(get("total.retry_drops"))
    seconds = number(get("run.measured_s")) or math.nan
    return {
        "goodput_mbps": goodput or 0.0,
        "duration_ms": 1e3 * seconds / drops if drops else math.nan,
    }


OFTEN_MBPS = 0.5
"""Goodput from which a simulation counts enough packets."""


@figure_function("figure goodput")
def figure_goodput(lab: Lab) -> Figure:
    """Goodput of the MAC near Bluetooth voice."""
    quantity = "goodput_mbps"
    loss = {(v, r): corruption(v, r, p="printed") for v in COLOURS for r in RATES}
    settings = [(v, k) for v in COLOURS for k in (3, 7)]
    solved = {
        (v, k): {
            r: float(bluetooth.mac_goodput(loss[v, r], attempts=k, rate_mbps=r).goodput_mbps)
            for r in RATES
        }
        for v, k in settings
    }
    cases = {
        (v, k, r): _sender(r, k, loss[v, r], lab.pick(60.0, 30.0))
        for v, k in settings
        for r in RATES
        if solved[v, k][r] >= OFTEN_MBPS
    }
    found = lab.sample(cases, measure_mac, replications=lab.pick(6, 4))
    curves = {
        (v, k): _rates(f"{v}, K = {k}", solved[v, k], quantity, v, dashed=k == 7)
        for v, k in settings
    }
    simulated = {
        (v, k): curve(
            f"{v}, K = {k}",
            Source.SIMULATION,
            (rates := [r for r in RATES if (v, k, r) in found]),
            [Value.mean(found[v, k, r][quantity]) for r in rates],
            quantity,
            colour=COLOURS[v],
            dashed=k == 7,
            subject="goodput of the MAC",
        )
        for v, k in settings
    }
    return Figure(
        "figure goodput",
        "goodput of the MAC near Bluetooth voice, packets of 1500 bytes",
        RATE_AXIS,
        (Axis(quantity, "goodput of the MAC, Mb/s", 0, 7),),
        (*curves.values(), *simulated.values()),
        _claims_goodput(curves, simulated),
    )


def _claims_goodput(
    curves: Mapping[tuple[str, int], Curve], simulated: Mapping[tuple[str, int], Curve]
) -> tuple[Claim, ...]:
    """Check the order of the rates, and the formula against the simulation."""
    return (
        claim(
            "highest_rate_is_best",
            checks=[
                Check(f"{c.label}, {b:g} over {a:g} Mb/s", c.at(b).over(c.at(a)), low=1.0)
                for c in simulated.values()
                for a, b in pairwise(c.x)
            ],
        ),
        claim(
            "mac_goodput_by_formula",
            checks=[
                Check.agrees(
                    f"{curves[key].label}, {r:g} Mb/s", each.at(r), curves[key].at(r), within=0.05
                )
                for key, each in simulated.items()
                for r in each.x
            ],
        ),
    )


NEVER = 0.999999
"""Loss of a frame that is practically never received."""


@figure_function("figure retries")
def figure_retries(lab: Lab) -> Figure:
    """Time for which a packet that is never received occupies the MAC."""
    quantity = "duration_ms"
    attempts = tuple(range(1, 8))
    mean = curve(
        "mean back-off",
        Source.ANALYSIS,
        attempts,
        list(bluetooth.retry_duration_ms(attempts)),
        quantity,
    )
    most = curve(
        "largest back-off",
        Source.ANALYSIS,
        attempts,
        list(bluetooth.retry_duration_ms(attempts, draws="max")),
        quantity,
        colour=1,
    )
    cases = {k: _sender(11.0, k, NEVER, lab.pick(60.0, 30.0)) for k in attempts}
    found = lab.sample(cases, measure_mac, replications=lab.pick(6, 4))
    simulated = curve(
        "mean back-off",
        Source.SIMULATION,
        attempts,
        [Value.mean(found[k][quantity]) for k in attempts],
        quantity,
    )
    paper = curve("text", Source.PAPER, (3, 7), [Value.printed(6.5), Value.printed(60.0)], quantity)
    claims = (
        claim(
            "three_attempts_last",
            checks=[
                Check.near("simulated, ms", simulated.at(3), 6.5, within=0.65),
                Check.near("formula, ms", mean.at(3), 6.5, within=0.65),
            ],
        ),
        claim(
            "seven_attempts_last",
            checks=[
                Check.near("simulated mean, ms", simulated.at(7), 60.0, within=6.0),
                Check.near("mean by formula, ms", mean.at(7), 60.0, within=6.0),
                Check("largest, ms", most.at(7), 60.0, 75.0),
            ],
        ),
    )
    return Figure(
        "figure retries",
        "time until a packet of 1500 bytes is discarded, at 11 Mb/s",
        Axis("attempts", "attempts K", 0.5, 7.5),
        (Axis(quantity, "time until the packet is dropped, ms", 0, 80),),
        (mean, most, simulated, paper),
        claims,
    )
