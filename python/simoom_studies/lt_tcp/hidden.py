"""The hidden cell: how long a second cell shuts the first one out, and what may stand for it.

Three things shut node 1 out: a second cell in which node 2 fetches files (`second_cell`), a source
in place of its base station that is on for 250 ms every 2 s, and a rule by which all frames are
lost for that time (`cell`). The first two disturb only what BS-1 receives; the rule loses frames in
both directions. Tables V and VI are judged beside the second cell, see `captures`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims, Reading, finding
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.lt_tcp.captures import (
    CELL,
    KINDS,
    RULE,
    SOURCE,
    View,
    space_replications,
    space_s,
)
from simoom_studies.lt_tcp.cell import ATTEMPTS, RTTS, WARMUP_S, printed, upload
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT
from simoom_studies.lt_tcp.second_cell import (
    CAPTURE_RATIO_DB,
    ENDLESS,
    FILES,
    LONG_MS,
    MEDIAN_MS,
    NEARER_M,
    PROBES,
    SAMPLE_S,
    SECOND,
    SHUT_FRACTION,
    alone,
    beside_cell,
    beside_source,
    measure_shut_outs,
)
from simoom_studies.lt_tcp.tables import near_paper

claim = Claims(__package__)

QUIET, LONG, AT_10_DB = "quiet cell", "long download", "long download, 10 dB"
SHORT, WITH_RTS = "files", "files, RTS/CTS"
IN_PLACE, NEARER, BY_RULE = SOURCE, "source, reaches node 1", RULE
FREE = "no upload"
SETTINGS = (QUIET, LONG, AT_10_DB, SHORT, WITH_RTS, IN_PLACE, NEARER, BY_RULE)
SHUT_AT_TIMES = (SHORT, WITH_RTS, IN_PLACE, NEARER, BY_RULE)
NEAR_MS = 10.0
ATTEMPTS_TRIED = (3, 7)
WITHIN = 0.1
TABLES = ("V", "VI")
Panels = dict[tuple[str, str], dict[str, Curve]]
"""Curves by protocol and table, then by what shuts node 1 out."""


def _setting(setting: str, attempts: int, measured_s: float) -> Scenario:
    """Return SACK's upload at a round-trip time of 10 ms in one of the settings."""
    single = alone("SACK", rtt_ms=NEAR_MS, attempts=attempts, measured_s=measured_s)
    if setting == BY_RULE:
        rule = upload(
            "SACK", rtt_ms=NEAR_MS, attempts=attempts, measured_s=measured_s, is_shut=True
        )
        return rule.set("measure.interval_s", SAMPLE_S)
    if setting == QUIET:
        return single
    if setting == IN_PLACE:
        return beside_source(single)
    if setting == NEARER:
        return beside_source(single, at_m=NEARER_M)
    both = beside_cell(single, FILES if setting in (SHORT, WITH_RTS) else ENDLESS)
    if setting == WITH_RTS:
        return both.set("wlan.rts_threshold_bytes", 500)
    if setting == AT_10_DB:
        return both.set("radio.error_model.threshold.sinr_db", CAPTURE_RATIO_DB)
    return both


@figure_function("figure shutouts")
def figure_shutouts(lab: Lab) -> Figure:
    """How long node 1 is shut out beside a second cell, and how often."""
    cases = {
        (k, setting): _setting(setting, k, space_s(lab))
        for k in ATTEMPTS_TRIED
        for setting in SETTINGS
    }
    both = _setting(LONG, 3, space_s(lab))
    cases[3, FREE] = both.set("flows[0].stop_s", WARMUP_S / 2)
    found = lab.sample(
        cases, measure_shut_outs, replications=space_replications(lab), probes=PROBES
    )
    fractions, lengths, goodputs = (
        {k: _across(found, k, quantity, settings) for k in ATTEMPTS_TRIED}
        for quantity, settings in (
            (SHUT_FRACTION, SETTINGS),
            (MEDIAN_MS, SHUT_AT_TIMES),
            (GOODPUT, SETTINGS),
        )
    )
    longest = [_across(found, k, LONG_MS, SHUT_AT_TIMES) for k in ATTEMPTS_TRIED]
    second = {k: _across(found, k, SECOND, (LONG,)) for k in ATTEMPTS_TRIED}
    free = Value.mean(found[3, FREE][SECOND]).named("goodput of node 2 by simulation", FREE)
    return Figure(
        "figure shutouts",
        "SACK's upload beside a second cell, 10 ms",
        Axis("setting", "second cell"),
        (
            Axis(SHUT_FRACTION, "time shut out", 0, 1.05),
            Axis(MEDIAN_MS, "length of a shut-out, ms", 0, 700),
            Axis(GOODPUT, "goodput of node 1, Mb/s", 0, 5),
        ),
        (*fractions.values(), *lengths.values(), *longest, *goodputs.values()),
        (
            *_claims_capture(fractions, lengths, {k: c.at(LONG) for k, c in second.items()}, free),
            *_claims_remedies(fractions, goodputs),
        ),
        notes="A shut-out is a time of at least 50 ms without a delivery in which a frame fails at "
        "all of its attempts.",
    )


def _across(
    found: Mapping[tuple[int, str], Sample], attempts: int, quantity: str, settings: tuple[str, ...]
) -> Curve:
    """Return a quantity for each of these settings."""
    is_long = quantity == LONG_MS
    return curve(
        f"K = {attempts}, one in ten is longer" if is_long else f"K = {attempts}",
        Source.SIMULATION,
        settings,
        [Value.mean(found[attempts, setting][quantity]) for setting in settings],
        MEDIAN_MS if is_long else quantity,
        colour=ATTEMPTS_TRIED.index(attempts),
        dashed=is_long,
        subject=quantity,
    )


def _claims_capture(
    fractions: Mapping[int, Curve],
    lengths: Mapping[int, Curve],
    second: Mapping[int, Value],
    free: Value,
) -> tuple[Claim, ...]:
    """Check whether the capture of the channel comes about, and for how long."""

    def shut_for(setting: str) -> list[Check]:
        return [
            Check.near(f"K = {k}, time shut out", each.at(setting), 0.125, within=0.0125)
            for k, each in fractions.items()
        ]

    return (
        claim(
            "download_captures_channel",
            checks=shut_for(LONG),
            others=[Reading("files that last 250 ms", tuple(shut_for(SHORT)))],
        ),
        claim(
            "files_capture_channel",
            checks=[
                *shut_for(SHORT),
                *(
                    Check.near(f"K = {k}, median, ms", each.at(SHORT), 250.0, within=20.0)
                    for k, each in lengths.items()
                ),
            ],
        ),
        claim(
            "download_is_unaffected",
            checks=[
                Check(f"K = {k}, goodput beside the upload over that without", v.over(free), 0.95)
                for k, v in second.items()
            ],
        ),
    )


def _claims_remedies(
    fractions: Mapping[int, Curve], goodputs: Mapping[int, Curve]
) -> tuple[Claim, ...]:
    """Check what RTS, the receivers that are reached, and another rule of reception change."""
    return (
        claim(
            "rts_does_not_prevent_it",
            checks=[
                Check(
                    f"K = {k}, time shut out, with over without",
                    each.at(WITH_RTS).over(each.at(SHORT)),
                    0.95,
                )
                for k, each in fractions.items()
            ],
        ),
        claim(
            "lost_acks_explain_the_rule",
            checks=[
                Check.agrees(f"K = {k}, goodput", each.at(NEARER), each.at(BY_RULE), within=0.03)
                for k, each in goodputs.items()
            ],
        ),
        claim(
            "ratio_of_10_db_protects",
            checks=[
                *(
                    Check.agrees(
                        f"K = {k}, goodput", each.at(AT_10_DB), each.at(QUIET), within=0.02
                    )
                    for k, each in goodputs.items()
                ),
                near_paper(
                    "K = 3, Table IV", goodputs[3].at(AT_10_DB), printed("IV")["SACK"].at(NEAR_MS)
                ),
            ],
        ),
    )


@figure_function("figure hidden")
def figure_hidden(lab: Lab) -> Figure:
    """The goodputs of Tables V and VI beside a second cell, beside a source, and by rule."""
    panels: Panels = {}
    curves: list[Curve] = []
    for protocol in COLOURS:
        for table in TABLES:
            quantity = f"{protocol}, K = {ATTEMPTS[table]}"
            panels[protocol, table] = {
                kind: replace(
                    View(lab, kind)(table)[protocol], label=kind, quantity=quantity, colour=colour
                )
                for kind, colour in KINDS.items()
            }
            paper = printed(table)[protocol].values
            curves += panels[protocol, table].values()
            curves.append(curve("Tables V and VI", Source.PAPER, RTTS, paper, quantity))
    return Figure(
        "figure hidden",
        "one upload beside a hidden cell",
        Axis("rtt_ms", "round-trip time, ms", 0, 210),
        tuple(
            Axis(f"{p}, K = {ATTEMPTS[t]}", f"goodput of {p}, K = {ATTEMPTS[t]}, Mb/s", 0, 5)
            for p, t in panels
        ),
        tuple(curves),
        (*_claims_agreement(panels), _claim_decline(panels)),
        notes="Second cell: files of 137.5 kB with pauses of 1.75 s. Source and rule: 250 ms every "
        "2 s.",
    )


def _claims_agreement(panels: Panels) -> list[Claim]:
    """Check whether a source or the rule may stand for the second cell."""
    return [
        finding(
            f"{short}_stands_for_cell",
            f"Node 1 gets the same goodput if instead of the second cell {text}.",
            about="a check of its model of capture",
            checks=[
                Check.agrees(
                    f"{protocol}, K = {ATTEMPTS[table]}, {rtt:g} ms",
                    each[kind].at(rtt),
                    each[CELL].at(rtt),
                    within=WITHIN,
                )
                for (protocol, table), each in panels.items()
                for rtt in RTTS
            ],
            tolerance="10 %",
            remark=remark,
        )
        for kind, short, text, remark in (
            (
                SOURCE,
                "source",
                "a source at BS-2 is on for 250 ms every 2 s",
                "the time that a file takes varies, and each file begins with slow start",
            ),
            (
                RULE,
                "rule",
                "all frames are lost for 250 ms every 2 s",
                "the rule also loses what BS-1 sends, which no frame from beyond 500 m disturbs",
            ),
        )
    ]


def _claim_decline(panels: Panels) -> Claim:
    """Check that LT-TCP declines less than SACK with the round-trip time."""

    def kept(of: Curve) -> Value:
        return of.at(200.0).over(of.at(10.0))

    return claim(
        "lt_tcp_declines_less_beside_cell",
        checks=[
            Check(
                f"{kind}, K = {ATTEMPTS[table]}, LT-TCP's share over SACK's",
                kept(panels["LT-TCP", table][kind]).over(kept(panels["SACK", table][kind])),
                2.0,
            )
            for kind in KINDS
            for table in TABLES
        ],
    )
