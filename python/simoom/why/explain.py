"""Explaining a flow by counterfactual runs with common random numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor

from simoom.base.issue import ScenarioError
from simoom.base.workers import Progress
from simoom.results.tables import visible
from simoom.runs.runner import Runner
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.twin.inputs import Cell
from simoom.why.case import Case, find_flow, slowest
from simoom.why.draft import Edit, apply
from simoom.why.experiments import Trial, decide, values
from simoom.why.laboratory import Laboratory, check, estimate
from simoom.why.measured import measured
from simoom.why.result import Effect, Step, Verdict, Why
from simoom.why.table import COUNTERFACTUALS

AS_GOOD = 0.8
"""A change of a key comes before the removal of flows if its gain is at least this part of it."""
MOST_STEPS = 3
UNKNOWN_HOPS = "routes or access points change, so that the hops of flows are not known"
BASE, CHANGES = 0.05, 0.9
"""The progress when the runs as it is, and those of the single changes, have ended."""


def explain(
    scenario: ScenarioLike,
    *,
    flow: str | None,
    replications: int,
    most_replications: int,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
) -> Why:
    """Explain a flow of a scenario; see `simoom.why.why`."""
    original = Scenario.of(scenario)
    check(replications, seed, progress)
    original.check()
    single, index = find_flow(original, flow)
    if single.get("routing") is None and not _roams(single):
        single = single.set("measure.hops", True)
    single.check()
    most = max(replications, most_replications)
    with Runner(executor) as runner:
        lab = Laboratory(runner, replications, seed, progress)
        lab.part = (0.0, BASE)
        base = lab.runs([single])[0]
        chosen = slowest(single, base[0].summary) if index is None else index
        case = Case(original, single, chosen, base[0].summary, seed)
        trials, absent = _trials(case)
        base = decide(lab, case, trials, most, (BASE, CHANGES))
        causes = [t.effect for t in trials if t.of.finds_cause and t.effect is not None]
        cures = [t.effect for t in trials if t.of.cures and t.effect is not None]
        ranked = rank(causes)
        waterfall = _waterfall(lab, case, ranked)
        if progress is not None:
            progress(1.0)
    title = str(original.get("title") or "A cell without a title")
    return Why(
        title=visible(title),
        flow=case.name,
        goal=case.goal,
        value=estimate(values(base, case.goal)),
        measured=measured(case.summary, chosen),
        effects=tuple(ranked),
        cures=tuple(sorted(cures, key=lambda effect: (not effect.helps, -effect.gain))),
        waterfall=tuple(waterfall),
        not_applicable=absent,
        replications=replications,
        most=most,
    )


def _roams(scenario: Scenario) -> bool:
    return any(table.get("roaming") for table in Cell(scenario).stations)


def _trials(case: Case) -> tuple[list[Trial], dict[str, str]]:
    """Return the changes that apply, and why the others do not apply."""
    trials: list[Trial] = []
    absent: dict[str, str] = {}
    for each in COUNTERFACTUALS:
        answer = each.change(case) if case.knows_hops or not each.needs_hops else UNKNOWN_HOPS
        if isinstance(answer, str):
            absent[each.name] = answer
            continue
        try:
            scenario = apply(case.scenario, answer.edits)
        except ScenarioError:
            # What the change lacks for this scenario is no fault of the user's.
            absent[each.name] = "this scenario cannot be varied so"
            continue
        trials.append(Trial(each, answer, scenario))
    return trials, absent


def rank(effects: Sequence[Effect]) -> list[Effect]:
    """Return effects with the one that explains most first.

    Removals of flows are judged by their gain beyond equal shares, and a change of a key that
    brings almost as much comes first: it says what the other flows do.
    """
    helping = sorted((e for e in effects if e.helps), key=lambda e: -e.score)
    keys = [effect for effect in helping if not effect.change.removes_flows]
    ranked: list[Effect] = []
    for removal in (effect for effect in helping if effect.change.removes_flows):
        before = [key for key in keys if key.score >= AS_GOOD * removal.score]
        ranked += [key for key in before if key not in ranked] + [removal]
    ranked += [key for key in keys if key not in ranked]
    ranked.sort(key=lambda effect: effect.verdict is not Verdict.CAUSE)
    rest = [effect for effect in effects if not effect.helps]
    return ranked + sorted(rest, key=lambda e: -e.gain if e.gain == e.gain else math.inf)


def _waterfall(lab: Laboratory, case: Case, ranked: Sequence[Effect]) -> list[Step]:
    """Apply the changes of keys that help, one after the other."""
    causes = [effect for effect in ranked if effect.verdict is Verdict.CAUSE]
    chosen = [effect for effect in causes if not effect.change.removes_flows][:MOST_STEPS]
    steps: list[Step] = []
    edits: list[Edit] = []
    for number_, effect in enumerate(chosen):
        part = (1.0 - CHANGES) / len(chosen)
        lab.part = (CHANGES + number_ * part, CHANGES + (number_ + 1) * part)
        try:
            scenario = apply(case.scenario, edits + effect.change.edits)
        except ScenarioError:
            continue  # Two changes of one table may exclude each other.
        edits += effect.change.edits
        value = estimate(values(lab.runs([scenario])[0], case.goal))
        steps.append(Step(effect.name, effect.without, value))
    return steps
