"""Draw the pictures of runs for pages in docs/: `make docs`.

    python tools/air.py [NAME...]

Each is a stretch of a run of a file in ``scenarios/``, and has the name of the mechanism it shows.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import simoom as sm
from simoom import plots

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "air"


@dataclass(frozen=True)
class Picture:
    """A stretch of a scenario: where it begins and how long it is."""

    scenario: str
    start_s: float
    length_ms: float
    changes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def end_s(self) -> float:
        """When the stretch ends."""
        return self.start_s + self.length_ms / 1e3

    def run(self) -> sm.Run:
        """Run the scenario until the end of the stretch."""
        scenario = sm.Scenario.load(ROOT / "scenarios" / f"{self.scenario}.toml")
        for path, value in self.changes.items():
            scenario = scenario.set(path, value)
        short = scenario.set("warmup_s", 0.0).set("duration_s", self.end_s + 0.01)
        return sm.run(short, trace=True)

    def draw(self, path: Path) -> None:
        """Draw the stretch."""
        plots.save(plots.air(self.run(), self.start_s, self.end_s), path)


class Map(Picture):
    """A map of an ad-hoc network in the middle of a stretch."""

    def draw(self, path: Path) -> None:
        """Draw the map, with what the links carry in the stretch."""
        middle_s, window_s = (self.start_s + self.end_s) / 2, self.length_ms / 1e3
        plots.save(plots.network(self.run(), middle_s, window_s=window_s), path)


class Courses(Picture):
    """The routes of an ad-hoc network until the end of a stretch."""

    def draw(self, path: Path) -> None:
        """Draw the routes and their use."""
        plots.save(plots.route_courses(self.run()), path)


FEW = {"stations": 4, "flows[0].from": "sta0-1", "flows[1].to": "sta2-3"}
"""Few stations in the cell of the full-duplex scenario: two upload, two download."""

PICTURES = {
    "dcf": Picture("saturation_11b", 0.1212, 4.2, {"stations": 3}),
    "hidden_nodes": Picture("hidden_nodes", 0.1008, 7.0),
    "hidden_cell": Picture("hidden_cell", 3.2715, 12.0),
    "block_ack": Picture("block_ack", 0.1007, 4.4),
    "edca": Picture("edca", 0.6858, 4.2),
    "performance_anomaly": Picture("performance_anomaly", 0.1, 50.0),
    "full_duplex": Picture("full_duplex", 0.44476, 2.5, FEW),
    "neighbour_cell": Picture("neighbour_cell", 9.64, 5.0),
    "mobile_campus": Map("mobile_campus", 20.0, 2000.0),
    "mobile_campus_routes": Courses("mobile_campus", 0.0, 60_000.0),
}


def main(names: Sequence[str]) -> None:
    """Draw the pictures named, or all."""
    FOLDER.mkdir(exist_ok=True)
    for name, picture in PICTURES.items():
        if not names or name in names:
            picture.draw(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main(sys.argv[1:])
