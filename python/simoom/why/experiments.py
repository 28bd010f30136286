"""Experiments: each change in as many pairs of runs as its verdict needs.

All changes are run a few times. Those without a verdict are run again, twice as often at each look,
until each is decided or negligible, or has had the most runs. Verdicts are those of the paired t
test, adjusted for the number of changes (Holm 1979), at a level that is divided among the looks
(Bonferroni), so that all together are wrong in at most 5 of 100 explanations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from simoom.results.run import Run
from simoom.results.tables import number, rows
from simoom.runs.stats import Estimate, holm, paired_difference, paired_p_value
from simoom.scenario.scenario import Scenario
from simoom.why.case import Case, Goal, goal_of
from simoom.why.counterfactual import Change, Counterfactual
from simoom.why.laboratory import Laboratory, estimate
from simoom.why.result import LEAST_GAIN, SMALL, Cost, Effect, Verdict

LEVEL = 0.05
HARM = 0.98
"""A flow whose goal is at least this part of what it was is not harmed."""


@dataclass
class Trial:
    """A change, its runs so far, and what they say."""

    of: Counterfactual
    change: Change
    scenario: Scenario
    runs: list[Run] = field(default_factory=list)
    effect: Effect | None = None

    @property
    def is_open(self) -> bool:
        """Whether more runs may decide it."""
        effect = self.effect
        return effect is None or (effect.verdict is Verdict.UNDECIDED and effect.difference.n > 0)


def looks(least: int, most: int) -> list[int]:
    """Return the numbers of runs at which verdicts are sought.

    Examples
    --------
    >>> looks(5, 40), looks(30, 40), looks(50, 40)
    ([5, 10, 20, 40], [30, 40], [50])
    """
    counts = [least]
    while counts[-1] < most:
        counts.append(min(2 * counts[-1], most))
    return counts


def decide(
    lab: Laboratory, case: Case, trials: Sequence[Trial], most: int, part: tuple[float, float]
) -> list[Run]:
    """Run the changes until each has a verdict, and return the runs without a change."""
    counts = looks(lab.replications, most)
    base: list[Run] = []
    for look, count in enumerate(counts):
        pending = [trial for trial in trials if trial.is_open]
        if base and not pending:
            break
        begin, end = (part[0] + (part[1] - part[0]) * n / len(counts) for n in (look, look + 1))
        lab.part = (begin, end)
        base, *found = lab.runs([case.scenario, *(trial.scenario for trial in pending)], count)
        for trial, runs in zip(pending, found, strict=True):
            trial.runs = runs
        give_verdicts(trials, base, case.goal, LEVEL / len(counts))
    for trial in trials:
        if trial.of.cures and trial.effect is not None and trial.effect.helps:
            trial.effect = replace(trial.effect, cost=cost(case, base, trial.runs))
    return base


def give_verdicts(trials: Sequence[Trial], base: Sequence[Run], goal: Goal, level: float) -> None:
    """Give each trial its effect, at a level for all of them together."""
    before = values(base, goal)
    effects = [_measured(trial, before, goal) for trial in trials]
    known = [n for n, effect in enumerate(effects) if effect.difference.n]
    adjusted = dict(zip(known, holm([effects[n].p_value for n in known]), strict=True))
    effects = [replace(e, p_value=adjusted.get(n, 1.0)) for n, e in enumerate(effects)]
    better = [e for e in effects if e.p_value < level and e.gain >= LEAST_GAIN]
    causes = [e for e, trial in zip(effects, trials, strict=True)
              if trial.of.finds_cause and e in better]  # fmt: skip
    # Removals that bring no more than equal shares are small beside a real cause only.
    best = max((e.score - 1.0 for e in causes), default=0.0)
    small = SMALL * best if best > 0 else -math.inf
    for trial, effect in zip(trials, effects, strict=True):
        if effect in better:
            verdict = Verdict.SMALL if effect.score - 1.0 < small else Verdict.CAUSE
        elif effect.p_value < level and effect.gain < 1.0:
            verdict = Verdict.NONE
        else:
            most = _most(trial, before, goal, level / max(1, len(known)))
            is_small = most < max(LEAST_GAIN - 1.0, small)
            verdict = Verdict.NONE if is_small else Verdict.UNDECIDED
        trial.effect = replace(effect, verdict=verdict)


def values(runs: Sequence[Run], goal: Goal) -> list[float]:
    """Return the goal in each run; NaN where nothing was measured."""
    found = (number(run.summary.get(goal.path)) for run in runs)
    return [math.nan if value is None else value for value in found]


def _pairs(before: Sequence[float], after: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the values of the runs that measured both."""
    # A flow that delivers nothing has no delay: any delay is better than none.
    pairs = [(a, b) for a, b in zip(before, after, strict=False) if a == a and b == b]
    return [a for a, _ in pairs], [b for _, b in pairs]


def _measured(trial: Trial, before: Sequence[float], goal: Goal) -> Effect:
    """Return the effect of a change, without a verdict."""
    after = values(trial.runs, goal)
    first, second = _pairs(before, after)
    nothing = Estimate(math.nan, math.nan, math.nan, 0)
    effect = Effect(trial.of.name, trial.change, estimate(after), nothing, math.nan, 1.0,
                    Verdict.UNDECIDED, trial.change.fair_gain(goal))  # fmt: skip
    if not first:
        return effect
    old, new = math.fsum(first), math.fsum(second)
    gain = _ratio(new, old) if goal.more else _ratio(old, new)
    difference, p_value = paired_difference(first, second), paired_p_value(first, second)
    return replace(effect, difference=difference, gain=gain, p_value=p_value)


def _most(trial: Trial, before: Sequence[float], goal: Goal, level: float) -> float:
    """Return the largest gain beyond that of equal shares that the runs do not exclude."""
    first, second = _pairs(before, values(trial.runs, goal))
    if not first:
        return math.inf
    found = paired_difference(first, second, confidence=1.0 - level)
    old = math.fsum(first) / len(first)
    if goal.more:
        gain = _ratio(old + found.ci_high, old)
    else:
        gain = _ratio(old, old + found.ci_low) if old + found.ci_low > 0 else math.inf
    return gain / trial.change.fair_gain(goal) - 1.0


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.inf if a else 1.0


def cost(case: Case, base: Sequence[Run], runs: Sequence[Run]) -> Cost:
    """Return what a change does to the other flows."""
    pairs = list(zip(base, runs, strict=False))
    old, new = ([_others(case, run) for run in side] for side in zip(*pairs, strict=True))
    mean = math.fsum(old) / len(old)
    scaled = [[value / mean if mean else 0.0 for value in side] for side in (old, new)]
    worst, flow = 1.0, ""
    for index in case.others:
        goal = goal_of(index, case.cell.flows[index].kind)
        first, second = _pairs(*(values(side, goal) for side in zip(*pairs, strict=True)))
        if not first or 0.0 in paired_difference(first, second):
            continue
        sums = math.fsum(first), math.fsum(second)
        ratio = _ratio(sums[1], sums[0]) if goal.more else _ratio(sums[0], sums[1])
        if ratio < min(worst, HARM):
            worst, flow = ratio, str(base[0].summary[f"flows[{index}].name"])
    return Cost(paired_difference(*scaled), flow, worst)


def _others(case: Case, run: Run) -> float:
    flows = rows(run.summary, "flows")
    return math.fsum(number(flows[n]["goodput_mbps"]) or 0.0 for n in case.others)
