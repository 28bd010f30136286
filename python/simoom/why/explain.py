"""Explaining a flow by counterfactual runs with common random numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from concurrent.futures import Executor

from simoom.base.arguments import callback, whole
from simoom.base.issue import ScenarioError
from simoom.base.workers import Progress
from simoom.results.run import Run, RunJob
from simoom.results.tables import number, visible
from simoom.runs.runner import Runner
from simoom.runs.stats import Estimate, mean_ci, paired_difference
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.why.case import Case, Goal, find_flow, slowest
from simoom.why.counterfactual import Change
from simoom.why.draft import Edit, apply
from simoom.why.measured import measured
from simoom.why.result import Effect, Step, Why
from simoom.why.table import COUNTERFACTUALS

AS_GOOD = 0.8
"""A change of a key comes before the removal of flows if its gain is at least this part of it."""
MOST_STEPS = 3
BASE, CHANGES = 0.05, 0.9
"""The progress when the runs as it is, and those of the single changes, have ended."""


class Laboratory:
    """Runs scenarios, each replication once, all with the same seeds."""

    def __init__(
        self, runner: Runner, replications: int, seed: int, progress: Progress | None
    ) -> None:
        self.replications, self.seed = replications, seed
        self.part = (0.0, 1.0)
        """The part of all progress that the next runs are."""
        self._runner, self._progress = runner, progress
        self._done: dict[RunJob, Run] = {}

    def runs(self, scenarios: Sequence[Scenario]) -> list[list[Run]]:
        """Return the runs of each scenario, by replication."""
        jobs = {
            (n, r): RunJob(scenario, self.seed, r)
            for r in range(self.replications)
            for n, scenario in enumerate(scenarios)
        }
        missing = list(dict.fromkeys(job for job in jobs.values() if job not in self._done))
        for count, (number_, run) in enumerate(self._runner.results(missing), start=1):
            self._done[missing[number_]] = run
            if self._progress is not None:
                begin, end = self.part
                self._progress(begin + (end - begin) * count / len(missing))
        return [
            [self._done[jobs[n, r]] for r in range(self.replications)]
            for n in range(len(scenarios))
        ]


def explain(
    scenario: ScenarioLike,
    *,
    flow: str | None,
    replications: int,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
) -> Why:
    """Explain a flow of a scenario; see `simoom.why.why`."""
    original = Scenario.of(scenario)
    check(replications, seed, progress)
    original.check()
    single, index = find_flow(original, flow)
    if single.get("routing") is None:
        single = single.set("measure.hops", True)
    single.check()
    with Runner(executor) as runner:
        lab = Laboratory(runner, replications, seed, progress)
        lab.part = (0.0, BASE)
        base = lab.runs([single])[0]
        chosen = slowest(single, base[0].summary) if index is None else index
        case = Case(original, single, chosen, base[0].summary, seed)
        changes, scenarios, absent = _changes(case)
        values = _values(base, case.goal)
        lab.part = (BASE, CHANGES)
        all_runs = lab.runs([scenarios[name] for name in changes])
        effects = [
            _effect(name, change, case.goal, values, _values(runs, case.goal))
            for (name, change), runs in zip(changes.items(), all_runs, strict=True)
        ]
        ranked = rank(effects)
        waterfall = _waterfall(lab, case, ranked, changes)
        if progress is not None:
            progress(1.0)
    title = str(original.get("title") or "A cell without a title")
    return Why(
        title=visible(title),
        flow=case.name,
        goal=case.goal,
        value=estimate(values),
        measured=measured(case.summary, chosen),
        effects=tuple(ranked),
        waterfall=tuple(waterfall),
        not_applicable=absent,
        replications=replications,
    )


def check(replications: int, seed: int, progress: Progress | None) -> None:
    """Raise unless intervals can be computed from these runs."""
    callback(progress)
    whole("replications", replications, bits=32)
    if replications < 2:
        raise ValueError(f"replications: must be at least 2 for an interval, is {replications}")
    whole("seed", seed, bits=64)


def _changes(case: Case) -> tuple[dict[str, Change], dict[str, Scenario], dict[str, str]]:
    """Return the changes that apply, their scenarios, and why the others do not apply."""
    changes: dict[str, Change] = {}
    scenarios: dict[str, Scenario] = {}
    absent: dict[str, str] = {}
    for each in COUNTERFACTUALS:
        answer = each.change(case)
        if isinstance(answer, str):
            absent[each.name] = answer
            continue
        try:
            scenarios[each.name] = apply(case.scenario, answer.edits)
        except ScenarioError as error:
            absent[each.name] = f"not possible here: {error.issues[0]}"
            continue
        changes[each.name] = answer
    return changes, scenarios, absent


def _values(runs: Iterable[Run], goal: Goal) -> list[float]:
    found = (number(run.summary.get(goal.path)) for run in runs)
    return [math.nan if value is None else value for value in found]


def estimate(values: Iterable[float]) -> Estimate:
    """Estimate the mean of the values that were measured; NaN without any."""
    known = [value for value in values if not math.isnan(value)]
    return mean_ci(known) if known else Estimate(math.nan, math.nan, math.nan, 0)


def _effect(
    name: str, change: Change, goal: Goal, before: list[float], after: list[float]
) -> Effect:
    # A flow that delivers nothing has no delay: any delay is better than none.
    pairs = [
        (a, b) for a, b in zip(before, after, strict=True) if not (math.isnan(a) or math.isnan(b))
    ]
    value = estimate(after)
    if not pairs:
        difference = Estimate(math.nan, math.nan, math.nan, 0)
        return Effect(name, change.cause, change.without, change.key, value, difference, math.nan)
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    old, new = math.fsum(first), math.fsum(second)
    gain = _ratio(new, old) if goal.more else _ratio(old, new)
    return Effect(
        name, change.cause, change.without, change.key, value,
        paired_difference(first, second), gain, change.fair_gain,
    )  # fmt: skip


def _ratio(a: float, b: float) -> float:
    return a / b if b else math.inf if a else 1.0


def rank(effects: Sequence[Effect]) -> list[Effect]:
    """Return effects with the one that explains most first.

    Removals of flows are judged by their gain beyond equal shares, and a change of a key that
    brings almost as much comes first: it says what the other flows do.
    """
    helping = sorted((e for e in effects if e.helps), key=lambda e: -e.score)
    keys = [effect for effect in helping if effect.fair_gain == 1.0]
    ranked: list[Effect] = []
    for removal in (effect for effect in helping if effect.fair_gain > 1.0):
        before = [key for key in keys if key.score >= AS_GOOD * removal.score]
        ranked += [key for key in before if key not in ranked] + [removal]
    ranked += [key for key in keys if key not in ranked]
    rest = [effect for effect in effects if not effect.helps]
    return ranked + sorted(rest, key=lambda e: -e.gain if e.gain == e.gain else math.inf)


def _waterfall(
    lab: Laboratory, case: Case, ranked: Sequence[Effect], changes: dict[str, Change]
) -> list[Step]:
    """Apply the changes of keys that help, one after the other."""
    chosen = [e for e in ranked if e.helps and e.fair_gain == 1.0][:MOST_STEPS]
    steps: list[Step] = []
    edits: list[Edit] = []
    for number_, effect in enumerate(chosen):
        part = (1.0 - CHANGES) / len(chosen)
        lab.part = (CHANGES + number_ * part, CHANGES + (number_ + 1) * part)
        try:
            scenario = apply(case.scenario, edits + changes[effect.name].edits)
        except ScenarioError:
            continue  # Two changes of one table may exclude each other.
        edits += changes[effect.name].edits
        runs = lab.runs([scenario])[0]
        value = estimate(_values(runs, case.goal))
        steps.append(Step(effect.name, effect.without, value))
    return steps
