"""``simoom sweep``."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from simoom import plots
from simoom.base.files import finite, write_frame
from simoom.base.frames import pl
from simoom.base.issue import ArgumentError, LostWorkerError
from simoom.base.needs import need
from simoom.base.workers import WorkerProcesses
from simoom.cli.api import Source, from_api
from simoom.cli.points import Design, OverOption, PointsFrom, PointsOption, read_over
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    AsJson,
    InputError,
    Quiet,
    check_range,
    console,
    directory,
    make_directory,
    progress_bar,
    say,
    told,
)
from simoom.cli.until import UntilOption, read_until, refused_results
from simoom.runs.axes import points
from simoom.runs.sweep import Sweep
from simoom.runs.sweep import sweep as run_sweep
from simoom.scenario.observables import check_path, present
from simoom.scenario.scenario import Scenario
from simoom.show.sweep_table import table
from simoom.store.shards import read_shard

GROUPS = tuple(f"flows[*].{name}" for name in ("name", "from", "to", "goodput_mbps"))
"""The results that sums over groups of flows need."""
CONNECT_S = 10
"""The wait for a scheduler of Dask."""
DEFAULT_RESULTS = ("total.goodput_mbps",)
Axes = dict[str, Any] | list[dict[str, Any]]


ResultsOption = Annotated[
    list[str],
    typer.Option(
        "--mean",
        metavar="PATH",
        help="Print the mean of this result; the default is total.goodput_mbps. Repeatable.",
    ),
]
Processes = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Run in this number of processes, not in threads: for controllers written in Python.",
    ),
]
DaskOption = Annotated[
    str | None,
    typer.Option(
        "--dask",
        metavar="ADDRESS",
        help="Run on the cluster of this scheduler of Dask, tcp://HOST:8786.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=directory,
        help="Write all runs (runs.csv, runs.parquet), the means (means.csv) and a plot of "
        "each result against the first axis (sweep.RESULT.png and .svg) into this directory.",
    ),
]


EXAMPLES = (
    "simoom sweep one_station --over wire.delay_ms=5,50 -n 5",
    "simoom sweep performance_anomaly --over 'stations[1].rate_mbps=1,2,5.5,11' -n 3 --out rates",
    "simoom sweep one_station --over 'flows[*].control=cubic,bbr' --until '5 %' --store kept",
)
"""The end of the help."""


@from_api("sweep")
def sweep(
    source: Source,
    over: OverOption = [],  # noqa: B006
    design: Design = "grid",
    points: PointsOption = None,
    points_from: PointsFrom = None,
    until: UntilOption = [],  # noqa: B006
    results: ResultsOption = [],  # noqa: B006
    processes: Processes = 0,
    dask: DaskOption = None,
    as_json: AsJson = False,
    out: Out = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Run replications of a scenario at every combination of some values."""
    check_range("--processes", processes, bits=16)
    if dask is not None and processes:
        raise InputError("--dask: has workers of its own; leave out --processes")
    targets = read_until(until, given["max_replications"])
    store, shard = given["store"], given["shard"]
    if shard is not None:
        _check_shard(shard, store, {"--until": until, "--out": out, "--json": as_json,
                                    "--mean": results})  # fmt: skip
    axes = read_over(over, design, points, points_from, seed=given["seed"])
    chosen = read_results(results)
    scenario = source.load(axes if isinstance(axes, dict) else axes[0])
    runs = _runs(axes, given["replications"]) if targets is None and shard is None else 0
    for folder in (out, None if store is None or "://" in store else directory(store)):
        if folder is not None:
            make_directory(folder)
    with (
        told(),
        refused_results("--until"),
        _continued(store),
        _workers(processes) if dask is None else _cluster(dask) as executor,
        progress_bar("sweep", quiet=quiet, runs=runs) as progress,
    ):
        done = run_sweep(
            scenario,
            over=axes,
            until=targets,
            keep=None if out is not None else needed(scenario, axes, chosen, groups=not results),
            executor=executor,
            progress=progress,
            **given,
        )
    if shard is not None:
        if not quiet:
            print(f"shard {shard}: {len(done)} runs in {store}")
        return
    _report(done, chosen, out, as_json=as_json, quiet=quiet, groups=not results)


def _runs(axes: Axes, replications: int) -> int:
    """Return the number of runs of a whole sweep."""
    return replications * len(points(axes).settings)


def read_results(texts: Sequence[str]) -> list[str]:
    """Return the results of ``--mean`` by their present names, or refuse one that no run has."""
    found = [present(path) for path in texts or DEFAULT_RESULTS]
    for path in found:
        try:
            check_path("--mean", path)
        except (ValueError, KeyError) as error:
            raise InputError(str(error)) from None
    return found


def needed(scenario: Scenario, axes: Axes, chosen: Sequence[str], *, groups: bool) -> list[str]:
    """Return the results of which the table is made: a large sweep has no room for others."""
    paths = list(axes) if isinstance(axes, dict) else list(axes[0])
    several = len(scenario.to_dict()["flows"]) > 1
    several = several or any(path.startswith("flows") for path in paths)
    return [*chosen, *(GROUPS if groups and several else ())]


def _report(
    done: Sweep,
    chosen: Sequence[str],
    out: Path | None,
    *,
    as_json: bool,
    quiet: bool,
    groups: bool,
) -> None:
    """Print the means, and write the results into a directory."""
    means = _means(done, chosen)
    if as_json:
        _print_json(means)
    elif not quiet:
        _print(done, means, groups=groups)
    if out is not None:
        pictures = _write(done, chosen, out)
        if not quiet and not as_json:
            say(f"wrote runs.csv, runs.parquet, means.csv, {', '.join(pictures)} to {out}/")


@contextmanager
def _continued(store: str | None) -> Iterator[None]:
    """Say after an interrupt where the runs so far are."""
    try:
        yield
    except (KeyboardInterrupt, LostWorkerError):
        if store is not None:
            say(f"completed runs are in {store}/: the same command continues the sweep")
        else:
            say("completed runs are lost; --store FOLDER keeps them, and continues the sweep")
        raise


def _check_shard(shard: str, store: str | None, others: dict[str, object]) -> None:
    """Refuse a shard without a store, and options about the results of all runs."""
    try:
        read_shard(shard)
    except ArgumentError as error:
        raise InputError(f"--shard {shard}: {error.said}") from None
    if not store:
        raise InputError("--shard: needs --store, which keeps its runs until they are merged")
    for option, value in others.items():
        if value:
            raise InputError(f"--shard: not with {option}, which is about the runs of all shards")


@contextmanager
def _workers(processes: int) -> Iterator[Executor | None]:
    """Open an executor of processes; without processes the sweep uses its default."""
    if not processes:
        yield None
        return

    pool = WorkerProcesses(processes)
    try:
        yield pool
    finally:
        # After a sweep that is complete they are idle.
        pool.kill()


@contextmanager
def _cluster(address: str) -> Iterator[Executor]:
    """Connect to a cluster of Dask, or refuse its address."""
    if re.fullmatch(r"(tcp|tls|wss?)://.+:\d+", address) is None:
        raise InputError(f"--dask {address}: write the address of a scheduler, tcp://HOST:8786")
    distributed = need("distributed", "--dask")
    # What concerns the user is raised.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = distributed.Client(address, timeout=CONNECT_S, set_as_default=False)
    except OSError:
        message = f"no scheduler of Dask answers within {CONNECT_S} s"
        raise InputError(f"--dask {address}: {message}; is it tcp://HOST:8786?") from None
    with client:
        yield client.get_executor()


Means = dict[str, list[dict[str, Any]]]
"""Return for each result a row for each point: the axes, the mean and its interval."""


def _means(done: Sweep, chosen: Sequence[str]) -> Means:
    try:
        return {path: done.means(path) for path in chosen}
    except (KeyError, TypeError) as error:
        raise InputError(f"--mean: {error.args[0]}") from None


def _print_json(means: Means) -> None:
    # JSON has no infinity, and a single run has no interval.
    print_json(finite(means))


def _print(done: Sweep, means: Means, *, groups: bool) -> None:

    screen = console()
    screen.print(table(done, means, screen.width, groups=groups))


def _write(done: Sweep, chosen: Sequence[str], out: Path) -> list[str]:
    """Write the results of a sweep, and return the names of the pictures."""
    frame = done.frame()
    write_frame(out / "runs.csv", frame)
    write_frame(out / "runs.parquet", frame)
    parts = [done.mean(path).with_columns(pl.lit(path).alias("result")) for path in chosen]
    write_frame(out / "means.csv", pl.concat(parts, how="vertical_relaxed"))
    x = next(iter(done.over))
    pictures = [
        plots.save_both(done.plot(x=x, y=path), out, plots.file_name("sweep", path))
        for path in chosen
    ]
    return [name for names in pictures for name in names]
