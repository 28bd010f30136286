"""Sweeps of the page: their points, whose runs are in the library, and means with intervals."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simoom.base.files import finite, write_text
from simoom.base.issue import ScenarioError
from simoom.base.workers import Progress
from simoom.results.record import identity
from simoom.results.tables import Value, number
from simoom.runs.axis_text import axis_values, short
from simoom.runs.stats import mean_ci
from simoom.scenario.scenario import Scenario
from simoom.serve.drafts import Desk
from simoom.serve.library import KEY, Library, Listing, read_object

MOST_AXES = 2
PARTS = {"name": str, "title": str, "scenario": str, "over": dict, "replications": int,
         "seed": int, "points": list}  # fmt: skip
"""What the file of a sweep has."""
DEFAULT = "total.goodput_mbps"
"""The result that is shown first."""


@dataclass(frozen=True)
class Plan:
    """A sweep that is to be run.

    Attributes
    ----------
    name : str
        Its name.
    scenario : Scenario
        The scenario whose values are varied.
    over : mapping
        The values of each axis.
    replications, seed : int
        The runs of each point, and the root of their random streams.
    """

    name: str
    scenario: Scenario
    over: Mapping[str, Sequence[Any]]
    replications: int
    seed: int

    @property
    def runs(self) -> int:
        """The number of runs."""
        return math.prod(map(len, self.over.values())) * self.replications

    @property
    def key(self) -> str:
        """The key of the sweep."""
        parts = [self.scenario.to_toml(), {path: list(v) for path, v in self.over.items()},
                 self.replications, self.seed]  # fmt: skip
        return hashlib.sha256(f"sweep {json.dumps(parts, default=str)}".encode()).hexdigest()


def plan_of(
    text: str, given: Mapping[str, str], desk: Desk, name: str, replications: int, seed: int,
    most: int,
) -> Plan:  # fmt: skip
    """Read a sweep that a user wrote, and check all of its points.

    Raises
    ------
    ScenarioError
        The scenario or a point has faults, or names what this server does not open.
    ValueError
        An axis cannot be read, or there are too many runs.
    """
    if not 1 <= len(given) <= MOST_AXES:
        raise ValueError(f"a sweep has one axis or two, and not {len(given)}")
    over = {}
    for path, values in given.items():
        try:
            over[path] = axis_values(values)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    plan = Plan(name, desk.read(text), over, replications, seed)
    if plan.runs > most:
        raise ValueError(f"a sweep of {plan.runs:,} runs: this server takes at most {most:,}")
    for chosen, point in varied(Scenario.parse(text), over):
        try:
            desk.read(point.to_toml())
        except ScenarioError as error:
            where = ", ".join(f"{path}={value}" for path, value in zip(over, chosen, strict=True))
            raise ScenarioError(
                replace(issue, message=f"{issue.message} (at {where})", place=None)
                for issue in error.issues
            ) from None
    return plan


def varied(
    scenario: Scenario, over: Mapping[str, Sequence[Any]]
) -> Iterator[tuple[tuple[Any, ...], Scenario]]:
    """Yield the values of each point and the scenario with them, the last axis varying fastest."""
    for chosen in itertools.product(*over.values()):
        point = scenario
        for path, value in zip(over, chosen, strict=True):
            point = point.set(path, value)
        yield chosen, point


class Sweeps:
    """The sweeps of a library."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._folder = library.folder / "sweeps"
        self._listing = Listing(self._found)
        self._read: tuple[str, list[list[Mapping[str, Value]]]] | None = None

    def run(self, plan: Plan, progress: Progress) -> None:
        """Run all points, each run into the library, and keep what the sweep is."""
        from simoom.runs.sweep import sweep

        points = []
        for _, point in varied(plan.scenario, plan.over):
            seeds = range(plan.replications)
            keys = [identity(point, seed=plan.seed, replication=each) for each in seeds]
            for key in keys:
                if not self._library.has(key):
                    self._library.rename(key, plan.name, sweep=plan.key)
            points.append(keys)
        done = sweep(
            plan.scenario, over=plan.over, replications=plan.replications, seed=plan.seed,
            store=self._library.store, progress=progress,
        )  # fmt: skip
        kept = {
            "name": plan.name,
            "title": str(plan.scenario.get("title") or ""),
            "scenario": plan.scenario.to_toml(),
            "over": {path: list(values) for path, values in done.over.items()},
            "replications": plan.replications,
            "seed": plan.seed,
            "points": [
                {"settings": list(point.settings.values()), "runs": keys}
                for point, keys in zip(done.points, points, strict=True)
            ],
        }
        write_text(self._folder / f"{plan.key}.json", json.dumps(kept))
        self.changed()

    def changed(self) -> None:
        """Take note that a sweep was added or removed."""
        self._listing.changed()

    def entries(self, *, anew: bool = False) -> list[dict[str, Any]]:
        """Return name, axes and size of each sweep, the newest first.

        What other processes have changed in the folder is found with `anew`.
        """
        return self._listing.get(anew=anew)

    def _found(self) -> list[dict[str, Any]]:
        found = []
        for file in self._folder.glob("*.json"):
            try:
                kept, made = self._kept(file.stem), file.stat().st_mtime_ns
            except (LookupError, OSError):
                continue
            axes = {path: len(values) for path, values in kept["over"].items()}
            entry = {"id": file.stem, "name": kept["name"] or kept["title"], "axes": axes,
                     "replications": kept["replications"], "made": str(made)}  # fmt: skip
            found.append((made, entry))
        found.sort(key=lambda pair: pair[0], reverse=True)
        return [entry for _, entry in found]

    def _kept(self, key: str) -> dict[str, Any]:
        if not KEY.fullmatch(key):
            raise LookupError("there is no such sweep")
        kept = read_object(self._folder / f"{key}.json")
        if not kept:
            raise LookupError("there is no such sweep")
        if not _is_whole(kept):
            raise LookupError("the file of this sweep is damaged: run it again")
        return kept

    def show(self, key: str, path: str = DEFAULT) -> dict[str, Any]:
        """Return a sweep with the mean of a result, and its interval, at each point.

        Raises
        ------
        LookupError
            There is no such sweep, or one of its runs is missing.
        """
        kept = self._kept(key)
        summaries = self._summaries(key, kept)
        results = [
            own for own, value in summaries[0][0].items()
            if isinstance(value, (int, float)) and not isinstance(value, bool)
        ]  # fmt: skip
        points = []
        for point, found in zip(kept["points"], summaries, strict=True):
            values = [number(summary.get(path)) for summary in found]
            measured = [value for value in values if value is not None]
            estimate = mean_ci(measured) if measured else None
            low, mean, high = (
                finite([estimate.ci_low, estimate.mean, estimate.ci_high])
                if estimate else (None, None, None)
            )  # fmt: skip
            points.append({**point, "mean": mean, "ci_low": low, "ci_high": high,
                           "values": values})  # fmt: skip
        # As the axes of figures write them: a value may be a table.
        labels = {axis: [short(value) for value in values] for axis, values in kept["over"].items()}
        return {
            **kept, "id": key, "path": path, "results": results, "points": points, "labels": labels,
        }  # fmt: skip

    def _summaries(self, key: str, kept: Mapping[str, Any]) -> list[list[Mapping[str, Value]]]:
        if self._read is None or self._read[0] != key:
            record = self._library.record
            found: list[list[Mapping[str, Value]]] = [
                [record(run).run.summary for run in point["runs"]] for point in kept["points"]
            ]
            self._read = (key, found)
            return found
        return self._read[1]

    def remove(self, key: str) -> None:
        """Remove a sweep, and its runs that were not run before it."""
        kept = self._kept(key)
        for run in itertools.chain.from_iterable(point["runs"] for point in kept["points"]):
            if self._library.has(run) and self._library.sweep_of(run) == key:
                self._library.remove(run)
        (self._folder / f"{key}.json").unlink(missing_ok=True)
        self._read = None
        self._listing.changed()


def _is_whole(kept: Mapping[str, Any]) -> bool:
    """Whether the file of a sweep is one that `Sweeps.run` writes."""
    return (
        kept.keys() == PARTS.keys()
        and all(isinstance(kept[name], kind) for name, kind in PARTS.items())
        and all(isinstance(values, list) for values in kept["over"].values())
        and bool(kept["points"])
        and all(map(_is_point, kept["points"]))
    )


def _is_point(point: Any) -> bool:
    is_point = isinstance(point, dict) and point.keys() == {"settings", "runs"}
    return (
        is_point
        and all(isinstance(values, list) and bool(values) for values in point.values())
        and all(isinstance(run, str) for run in point["runs"])
    )
