"""Runs: one, or many replications on all cores."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from simoom import _core
from simoom.futures import as_they_end
from simoom.scenario import Scenario
from simoom.stats import Estimate, mean_ci
from simoom.tables import Row, Value, rows

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

Progress = Callable[[float], object]


class Summary(dict[str, Value]):
    """Values by path; a path that is not there is answered with those that come close."""

    def __missing__(self, path: str) -> Value:
        raise KeyError(_unknown(path, self))


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """What one run measured.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    seed, replication : int
        The root of its random streams.
    summary : Summary
        Every measured value by path, ``flows[0].goodput_mbps``.
    digest : str
        A hash of all that happened: equal digests, equal runs.
    events : int
        How many events were dispatched.
    simulated_s : float
        How far the simulated time went.
    """

    scenario: Scenario
    seed: int
    replication: int
    summary: Summary
    digest: str
    events: int
    simulated_s: float
    _series: Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(
        default_factory=dict
    )

    @property
    def title(self) -> str:
        """What a report is headed with."""
        return str(self.scenario.get("title") or "A cell without a title")

    @property
    def flows(self) -> list[Row]:
        """What the summary says of each flow, by the end of the path: ``goodput_mbps``."""
        return rows(self.summary, "flows")

    @property
    def probes(self) -> tuple[str, ...]:
        """Paths of the time series."""
        return tuple(self._series)

    def samples(self, path: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the times in seconds and the values of a probe."""
        if path not in self._series:
            hint = _unknown(path, self._series) if self._series else "this run has no probes"
            raise KeyError(f"{hint}; name it in run(..., probes=[{path!r}])")
        return self._series[path]

    def series(self, path: str) -> pl.DataFrame:
        """Return a probe's samples as a data frame with columns ``time_s`` and ``value``."""
        import polars as pl

        time_s, value = self.samples(path)
        return pl.DataFrame({"time_s": time_s, "value": value})

    def frame(self) -> pl.DataFrame:
        """Return the summary as a data frame of one row; columns are paths."""
        import polars as pl

        return pl.DataFrame([self.row()], infer_schema_length=None)

    def row(self) -> dict[str, Value]:
        """Return the summary with the seed and replication it belongs to."""
        return {"seed": self.seed, "replication": self.replication, **self.summary}

    def report(self, width: int = 100) -> str:
        """Return the tables that a person wants to read."""
        from simoom.report import text

        return text(self, width=width)

    def __repr__(self) -> str:
        return (
            f"Run(seed={self.seed}, replication={self.replication}, {len(self.summary)} values, "
            f"{len(self._series)} series, {self.simulated_s:g} s, digest={self.digest})"
        )


def run(
    scenario: Scenario,
    *,
    seed: int = 1,
    replication: int = 0,
    probes: Iterable[str] = (),
    progress: Progress | None = None,
    check: bool = False,
) -> Run:
    """Run a scenario.

    Equal scenario, seed and replication give an equal run, bit by bit, anywhere. Other Python
    threads go on during the run; Ctrl-C ends it.

    Parameters
    ----------
    scenario : Scenario
        What to run.
    seed : int, optional
        Root of the random streams.
    replication : int, optional
        Which of the independent runs with this seed.
    probes : iterable of str, optional
        Paths of which time series are wanted, ``flows[0].control.window_segments``.
    progress : callable, optional
        Called some ten times a second with the fraction that is done. An exception ends the run.
    check : bool, optional
        Whether to hold the run against the laws of conservation all the time.

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
    if isinstance(probes, str):
        probes = (probes,)
    whole("seed", seed, bits=64)
    whole("replication", replication, bits=32)
    done = _core.run(scenario.core, seed, replication, list(probes), progress, check)
    series = {path: (np.frombuffer(t), np.frombuffer(v)) for path, t, v in done.series}
    return Run(
        scenario=scenario,
        seed=seed,
        replication=replication,
        summary=Summary(done.summary),
        digest=f"{done.digest:016x}",
        events=done.events,
        simulated_s=done.simulated_s,
        _series=series,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Replications:
    """Independent runs of one scenario, in order of replication."""

    scenario: Scenario
    runs: tuple[Run, ...]

    def frame(self) -> pl.DataFrame:
        """Return a tidy data frame: a row a run; columns are paths."""
        import polars as pl

        return pl.DataFrame([run.row() for run in self.runs], infer_schema_length=None)

    def values(self, path: str) -> list[float]:
        """Return the number at a path, run by run; NaN where a run had nothing to measure."""
        known = Summary((key, value) for run in self.runs for key, value in run.summary.items())
        if isinstance(known[path], str):
            raise TypeError(f"{path}: is text, {known[path]!r}, and no number")
        found = (run.summary.get(path) for run in self.runs)
        return [float(value) if isinstance(value, (int, float)) else math.nan for value in found]

    def mean(self, path: str, *, confidence: float = 0.95) -> Estimate:
        """Estimate the mean of the number at a path over the runs that have one (`n` of them)."""
        measured = [value for value in self.values(path) if not math.isnan(value)]
        if not measured:
            raise ValueError(f"{path}: no run had anything to measure")
        return mean_ci(measured, confidence=confidence)

    def __len__(self) -> int:
        return len(self.runs)

    def __iter__(self) -> Iterator[Run]:
        return iter(self.runs)

    def __getitem__(self, replication: int) -> Run:
        return self.runs[replication]

    def __repr__(self) -> str:
        first = self.runs[0]
        return (
            f"Replications({len(self.runs)} runs, seed={first.seed}, "
            f"{len(first.summary)} values each)"
        )


def replicate(
    scenario: Scenario,
    *,
    replications: int = 10,
    seed: int = 1,
    probes: Iterable[str] = (),
    executor: Executor | None = None,
    progress: Progress | None = None,
    check: bool = False,
) -> Replications:
    """Run a scenario many times, independently, on all cores.

    The result is the same however many workers there are.

    Parameters
    ----------
    scenario : Scenario
        What to run.
    replications : int, optional
        How many runs.
    seed : int, optional
        Root of the random streams of all runs.
    probes : iterable of str, optional
        Paths of which time series are wanted.
    executor : concurrent.futures.Executor, optional
        Where to run; without it, a thread for each core, as runs do not hold the GIL.
    progress : callable, optional
        Called after each run with the fraction of runs that is done.
    check : bool, optional
        Whether to hold the runs against the laws of conservation.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
    >>> len(sm.replicate(s, replications=4))
    4
    """
    whole("replications", replications, bits=32)
    if replications == 0:
        raise ValueError("replications: must be at least 1, is 0")
    probes = (probes,) if isinstance(probes, str) else tuple(probes)
    scenario.check()
    wanted = [(scenario, replication) for replication in range(replications)]
    runs: list[Run | None] = [None] * replications
    with closing(run_all(wanted, seed=seed, probes=probes, executor=executor, check=check)) as done:
        for count, (number, result) in enumerate(done, start=1):
            runs[number] = result
            if progress is not None:
                progress(count / replications)
    return Replications(scenario, tuple(result for result in runs if result is not None))


def run_all(
    wanted: Sequence[tuple[Scenario, int]],
    *,
    seed: int = 1,
    probes: tuple[str, ...] = (),
    executor: Executor | None = None,
    check: bool = False,
    told: Callable[[int], str] = "replication {}".format,
) -> Generator[tuple[int, Run], None, None]:
    """Run scenarios, each with its replication; yield each number and run as it ends.

    The first exception of any, Ctrl-C, or closing this generator ends all runs; those that have
    ended by then have been yielded before. `told` says in an exception which run it was.
    """
    options: dict[str, Any] = {"seed": seed, "probes": probes, "check": check}
    stop = threading.Event()
    own = None
    if executor is None:
        executor = own = ThreadPoolExecutor(cores(), "simoom")
        options["progress"] = partial(_attend, stop)
    futures: dict[Future[Run], int] = {}
    try:
        for number, (scenario, replication) in enumerate(wanted):
            future = executor.submit(run, scenario, replication=replication, **options)
            futures[future] = number
        yield from _results(futures, told)
    finally:
        stop.set()
        for future in futures:
            future.cancel()
        if own is not None:
            own.shutdown(wait=True)


def _attend(stop: threading.Event, _: float) -> None:
    if stop.is_set():
        raise InterruptedError("another run failed or was interrupted")


def _results(
    futures: Mapping[Future[Run], int], told: Callable[[int], str]
) -> Iterator[tuple[int, Run]]:
    waiting = dict(futures)
    for future in as_they_end(futures):
        number = waiting.pop(future)
        error = future.exception()
        if error is None:
            yield number, future.result()
            continue
        # Of those that ended together the good ones go first, and none of them is lost.
        for other, its in waiting.items():
            if other.done() and not other.cancelled() and other.exception() is None:
                yield its, other.result()
        error.add_note(f"in {told(number)}")
        raise error


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def whole(name: str, value: int, *, bits: int) -> None:
    """Refuse what is no whole number that fits."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name}: must be a whole number, is {value!r}")
    if not 0 <= value < 1 << bits:
        raise ValueError(f"{name}: must be in [0, 2**{bits}), is {value}")


def _unknown(path: str, known: Iterable[str]) -> str:
    close = get_close_matches(path, list(known), n=3, cutoff=0.5)
    hint = f"; the nearest are {', '.join(close)}" if close else ""
    return f"there is no {path!r}{hint}"


def airtime(
    standard: str,
    *,
    psdu_bytes: int,
    mpdus: int | None = None,
    rate_mbps: float | None = None,
    short_preamble: bool = False,
    band_ghz: float | None = None,
    mcs: int | None = None,
    streams: int | None = None,
    width_mhz: int | None = None,
    guard_ns: int | None = None,
    coding: str | None = None,
    ltf: str | None = None,
    extended_range: bool = False,
    packet_extension_us: int | None = None,
    timing: str | None = None,
) -> dict[str, float]:
    """Return the parts of a PPDU and how long each lasts, in microseconds.

    Parameters
    ----------
    standard : str
        ``"11b"``, ``"11a"``, ``"11g"``, ``"11n"``, ``"11ac"`` or ``"11ax"``.
    psdu_bytes : int
        Length of the PSDU, MAC header and FCS included; of each MPDU if there are `mpdus`.
    mpdus : int, optional
        How many MPDUs an A-MPDU holds.
    rate_mbps : float, optional
        Rate of a frame without MCS: of all in 11b, 11a and 11g, by default the highest; of control
        frames later.
    short_preamble : bool, optional
        Whether DSSS and CCK frames have the short preamble.
    band_ghz : float, optional
        2.4 or 5; by default 2.4 for 11b and 11g and 5 for all others.
    mcs : int, optional
        MCS index within a stream, or 11n's from 8 to 31; by default the highest.
    streams, width_mhz, guard_ns : int, optional
        Spatial streams, bandwidth and guard interval; by default 1, 20 and 800.
    coding : str, optional
        ``"bcc"`` or ``"ldpc"``; by default BCC where the mode has it.
    ltf : str, optional
        HE-LTF type of 11ax, ``"1x"``, ``"2x"`` or ``"4x"``; by default 2x, and 4x with 3200 ns.
    extended_range : bool, optional
        Whether a PPDU of 11ax has extended range (HE ER SU).
    packet_extension_us : int, optional
        Packet extension of 11ax: 0, 4, 8, 12 or 16; by default 0.
    timing : str, optional
        ``"standard"``, or ``"ns3"`` for its durations where they depart from the standard's.

    Examples
    --------
    >>> import simoom as sm
    >>> sm.airtime("11b", psdu_bytes=14, rate_mbps=2)["total_us"]
    248.0
    >>> sm.airtime("11ac", psdu_bytes=1538, mpdus=32, mcs=8, guard_ns=400)["total_us"]
    4604.0
    """
    numbers = {
        "mpdus": mpdus,
        "mcs": mcs,
        "streams": streams,
        "width_mhz": width_mhz,
        "guard_ns": guard_ns,
        "packet_extension_us": packet_extension_us,
    }
    for name, value in {"psdu_bytes": psdu_bytes, **numbers}.items():
        if value is not None:
            whole(name, value, bits=64)
    parts = _core.airtime(
        standard,
        psdu_bytes,
        **numbers,
        rate_mbps=rate_mbps,
        short_preamble=short_preamble,
        band_ghz=band_ghz,
        coding=coding,
        ltf=ltf,
        extended_range=extended_range,
        timing=timing,
    )
    return dict(parts)
