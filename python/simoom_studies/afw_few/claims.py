"""The claims about Tables IV and V."""

from __future__ import annotations

from collections.abc import Callable

from simoom.runs.evidence import Check, Value
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.lab import Lab
from simoom_studies.afw_few.paper import (
    FEW,
    FLOWS,
    GOODPUT,
    KBPS,
    LOSS,
    LOSS_PERCENT,
    LOST,
    NEW_RENO,
    PRINTED_PAIRS,
    QUEUE_LOSS,
    SENT,
    afw,
    printed,
    printed_mean,
)
from simoom_studies.afw_few.readings import other_bests, other_cells, other_gains
from simoom_studies.afw_few.runs import MEAN, Found, over, value

claim = Claims(__package__)

OF_THROUGHPUT, OF_LOSS = 0.05, 0.2
"""Tolerances of printed cells: the 12 pairs, which have no trend, scatter so."""


def throughput_claims(lab: Lab, found: Found) -> tuple[Claim, ...]:
    """Return the claims about the throughput."""
    return (
        *_levels_of_throughput(lab, found),
        *_gains(lab, found),
        *_comparisons(found),
        *_best_throughput(lab, found),
    )


def _as_printed(found: Found, name: str, quantity: str) -> list[Check]:
    """Return a check for each number of flows that a controller's cell is as printed."""
    table, within = (KBPS, OF_THROUGHPUT) if quantity == GOODPUT else (LOSS_PERCENT, OF_LOSS)
    checks = []
    for flows in FLOWS:
        target = printed_mean(table, flows) if name == MEAN else printed(table, name, flows)
        found_here = value(found, flows, name, quantity)
        checks.append(Check.near(f"{flows} flows", found_here, target, within=within * target))
    return checks


def _cells(found: Found, quantity: str) -> list[Check]:
    """Return a check for each single cell of AFW's pairs; a quick run has few."""
    table, within = (KBPS, OF_THROUGHPUT) if quantity == GOODPUT else (LOSS_PERCENT, OF_LOSS)
    return [
        Check.near(
            f"{name}, {flows} flows",
            value(found, flows, name, quantity),
            printed(table, name, flows),
            within=within * printed(table, name, flows),
        )
        for flows in FLOWS
        for name in (afw(*pair) for pair in PRINTED_PAIRS)
        if name in found[flows]
    ]


def _levels_of_throughput(lab: Lab, found: Found) -> tuple[Claim, ...]:
    return (
        claim(
            "throughput_of_few",
            checks=_as_printed(found, FEW, GOODPUT),
            others=other_cells(lab, FEW, GOODPUT, KBPS, OF_THROUGHPUT),
        ),
        claim(
            "throughput_of_afw",
            checks=_as_printed(found, MEAN, GOODPUT),
            others=other_cells(lab, afw(2, 2), GOODPUT, KBPS, OF_THROUGHPUT),
        ),
        claim(
            "cells_of_table_4",
            checks=_cells(found, GOODPUT),
            others=other_cells(lab, afw(2, 2), GOODPUT, KBPS, OF_THROUGHPUT),
        ),
    )


def _gains(lab: Lab, found: Found) -> tuple[Claim, ...]:
    gain = over(found, 50, MEAN, FEW, GOODPUT)
    best = over(found, 50, afw(2, 2), FEW, GOODPUT)
    return (
        claim(
            "gain_as_printed",
            checks=[Check("ratio", gain, 1.0062, 1.0162)],
            others=other_gains(lab, 1.0062, 1.0162),
        ),
        claim(
            "gain_as_tabulated",
            checks=[Check("ratio", gain, 1.067, 1.167)],
            others=other_gains(lab, 1.067, 1.167),
        ),
        claim(
            "best_pair",
            checks=[Check.near("ratio", best, 1.158, within=0.05)],
            others=other_gains(lab, 1.108, 1.208),
        ),
        claim(
            "best_pair_as_printed",
            checks=[Check("ratio", best, 1.0066, 1.0166)],
            others=other_gains(lab, 1.0066, 1.0166),
        ),
    )


def _comparisons(found: Found) -> tuple[Claim, ...]:
    def ratios(name: str, other: str) -> list[Check]:
        return [
            Check(f"{flows} flows", over(found, flows, name, other, GOODPUT), low=1.0)
            for flows in FLOWS
        ]

    optimum = over(found, 50, afw(4, 8), afw(2, 2), GOODPUT)
    return (
        claim("afw_above_few", checks=ratios(MEAN, FEW)),
        claim("optimum_of_table_3", checks=[Check("4, 8 over 2, 2", optimum, low=1.0)]),
        claim("few_above_new_reno", checks=ratios(FEW, NEW_RENO)),
    )


def _best_throughput(lab: Lab, found: Found) -> tuple[Claim, ...]:
    best, target = afw(2, 2), printed(KBPS, afw(2, 2), 50)
    wanted = target / printed_mean(KBPS, 50)
    return (
        claim(
            "table_6",
            others=other_bests(lab, OF_THROUGHPUT),
            checks=[
                Check.near(
                    "kb/s", value(found, 50, best, GOODPUT), target, within=OF_THROUGHPUT * target
                ),
                Check.near(
                    "over the mean of the pairs",
                    over(found, 50, best, MEAN, GOODPUT),
                    wanted,
                    within=wanted - 1.0,
                ),
            ],
        ),
        claim(
            "afw_sends_more",
            checks=[
                Check(f"{flows} flows", over(found, flows, MEAN, FEW, SENT), low=1.0)
                for flows in FLOWS
            ],
        ),
    )


def loss_claims(lab: Lab, found: Found) -> tuple[Claim, ...]:
    """Return the claims about lost packets."""
    return (*_levels_of_loss(lab, found), *_ratios_of_loss(found), *_least_loss(found))


COUNTS = {"lost on the way": LOSS, "sent and not delivered": LOST}
"""Other readings of a lost packet."""


def _levels_of_loss(lab: Lab, found: Found) -> tuple[Claim, ...]:
    lowest = value(found, 30, FEW, QUEUE_LOSS)
    return (
        claim(
            "loss_of_few",
            checks=_as_printed(found, FEW, QUEUE_LOSS),
            others=[
                *(Reading(n, tuple(_as_printed(found, FEW, q))) for n, q in COUNTS.items()),
                *other_cells(lab, FEW, QUEUE_LOSS, LOSS_PERCENT, OF_LOSS),
            ],
        ),
        claim(
            "loss_of_afw",
            checks=_as_printed(found, MEAN, QUEUE_LOSS),
            others=[
                *(Reading(n, tuple(_as_printed(found, MEAN, q))) for n, q in COUNTS.items()),
                *other_cells(lab, afw(2, 2), QUEUE_LOSS, LOSS_PERCENT, OF_LOSS),
            ],
        ),
        claim(
            "cells_of_table_5",
            checks=_cells(found, QUEUE_LOSS),
            others=[Reading(n, tuple(_cells(found, q))) for n, q in COUNTS.items()],
        ),
        claim(
            "few_has_lowest_loss",
            checks=[
                Check("FeW, 30 flows, %", lowest, 0.05, 0.15),
                Check("AFW over FeW, 30 flows", over(found, 30, MEAN, FEW, QUEUE_LOSS), low=1.0),
            ],
        ),
    )


def _ratios_of_loss(found: Found) -> tuple[Claim, ...]:
    def mean(quantity: str) -> Value:
        return over(found, 10, MEAN, FEW, quantity)

    def largest(quantity: str) -> Value:
        return over(found, 50, afw(6, 8), FEW, quantity)

    def others(ratio: Callable[[str], Value], wanted: float, within: float) -> list[Reading]:
        return [
            Reading(name, (Check.near("ratio", ratio(quantity), wanted, within=within),))
            for name, quantity in COUNTS.items()
        ]

    return (
        claim(
            "few_loses_154_times_less",
            checks=[Check.near("ratio", mean(QUEUE_LOSS), 154.0, within=30.8)],
            others=others(mean, 154.0, 30.8),
        ),
        claim(
            "few_loses_154_percent_less",
            checks=[Check.near("ratio", mean(QUEUE_LOSS), 2.54, within=0.25)],
            others=others(mean, 2.54, 0.25),
        ),
        claim(
            "largest_ratio_of_losses",
            checks=[Check.near("ratio", largest(QUEUE_LOSS), 34.33, within=6.9)],
            others=others(largest, 34.33, 6.9),
        ),
        claim(
            "largest_ratio_as_printed",
            checks=[Check.near("ratio", largest(QUEUE_LOSS), 1.3433, within=0.13)],
            others=others(largest, 1.3433, 0.13),
        ),
    )


def _least_loss(found: Found) -> tuple[Claim, ...]:
    least, target = afw(2, 6), printed(LOSS_PERCENT, afw(2, 6), 10)
    wanted = target / printed_mean(LOSS_PERCENT, 10)

    def checks(quantity: str) -> list[Check]:
        found_here = value(found, 10, least, quantity)
        share = over(found, 10, least, MEAN, quantity)
        return [
            Check.near("%", found_here, target, within=OF_LOSS * target),
            Check.near("over the mean of the pairs", share, wanted, within=OF_LOSS * wanted),
        ]

    return (
        claim(
            "table_7",
            checks=checks(QUEUE_LOSS),
            others=[Reading(name, tuple(checks(q))) for name, q in COUNTS.items()],
        ),
        claim(
            "few_loses_less_end_to_end",
            checks=[Check("10 flows", over(found, 10, MEAN, FEW, LOST), low=1.0)],
        ),
    )
