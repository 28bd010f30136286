"""What runs give, for `results.py`: results, traces in each format, reports in each form.

All is made by the package and the extension of this tree, in several processes. A trace is that of
a short stretch of a run, from its beginning where `STRETCHES` says nothing else. Pictures take most
of the time of a page, and are compared for the scenarios of `PICTURED`. The version of Simoom is
taken out of pages. Pictures depend on the version of Matplotlib, all else on Simoom alone.
"""

from __future__ import annotations

import hashlib
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from unittest.mock import patch

import instructions
import random_scenarios

if TYPE_CHECKING:
    from simoom import Scenario

ROOT = Path(__file__).resolve().parent.parent
STRETCH_S = 0.2
"""The length of the stretch that is traced, in simulated seconds."""
STRETCHES = {"roaming": 25.2, "mobile_campus": 20.0, "adhoc_50": 10.0}
"""Where the stretch begins, in simulated seconds: here a handover, and routes that break."""
TRACED = 100
"""The random scenarios, from the first, of which there are traces."""
PICTURED = ("adhoc_50", "bluetooth", "cafe", "dumbbell", "full_duplex", "http_window", "roaming")
"""The scenario files whose pages are compared with their pictures."""
FURTHER = {
    "power_save": ("one_station", "wlan.beacons={}", "stations.power_save={legacy={}}"),
    "ps_poll": (
        "one_station",
        "wlan.beacons={}",
        'stations.power_save={legacy={retrieval="ps_poll"}}',
    ),
    "u_apsd": ("edca", "wlan.beacons={}", "stations.power_save={u_apsd={max_sp_frames=2}}"),
    "twt": ("ofdma", "wlan.beacons={}", "stations.power_save={twt={announced=true}}"),
    "bar_chain": ("ofdma", 'wlan.mu.acknowledgement="bar_chain"', 'wlan.mu.protection="mu_rts"'),
    "narrower": ("punctured", "ap.punctured=[]", 'wlan.bandwidth_operation="dynamic"'),
    "puncturing": ("punctured", "ap.punctured=[]", 'wlan.bandwidth_operation="punctured"'),
    "he_puncturing": (
        "punctured",
        'standard="11ax"',
        "wlan.mu={uplink={access_interval_us=1000}}",
        "ap.punctured=[]",
        'wlan.bandwidth_operation="punctured"',
    ),
    "reuse_group": (
        "spatial_reuse",
        "wlan.spatial_reuse.srg=[{bss_colors=[1,2],obss_pd_dbm=-72,obss_pd_min_dbm=-72}]",
    ),
}
"""Runs of what no scenario file has: a scenario file and what is set in it."""
LIBRARIES = ("lib_core.so", "lib_core.dylib", "_core.dll")
"""Names of the extension, by system."""

RESULTS = ("digest", "values", "series")
FORMATS = ("txt", "pcapng", "pftrace", "air")
TRACE = (*FORMATS, "columns")
REPORT = ("terminal", "html", "json", "notebook")

Found = dict[str, Any]
"""What a run gave, by part: bytes, a short text, or values by their paths."""


class Input(NamedTuple):
    """What is run: a scenario file, and what is set in it."""

    file: Path
    sets: tuple[str, ...] = ()


def inputs(folder: Path) -> dict[str, Input]:
    """Return the input of each run, by name; writes random scenarios to a folder."""
    files = {
        f"scenarios/{path.stem}": Input(path) for path in sorted(ROOT.glob("scenarios/*.toml"))
    }
    fixed = {
        f"fixed/{name}": Input(ROOT / scenario, tuple(sets))
        for name, (scenario, *sets) in instructions.RUNS.items()
    }
    random = {f"random/{path.stem}": Input(path) for path in random_scenarios.write(folder)}
    shown = files | {
        f"further/{name}": Input(ROOT / "scenarios" / f"{scenario}.toml", tuple(sets))
        for name, (scenario, *sets) in FURTHER.items()
    }
    traced = shown | dict(list(random.items())[:TRACED])
    return (
        files
        | fixed
        | random
        | {f"trace/{name}": made for name, made in traced.items()}
        | {f"report/{name}": made for name, made in shown.items()}
    )


def parts(name: str) -> tuple[str, ...]:
    """Return what is compared of a run."""
    return {"trace": TRACE, "report": REPORT}.get(name.split("/", maxsplit=1)[0], RESULTS)


def build(profile: str) -> Path:
    """Build the extension and return its path."""
    command = ["cargo", "build", "--profile", profile, "--locked", "--quiet", "-p", "simoom-py"]
    subprocess.run(command, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    folder = target / {"dev": "debug"}.get(profile, profile)
    return next(folder / name for name in LIBRARIES if (folder / name).exists())


def run_all(wanted: dict[str, Input], core: Path) -> Iterator[tuple[str, Found]]:
    """Execute the runs and return what they gave, in the same order."""
    context = get_context("spawn")
    with ProcessPoolExecutor(os.cpu_count(), context, initializer=use, initargs=(core,)) as pool:
        found = pool.map(found_of, wanted, wanted.values(), chunksize=4)
        yield from zip(wanted, found, strict=True)


def use(core: Path) -> None:
    """Import Simoom from this tree, with this extension."""
    loader = importlib.machinery.ExtensionFileLoader("simoom._core", str(core))
    spec = importlib.util.spec_from_file_location("simoom._core", core, loader=loader)
    assert spec is not None
    sys.path.insert(0, str(ROOT / "python"))
    sys.modules["simoom._core"] = importlib.util.module_from_spec(spec)
    loader.exec_module(sys.modules["simoom._core"])


def found_of(name: str, given: Input) -> Found:
    """Return what a run gives; the values of a refused run are the paths of its issues."""
    from simoom import Scenario, ScenarioError

    kind, last = name.split("/", maxsplit=1)[0], name.rsplit("/", maxsplit=1)[-1]
    try:
        scenario = Scenario.load(given.file)
        for setting in given.sets:
            scenario = scenario.set_text(*setting.split("=", 1))
        scenario.check()
        if kind == "trace":
            return trace(scenario, STRETCHES.get(last, 0.0))
        if kind == "report":
            return report(scenario, pictured=last in PICTURED)
        return results(scenario)
    except ScenarioError as error:
        return {"digest": "refused", "values": refusal(issue.path for issue in error.issues)}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  a panic of the core is no Exception
        return {"digest": "failed", "values": {type(error).__name__: str(error)}}


def refusal(paths: Iterable[str]) -> dict[str, str]:
    """Return the paths of issues with their counts."""
    return {path: str(count) for path, count in Counter(paths).items()}


def results(scenario: Scenario) -> Found:
    """Return every result, and a hash of each time series."""
    from simoom import run

    done = run(scenario, probes=[probe.path for probe in scenario.probes()])
    series = {path: hash_of_series(*done.samples(path)) for path in done.probes}
    values = {path: repr(value) for path, value in done.summary.items()}
    return {"digest": done.digest, "values": values, "series": series}


def hash_of_series(time_s: Any, value: Any) -> str:
    """Return the number of samples, and a hash of them to the last bit."""
    import numpy as np

    # NaN has many bit patterns, and one meaning.
    value = np.where(np.isnan(value), np.nan, value)
    hashed = hashlib.sha256(time_s.tobytes() + value.tobytes())
    return f"{len(time_s)} {hashed.hexdigest()[:16]}"


def trace(scenario: Scenario, start_s: float) -> Found:
    """Return a trace in each format, and its columns as CSV."""
    import polars as pl

    from simoom import TraceFilter, run

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = [folder / f"trace.{kind}" for kind in (*FORMATS, "parquet")]
        run(scenario, trace=files, trace_filter=TraceFilter(start_s, start_s + STRETCH_S))
        found: Found = {
            kind: b"".join(path.read_bytes() for path in sorted(folder.glob(f"*.{kind}")))
            for kind in FORMATS
        }
        tables = [
            f"{path.suffixes[0]}\n{pl.read_parquet(path).write_csv()}"
            for path in sorted(folder.glob("*.parquet"))
        ]
    return found | {"columns": "".join(tables).encode()}


def report(scenario: Scenario, *, pictured: bool) -> Found:
    """Return the report of a run in each form."""
    from importlib.metadata import version

    from simoom import run
    from simoom.base import pages
    from simoom.base.files import finite
    from simoom.scenario.observables import default_probes
    from simoom.show.report import page, text

    done = run(scenario, probes=default_probes(scenario))
    undrawn = patch.object(pages, "embedded", lambda _figure: "")
    with nullcontext() if pictured else undrawn:
        html = page(done)
    return {
        "terminal": text(done, width=80).encode(),
        "html": html.replace(f"Simoom {version('simoom')}", "Simoom").encode(),
        "json": json.dumps(finite(done.summary), indent=2, ensure_ascii=False).encode(),
        "notebook": done._repr_html_().encode(),
    }
