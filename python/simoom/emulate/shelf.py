"""What an emulation asks of the library that keeps its run, where `simoom serve` shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from simoom.base.lazy import door
from simoom.emulate.ports import Port
from simoom.results.run import Run
from simoom.scenario.scenario import Scenario


class Shelf(Protocol):
    """A library for runs of emulations."""

    def keep(self, original: Scenario, tape: Path, ports: Sequence[Port]) -> tuple[str, Run]:
        """Run the tape of an emulation of a scenario again, and keep the run with the tape.

        Returns
        -------
        tuple of str and Run
            Its key in the library, and the run.
        """


@door
def shelf_in(folder: Path) -> Shelf:
    """Return the library in a folder, which is created if it does not exist."""
    raise NotImplementedError
