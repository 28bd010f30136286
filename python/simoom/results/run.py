"""A single run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Event
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from simoom import _core
from simoom.base.arguments import callback, whole
from simoom.base.frames import np, pl
from simoom.base.issue import Issue, ScenarioError
from simoom.base.lazy import door
from simoom.base.patience import interruptible
from simoom.results.tables import rows, visible
from simoom.results.travel import Parcel, controllers, pack, sources
from simoom.scenario.address import AddressError, is_address, value
from simoom.scenario.observables import nearest, present
from simoom.scenario.scenario import Scenario, ScenarioLike, toml_settings
from simoom.trace.trace import Trace, TraceFilter, Tracing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from simoom.base.workers import Progress

Samples = Mapping[str, tuple["NDArray[np.float64]", "NDArray[np.float64]"]]
"""Times in seconds and values of each probe."""


class Summary(dict[str, Any]):
    """Values by path: numbers, texts, and None where nothing could be measured.

    The error of an unknown path suggests similar paths. A path may name elements,
    ``flows["download"].goodput_mbps`` (`simoom.scenario.address`). A former name of a path gives
    the value of the present one, with a warning.
    """

    def get(self, path: str, default: Any = None) -> Any:
        """Return the value at a path, if there is one."""
        if path not in self and is_address(path):
            try:
                return value(self, path)
            except AddressError:
                return default
        return super().get(present(path), default)

    def __missing__(self, path: str) -> Any:
        if is_address(path):
            return value(self, path)
        name = present(path)
        if name in self:
            return self[name]
        raise KeyError(_unknown(path, self))


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """The results of one run.

    Attributes
    ----------
    scenario : Scenario
        The scenario of the run.
    seed, replication : int
        The root of its random streams.
    summary : Summary
        Every measured value by path, ``flows[0].goodput_mbps``.
    digest : str
        A hash of what arrived when: the time and size of each packet that a radio delivers or that
        reaches the far end of one of ``[[links]]``, and in a cell without a radio begin and sender
        of each exchange. Runs with other digests differ. Runs with equal digests had the same
        arrivals; what reaches nobody (a discard, a loss, a beacon) is not in it, and
        ``benches/results.py`` compares all results.
    events : int
        How many events were dispatched, without those that only read the state for probes or for
        an agent: equal runs have equal counts. The result ``run.events`` has them all.
    simulated_s : float
        The simulated time at the end.
    trace : Trace or None
        Every frame, wait, packet and segment, of a run with ``trace=True``.
    """

    scenario: Scenario
    seed: int
    replication: int
    summary: Summary
    digest: str
    events: int
    simulated_s: float
    trace: Trace | None = None
    _series: Samples = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        done: _core.Run,
        scenario: Scenario,
        seed: int,
        replication: int,
        *,
        trace: Trace | None = None,
    ) -> Run:
        """Return the results of the simulator as those of a run.

        Returns
        -------
        Run
            The run.
        """
        latest = _latest(scenario)
        latest[0] = summary = Summary(done.summary(latest[0]))
        return cls(
            scenario=scenario,
            seed=seed,
            replication=replication,
            summary=summary,
            digest=f"{done.digest:016x}",
            events=done.events,
            simulated_s=done.simulated_s,
            trace=trace,
            _series=_samples(done.series),
        )

    @property
    def title(self) -> str:
        """The heading of a report."""
        return visible(str(self.scenario.get("title") or "A cell without a title"))

    @property
    def flows(self) -> list[dict[str, Any]]:
        """The values of each flow by the last part of their paths: ``goodput_mbps``."""
        return rows(self.summary, "flows")

    @property
    @door
    def notices(self) -> list[str]:
        """What misleads about these results, with the keys to change; see `simoom.results.notices`.

        The report has the first three.
        """
        raise NotImplementedError

    @property
    def probes(self) -> tuple[str, ...]:
        """Paths of the time series."""
        return tuple(self._series)

    def samples(self, path: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times in seconds and the values of a probe.

        Returns
        -------
        tuple of ndarray of float
            Times in seconds and values in the unit of the probe, both of one dimension and equal
            length.
        """
        if path not in self._series and is_address(path):
            path, *others = self.scenario.probe_paths(path)
            if others:
                raise KeyError(f"{path} is one of {len(others) + 1} probes of that name")
        if path not in self._series:
            hint = _unknown(path, self._series) if self._series else "this run has no probes"
            raise KeyError(f"{hint}; name it in run(..., probes=[{path!r}])")
        return self._series[path]

    def series(self, path: str) -> pl.DataFrame:
        """Return a probe's samples as a data frame with columns ``time_s`` and ``value``.

        Returns
        -------
        polars.DataFrame
            A row for each sample; the value has the unit of the probe.
        """
        time_s, value = self.samples(path)
        return pl.DataFrame({"time_s": time_s, "value": value})

    def frame(self) -> pl.DataFrame:
        """Return the summary as a data frame of one row; columns are paths.

        Returns
        -------
        polars.DataFrame
            One row; the columns are seed, replication and the paths of the results.
        """
        return pl.DataFrame([self.row()], infer_schema_length=None)

    def row(self) -> dict[str, Any]:
        """Return the summary with seed and replication.

        Returns
        -------
        dict of str to object
            Seed, replication and the values of all results by path.
        """
        return {"seed": self.seed, "replication": self.replication, **self.summary}

    @door
    def report(self, width: int = 100) -> str:
        """Return the report as text, as the command line prints it.

        Returns
        -------
        str
            The report; lines are at most `width` columns long.
        """
        raise NotImplementedError

    @door
    def timeline(self, *, limit_mib: int = 256) -> Any:
        """Return a widget for notebooks that shows every frame of the run; see `timeline`.

        The run is simulated again to trace it. The widget needs the package ``anywidget``.

        Returns
        -------
        Timeline
            The widget.
        """
        raise NotImplementedError

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return (
            f"Run(seed={self.seed}, replication={self.replication}, {len(self.summary)} values, "
            f"{len(self._series)} series, {self.simulated_s:g} s, digest={self.digest})"
        )


def run(
    scenario: ScenarioLike,
    *,
    seed: int = 1,
    replication: int = 0,
    probes: Iterable[str] = (),
    progress: Progress | None = None,
    on_samples: Callable[[Samples], object] | None = None,
    check: bool = False,
    trace: bool | str | Path | Iterable[str | Path] = False,
    trace_filter: TraceFilter = TraceFilter(),  # noqa: B008  it is immutable
    trace_options: Mapping[str, object] = MappingProxyType({}),
) -> Run:
    """Run a scenario.

    Equal scenario, seed and replication give bit-identical runs on every machine. Other Python
    threads continue during the run; Ctrl-C ends it.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario to run: a `Scenario`, its TOML file, or its keys.
    seed : int, optional
        The root of the random streams.
    replication : int, optional
        The number of the replication with this seed.
    probes : iterable of str, optional
        Paths whose time series are recorded, ``flows[0].control.window_segments``.
    progress : callable, optional
        Called about ten times a second with the completed fraction. An exception ends the run.
    on_samples : callable, optional
        Called as often with the times and the values of each probe since the last call.
    check : bool, optional
        Whether to check the laws of conservation during the run.
    trace : bool, path or iterable of paths, optional
        Whether to record every frame, wait, packet and segment as data frames in `Run.trace`, or
        the files into which they are written. The extension determines the format.
    trace_filter : TraceFilter, optional
        Which of them.
    trace_options : mapping, optional
        Options of the file formats, as ``{"pcapng.interfaces": "radios"}``.

    Returns
    -------
    Run
        The results, and with ``trace`` the trace of the run.

    Raises
    ------
    ScenarioError
        The scenario or a probe has faults; its ``issues`` lists all of them.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
    >>> sm.run(s, seed=7).digest == sm.run(s, seed=7).digest
    True
    """
    scenario = Scenario.of(scenario)
    callback(progress)
    if isinstance(probes, str):
        probes = (probes,)
    whole("seed", seed, bits=64)
    whole("replication", replication, bits=32)
    options = toml_settings(trace_options)
    with Tracing(scenario.core, trace, trace_filter, options) as tracing:
        probed, request, core = _probe_paths(scenario, probes), tracing.request, scenario.core

        def call(stop: Event) -> _core.Run:
            def report(done: float) -> None:
                if stop.is_set():
                    raise InterruptedError("the run was interrupted")
                # The first report follows the construction of the run, for the stop flag alone.
                if progress is not None and done > 0:
                    progress(done)

            look = None if on_samples is None else lambda rows: on_samples(_samples(rows))
            return _core.run(core, seed, replication, probed, report, check, request, look)

        done = interruptible(call)
    return Run.of(done, scenario, seed, replication, trace=tracing.trace)


def _probe_paths(scenario: Scenario, probes: Iterable[str]) -> list[str]:
    """Return the paths with indices of probes, each once; raise with the faults of all."""
    found: dict[str, None] = {}
    faults: list[Issue] = []
    for path in probes:
        try:
            found |= dict.fromkeys(scenario.probe_paths(path))
        except ScenarioError as error:
            faults += error.issues
    if faults:
        raise ScenarioError(faults)
    return list(found)


@dataclass(frozen=True)
class RunJob:
    """A job of a `Runner` that runs a scenario, with the parameters of `run`."""

    scenario: Scenario
    seed: int = 1
    replication: int = 0
    probes: tuple[str, ...] = ()
    check: bool = False
    sources: tuple[str, ...] = ()
    """Hashes of the sources of its controllers in Python, if they must be these."""

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        """Take the source of controllers along; see `simoom.results.travel`."""
        fields = tuple(vars(self).values())
        paths = controllers(self.scenario)
        return _arrive, (pack(paths) if paths else (), os.getpid(), fields)

    def __call__(self, progress: Progress | None = None) -> Run:
        """Run the scenario."""
        if self.sources and sources(self.scenario) != self.sources:
            message = "a controller in Python was edited while runs were started: start again"
            raise ScenarioError([Issue("flows", message)])
        arguments = {name: value for name, value in vars(self).items() if name != "sources"}
        return run(**arguments, progress=progress)


def _arrive(parcels: tuple[Parcel, ...], home: int, fields: tuple[Any, ...]) -> RunJob:
    """Return a job that another process has sent."""
    for parcel in parcels:
        parcel.unpack(home)
    return RunJob(*fields)


@lru_cache(maxsize=4)
def _latest(_scenario: Scenario) -> list[Summary | None]:
    """Return a place for the results of the latest run of a scenario: others have their paths."""
    return [None]


def _samples(rows: Iterable[tuple[str, bytes, bytes]]) -> Samples:
    rows = list(rows)
    if not rows:
        return {}
    return {path: (np.frombuffer(t), np.frombuffer(v)) for path, t, v in rows}


def _unknown(path: str, known: Iterable[str]) -> str:
    return f"there is no {path!r}{nearest(path, known)}"
