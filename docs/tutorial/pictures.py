"""Draws the figures of the tutorial: python docs/tutorial/pictures.py."""

from __future__ import annotations

import sys
from pathlib import Path
from unittest.mock import patch

import numpy as np
from matplotlib.figure import Figure

import simoom as sm
from simoom import plots

HERE = Path(__file__).parent


def stations() -> Figure:
    """The collision probability against the number of saturated stations."""
    cell = sm.Scenario.load("saturation_11b").set("duration_s", 10.0)
    sweep = sm.sweep(cell, over={"stations": [1, 2, 5, 10, 20, 40]}, replications=5)
    return sweep.plot(x="stations", y="total.collision_probability")


def queues() -> Figure:
    """The queue of the access point over time, with drop-tail and with FQ-CoDel."""
    scenario = sm.Scenario.load("one_station").set("duration_s", 20.0)
    figure = Figure(figsize=(8, 3), layout="constrained")
    axes = figure.subplots()
    chosen = {"drop-tail, 1000 packets": {"drop_tail": {"limit_packets": 1000}},
              "FQ-CoDel": "fq_codel"}  # fmt: skip
    for (label, queue), style in zip(chosen.items(), ("-", "--"), strict=True):
        run = sm.run(scenario.set("ap.queue", queue), probes=["ap.queue_packets"])
        times, values = run.samples("ap.queue_packets")
        bins = np.arange(0.0, 20.0, 0.1)
        place = np.clip(np.searchsorted(times, bins, side="right") - 1, 0, None)
        axes.step(bins, values[place], style, where="post", label=label)
    axes.set(xlabel="time in s", ylabel="packets in the queue", ylim=(0, None))
    axes.legend()
    return figure


def control() -> Figure:
    """The goodput of a control of one's own and of others, against the delay of the wire."""
    scenario = sm.Scenario.load("one_station").set("ap.queue", {"drop_tail": {"limit_packets": 50}})
    controls = ["cubic", "bbr", "mylab:Aimd"]
    over = {"wire.delay_ms": [5, 20, 80], "flows[0].control": controls}
    with patch.object(sys, "path", [*sys.path, str(HERE)]):
        sweep = sm.sweep(scenario, over=over, replications=5)
    return sweep.plot(x="wire.delay_ms", y="total.goodput_mbps")


def air() -> Figure:
    """Thirty milliseconds of the performance anomaly."""
    scenario = sm.Scenario.load("performance_anomaly").set("duration_s", 6.0)
    return plots.air(sm.run(scenario, trace=True), 3.0, 3.03)


if __name__ == "__main__":
    for draw in (stations, queues, control, air):
        plots.save(draw(), HERE / f"{draw.__name__}.png")
