"""What can be taken from a run: files that are made when they are asked for.

Results and time series are in the library. A report, a picture and a capture need more than it
keeps: the run is simulated again, since equal scenarios and seeds give equal runs.
"""

from __future__ import annotations

import csv
import io
import secrets
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simoom import plots
from simoom.base.needs import Later
from simoom.results.run import Run, run
from simoom.results.tables import Value
from simoom.scenario.observables import default_probes, unit_of
from simoom.serve.library import Library
from simoom.serve.sweeps import Sweeps

if TYPE_CHECKING:
    from simoom.show import report
else:
    report = Later("simoom.show.report")

FILES = {
    "report.html": "text/html; charset=utf-8",
    "report.png": "image/png",
    "report.svg": "image/svg+xml",
    "captures.zip": "application/zip",
    "summary.csv": "text/csv; charset=utf-8",
    "series.csv": "text/csv; charset=utf-8",
    "scenario.toml": "application/toml; charset=utf-8",
}
"""The files of a run, with their media types."""
SWEEP_FILES = {
    "points.csv": "text/csv; charset=utf-8",
    "runs.csv": "text/csv; charset=utf-8",
    "sweep.png": "image/png",
    "sweep.svg": "image/svg+xml",
}
"""The files of a sweep: a result at each point, all results of all runs, and its picture."""


def kept(found: Run, series: Mapping[str, Any], name: str) -> bytes | None:
    """Return a file that is made from what the library keeps; None if it needs a run."""
    match name:
        case "scenario.toml":
            return found.scenario.to_toml().encode()
        case "summary.csv":
            return summary(found.summary).encode()
        case "series.csv":
            rows = [(path, t, v) for path, pair in series.items()
                    for t, v in zip(pair["t"], pair["v"], strict=False)]  # fmt: skip
            return _csv(("path", "time_s", "value"), rows).encode()
    return None


def summary(results: Mapping[str, Value]) -> str:
    """Return results as CSV, with the unit of each.

    Examples
    --------
    >>> print(summary({"total.goodput_mbps": 2.5}), end="")
    path,value,unit
    total.goodput_mbps,2.5,Mb/s
    """
    rows = [(path, "" if value is None else value, unit_of(path))
            for path, value in results.items()]  # fmt: skip
    return _csv(("path", "value", "unit"), rows)


def _csv(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(headings)
    writer.writerows(rows)
    return buffer.getvalue()


def made(found: Run, name: str, folder: Path) -> Path:
    """Simulate a run again and write one of its files into a folder; return its path."""
    path = _place(name, folder)
    options: dict[str, Any] = {"seed": found.seed, "replication": found.replication}
    if name == "captures.zip":
        # A capture has a file for each interface.
        with tempfile.TemporaryDirectory(dir=folder) as own:
            run(found.scenario, **options, trace=[Path(own) / "run.pcapng"])
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed:
                for file in sorted(Path(own).iterdir()):
                    packed.write(file, file.name)
        return path
    again = run(found.scenario, **options, probes=default_probes(found.scenario))
    if name == "report.html":
        path.write_text(report.page(again), encoding="utf-8")
    elif name == "report.svg":
        path.write_bytes(plots.svg(plots.overview(again)))
    else:
        plots.save(plots.overview(again), path)
    return path


def swept(library: Library, key: str, result: str, name: str) -> Path:
    """Write one of the files of a sweep into the folder of exports; return its path.

    Parameters
    ----------
    library : Library
        The library.
    key, result, name : str
        The key of the sweep, the result that is written or drawn, and the file.
    """
    path = _place(name, library.folder / "exports")
    done = Sweeps(library).sweep(key)
    if name == "runs.csv":
        rows = [{**point.settings, **run.row()} for point in done.points
                for run in point.replications]  # fmt: skip
        path.write_text(_table(rows), encoding="utf-8")
    elif name == "points.csv":
        path.write_text(_table(done.means(result)), encoding="utf-8")
    else:
        axes = list(done.over)
        figure = done.plot(x=axes[0], y=result, hue=axes[1] if axes[1:] else None)
        if name == "sweep.svg":
            path.write_bytes(plots.svg(figure))
        else:
            plots.save(figure, path)
    return path


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    headings = list(dict.fromkeys(path for row in rows for path in row))
    return _csv(headings, ([row.get(path) for path in headings] for row in rows))


def _place(name: str, folder: Path) -> Path:
    """Return a path at which no other request writes."""
    folder.mkdir(exist_ok=True)
    return folder / f"{secrets.token_hex(8)}.{name}"
