"""Stations of 802.11ac beside those of 802.11ax: who gains by triggers, timers and BlockAcks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simoom.results.run import Run
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Claims
from simoom.studies.figure import Axis, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.ofdma_tcp.networks import (
    BY_TRIGGER,
    CHAIN,
    MULTI,
    SINGLE,
    TRIGGERS,
    cell,
    paired,
    replications,
)

claim = Claims(__package__)

SPLITS = ((2, 8), (5, 5), (8, 2))
"""Stations of 802.11ac and of 802.11ax."""
TIMERS = (0, 1, 8, 255)
"""MU EDCA timers in units of 8.192 ms, with AIFSN 0; 0 is no MU EDCA."""
LONGEST = TIMERS[-1]
OLD = "802.11ac"
NEW = "802.11ax"
UPLOADERS = 2


def mixed(way: str, old: int, new: int, flows: list[dict[str, Any]], **keys: Any) -> Scenario:
    """Return a cell with so many stations of 802.11ac, and of 802.11ax."""
    tables = [{"name": "old", "count": old, "standard": "11ac"}, {"name": "new", "count": new}]
    return cell(way, old + new, flows, **keys).set("stations", tables)


def flows(name: str, source: str, sink: str) -> dict[str, Any]:
    """Return endless transfers by CUBIC."""
    return {"name": name, "from": source, "to": sink, "traffic": "bulk", "control": "cubic"}


def measure_groups(run: Run) -> dict[str, float]:
    """Extract the mean goodput of a flow by the first word of its name."""
    found = run.summary
    sums: dict[str, list[float]] = {}
    for path, value in found.items():
        if path.startswith("flows[") and path.endswith(".name"):
            goodput = float(found[path.replace(".name", ".goodput_mbps")])
            sums.setdefault(str(value).split()[0], []).append(goodput)
    each = {name: sum(values) / len(values) for name, values in sums.items()}
    share = each["old"] / each["new"] if {"old", "new"} <= set(each) else float("nan")
    return {"total_mbps": float(found["total.goodput_mbps"]), "share": share, **each}


@figure_function("figure mixed uploads")
def figure_mixed_uploads(lab: Lab) -> Figure:
    """Uploads of ten stations of two standards, by the MU EDCA timer of those of 802.11ax."""
    timers = lab.pick(TIMERS, (0, LONGEST))
    splits = lab.pick(SPLITS, (SPLITS[0], SPLITS[-1]))
    up = [flows("old", "old", "server"), flows("new", "new", "server")]
    cases = {
        (split, timer): mixed(TRIGGERS, *split, up, uplink={"timer": timer})
        for split in splits
        for timer in timers
    }
    cases |= {(split, -1): mixed(SINGLE, *split, up) for split in splits}
    found = lab.sample(cases, measure_groups, replications=replications(lab))
    curves = []
    for colour, split in enumerate(splits):
        label = f"{split[0]} of {OLD}, {split[1]} of {NEW}"
        runs = [found[split, timer] for timer in timers]
        shares = [Value.mean(run["share"]) for run in runs]
        totals = [Value.mean(run["total_mbps"]) for run in runs]
        curves.append(curve(label, Source.SIMULATION, timers, shares, "share", colour=colour))
        curves.append(curve(label, Source.SIMULATION, timers, totals, "total_mbps", colour=colour))
    return Figure(
        "figure mixed uploads",
        "Uploads of ten stations, by the MU EDCA timer (AIFSN 0)",
        Axis("timer", "timer, units of 8.192 ms", -1, 260),
        (
            Axis("share", f"goodput, one of {OLD} over {NEW}", 0, 4),
            Axis("total_mbps", "goodput of all, Mb/s", 0, 80),
        ),
        tuple(curves),
        upload_claims(found, splits),
    )


def upload_claims(
    found: Mapping[tuple[tuple[int, int], int], Sample], splits: tuple[tuple[int, int], ...]
) -> tuple[Claim, ...]:
    """Check that stations that are never muted gain by the timer of the others."""

    def ratio(split: tuple[int, int], over: int, under: int, quantity: str) -> Value:
        return paired(found[split, over], found[split, under], quantity, name(split))

    def name(split: tuple[int, int]) -> str:
        return f"{split[0]} + {split[1]}"

    return (
        claim(
            "the_share_of_earlier_stations_grows_with_the_timer",
            checks=[
                Check(name(split), ratio(split, LONGEST, 0, "share"), low=1.5) for split in splits
            ],
        ),
        claim(
            "triggers_take_from_earlier_stations",
            checks=[Check(name(split), ratio(split, 0, -1, "old"), high=0.95) for split in splits],
        ),
        claim(
            "muting_the_others_costs_no_goodput_in_all",
            checks=[
                Check(name(split), ratio(split, LONGEST, 0, "total_mbps"), low=0.95)
                for split in splits
            ],
        ),
    )


@figure_function("figure mixed acknowledgements")
def figure_mixed_acknowledgements(lab: Lab) -> Figure:
    """Uploads of two stations beside downloads by OFDMA, by how these are acknowledged."""
    ways = lab.pick((CHAIN, BY_TRIGGER, MULTI), (CHAIN, BY_TRIGGER))
    down = flows("down", "server", "new")
    cases = {}
    for way in ways:
        old = [down, flows("old", "old", "server")]
        cases[way, OLD] = mixed(way, UPLOADERS, 4, old)
        same = mixed(way, UPLOADERS, 4, old)
        cases[way, NEW] = same.unset("stations[0].standard")
    found = lab.sample(cases, measure_groups, replications=replications(lab))
    places = range(len(ways))
    curves = [
        curve(
            f"uploads of {standard}",
            Source.SIMULATION,
            places,
            [Value.mean(found[way, standard]["old"]) for way in ways],
            "mbps",
            colour=colour,
        )
        for colour, standard in enumerate((OLD, NEW))
    ]
    return Figure(
        "figure mixed acknowledgements",
        "Uploads of two stations beside four downloads in HE MU PPDUs",
        Axis("way", "0: bar_chain, 1: mu_bar, 2: aggregated_mu_bar", -0.5, 2.5),
        (Axis("mbps", "goodput of an upload, Mb/s", 0, 40),),
        tuple(curves),
        acknowledgement_claims(found, ways),
    )


def acknowledgement_claims(
    found: Mapping[tuple[str, str], Sample], ways: tuple[str, ...]
) -> tuple[Claim, ...]:
    """Check whom BlockAcks cost that not all can decode."""

    def ratio(way: str, standard: str) -> Value:
        return paired(found[way, standard], found[CHAIN, standard], "old", way, standard)

    return (
        claim(
            "block_acks_that_they_cannot_decode_cost_earlier_stations",
            checks=[Check(way, ratio(way, OLD), high=0.8) for way in ways if way != CHAIN],
        ),
        claim(
            "others_in_their_place_lose_nothing_by_them",
            checks=[Check(way, ratio(way, NEW), low=0.95) for way in ways if way != CHAIN],
        ),
    )
