"""The claims about Tables IV and V."""

from __future__ import annotations

from collections.abc import Callable

from simoom.runs.evidence import Check, Value
from simoom.studies.afw_few.paper import (
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
from simoom.studies.afw_few.readings import other_bests, other_cells, other_gains
from simoom.studies.afw_few.runs import MEAN, Found, over, value
from simoom.studies.claim import Claim, Reading, claim, finding
from simoom.studies.lab import Lab

OF_THROUGHPUT, OF_LOSS = 0.05, 0.2
"""Tolerances of printed cells: the 12 pairs, which have no trend, scatter so."""
ABOVE = "the interval of the paired ratio lies above 1"
AS_JUDGED = "2 Mb/s as in Table I; RTS/CTS, queue and DSR of ns-2; 1000 m x 1000 m"
DISCARDED = "packets that queues discard, as the paper defines a dropped packet"


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
            "FeW's throughput with 10, 30 and 50 flows.",
            paper="1712, 1878 and 1739 kb/s",
            checks=_as_printed(found, FEW, GOODPUT),
            tolerance="5 %",
            reading=AS_JUDGED,
            others=other_cells(lab, FEW, GOODPUT, KBPS, OF_THROUGHPUT),
            remark="Area, speed and duration are not in the paper; figure area shows what hangs "
            "on them.",
        ),
        claim(
            "throughput_of_afw",
            "The mean throughput of AFW's pairs with 10, 30 and 50 flows.",
            paper="1880, 1939 and 1943 kb/s",
            checks=_as_printed(found, MEAN, GOODPUT),
            tolerance="5 %",
            reading=AS_JUDGED,
            others=other_cells(lab, afw(2, 2), GOODPUT, KBPS, OF_THROUGHPUT),
            remark="the other readings have AFW with 2 and 2",
        ),
        claim(
            "cells_of_table_4",
            "Each single cell of Table IV: 12 pairs of alpha and beta with 10, 30 and 50 flows.",
            paper="1796 to 2021 kb/s",
            checks=_cells(found, GOODPUT),
            tolerance="5 %",
            reading=AS_JUDGED,
            others=other_cells(lab, afw(2, 2), GOODPUT, KBPS, OF_THROUGHPUT),
            remark="2014 kb/s of payload do not fit into the 2 Mb/s of Table I unless several "
            "nodes send at the same time",
        ),
    )


def _gains(lab: Lab, found: Found) -> tuple[Claim, ...]:
    gain = over(found, 50, MEAN, FEW, GOODPUT)
    best = over(found, 50, afw(2, 2), FEW, GOODPUT)
    return (
        claim(
            "gain_as_printed",
            "With 50 flows AFW's mean throughput is 1.12 % above FeW's, as the text says.",
            paper="1.12 %",
            checks=[Check("ratio", gain, 1.0062, 1.0162)],
            tolerance="0.5 % of FeW's throughput",
            reading=AS_JUDGED,
            others=other_gains(lab, 1.0062, 1.0162),
            remark="The paper's own table gives 11.7 %: the printed percentage is the ratio.",
        ),
        claim(
            "gain_as_tabulated",
            "With 50 flows AFW's mean throughput is 11.7 % above FeW's, as Table IV gives.",
            paper="1.117",
            checks=[Check("ratio", gain, 1.067, 1.167)],
            tolerance="5 % of FeW's throughput",
            reading=AS_JUDGED,
            others=other_gains(lab, 1.067, 1.167),
        ),
        claim(
            "best_pair",
            "With 50 flows, alpha = 2 and beta = 2 has 1.158 times FeW's throughput (Table VI).",
            paper="1.158",
            checks=[Check.near("ratio", best, 1.158, within=0.05)],
            tolerance="5 % of FeW's throughput",
            reading=AS_JUDGED,
            others=other_gains(lab, 1.108, 1.208),
        ),
        claim(
            "best_pair_as_printed",
            "With 50 flows, alpha = 2 and beta = 2 has a throughput 1.16 % above FeW's, as the "
            "text says.",
            paper="1.16 %",
            checks=[Check("ratio", best, 1.0066, 1.0166)],
            tolerance="0.5 % of FeW's throughput",
            reading=AS_JUDGED,
            others=other_gains(lab, 1.0066, 1.0166),
            remark="The printed percentage is the ratio.",
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
        claim(
            "afw_above_few",
            "AFW's throughput is above FeW's, whatever the number of flows.",
            paper="higher at 10, 30 and 50 flows",
            checks=ratios(MEAN, FEW),
            tolerance=ABOVE,
        ),
        claim(
            "optimum_of_table_3",
            "With 50 flows alpha = 4 and beta = 8 is the optimum (Table III), not 2 and 2 "
            "(Table VI).",
            paper="0.978 by Table IV",
            place="Table III",
            reading=AS_JUDGED,
            checks=[Check("4, 8 over 2, 2", optimum, low=1.0)],
            tolerance=ABOVE,
        ),
        claim(
            "few_above_new_reno",
            "FeW has a higher throughput than NewReno (the paper's review of earlier work).",
            paper="higher",
            checks=ratios(FEW, NEW_RENO),
            tolerance=ABOVE,
        ),
    )


def _best_throughput(lab: Lab, found: Found) -> tuple[Claim, ...]:
    best, target = afw(2, 2), printed(KBPS, afw(2, 2), 50)
    wanted = target / printed_mean(KBPS, 50)
    return (
        claim(
            "table_6",
            "With 50 flows alpha = 2 and beta = 2 is the best pair, with 2014 kb/s, 1.037 times "
            "the mean of the pairs (Table VI).",
            paper="2014.01 kb/s",
            place="Table VI",
            reading=AS_JUDGED,
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
            tolerance="5 % of the throughput; above the mean, by twice as much at most",
        ),
        claim(
            "afw_sends_more",
            "AFW transmits more packets than FeW, retransmissions included.",
            paper="more packets",
            checks=[
                Check(f"{flows} flows", over(found, flows, MEAN, FEW, SENT), low=1.0)
                for flows in FLOWS
            ],
            tolerance=ABOVE,
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
            "FeW loses 0.01, 0.08 and 0.15 % of the packets with 10, 30 and 50 flows.",
            paper="0.01, 0.08 and 0.15 %",
            checks=_as_printed(found, FEW, QUEUE_LOSS),
            tolerance="20 %",
            reading=DISCARDED,
            others=[
                *(Reading(n, tuple(_as_printed(found, FEW, q))) for n, q in COUNTS.items()),
                *other_cells(lab, FEW, QUEUE_LOSS, LOSS_PERCENT, OF_LOSS),
            ],
        ),
        claim(
            "loss_of_afw",
            "AFW's pairs lose 1.54, 2.49 and 3.97 % of the packets on average.",
            paper="1.54, 2.49 and 3.97 %",
            checks=_as_printed(found, MEAN, QUEUE_LOSS),
            tolerance="20 %: the printed pairs scatter so",
            reading=DISCARDED,
            others=[
                *(Reading(n, tuple(_as_printed(found, MEAN, q))) for n, q in COUNTS.items()),
                *other_cells(lab, afw(2, 2), QUEUE_LOSS, LOSS_PERCENT, OF_LOSS),
            ],
            remark="the readings of the network have AFW with 2 and 2",
        ),
        claim(
            "cells_of_table_5",
            "Each single cell of Table V: 12 pairs of alpha and beta with 10, 30 and 50 flows.",
            paper="0.88 to 5.15 %",
            checks=_cells(found, QUEUE_LOSS),
            tolerance="20 %",
            reading=DISCARDED,
            others=[Reading(n, tuple(_cells(found, q))) for n, q in COUNTS.items()],
        ),
        claim(
            "few_has_lowest_loss",
            "FeW has the lowest loss rate, of 0.1 % (the conclusion).",
            paper="0.1 %",
            checks=[
                Check("FeW, 30 flows, %", lowest, 0.05, 0.15),
                Check("AFW over FeW, 30 flows", over(found, 30, MEAN, FEW, QUEUE_LOSS), low=1.0),
            ],
            tolerance="the digits printed, with 30 flows, whose 0.08 % is the mean of the three; "
            "the interval of the paired ratio lies above 1",
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
            "With 10 flows AFW loses 154 times as many packets as FeW (the text: 154 %).",
            paper="154",
            checks=[Check.near("ratio", mean(QUEUE_LOSS), 154.0, within=30.8)],
            tolerance="20 %",
            reading=DISCARDED,
            others=others(mean, 154.0, 30.8),
        ),
        claim(
            "few_loses_154_percent_less",
            "With 10 flows FeW's loss is better by 154 %, as the text prints it.",
            paper="154 %",
            checks=[Check.near("ratio", mean(QUEUE_LOSS), 2.54, within=0.25)],
            tolerance="10 %",
            reading=DISCARDED,
            others=others(mean, 2.54, 0.25),
        ),
        claim(
            "largest_ratio_of_losses",
            "With 50 flows AFW with alpha 6 and beta 8 loses 34.33 times as many packets as FeW "
            "(the text: 34.33 %).",
            paper="34.33",
            checks=[Check.near("ratio", largest(QUEUE_LOSS), 34.33, within=6.9)],
            tolerance="20 %",
            reading=DISCARDED,
            others=others(largest, 34.33, 6.9),
        ),
        claim(
            "largest_ratio_as_printed",
            "With 50 flows FeW's loss is better by 34.33 % than that of AFW with alpha 6 and beta "
            "8, as the text prints it.",
            paper="34.33 %",
            checks=[Check.near("ratio", largest(QUEUE_LOSS), 1.3433, within=0.13)],
            tolerance="10 %",
            reading=DISCARDED,
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
            "With 10 flows alpha = 2 and beta = 6 loses least of AFW's pairs, 0.88 %, which is "
            "0.57 of their mean (Table VII).",
            paper="0.88 %",
            place="Table VII",
            reading=DISCARDED,
            checks=checks(QUEUE_LOSS),
            others=[Reading(name, tuple(checks(q))) for name, q in COUNTS.items()],
            tolerance="20 %",
        ),
        finding(
            "few_loses_less_end_to_end",
            "With 10 flows, where the paper's difference is largest, FeW loses fewer packets than "
            "AFW, counted as sent and not delivered.",
            checks=[Check("10 flows", over(found, 10, MEAN, FEW, LOST), low=1.0)],
            tolerance=ABOVE,
        ),
    )
