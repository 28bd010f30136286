"""Future work of the paper: a falling MCS, several clients, other controllers."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from simoom.results.run import Run
from simoom.runs.evidence import Value
from simoom.scenario.scenario import Scenario
from simoom.studies.figure import Axis, Curve, Figure, Source, X, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.mcs_cubic.paper import (
    CHANGE_S,
    CONTROLS,
    PROBES,
    mean_between,
    measure,
    upload,
)
from simoom_studies.mcs_cubic.windows import COLOURS

QUANTITY = "goodput_mbps"
AFTER_S = 3.0
BASES: Mapping[str, str] = {
    "CUBIC": "cubic",
    "NewReno": "new_reno",
    "Westwood+": "westwood",
    "Vegas": "vegas",
}
CLIENTS = (1, 2, 5, 10)


def _curves(x_values: tuple[X, ...], found: Mapping[tuple[str, X], Value]) -> tuple[Curve, ...]:
    return tuple(
        curve(
            control,
            Source.SIMULATION,
            x_values,
            [found[control, x] for x in x_values],
            QUANTITY,
            colour=COLOURS[control],
        )
        for control in CONTROLS
    )


def _after(sample: Sample) -> Value:
    return Value.mean(mean_between(sample, CHANGE_S, CHANGE_S + AFTER_S))


@figure_function("figure falling")
def figure_falling(lab: Lab) -> Figure:
    """Throughput of the three seconds after the MCS falls from 8 to x."""
    x_values: tuple[X, ...] = (0, 1, 2, 3, 4, 5, 6, 7)
    cases = {
        (control, x): upload(int(x), control, from_mcs=8, end_s=CHANGE_S + AFTER_S)
        for control in CONTROLS
        for x in x_values
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 3), probes=PROBES)
    return Figure(
        "figure falling",
        "throughput of the 3 s after the change from MCS 8 to x",
        Axis("to_mcs", "MCS after the change, x", -0.5, 7.5),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 60),),
        _curves(x_values, {key: _after(sample) for key, sample in found.items()}),
        notes="The paper leaves this for future work.",
    )


@figure_function("figure controllers")
def figure_controllers(lab: Lab) -> Figure:
    """Throughput of the three seconds after a change from 0 to 8 under other controllers."""
    cases = {
        (control, label): upload(8, control, base={key: {}}, end_s=CHANGE_S + AFTER_S)
        for control in CONTROLS
        for label, key in BASES.items()
    }
    found = lab.sample(cases, measure, replications=lab.pick(10, 3), probes=PROBES)
    curves = _curves(tuple(BASES), {key: _after(sample) for key, sample in found.items()})
    return Figure(
        "figure controllers",
        "throughput of the 3 s after MCS 0 to 8, plain and driven by the MCS",
        Axis("base", "controller"),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 60),),
        curves,
        notes="The driver works with any controller that has a window.",
    )


def several(clients: int, control: str) -> Scenario:
    """Return several clients that upload; the MCS of all changes from 0 to 8 at 20 s."""
    scenario = upload(8, control, end_s=CHANGE_S + AFTER_S)
    return scenario.set("stations.count", clients).set("flows[0].from", "sta*")


def measure_all(run: Run) -> dict[str, float]:
    """Return the total goodput of all flows after the change."""
    time_s, value = run.samples("total.goodput_mbps")
    after = np.asarray(time_s) > CHANGE_S + 1e-9
    return {QUANTITY: float(np.mean(np.asarray(value)[after]))}


@figure_function("figure clients")
def figure_clients(lab: Lab) -> Figure:
    """Throughput of all clients in the three seconds after their MCS changes from 0 to 8."""
    cases = {(control, n): several(n, control) for control in CONTROLS for n in CLIENTS}
    found = lab.sample(
        cases, measure_all, replications=lab.pick(10, 2), probes=("total.goodput_mbps",)
    )
    return Figure(
        "figure clients",
        "throughput of all clients in the 3 s after MCS 0 to 8",
        Axis("clients", "clients that upload", 0, max(CLIENTS) + 1),
        (Axis(QUANTITY, "throughput, Mb/s", 0, 80),),
        _curves(CLIENTS, {key: Value.mean(sample[QUANTITY]) for key, sample in found.items()}),
    )
