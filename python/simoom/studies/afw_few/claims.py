"""The claims about Tables IV and V."""

from __future__ import annotations

from simoom.evidence import Check
from simoom.studies.afw_few.paper import (
    FEW,
    FLOWS,
    GOODPUT,
    KBPS,
    LOSS,
    LOSS_PERCENT,
    LOST,
    NEW_RENO,
    afw,
    printed,
    printed_mean,
    ratio,
)
from simoom.studies.afw_few.runs import MEAN, Found, each, over, value
from simoom.studies.claim import Claim, claim

OF_THROUGHPUT, OF_LOSS = 0.05, 0.2
"""Tolerances of printed cells: the 12 pairs, which have no trend, scatter so."""
ABOVE = "the interval of the paired ratio lies above 1"


def throughput_claims(found: Found) -> tuple[Claim, ...]:
    """Return the claims about the throughput."""
    return (*_levels_of_throughput(found), *_gains(found), *_comparisons(found))


def _as_printed(found: Found, name: str, quantity: str) -> list[Check]:
    """Return a check for each number of flows that FeW's cell, or AFW's mean, is as printed."""
    table, within = (KBPS, OF_THROUGHPUT) if quantity == GOODPUT else (LOSS_PERCENT, OF_LOSS)
    checks = []
    for flows in FLOWS:
        target = printed_mean(table, flows) if name == MEAN else printed(table, name, flows)
        found_here = value(found, flows, name, quantity)
        checks.append(Check.near(f"{flows} flows", found_here, target, within=within * target))
    return checks


def _levels_of_throughput(found: Found) -> tuple[Claim, ...]:
    return (
        claim(
            "throughput_of_few",
            "FeW's throughput with 10, 30 and 50 flows.",
            paper="1712, 1878 and 1739 kb/s",
            checks=_as_printed(found, FEW, GOODPUT),
            tolerance="5 %",
            remark="Area, speed and duration are not in the paper; figure area shows what hangs "
            "on them.",
        ),
        claim(
            "throughput_of_afw",
            "The mean throughput of AFW's pairs with 10, 30 and 50 flows.",
            paper="1880, 1939 and 1943 kb/s",
            checks=_as_printed(found, MEAN, GOODPUT),
            tolerance="5 %",
        ),
    )


def _gains(found: Found) -> tuple[Claim, ...]:
    gain = over(found, 50, MEAN, FEW, GOODPUT)
    best = over(found, 50, afw(2, 2), FEW, GOODPUT)
    return (
        claim(
            "gain_as_printed",
            "With 50 flows AFW's mean throughput is 1.12 % above FeW's, as the text says.",
            paper="1.12 %",
            checks=[Check("ratio", gain, 1.0062, 1.0162)],
            tolerance="0.5 % of FeW's throughput",
            remark="The paper's own table gives 11.7 %: the printed percentage is the ratio.",
        ),
        claim(
            "gain_as_tabulated",
            "With 50 flows AFW's mean throughput is 11.7 % above FeW's, as Table IV gives.",
            paper="1.117",
            checks=[Check("ratio", gain, 1.067, 1.167)],
            tolerance="5 % of FeW's throughput",
        ),
        claim(
            "best_pair",
            "With 50 flows, alpha = 2 and beta = 2 has 1.158 times FeW's throughput (Table VI).",
            paper="1.158",
            checks=[Check.near("ratio", best, 1.158, within=0.05)],
            tolerance="5 % of FeW's throughput",
        ),
        claim(
            "best_pair_as_printed",
            "With 50 flows, alpha = 2 and beta = 2 has a throughput 1.16 % above FeW's, as the "
            "text says.",
            paper="1.16 %",
            checks=[Check("ratio", best, 1.0066, 1.0166)],
            tolerance="0.5 % of FeW's throughput",
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


def loss_claims(found: Found) -> tuple[Claim, ...]:
    """Return the claims about lost packets."""
    return (*_levels_of_loss(found), *_ratios_of_loss(found), *_trends_of_loss(found))


def _levels_of_loss(found: Found) -> tuple[Claim, ...]:
    return (
        claim(
            "loss_of_few",
            "FeW loses 0.01, 0.08 and 0.15 % of the packets with 10, 30 and 50 flows.",
            paper="0.01, 0.08 and 0.15 %",
            checks=_as_printed(found, FEW, LOSS),
            tolerance="20 %",
            remark="ns-2.35 loses about 5 % with NewReno and with FeW in a network like this one.",
        ),
        claim(
            "loss_of_afw",
            "AFW's pairs lose 1.54, 2.49 and 3.97 % of the packets on average.",
            paper="1.54, 2.49 and 3.97 %",
            checks=_as_printed(found, MEAN, LOSS),
            tolerance="20 %: the printed pairs scatter so",
        ),
    )


def _ratios_of_loss(found: Found) -> tuple[Claim, ...]:
    mean = over(found, 10, MEAN, FEW, LOSS)
    largest = over(found, 50, afw(6, 8), FEW, LOSS)
    return (
        claim(
            "few_loses_154_times_less",
            "With 10 flows AFW loses 154 times as many packets as FeW (the text: 154 %).",
            paper="154",
            checks=[Check.near("ratio", mean, 154.0, within=30.8)],
            tolerance="20 %",
        ),
        claim(
            "few_loses_154_percent_less",
            "With 10 flows FeW's loss is better by 154 %, as the text prints it.",
            paper="154 %",
            checks=[Check.near("ratio", mean, 2.54, within=0.25)],
            tolerance="10 %",
        ),
        claim(
            "largest_ratio_of_losses",
            "With 50 flows AFW with alpha 6 and beta 8 loses 34.33 times as many packets as FeW "
            "(the text: 34.33 %).",
            paper="34.33",
            checks=[Check.near("ratio", largest, 34.33, within=6.9)],
            tolerance="20 %",
        ),
        claim(
            "largest_ratio_as_printed",
            "With 50 flows FeW's loss is better by 34.33 % than that of AFW with alpha 6 and beta "
            "8, as the text prints it.",
            paper="34.33 %",
            checks=[Check.near("ratio", largest, 1.3433, within=0.13)],
            tolerance="10 %",
        ),
    )


def _trends_of_loss(found: Found) -> tuple[Claim, ...]:
    growth = {
        f"{name}, {more} over {less} flows": ratio(
            each(found, more, name, LOSS), each(found, less, name, LOSS)
        ).named(f"{LOSS} of {name}", "growth", str(more))
        for name in (MEAN, FEW)
        for less, more in ((10, 30), (30, 50))
    }
    return (
        claim(
            "few_loses_less",
            "FeW loses fewer packets than AFW with any number of flows.",
            paper="by 26 to 154 times",
            checks=[
                Check(f"{flows} flows", over(found, flows, MEAN, FEW, LOSS), low=1.0)
                for flows in FLOWS
            ],
            tolerance=ABOVE,
            coarse="the ratios of the paper are 26 and more",
        ),
        claim(
            "few_loses_less_end_to_end",
            "With 10 flows, where the paper's difference is largest, FeW loses fewer packets than "
            "AFW, counted as sent and not delivered.",
            paper="by 154 times",
            checks=[Check("10 flows", over(found, 10, MEAN, FEW, LOST), low=1.0)],
            tolerance=ABOVE,
        ),
        claim(
            "loss_grows_with_flows",
            "Losses grow with the number of flows.",
            paper="1.54, 2.49, 3.97 % and 0.01, 0.08, 0.15 %",
            checks=[Check(name, ratio_here, low=1.0) for name, ratio_here in growth.items()],
            tolerance=ABOVE,
            coarse="the losses of the paper grow by 1.6 to 8 times",
        ),
    )
