"""``simoom run``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simoom.base.files import finite
from simoom.base.needs import Later
from simoom.cli.api import Source, from_api
from simoom.cli.streams import print_json
from simoom.cli.terminal import (
    AsJson,
    InputError,
    Quiet,
    console,
    directory,
    make_directory,
    progress_bar,
    say,
)
from simoom.cli.trace import (
    TraceFlows,
    TraceFrom,
    TraceNodes,
    Traces,
    TraceSettings,
    TraceTo,
    check_traces,
    names_of,
    stretch,
    trace_faults_by_option,
)
from simoom.cli.until import (
    MaxReplications,
    RepeatOptions,
    UntilOption,
    read_until,
    refuse_with_until,
    run_until,
)
from simoom.results.run import run as simulate
from simoom.scenario.observables import DEFAULT_PROBES, default_probes
from simoom.trace.trace import TraceFilter

if TYPE_CHECKING:
    import simoom.why as reasons
    from simoom.emulate import ports
    from simoom.results.run import Run
    from simoom.scenario.scenario import Scenario
    from simoom.show import report, sections
    from simoom.why.result import Why
else:
    ports, reasons = Later("simoom.emulate.ports"), Later("simoom.why")
    report, sections = Later("simoom.show.report"), Later("simoom.show.sections")

Out = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        parser=directory,
        help="Write summary.json, scenario.toml, report.html, report.png and the time series "
        "(series.csv, and series.parquet if Polars is installed) into this directory. "
        f"Without --probe the time series are {' and '.join(DEFAULT_PROBES)}.",
    ),
]
TapeFile = Annotated[
    Path | None,
    typer.Option(
        "--tape",
        metavar="FILE",
        help="Repeat the emulation of this tape of simoom emulate, with its seed.",
    ),
]
AndWhy = Annotated[
    bool,
    typer.Option(
        "--why",
        help="Also explain the slowest flow, as simoom why does: about 100 further runs.",
    ),
]

Probes = Annotated[
    list[str],
    typer.Option("--probe", metavar="PATH", help="Record a time series of this value. Repeatable."),
]


EXAMPLES = (
    "simoom run cafe",
    "simoom run cafe --set ap.queue=fq_codel --out with_fq_codel",
    "simoom run performance_anomaly --set duration_s=10 --until '5 %'",
)
"""The end of the help."""


@from_api("run")
def run(
    source: Source,
    probes: Probes = [],  # noqa: B006
    as_json: AsJson = False,
    out: Out = None,
    paths: Annotated[
        bool, typer.Option("--paths", help="Print the path of each column below the report.")
    ] = False,
    why: AndWhy = False,
    traces: Traces = [],  # noqa: B006
    trace_from: TraceFrom = None,
    trace_to: TraceTo = None,
    trace_nodes: TraceNodes = [],  # noqa: B006
    trace_flows: TraceFlows = [],  # noqa: B006
    trace_settings: TraceSettings = [],  # noqa: B006
    tape: TapeFile = None,
    until: UntilOption = [],  # noqa: B006
    max_replications: MaxReplications = None,
    quiet: Quiet = False,
    **given: Any,
) -> None:
    """Simulate a scenario and print its results."""
    targets = read_until(until, max_replications)
    if targets is not None:
        alone = {"--probe": probes, "--out": out, "--trace": traces,
                 "--replication": given["replication"], "--why": why, "--tape": tape}  # fmt: skip
        refuse_with_until(alone)
        options = RepeatOptions(given["seed"], given["check"], as_json, quiet)
        run_until(source.load(), targets, max_replications, options)
        return
    which = TraceFilter(trace_from, trace_to, tuple(trace_nodes), tuple(trace_flows))
    trace_options = check_traces(traces, which, trace_settings)
    scenario = source.load(probes)
    if tape is not None:
        scenario = _repeated(scenario, tape, given)
    scenario.check()
    if why and as_json:
        raise InputError("--why: not with --json; simoom why --json prints the explanation")
    if out is not None:
        make_directory(out)
        probes = probes or default_probes(scenario)
    with trace_faults_by_option(), progress_bar(source.name, quiet=quiet) as progress:
        done = simulate(
            scenario,
            probes=probes,
            progress=progress,
            trace=traces,
            trace_filter=which,
            trace_options=trace_options,
            **given,
        )
    if as_json:
        print_json(finite(done.summary))
    elif not quiet:
        _print(done, paths=paths)
    explained = _explain(scenario, given["seed"], quiet=quiet) if why else None
    written = [] if out is None else [_write(done, out, explained)]
    if not quiet and not as_json:
        files = names_of(traces, scenario, trace_options)
        _say_written([*written, *files], stretch(scenario, which) if traces else None)


def _repeated(scenario: Scenario, tape: Path, given: dict[str, Any]) -> Scenario:
    """Return the scenario that repeats the emulation of a tape, and give its seed."""
    said = ports.Tape.read(tape)
    given.update(seed=said.seed, replication=said.replication)
    return said.scenario_of(scenario, tape)


def _say_written(names: list[str], note: str | None) -> None:
    """Tell the files that were written, and what to know of them."""
    for name in names:
        say(f"wrote {name}")
    if note is not None:
        say(note)


def _explain(scenario: Scenario, seed: int, *, quiet: bool) -> Why:
    """Explain the slowest flow, and print the explanation."""
    with progress_bar("why", quiet=quiet) as progress:
        done = reasons.why(scenario, seed=seed, progress=progress)
    if not quiet:
        print(done.report(console().width), end="")
    return done


def _write(done: Run, out: Path, why: Why | None) -> str:
    """Write the results of a run into a directory, and return what was written."""
    return f"{', '.join(report.write(done, out, why))} to {out}/"


def _print(done: Run, *, paths: bool) -> None:
    """Print the report of a run, and if asked for the paths of its columns."""
    screen = console()
    screen.print(report.tables(done, width=screen.width))
    found = sections.column_paths(done) if paths else []
    width = max((len(heading) for heading, _ in found), default=0)
    for heading, path in found:
        print(f"{heading:{width}}  {path}")
