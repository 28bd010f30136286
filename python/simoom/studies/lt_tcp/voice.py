"""Tables II and III: SACK and LT-TCP near Bluetooth voice, with and without rate adaptation.

Frames are lost by the paper's rule of whole slots, so that the loss depends on rate and size. The
rate adaptation is the paper's simple scheme: successive failures lower the rate, and successive
successes raise it. The paper states neither K nor the round-trip time; its goodputs of SACK are
those of three attempts and 200 ms.
"""

from __future__ import annotations

from collections.abc import Mapping

from simoom.evidence import Check, Value
from simoom.models import tcp_loss
from simoom.studies.claim import Claim, claim
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, figure_function
from simoom.studies.lt_tcp.bluetooth import corruption
from simoom.studies.lt_tcp.cell import (
    MAC_MBPS,
    TIMEOUTS,
    headset,
    measure,
    measured,
    measured_s,
    printed,
    replications,
    table_runs,
    upload,
)
from simoom.studies.lt_tcp.link import COLOURS, GOODPUT
from simoom.studies.lt_tcp.tables import (
    INTERVAL,
    NONE_PER_100_S,
    RATIOS,
    Runs,
    as_ratio,
    in_proportion,
    near_paper,
    none_of,
)

RTT_MS, ATTEMPTS = 200.0, 3
WITHOUT, WITH = "no rate adaptation", "rate adaptation"
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
PAPER_MAC = {"HV3": 5.22, "HV1": 5.25}
"""MAC throughputs of LT-TCP without rate adaptation."""
TABLES = {"HV3": "II", "HV1": "III"}
UNSTATED = "the paper states neither K nor the round-trip time"
KEPT = 0.05
"""The most that "drastically" leaves of a goodput."""


def voice_runs(lab: Lab, voice: str, quantity: str = GOODPUT) -> dict[str, Curve]:
    """Return the goodput, or another quantity, without and with rate adaptation, by protocol."""
    ways = {WITHOUT: "fixed", WITH: "simple"}
    cases = {
        (protocol, way): upload(
            protocol,
            rtt_ms=RTT_MS,
            attempts=ATTEMPTS,
            measured_s=measured_s(lab),
            interferers=[headset(voice)],
            rate_control=rate_control,
        )
        for protocol in COLOURS
        for way, rate_control in ways.items()
    }
    found = lab.sample(cases, measure, replications=replications(lab))
    return {p: measured(p, voice, ways, [found[p, way] for way in ways], quantity) for p in COLOURS}


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


def _table(lab: Lab, voice: str, more: tuple[Curve, ...], claims: list[Claim]) -> Figure:
    number = {"HV3": 2, "HV1": 3}[voice]
    runs = [voice_runs(lab, voice, quantity) for quantity in (GOODPUT, TIMEOUTS)]
    return Figure(
        f"table {number}",
        f"one upload near {voice}, with and without rate adaptation",
        Axis("way", "rate of data frames"),
        (Axis(GOODPUT, "TCP goodput, Mb/s", 0, 5), Axis(TIMEOUTS, "timeouts per 100 s", 0)),
        (*(c for some in (*runs, printed_voice(voice)) for c in some.values()), *more),
        (*_claims_both(lab, voice), *_claims_mac(lab, voice), *claims),
        notes="K = 3, 200 ms; without rate adaptation 11 Mb/s.",
    )


def _claims_both(lab: Lab, voice: str) -> list[Claim]:
    """Check the goodputs of a table, and their drop with rate adaptation."""
    ours, paper = voice_runs(lab, voice), printed_voice(voice)
    key, table = voice.lower(), f"Table {TABLES[voice]}"
    share = {p: c.at(WITH).over(c.at(WITHOUT)) for p, c in ours.items()}
    return [
        *(
            claim(
                f"{protocol.lower().replace('-', '_')}_near_{key}",
                f"{protocol} gets {paper[protocol].at(WITHOUT).value:.2f} Mb/s near {voice} "
                "without rate adaptation.",
                paper=table,
                checks=[near_paper(voice, ours[protocol].at(WITHOUT), paper[protocol].at(WITHOUT))],
                tolerance=INTERVAL,
                remark=UNSTATED,
            )
            for protocol in COLOURS
        ),
        claim(
            f"adapted_near_{key}",
            f"With rate adaptation LT-TCP gets {paper['LT-TCP'].at(WITH).value:g} and SACK "
            f"{paper['SACK'].at(WITH).value:g} Mb/s near {voice}.",
            paper=table,
            checks=[near_paper(p, c.at(WITH), paper[p].at(WITH)) for p, c in ours.items()],
            tolerance=INTERVAL,
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
    """Check timeouts and the MAC throughput."""
    late, mac = (voice_runs(lab, voice, quantity) for quantity in (TIMEOUTS, MAC_MBPS))
    key = voice.lower()
    clean = table_runs(lab, "IV", MAC_MBPS)["LT-TCP"]
    quiet = {p: c for p, c in late.items() if (p, voice) != ("SACK", "HV1")}
    return [
        claim(
            f"timeouts_near_{key}",
            f"Near {voice} rate adaptation leads to timeouts that there are not without it.",
            paper={
                "HV3": "42 instead of 0 with LT-TCP, 12.6 instead of 0 with SACK",
                "HV1": "51.3 instead of 0 with LT-TCP; SACK has 13.8 and 13.6",
            }[voice],
            checks=[
                *none_of((f"{p}, none without", c.at(WITHOUT)) for p, c in quiet.items()),
                *(
                    Check(f"{p}, some with, per 100 s", c.at(WITH), low=NONE_PER_100_S)
                    for p, c in quiet.items()
                ),
            ],
            tolerance="less than one in 200 s is none",
            coarse="a number of 0 has no 10 %, and the paper does not give the duration of a run",
        ),
        claim(
            f"mac_near_{key}",
            f"At 11 Mb/s near {voice} the MAC carries with LT-TCP 93 % of what it carries without "
            "interference.",
            paper=f"{PAPER_MAC[voice]} of 5.64 Mb/s: close to the maximum",
            checks=[
                as_ratio(
                    "share",
                    (mac["LT-TCP"].at(WITHOUT), clean.at(RTT_MS)),
                    (PAPER_MAC[voice], 5.64),
                    within=0.05,
                )
            ],
            tolerance="5 %",
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
            "SACK's goodputs near HV3 and HV1 follow from the residual loss at K = 3, by the "
            "inverse square root.",
            paper="2.32 and 0.40 Mb/s; neither K nor the round-trip time is stated",
            checks=[
                in_proportion(
                    "HV3 over HV1 by the law",
                    (law["HV3"], law["HV1"]),
                    (paper["HV3"]["SACK"].at(WITHOUT), paper["HV1"]["SACK"].at(WITHOUT)),
                )
            ],
            tolerance=RATIOS,
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

    alone, alone_paper = (of["SACK"].at(RTT_MS) for of in (table_runs(lab, "IV"), printed("IV")))
    share = ours["HV1"]["SACK"].at(WITHOUT).over(alone)
    wanted = paper["HV1"]["SACK"].at(WITHOUT).over(alone_paper)
    return [
        claim(
            "hv1_worse_than_hv3",
            "HV1 leaves SACK 17 % and LT-TCP 76 % of the goodput near HV3.",
            paper="0.40 of 2.32, 2.83 of 3.74 Mb/s",
            checks=[
                in_proportion(f"{p}, HV1 over HV3", pair(ours, p), pair(paper, p)) for p in COLOURS
            ],
            tolerance=RATIOS,
        ),
        claim(
            "adaptation_worse_near_hv1",
            "The effect of rate adaptation is more pronounced near HV1 than near HV3.",
            paper="Tables II and III",
            checks=[
                Check(
                    f"{p}, share kept near HV1, less by", kept("HV3", p).minus(kept("HV1", p)), 0.0
                )
                for p in COLOURS
            ],
            tolerance="a smaller share of the goodput is kept",
            coarse="the paper says only more pronounced",
        ),
        claim(
            "residual_loss_breaks_sack",
            "A residual loss of 1 to 5 %, as near HV1 at 11 Mb/s with K = 3, leaves SACK 9 % of "
            "its goodput.",
            paper="1 % to 5 %; 0.40 of 4.52 Mb/s",
            checks=[
                Check("residual loss near HV1", Value.exact(loss, "residual loss"), 0.01, 0.05),
                Check("share of the goodput without loss", share, wanted.low, wanted.high),
            ],
            tolerance="the band quoted; the paper's intervals",
            coarse="the paper quotes a wide band of residual losses",
        ),
    ]
