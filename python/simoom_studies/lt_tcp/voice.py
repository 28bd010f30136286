"""Tables II and III: SACK and LT-TCP near Bluetooth voice, with and without rate adaptation.

Frames are lost by the paper's rule of whole slots, so that the loss depends on rate and size. The
rate adaptation is the paper's simple scheme: successive failures lower the rate, and successive
successes raise it. The paper states neither K nor the round-trip time; its goodputs of SACK are
those of three attempts and 200 to 260 ms. The tables are judged at 200 ms, the longest round-trip
time that the paper has; `figure voice` varies it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simoom.models import tcp_loss
from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, figure_function
from simoom_studies.lt_tcp.bluetooth import corruption
from simoom_studies.lt_tcp.captures import View
from simoom_studies.lt_tcp.cell import (
    MAC_MBPS,
    TIMEOUTS,
    WARMUP_S,
    headset,
    measure,
    measured,
    measured_s,
    printed,
    replications,
    upload,
)
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT
from simoom_studies.lt_tcp.tables import (
    DIGITS,
    INTERVAL,
    NONE_PER_100_S,
    Runs,
    as_ratio,
    in_proportion,
    near_paper,
    none_of,
)

claim = Claims(__package__)

RTT_MS, ATTEMPTS = 200.0, 3
WAYS = WITHOUT, WITH = "no rate adaptation", "rate adaptation"
PAPER: Mapping[str, Mapping[str, tuple[tuple[float, float, float], ...]]] = {
    "HV3": {
        "LT-TCP": ((3.74, 3.59, 3.88), (0.06, 0.05, 0.07)),
        "SACK": ((2.32, 2.24, 2.41), (0.005, 0.0, 0.01)),
    },
    "HV1": {
        "LT-TCP": ((2.83, 2.61, 3.04), (0.006, 0.002, 0.01)),
        "SACK": ((0.40, 0.37, 0.43), (0.0002, 0.0, 0.0003)),
    },
}
"""Goodputs of Tables II and III in Mb/s with their 95 % intervals, without and with adaptation."""
PAPER_MAC: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "HV3": {"LT-TCP": (5.22, 0.54), "SACK": (3.09, 0.01)},
    "HV1": {"LT-TCP": (5.25, 0.08), "SACK": (0.65, 0.004)},
}
"""MAC throughputs in Mb/s, without and with rate adaptation."""
LAST_DIGIT: Mapping[str, Mapping[str, float]] = {
    "HV3": {"LT-TCP": 0.005, "SACK": 0.005},
    "HV1": {"LT-TCP": 0.005, "SACK": 0.0005},
}
"""Half of the last digit that is printed of those with rate adaptation."""
PAPER_TIMEOUTS: Mapping[str, Mapping[str, tuple[float, float]]] = {
    "HV3": {"LT-TCP": (0.0, 42.0), "SACK": (0.0, 12.6)},
    "HV1": {"LT-TCP": (0.0, 51.3), "SACK": (13.6, 13.8)},
}
"""Timeouts in a run, without and with rate adaptation."""
TIMEOUTS_TEXT = {
    "HV3": "42 instead of 0 with LT-TCP, 12.6 instead of 0 with SACK",
    "HV1": "51.3 instead of 0 with LT-TCP; SACK has 13.8 and 13.6",
}
OF_TIMEOUTS = 0.2
LONG_RUN_S = 1000.0
"""The only duration of a run that the paper gives, for Figure 1."""
SHORT_RUN_S = 300.0
"""The duration in which SACK's 141 timeouts of Table V are one in each capture."""
TABLES = {"HV3": "II", "HV1": "III"}
UNSTATED = "the paper states neither K nor the round-trip time"
AS_JUDGED = "K = 3, 200 ms"
OTHER_RTTS_MS = (230.0, 260.0)
"""Other readings of the round-trip time."""
KEPT = 0.05
"""The most that "drastically" leaves of a goodput."""


def voice_runs(
    lab: Lab, voice: str, quantity: str = GOODPUT, *, rtt_ms: float = RTT_MS
) -> dict[str, Curve]:
    """Return the goodput, or another quantity, without and with rate adaptation, by protocol."""
    ways = {WITHOUT: "fixed", WITH: "simple"}
    cases = {
        (protocol, way): upload(
            protocol,
            rtt_ms=rtt_ms,
            attempts=ATTEMPTS,
            measured_s=measured_s(lab),
            interferers=[headset(voice)],
            rate_control=rate_control,
        )
        for protocol in COLOURS
        for way, rate_control in ways.items()
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    setting = voice if rtt_ms == RTT_MS else f"{voice}, {rtt_ms:g} ms"
    return {
        p: measured(p, setting, ways, [found[p, way] for way in ways], quantity) for p in COLOURS
    }


def long_runs(lab: Lab, voice: str, seconds: float = LONG_RUN_S) -> dict[tuple[str, str], Value]:
    """Return the timeouts in runs of a duration, by protocol and rate of data frames."""
    ways = {WITHOUT: "fixed", WITH: "simple"}
    cases = {
        (protocol, way): upload(
            protocol,
            rtt_ms=RTT_MS,
            attempts=ATTEMPTS,
            measured_s=seconds - WARMUP_S,
            interferers=[headset(voice)],
            rate_control=rate_control,
        ).set("warmup_s", 0.0)
        for protocol in COLOURS
        for way, rate_control in ways.items()
        if PAPER_TIMEOUTS[voice][protocol][way == WITH]
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    return {
        (protocol, way): Value.mean(seconds / 100.0 * found[protocol, way][TIMEOUTS]).named(
            f"timeouts of {protocol} in a run by simulation", voice, way
        )
        for protocol, way in cases
    }


def printed_voice(voice: str) -> dict[str, Curve]:
    """Return the goodputs of the paper, by protocol."""
    return {
        protocol: curve(
            protocol,
            Source.PAPER,
            (WITHOUT, WITH),
            [Value(mean, low, high, 0, "printed") for mean, low, high in rows],
            GOODPUT,
            colour=COLOURS[protocol],
        )
        for protocol, rows in PAPER[voice].items()
    }


def _printed_mac(voice: str) -> dict[str, Curve]:
    """Return the MAC throughputs of the paper, by protocol."""
    return {
        protocol: curve(
            protocol,
            Source.PAPER,
            (WITHOUT, WITH),
            map(Value.printed, row),
            MAC_MBPS,
            colour=COLOURS[protocol],
        )
        for protocol, row in PAPER_MAC[voice].items()
    }


def _table(lab: Lab, voice: str, more: tuple[Curve, ...], claims: list[Claim]) -> Figure:
    number = {"HV3": 2, "HV1": 3}[voice]
    runs = [voice_runs(lab, voice, quantity) for quantity in (GOODPUT, MAC_MBPS, TIMEOUTS)]
    paper = (printed_voice(voice), _printed_mac(voice))
    return Figure(
        f"table {number}",
        f"one upload near {voice}, with and without rate adaptation",
        Axis("way", "rate of data frames"),
        (
            Axis(GOODPUT, "TCP goodput, Mb/s", 0, 5),
            Axis(MAC_MBPS, "MAC throughput, Mb/s", 0, 6.5),
            Axis(TIMEOUTS, "timeouts per 100 s", 0),
        ),
        (*(c for some in (*runs, *paper) for c in some.values()), *more),
        (
            *_claims_both(lab, voice),
            *_claims_mac(lab, voice),
            *_claims_timeouts(lab, voice),
            *claims,
        ),
        notes="K = 3, 200 ms; without rate adaptation 11 Mb/s.",
    )


def _claims_both(lab: Lab, voice: str) -> list[Claim]:
    """Check the goodputs of a table, and their drop with rate adaptation."""
    ours, paper = voice_runs(lab, voice), printed_voice(voice)
    key, table = voice.lower(), f"Table {TABLES[voice]}"
    share = {p: c.at(WITH).over(c.at(WITHOUT)) for p, c in ours.items()}

    def near(protocol: str, way: str, rtt_ms: float = RTT_MS) -> Check:
        found = voice_runs(lab, voice, rtt_ms=rtt_ms)[protocol].at(way)
        return near_paper(protocol, found, paper[protocol].at(way))

    return [
        *(
            claim(
                f"{protocol.lower().replace('-', '_')}_near_{key}",
                f"{protocol} gets {paper[protocol].at(WITHOUT).value:.2f} Mb/s near {voice} "
                "without rate adaptation.",
                paper=table,
                checks=[near(protocol, WITHOUT)],
                tolerance=INTERVAL,
                remark=UNSTATED,
                reading=AS_JUDGED,
                others=[
                    Reading(f"{rtt:g} ms", (near(protocol, WITHOUT, rtt),)) for rtt in OTHER_RTTS_MS
                ],
            )
            for protocol in COLOURS
        ),
        claim(
            f"adapted_near_{key}",
            f"With rate adaptation LT-TCP gets {paper['LT-TCP'].at(WITH).value:g} and SACK "
            f"{paper['SACK'].at(WITH).value:g} Mb/s near {voice}.",
            paper=table,
            checks=[near(p, WITH) for p in ours],
            tolerance=INTERVAL,
            reading=AS_JUDGED,
            others=[
                Reading(f"{rtt:g} ms", tuple(near(p, WITH, rtt) for p in ours))
                for rtt in OTHER_RTTS_MS
            ],
            remark="the paper does not give the numbers of failures and successes that change its "
            "rate; here they are those of ARF",
            coarse="" if voice == "HV3" else "the paper's interval begins at 0",
        ),
        claim(
            f"adaptation_drops_{key}",
            f"Rate adaptation drops performance drastically near {voice}.",
            paper=f"{table}: to 0.05 to 1.6 % of the goodput",
            checks=[Check(f"{p}, share kept", v, high=KEPT) for p, v in share.items()],
            tolerance="a twentieth of the goodput at most",
            coarse="the paper says drastically",
        ),
    ]


def _claims_mac(lab: Lab, voice: str) -> list[Claim]:
    """Check the MAC throughput."""
    key = voice.lower()
    clean = View(lab)("IV", MAC_MBPS)["LT-TCP"]
    fast, slow = ({p: row[way] for p, row in PAPER_MAC[voice].items()} for way in (0, 1))

    def of_sack(rtt_ms: float = RTT_MS) -> list[Check]:
        found = voice_runs(lab, voice, MAC_MBPS, rtt_ms=rtt_ms)["SACK"].at(WITHOUT)
        return [Check.near("Mb/s", found, fast["SACK"], within=DIGITS * fast["SACK"])]

    def adapted(rtt_ms: float = RTT_MS) -> list[Check]:
        found = voice_runs(lab, voice, MAC_MBPS, rtt_ms=rtt_ms)
        return [
            Check.near(
                f"{p}, Mb/s",
                found[p].at(WITH),
                slow[p],
                within=max(DIGITS * slow[p], LAST_DIGIT[voice][p]),
            )
            for p in COLOURS
        ]

    def share(rtt_ms: float = RTT_MS) -> list[Check]:
        found = voice_runs(lab, voice, MAC_MBPS, rtt_ms=rtt_ms)["LT-TCP"].at(WITHOUT)
        pair = (fast["LT-TCP"], 5.64)
        return [as_ratio("share", (found, clean.at(RTT_MS)), pair, within=0.05)]

    def others(checks: Callable[[float], list[Check]]) -> list[Reading]:
        return [Reading(f"{rtt:g} ms", tuple(checks(rtt))) for rtt in OTHER_RTTS_MS]

    return [
        claim(
            f"mac_near_{key}",
            f"At 11 Mb/s near {voice} the MAC carries with LT-TCP 93 % of what it carries without "
            "interference.",
            paper=f"{fast['LT-TCP']} of 5.64 Mb/s: close to the maximum",
            checks=share(),
            tolerance="5 %",
            reading=AS_JUDGED,
            others=others(share),
            remark="MAC throughput is not defined; here it grows with each attempt",
        ),
        claim(
            f"mac_of_sack_near_{key}",
            f"At 11 Mb/s near {voice} the MAC carries {fast['SACK']:g} Mb/s with SACK.",
            paper=f"{fast['SACK']:g} Mb/s",
            checks=of_sack(),
            tolerance="10 %: printed without an interval, and not defined",
            reading=AS_JUDGED,
            others=others(of_sack),
        ),
        claim(
            f"adapted_mac_near_{key}",
            f"With rate adaptation near {voice} the MAC carries {slow['LT-TCP']:g} Mb/s with "
            f"LT-TCP and {slow['SACK']:g} Mb/s with SACK.",
            paper=f"{slow['LT-TCP']:g} and {slow['SACK']:g} Mb/s",
            checks=adapted(),
            tolerance="10 %, or the last digit printed",
            reading=AS_JUDGED,
            others=others(adapted),
        ),
    ]


def _claims_timeouts(lab: Lab, voice: str) -> list[Claim]:
    """Check the timeouts: those of a run, and that there are none."""
    late = voice_runs(lab, voice, TIMEOUTS)
    key, text = voice.lower(), TIMEOUTS_TEXT[voice]
    quiet = {p: c for p, c in late.items() if (p, voice) != ("SACK", "HV1")}

    def in_run(seconds: float) -> list[Check]:
        wanted = {p: dict(zip(WAYS, row, strict=True)) for p, row in PAPER_TIMEOUTS[voice].items()}
        return [
            Check.near(f"{p}, {way}", found, wanted[p][way], within=OF_TIMEOUTS * wanted[p][way])
            for (p, way), found in long_runs(lab, voice, seconds).items()
        ]

    return [
        claim(
            f"timeouts_near_{key}",
            f"Near {voice} rate adaptation leads to timeouts that there are not without it.",
            paper=text,
            checks=[
                *none_of((f"{p}, none without", c.at(WITHOUT)) for p, c in quiet.items()),
                *(
                    Check(f"{p}, some with, per 100 s", c.at(WITH), low=NONE_PER_100_S)
                    for p, c in quiet.items()
                ),
            ],
            tolerance="less than one in 200 s is none",
            coarse="a number of 0 has no 10 %",
            reading=AS_JUDGED,
        ),
        claim(
            f"timeouts_in_a_run_near_{key}",
            f"The numbers of timeouts in a run near {voice}.",
            paper=text,
            checks=in_run(LONG_RUN_S),
            tolerance="20 %: printed without intervals",
            reading=f"{AS_JUDGED}, a run of 1000 s, as of Figure 1",
            others=[Reading("a run of 300 s", tuple(in_run(SHORT_RUN_S)))],
            remark="the paper does not give the duration of these runs",
        ),
    ]


@figure_function("table 2")
def table_2(lab: Lab) -> Figure:
    """Table II: one upload near HV3."""
    return _table(lab, "HV3", (), [])


@figure_function("table 3")
def table_3(lab: Lab) -> Figure:
    """Table III: one upload near HV1, and its comparison with HV3."""
    ours = {voice: voice_runs(lab, voice) for voice in PAPER}
    paper = {voice: printed_voice(voice) for voice in PAPER}
    loss = {voice: corruption(voice, 11.0, p="printed") ** ATTEMPTS for voice in PAPER}
    law = {
        voice: Value.exact(
            float(tcp_loss.mathis_mbps(each, rtt_ms=260.0)), "goodput by the law", voice
        )
        for voice, each in loss.items()
    }
    x: tuple[X, ...] = (WITHOUT,)
    shown = curve(
        "inverse square root of PER at 260 ms", Source.ANALYSIS, x, [law["HV1"]], GOODPUT, colour=7
    )
    claims = [
        claim(
            "sack_follows_residual_loss",
            checks=[
                in_proportion(
                    "HV3 over HV1 by the law",
                    (law["HV3"], law["HV1"]),
                    (paper["HV3"]["SACK"].at(WITHOUT), paper["HV1"]["SACK"].at(WITHOUT)),
                )
            ],
        ),
        *_claims_of_voice(lab, ours, paper, loss["HV1"]),
    ]
    return _table(lab, "HV1", (shown,), claims)


def _claims_of_voice(
    lab: Lab, ours: Mapping[str, Runs], paper: Mapping[str, Runs], loss: float
) -> list[Claim]:
    """Check what HV1 leaves of the goodput near HV3, and of that without interference."""

    def pair(of: Mapping[str, Runs], protocol: str) -> tuple[Value, Value]:
        return of["HV1"][protocol].at(WITHOUT), of["HV3"][protocol].at(WITHOUT)

    def kept(voice: str, protocol: str) -> Value:
        return ours[voice][protocol].at(WITH).over(ours[voice][protocol].at(WITHOUT))

    def left(rtt_ms: float = RTT_MS) -> list[Check]:
        case = {
            "SACK": upload("SACK", rtt_ms=rtt_ms, attempts=ATTEMPTS, measured_s=measured_s(lab))
        }
        found = View(lab).sample(case, in_space=False)["SACK"]
        alone = Value.mean(found[GOODPUT]).named("goodput of SACK alone", f"{rtt_ms:g} ms")
        near = voice_runs(lab, "HV1", rtt_ms=rtt_ms)["SACK"].at(WITHOUT)
        wanted = paper["HV1"]["SACK"].at(WITHOUT).over(printed("IV")["SACK"].at(RTT_MS))
        name = "share of the goodput without loss"
        return [Check(name, near.over(alone), wanted.low, wanted.high)]

    return [
        claim(
            "hv1_worse_than_hv3",
            checks=[
                in_proportion(f"{p}, HV1 over HV3", pair(ours, p), pair(paper, p)) for p in COLOURS
            ],
        ),
        claim(
            "adaptation_worse_near_hv1",
            checks=[
                Check(
                    f"{p}, share kept near HV1, less by", kept("HV3", p).minus(kept("HV1", p)), 0.0
                )
                for p in COLOURS
            ],
        ),
        claim(
            "residual_loss_breaks_sack",
            f"A residual loss of 1 to 5 %, which is {100 * loss:.1f} % near HV1 at 11 Mb/s with "
            "K = 3, leaves SACK 9 % of its goodput.",
            checks=left(),
            others=[Reading(f"{rtt:g} ms", tuple(left(rtt))) for rtt in OTHER_RTTS_MS],
        ),
    ]
