"""The options of commands that trace a run."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from simoom import _core
from simoom.base.issue import Issue, ScenarioError
from simoom.cli.terminal import InputError
from simoom.scenario.scenario import Scenario, toml_settings
from simoom.trace.files import CORE, WRITERS, extension, names
from simoom.trace.trace import TraceFilter

KEYS = tuple(_core.trace_options())
"""The options of formats."""
FORMATS = ", ".join(f".{name}" for name in sorted({*WRITERS, *CORE}))
OPTIONS = {
    "trace.start_s": "--trace-from",
    "trace.end_s": "--trace-to",
    "trace.nodes": "--trace-node",
    "trace.flows": "--trace-flow",
}
"""The options for the parts of the filter of a trace."""

Traces = Annotated[
    list[Path],
    typer.Option(
        "--trace",
        metavar="OUT",
        help="Write every frame, wait, packet and segment into this file. Its extension "
        f"determines the format: {FORMATS}. A .parquet file becomes one for each table: "
        "OUT.frames.parquet and so on; a .pcapng file one for each interface: OUT.monitor.pcapng, "
        "OUT.server.wire.pcapng and so on. Repeatable.",
    ),
]
TraceFrom = Annotated[
    float | None,
    typer.Option("--trace-from", metavar="S", help="The begin of the stretch that is traced."),
]
TraceTo = Annotated[
    float | None,
    typer.Option("--trace-to", metavar="S", help="The end of the stretch that is traced."),
]
TraceNodes = Annotated[
    list[str],
    typer.Option("--trace-node", metavar="NAME", help="Trace only this node. Repeatable."),
]
TraceFlows = Annotated[
    list[str],
    typer.Option("--trace-flow", metavar="NAME", help="Trace only this flow. Repeatable."),
]


TraceSettings = Annotated[
    list[str],
    typer.Option(
        "--trace-set",
        metavar="KEY=VALUE",
        help=f"Change an option of a format: {', '.join(KEYS)}. Repeatable.",
    ),
]


def options_of(settings: list[str]) -> dict[str, object]:
    """Return the options of formats, or refuse what is no KEY=VALUE."""
    options: dict[str, object] = {}
    for setting in settings:
        key, equals, text = setting.partition("=")
        if not equals:
            raise InputError(f"--trace-set {setting}: must be KEY=VALUE, as {KEYS[0]}=...")
        try:
            options[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            options[key.strip()] = text
    return options


def check_traces(traces: list[Path], which: TraceFilter, settings: list[str]) -> dict[str, object]:
    """Return the options of formats; refuse files without one, and a filter without a trace."""
    if not traces and which != TraceFilter():
        raise InputError("--trace-from, --trace-to, --trace-node, --trace-flow: need --trace OUT")
    try:
        for path in traces:
            extension(path)
    except ValueError as error:
        raise InputError(f"--trace {error}") from None
    return options_of(settings)


def names_of(traces: list[Path], scenario: Scenario, options: Mapping[str, object]) -> list[str]:
    """Return the names of the files of traces."""
    pairs = toml_settings(options)
    return [str(name) for path in traces for name in names(path, scenario.core, pairs)]


def stretch(scenario: Scenario, which: TraceFilter) -> str | None:
    """Return what to know of the stretch that is traced, if it begins in the warm-up."""
    if (which.start_s or 0.0) >= scenario.warmup_s:
        return None
    measured = float(scenario.get("duration_s")) - scenario.warmup_s
    return (
        f"the trace begins before the {measured:g} s that are measured, "
        f"which begin at {scenario.warmup_s:g} s"
    )


@contextmanager
def trace_faults_by_option() -> Iterator[None]:
    """Name the option in faults of the filter."""
    try:
        yield
    except ScenarioError as error:
        raise ScenarioError(map(_by_option, error.issues)) from None


def _by_option(issue: Issue) -> Issue:
    option = OPTIONS.get(issue.path.partition("[")[0])
    if issue.path in KEYS or issue.path.partition(".")[0] in CORE:
        option = f"--trace-set {issue.path}"
    return replace(issue, path=option) if option else issue
