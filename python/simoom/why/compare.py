"""The difference between two scenarios, key by key."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from simoom.base.frames import pl
from simoom.base.issue import ScenarioError
from simoom.base.pages import Text
from simoom.base.workers import Progress
from simoom.results.run import Run
from simoom.results.tables import number, rows
from simoom.runs.runner import Runner
from simoom.runs.stats import Estimate, paired_difference
from simoom.scenario.scenario import Scenario, ScenarioLike, toml_value
from simoom.twin.inputs import Cell
from simoom.why.case import Goal, find_flow, goal_of
from simoom.why.draft import Edit, apply, keys_of
from simoom.why.laboratory import Laboratory, check, estimate

SEARCHES = 3
"""So many first keys are chosen among all; later ones keep the order of the last search."""
IGNORED = ("title", "description")
LONGEST_VALUE = 40


@dataclass(frozen=True)
class Move:
    """A key that changes from one scenario to the other, after those before it.

    Attributes
    ----------
    key : str
        Its path; several where they can only change together.
    before, after : str
        Its values as in TOML; empty for the default.
    value : Estimate
        The goal after the change.
    difference : Estimate
        What the change alone adds, by pairs with common random numbers.
    """

    key: str
    before: str
    after: str
    value: Estimate
    difference: Estimate


@dataclass(frozen=True, repr=False)
class Difference:
    """Why two scenarios have different results.

    Attributes
    ----------
    goal : Goal
        The value that is compared.
    flow : str or None
        The flow that has it; None for all flows.
    first, second : Estimate
        The value in each scenario.
    moves : tuple of Move
        The keys, in the order that explains most.
    """

    goal: Goal
    flow: str | None
    first: Estimate
    second: Estimate
    moves: tuple[Move, ...]
    replications: int

    def report(self, width: int = 100) -> str:
        """Return the explanation as text, as the command line prints it."""
        return "\n".join(_lines(self, max(width, 20))) + "\n"

    def frame(self) -> pl.DataFrame:
        """Return a data frame with a row for each key."""
        return pl.DataFrame([_row(move) for move in self.moves], infer_schema_length=None)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "goal": self.goal.path,
            "flow": self.flow,
            "first": self.first.mean,
            "second": self.second.mean,
            "moves": [_row(move) for move in self.moves],
            "replications": self.replications,
        }

    def _repr_html_(self) -> str:
        return Text(self.report())._repr_html_()

    def __repr__(self) -> str:
        keys = ", ".join(move.key for move in self.moves) or "equal"
        return f"Difference({self.goal.name}, {keys})"


def _row(move: Move) -> dict[str, Any]:
    return {
        "key": move.key,
        "before": move.before,
        "after": move.after,
        "mean": move.value.mean,
        "difference_mean": move.difference.mean,
        "difference_ci_low": move.difference.ci_low,
        "difference_ci_high": move.difference.ci_high,
    }


def _lines(found: Difference, width: int) -> Iterator[str]:
    def wrapped(line: str, first: str = "", further: str = "  ") -> list[str]:
        return textwrap.wrap(line, width, initial_indent=first, subsequent_indent=further)

    goal = found.goal
    whose = f"{found.flow}: " if found.flow else ""
    values = (goal.written(each.mean, each.half_width) for each in (found.first, found.second))
    yield from wrapped(f"{whose}{goal.name} {' → '.join(values)}")
    if not found.moves:
        yield from wrapped("the two scenarios have the same keys")
    for place, move in enumerate(found.moves, start=1):
        after = goal.written(move.value.mean, move.value.half_width)
        by = goal.written(move.difference.mean, move.difference.half_width)
        sign = "" if by.startswith("-") or math.isnan(move.difference.mean) else "+"
        yield from wrapped(f"{place}. {move.key}: {move.before or 'default'} → "
                           f"{move.after or 'default'}", "", "   ")  # fmt: skip
        yield from wrapped(f"{after}, {sign}{by}", "   ", "   ")


def compare(
    scenario: ScenarioLike,
    other: ScenarioLike,
    *,
    flow: str | None,
    replications: int,
    seed: int,
    executor: Executor | None,
    progress: Progress | None,
) -> Difference:
    """Explain the difference between two scenarios; see `simoom.why.why`."""
    first, second = Scenario.of(scenario), Scenario.of(other)
    check(replications, seed, progress)
    for each in (first, second):
        each.check()
        find_flow(each, flow)
    goal = Goal("total.goodput_mbps", "total goodput", "Mb/s", 1.0, more=True)
    if flow is not None:
        single, index = find_flow(first, flow)

        goal = goal_of(index or 0, Cell(single).flows[index or 0].kind)
    with Runner(executor) as runner:
        search = _Search(Laboratory(runner, replications, seed, progress), goal, flow)
        ends = search.values([first, second])
        moves = search.moves(first, second, ends)
    return Difference(goal, flow, estimate(ends[0]), estimate(ends[1]), tuple(moves), replications)


@dataclass(frozen=True)
class _Search:
    """The search for the order of keys."""

    lab: Laboratory
    goal: Goal
    flow: str | None

    def values(self, scenarios: Sequence[Scenario]) -> list[list[float]]:
        """Return the goal in each run of each scenario."""
        return [[self._value(run) for run in runs] for runs in self.lab.runs(scenarios)]

    def _value(self, run: Run) -> float:
        path = self.goal.path
        if self.flow is not None:
            names = [row["name"] for row in rows(run.summary, "flows")]
            if self.flow not in names:
                return math.nan
            path = f"flows[{names.index(self.flow)}].{path.split('.', 1)[1]}"
        value = number(run.summary.get(path))
        return math.nan if value is None else value

    def moves(self, first: Scenario, second: Scenario, ends: list[list[float]]) -> list[Move]:
        """Return the keys in the order in which they bring the first scenario to the second."""
        rest = differences(keys_of(first), keys_of(second))
        at, value, moves = first, ends[0], []
        searches = 0
        while rest:
            possible: list[tuple[_Key, Scenario]] = []
            for key in rest if searches < SEARCHES else rest[:1]:
                try:
                    possible.append((key, apply(at, [key.edit])))
                except ScenarioError:
                    continue
            if not possible:
                if searches >= SEARCHES and len(rest) > 1:
                    searches = 0
                    continue
                key = _together(rest)
                possible, rest = [(key, second)], [key]
            found = self.values([scenario for _, scenario in possible])
            order = sorted(range(len(found)), key=lambda n: _distance(found[n], ends[1]))
            searches += 1
            key, at = possible[order[0]]
            moves.append(_move(key, value, found[order[0]]))
            value = found[order[0]]
            later = [possible[n][0] for n in order[1:]]
            rest = later + [each for each in rest if each is not key and each not in later]
        return moves


@dataclass(frozen=True)
class _Key:
    path: str
    before: Any
    after: Any

    @property
    def edit(self) -> Edit:
        return Edit(self.path, self.after)


def _together(keys: list[_Key]) -> _Key:
    return _Key(", ".join(key.path for key in keys), "…", "…")


def _move(key: _Key, before: list[float], after: list[float]) -> Move:
    pairs = [(a, b) for a, b in zip(before, after, strict=True) if a == a and b == b]
    difference = Estimate(math.nan, math.nan, math.nan, 0)
    if pairs:
        difference = paired_difference([a for a, _ in pairs], [b for _, b in pairs])
    return Move(key.path, _short(key.before), _short(key.after), estimate(after), difference)


def _short(value: Any) -> str:
    text = "" if value is None else value if value == "…" else toml_value(value)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 1] + "…"


def _distance(values: list[float], wanted: list[float]) -> float:
    pairs = [abs(a - b) for a, b in zip(values, wanted, strict=True) if a == a and b == b]
    return math.fsum(pairs) / len(pairs) if pairs else math.inf


def changed_keys(first: Scenario, second: Scenario) -> list[tuple[str, str, str]]:
    """Return the keys in which two scenarios differ, with both values as in TOML, "" if unset."""
    found = differences(keys_of(first), keys_of(second))
    return [(key.path, _short(key.before), _short(key.after)) for key in found]


def differences(first: Any, second: Any, path: str = "") -> list[_Key]:
    """Return the keys in which two scenarios differ, each as deep as it can be set alone.

    Examples
    --------
    >>> [key.path for key in differences({"wire": {"a": 1, "b": 2}}, {"wire": {"a": 1, "b": 3}})]
    ['wire.b']
    """
    if first == second:
        return []
    if isinstance(first, dict) and isinstance(second, dict) and not _are_choices(first, second):
        dot = "." if path else ""
        keys = [key for key in {**first, **second} if path or key not in IGNORED]
        parts = (differences(first.get(k), second.get(k), f"{path}{dot}{k}") for k in keys)
        return [found for part in parts for found in part]
    if _are_tables(first) and _are_tables(second) and len(first) == len(second):
        pairs = enumerate(zip(first, second, strict=True))
        parts = (differences(a, b, f"{path}[{n}]") for n, (a, b) in pairs)
        return [found for part in parts for found in part]
    return [_Key(path, first, second)]


def _are_tables(value: Any) -> bool:
    """Whether a value is an array of tables."""
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _are_choices(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two tables name different variants of a choice."""
    return len(first) == len(second) == 1 and first.keys() != second.keys()
