"""The run of an emulation in a library, where `simoom serve` shows it like any other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from simoom.emulate.ports import Port, Tape
from simoom.results.record import identity
from simoom.results.run import Run, run
from simoom.scenario.scenario import Scenario
from simoom.serve.drafts import Desk
from simoom.serve.library import Library
from simoom.serve.limits import Limits
from simoom.serve.tasks import probes_of


class Shelf:
    """A library for runs of emulations (`simoom.emulate.shelf`).

    Parameters
    ----------
    folder : Path
        Its folder; created if it does not exist.
    """

    def __init__(self, folder: Path) -> None:
        self._limits = Limits()
        self.library = Library(folder, Desk(Path.cwd(), controllers=True))

    def keep(self, original: Scenario, tape: Path, ports: Sequence[Port]) -> tuple[str, Run]:
        """Run the tape of an emulation of a scenario again, and keep the run with the tape.

        Returns
        -------
        tuple of str and Run
            Its key in the library, and the run.
        """
        told, kept = Tape.read(tape), self.library.keep_tape(tape)
        scenario = told.scenario_of(original, kept)
        key = identity(scenario, seed=told.seed, replication=told.replication)
        done = run(
            scenario,
            seed=told.seed,
            replication=told.replication,
            probes=probes_of(scenario, self._limits.series),
            trace=[self.library.air(key)],
            trace_options={"air.limit_mib": self._limits.air_mib},
        )
        programs = [port.command[0] for port in ports if port.command and not port.serves]
        name = f"emulation, {', '.join(Path(each).name for each in programs) or 'servers'}"
        self.library.put(key, done, name=name)
        return key, done
