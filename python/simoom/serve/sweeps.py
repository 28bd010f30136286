"""Sweeps of the page: their points, whose runs are in the library, and means with intervals."""

from __future__ import annotations

import itertools
import json
import math
import threading
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from simoom.base.files import finite, write_text
from simoom.base.issue import ScenarioError
from simoom.base.workers import Progress
from simoom.results.record import identity
from simoom.results.tables import names_of, number
from simoom.runs.axes import points
from simoom.runs.axis_text import axis_values, short
from simoom.runs.replications import Replications
from simoom.runs.stats import mean_ci
from simoom.runs.sweep import Point, Sweep, sweep
from simoom.scenario.scenario import Scenario
from simoom.scenario.words import words
from simoom.serve.drafts import Desk
from simoom.serve.library import KEY, Library, Listing, read_object
from simoom.serve.work import Runs, digest
from simoom.serve.workers import Teller

if TYPE_CHECKING:
    from simoom.serve.requests import AddSweep

MOST_AXES = 2
PARTS = {"name": str, "title": str, "scenario": str, "over": dict, "replications": int,
         "seed": int, "points": list}  # fmt: skip
"""What the file of a sweep has."""
DEFAULT = "total.goodput_mbps"
"""The result that is shown first."""


@dataclass(frozen=True)
class Plan(Runs):
    """A sweep that is to be run.

    Attributes
    ----------
    over : mapping
        The values of each axis.
    replications : int
        The runs of each point.
    """

    over: Mapping[str, Sequence[Any]]
    replications: int

    @property
    def runs(self) -> int:
        """The number of runs."""
        return math.prod(map(len, self.over.values())) * self.replications

    @property
    def key(self) -> str:
        """The key of the sweep."""
        parts = [self.scenario.to_toml(), {path: list(v) for path, v in self.over.items()},
                 self.replications, self.seed]  # fmt: skip
        return digest(f"sweep {json.dumps(parts, default=str)}")

    def __call__(self, library: Library, teller: Teller) -> None:
        """Run and keep it."""
        Sweeps(library).run(self, teller.progress)


def plan_of(asked: AddSweep, desk: Desk, most: int) -> Plan:
    """Read a sweep that a user wrote, and check all of its points.

    Raises
    ------
    ScenarioError
        The scenario or a point has faults, or names what this server does not open.
    ValueError
        An axis cannot be read, or there are too many runs.
    """
    if not 1 <= len(asked.over) <= MOST_AXES:
        raise ValueError(f"a sweep has one axis or two, and not {len(asked.over)}")
    over = {}
    for path, values in asked.over.items():
        try:
            over[path] = axis_values(values)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    plan = Plan(desk.read(asked.text), asked.seed, asked.named, over, asked.replications)
    if plan.runs > most:
        raise ValueError(f"a sweep of {plan.runs:,} runs: this server takes at most {most:,}")
    for chosen, point in varied(Scenario.parse(asked.text), over):
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
        self._read = _Numbers("")
        self._lock = threading.Lock()

    def run(self, plan: Plan, progress: Progress) -> None:
        """Keep what the sweep is, and run all points, each run into the library."""
        at = points(plan.over)
        seeds = range(plan.replications)
        kept: dict[str, Any] = {
            "name": plan.name,
            "title": str(plan.scenario.get("title") or ""),
            "scenario": plan.scenario.to_toml(),
            "over": {path: list(values) for path, values in at.labels.items()},
            "replications": plan.replications,
            "seed": plan.seed,
            "points": [
                {"settings": list(settings.values()),
                 "runs": [identity(point, seed=plan.seed, replication=each) for each in seeds]}
                for settings, (_, point) in zip(
                    at.settings, varied(plan.scenario, plan.over), strict=True)
            ],
        }  # fmt: skip
        for key in itertools.chain.from_iterable(point["runs"] for point in kept["points"]):
            if not self._library.has(key):
                self._library.rename(key, plan.name, sweep=plan.key)
        write_text(self._folder / f"{plan.key}.json", json.dumps(kept))
        sweep(
            plan.scenario, over=plan.over, replications=plan.replications, seed=plan.seed,
            store=self._library.store, progress=progress,
        )  # fmt: skip

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

        Of a sweep in progress, or one that was stopped, it has the runs that are there.

        Raises
        ------
        LookupError
            There is no such sweep.
        """
        kept = self._kept(key)
        with self._lock:
            read = self._read = self._read if self._read.key == key else _Numbers(key)
            read.add(
                self._library, itertools.chain.from_iterable(p["runs"] for p in kept["points"])
            )
        points = []
        for point in kept["points"]:
            values = [read.value(run, path) for run in point["runs"]]
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
            **kept, "id": key, "path": path, "points": points, "labels": labels,
            "results": [(own, words(own, read.names)) for own in read.paths],
            "words": {own: words(own, read.names) for own in (path, *kept["over"])},
            "done": len(read.runs), "runs": sum(len(point["runs"]) for point in kept["points"]),
        }  # fmt: skip

    def sweep(self, key: str) -> Sweep:
        """Return a sweep with the runs that are there, and without points that have none.

        Raises
        ------
        LookupError
            There is no such sweep, or it has no runs yet.
        """
        kept = self._kept(key)
        found = []
        for point in kept["points"]:
            own = [run for run in point["runs"] if self._library.has(run)]
            if own:
                runs = tuple(self._library.record(run).run for run in own)
                settings = dict(zip(kept["over"], point["settings"], strict=True))
                found.append(Point(settings, Replications(runs[0].scenario, runs)))
        if not found:
            raise LookupError("this sweep has no runs yet")
        over = {path: tuple(values) for path, values in kept["over"].items()}
        return Sweep(Scenario.parse(kept["scenario"]), over, tuple(found))

    def remove(self, key: str) -> None:
        """Remove a sweep, and its runs that were not run before it."""
        kept = self._kept(key)
        for run in itertools.chain.from_iterable(point["runs"] for point in kept["points"]):
            if self._library.has(run) and self._library.sweep_of(run) == key:
                self._library.remove(run)
        (self._folder / f"{key}.json").unlink(missing_ok=True)
        self._read = _Numbers("")
        self._listing.changed()


class _Numbers:
    """The numbers of the runs of one sweep, in little memory: there may be thousands."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.names: dict[str, str] = {}
        """Names of flows and nodes by their paths."""
        self.runs: dict[str, tuple[dict[str, int], array[float]]] = {}
        self._places: dict[tuple[str, ...], dict[str, int]] = {}

    def add(self, library: Library, runs: Iterable[str]) -> None:
        """Read the runs that have ended since the last look."""
        for run in runs:
            if run in self.runs or not library.has(run):
                continue
            summary = library.record(run).run.summary
            found = ((path, number(value)) for path, value in summary.items())
            numbers = {path: value for path, value in found if value is not None}
            paths = tuple(numbers)
            # Runs of the same results share their places.
            place = self._places.setdefault(paths, {path: n for n, path in enumerate(paths)})
            self.runs[run] = (place, array("d", numbers.values()))
            for path, name in names_of(summary).items():
                self.names.setdefault(path, name)

    @property
    def paths(self) -> list[str]:
        """The results that any run has."""
        return list(dict.fromkeys(itertools.chain.from_iterable(self._places)))

    def value(self, run: str, path: str) -> float | None:
        """Return a result of a run; None if the run is not there or has no such number."""
        place, numbers = self.runs.get(run, ({}, array("d")))
        value = numbers[place[path]] if path in place else math.nan
        return None if math.isnan(value) else value


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
