"""What workers do for the server: runs, explanations and sweeps, and views of records."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simoom.base.files import finite
from simoom.base.issue import Issue, ScenarioError
from simoom.base.needs import Later
from simoom.results.notices import told
from simoom.results.record import identity
from simoom.results.run import Run, run
from simoom.results.tables import names_of
from simoom.runs.compare import compare
from simoom.scenario.interfaces import stations
from simoom.scenario.scenario import Scenario
from simoom.scenario.words import words
from simoom.serve.drafts import Draft, issues_of
from simoom.serve.library import Library
from simoom.serve.work import Runs, digest
from simoom.serve.workers import Teller
from simoom.show.sections import headline, shown

if TYPE_CHECKING:
    import simoom.why as reasons
    import simoom.why.compare as changes
    from simoom.why import page
else:  # Workers start in less time.
    reasons, page = Later("simoom.why"), Later("simoom.why.page")
    changes = Later("simoom.why.compare")

WANTED = (
    "total.goodput_mbps",
    "ap.queue_packets",
    "flows[*].goodput_mbps",
    "flows[*].conference.target_mbps",
    "flows[*].srtt_s",
    "flows[*].control.window_segments",
    "stations[*].queue_packets",
)
"""The time series of a run, while there is room for them."""
REPLICATIONS = 5
"""The runs of each change of an explanation."""
PAIRS = 10
"""The pairs of runs of a comparison."""


@dataclass(frozen=True)
class Simulation(Runs):
    """A run that is kept in the library.

    Attributes
    ----------
    key : str
        The key of the run.
    series : int
        The most time series.
    air_mib : int
        The longest timeline; 0 for none.
    owners : dict
        Name and traffic of what has time series, by path.
    """

    key: str
    series: int = 0
    air_mib: int = 0
    owners: dict[str, dict[str, str]] = field(default_factory=dict)

    def __call__(self, library: Library, teller: Teller) -> None:
        """Run and keep it."""
        if identity(self.scenario, seed=self.seed, replication=0) != self.key:
            message = (
                "a file that the scenario names was changed while the run waited: run it again"
            )
            raise ScenarioError([Issue("", message)])
        finished = run(
            self.scenario,
            seed=self.seed,
            probes=probes_of(self.scenario, self.series),
            progress=teller.progress,
            on_samples=teller.tell,
            trace=[library.air(self.key)] if self.air_mib else False,
            trace_options={"air.limit_mib": self.air_mib} if self.air_mib else {},
        )
        library.put(self.key, finished, name=self.name)


@dataclass(frozen=True)
class Explanation(Runs):
    """The runs that explain a flow of a run by its key; None is the slowest."""

    explains: str
    flow: str | None

    @property
    def key(self) -> str:
        """The key of the job."""
        return digest(f"why {self.explains} {self.flow}")

    def __call__(self, library: Library, teller: Teller) -> Any:  # noqa: ARG002
        """Return the explanation as the page shows it."""
        found = reasons.why(
            self.scenario, flow=self.flow, replications=REPLICATIONS, seed=self.seed,
            progress=teller.progress,
        )  # fmt: skip
        return finite(page.data(found))


@dataclass(frozen=True)
class Pairs(Runs):
    """Pairs of runs of two scenarios with the same random numbers, for two runs by their keys."""

    other: Scenario
    compares: tuple[str, str]

    @property
    def key(self) -> str:
        """The key of the job."""
        return pairs_key(*self.compares)

    def __call__(self, library: Library, teller: Teller) -> Any:  # noqa: ARG002
        """Return the comparison as the page shows it."""
        found = compare(self.scenario, self.other, replications=PAIRS, seed=self.seed,
                        progress=teller.progress)  # fmt: skip
        return finite({"caption": found.caption, "rows": found.to_dicts()})


def pairs_key(first: str, second: str) -> str:
    """Return the key of the job that compares two runs."""
    return digest(f"pairs {first} {second}")


def differing(first: Run, second: Run) -> dict[str, Any]:
    """Return the keys in which two runs differ, with both values, and their results in words."""
    paths = dict.fromkeys((*first.summary, *second.summary))
    # A name is said if it stands for the same in both.
    own, other = names_of(first.summary), names_of(second.summary)
    names = {place: name for place, name in own.items() if other.get(place, name) == name}
    return {
        "keys": changes.changed_keys(first.scenario, second.scenario),
        "words": {path: words(path, names) for path in paths},
    }


def probes_of(scenario: Scenario, most: int) -> list[str]:
    """Return the paths of the time series of a run, at most so many series."""
    known = {probe.path: probe.series for probe in scenario.probes()}
    chosen, count = [], 0
    for path in WANTED:
        if path in known and count + known[path] <= most:
            chosen.append(path)
            count += known[path]
    return chosen


def owners_of(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Return name and traffic of each flow, and the name of each station, by their paths."""
    tables = scenario.get("flows")
    found = {}
    for number, flow in enumerate(json.loads(scenario.core.flows())):
        table = tables[flow["table"]]
        traffic = table["traffic"]
        kind = next(iter(traffic)) if isinstance(traffic, dict) else traffic
        # Packets of voice at a constant rate are a call, too.
        kind = "call" if table.get("class") == "voice" and kind == "cbr" else kind
        found[f"flows[{number}]"] = {"name": str(flow["name"]), "kind": str(kind)}
    of_stations = stations(scenario).items()
    return {**found, **{f"stations[{n}]": {"name": name, "kind": ""} for name, n in of_stations}}


def accepted(
    draft: Draft, seed: int
) -> tuple[Scenario, str, dict[str, dict[str, str]]] | list[dict[str, Any]]:
    """Return the scenario of a draft, the key of its run and its owners, or its faults."""
    try:
        scenario = draft.scenario
        return scenario, identity(scenario, seed=seed, replication=0), owners_of(scenario)
    except ScenarioError as error:
        return issues_of(error, draft.text)


def results(run: Run) -> dict[str, Any]:
    """Return the results of a run as the page shows them."""
    return {
        "summary": finite(run.summary),
        "scenario": run.scenario.to_toml(),
        "owners": owners_of(run.scenario),
        "headline": headline(run.summary),
        "tables": [table.data() for table in shown(run)],
        "notices": told(run),
        "digest": run.digest,
        "events": run.events,
    }
