"""Draw models against simulations for the pages beside this file: `make docs`.

    python docs/models/pictures.py [NAME...]

Lines are predictions of `simoom model`; points are measurements of a run, with their 95 % intervals
if they have one. Each picture has the name of its page.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

import simoom as sm
from simoom import plots

HERE = Path(__file__).parent
DPI = 90
GOODPUT, COLLISION = "total.goodput_mbps", "total.collision_probability"
DELAY = "total.session_delay_s.mean"
Make = Callable[[Any], sm.Scenario]


@dataclass(frozen=True)
class Line:
    """One curve: a scenario for each value of the axis."""

    label: str
    across: Sequence[Any]
    make: Make


def saturation() -> Figure:
    """Goodput and collisions of saturated stations against their number."""

    def cell(standard: str, **wlan: Any) -> Make:
        flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
        return lambda n: sm.Scenario(
            standard=standard, stations=n, duration_s=15.0, warmup_s=1.0, flows=flows, wlan=wlan
        )

    across = [1, 2, 5, 10, 20, 35, 50]
    lines = [
        Line("11b", across, cell("11b")),
        Line("11b, RTS/CTS", across, cell("11b", rts_threshold_bytes=0)),
        Line("11b, CWmin 255", across, cell("11b", cw_min=255)),
    ]
    return panels(
        "saturation", lines, "stations", [(GOODPUT, "goodput (Mb/s)"), (COLLISION, "collisions")]
    )


def half_duplex() -> Figure:
    """Goodput of long TCP flows against their number."""

    def cell(direction: tuple[str, str], segments: int) -> Make:
        tcp = {"window_segments": 20, "delayed_ack": {"fixed": {"segments": segments}}}
        flows = [{"from": direction[0], "to": direction[1], "tcp": tcp}]
        return lambda n: sm.Scenario(
            standard="11g", stations=n, duration_s=12.0, warmup_s=2.0, flows=flows
        )

    across = [1, 2, 4, 8, 15, 25]
    lines = [
        Line("download, d = 1", across, cell(("server", "sta*"), 1)),
        Line("download, d = 4", across, cell(("server", "sta*"), 4)),
        Line("upload, d = 2", across, cell(("sta*", "server"), 2)),
    ]
    return panels(
        "half_duplex", lines, "stations", [(GOODPUT, "goodput (Mb/s)"), (COLLISION, "collisions")]
    )


PAPER = {
    "rts_threshold_bytes": 0,
    "basic_rates_mbps": [2.0],
    "mac_header_bytes": 30,
    "llc_bytes": 0,
    "long_retry_limit": 7,
}
PLAIN_TCP = {"mss_bytes": 1000, "timestamps": False, "delayed_ack": "none", "close": "none"}


def http_queueing() -> Figure:
    """Goodput of one download against its window, and of ten with W* = d."""

    def one(window: int) -> sm.Scenario:
        return downloads(1, PLAIN_TCP | {"window_segments": window})

    def ten(d: int) -> sm.Scenario:
        late = {"fixed": {"segments": d, "timer_ms": 100.0}}
        return downloads(10, PLAIN_TCP | {"window_segments": d, "delayed_ack": late})

    lines = [
        Line("one flow against W*, d = 1", [1, 2, 3, 4, 6, 8, 12], one),
        Line("ten flows against W* = d", [1, 2, 3, 4, 6, 8], ten),
    ]
    return panels("http_queueing", lines, "W* (segments)", [(GOODPUT, "goodput (Mb/s)")])


def downloads(stations: int, tcp: dict[str, Any]) -> sm.Scenario:
    """Return the 802.11b cell of the paper on HTTP with long flows."""
    flows = [{"from": "server", "to": "sta*", "tcp": tcp}]
    return sm.Scenario(
        standard="11b", stations=stations, duration_s=25.0, warmup_s=3.0, flows=flows, wlan=PAPER
    )


def web(stations: int, window: int, ap: dict[str, Any]) -> sm.Scenario:
    """Return the same cell with web sessions."""
    size = {"exponential": {"mean_bytes": 30000}}
    traffic = {"web": {"size": size, "think_s": 5.0, "delay": "acknowledged"}}
    tcp = PLAIN_TCP | {"window_segments": window, "initial_window_segments": 1}
    flows = [{"from": "server", "to": "sta*", "traffic": traffic, "tcp": tcp}]
    return sm.Scenario(
        standard="11b",
        stations=stations,
        duration_s=2000.0,
        warmup_s=20.0,
        flows=flows,
        wlan=PAPER,
        ap=ap,
    )


STATIONS = [1, 5, 10, 15, 20, 25, 30]


def http_sessions() -> Figure:
    """Delay of files against the number of stations, W* = d = 1."""
    lines = [Line("W* = 1", STATIONS, lambda n: web(n, 1, {}))]
    return panels("http_sessions", lines, "stations", [(DELAY, "session delay (s)")])


def ps_queue() -> Figure:
    """The same with large windows: one queue for all flows, or deficit round robin."""
    lines = [
        Line("one queue", STATIONS, lambda n: web(n, 64, {})),
        Line("deficit round robin", STATIONS, lambda n: web(n, 64, {"queue": {"drr": {}}})),
    ]
    return panels("ps_queue", lines, "stations", [(DELAY, "session delay (s)")])


def tcp_loss() -> Figure:
    """Goodput against noise; the residual loss after four attempts is its fourth power."""

    def cell(delay_ms: float) -> Make:
        flows = [{"from": "server", "to": "sta0"}]
        return lambda loss: sm.Scenario(
            standard="11b",
            stations=[{"data_loss": loss}],
            duration_s=200.0,
            warmup_s=10.0,
            flows=flows,
            wlan={"short_retry_limit": 4},
            wire={"delay_ms": delay_ms},
        )

    across = [0.2, 0.25, 0.3, 0.35, 0.4, 0.45]
    lines = [Line(f"{2 * delay:g} ms on the wire", across, cell(delay)) for delay in (40.0, 100.0)]
    return panels("tcp_loss", lines, "frames lost by noise", [(GOODPUT, "goodput (Mb/s)")])


def predicted(scenario: sm.Scenario, family: str) -> Mapping[str, float]:
    """Return the prediction of a family of models; empty if it does not fit."""
    (fit,) = (fit for fit in sm.predict(scenario).fits if fit.family == family)
    return fit.values if fit.fits else {}


def panels(
    family: str, lines: Sequence[Line], axis: str, shown: Sequence[tuple[str, str]]
) -> Figure:
    """Draw each path of `shown` in a panel of its own."""
    with plots.style():
        figure = Figure(figsize=(3.6 * max(len(shown), 1.6), 2.7), layout="constrained", dpi=DPI)
        every = figure.subplots(1, len(shown), squeeze=False)[0]
        for number, line in enumerate(lines):
            twins = [predicted(line.make(x), family) for x in line.across]
            runs = [sm.run(line.make(x)).summary for x in line.across]
            for axes, (path, name) in zip(every, shown, strict=True):
                colour = f"C{number}"
                found = [(x, t[path]) for x, t in zip(line.across, twins, strict=True) if t]
                axes.plot(*zip(*found, strict=True), color=colour, label=line.label)
                half = [run.get(path.replace("_mbps", "_ci95_mbps"), 0.0) for run in runs]
                axes.errorbar(
                    line.across,
                    [run[path] for run in runs],
                    yerr=half if path == GOODPUT else None,
                    fmt="o",
                    markersize=4,
                    color=colour,
                )
                axes.set_xlabel(axis)
                axes.set_ylabel(name)
        for axes in every:
            axes.set_ylim(bottom=0)
        every[0].legend(fontsize="small")
    return figure


PICTURES = (saturation, half_duplex, http_queueing, http_sessions, ps_queue, tcp_loss)


def main(names: Sequence[str]) -> None:
    """Draw the pictures named, or all."""
    for draw in PICTURES:
        if not names or draw.__name__ in names:
            figure = draw()
            with plots.style():
                figure.savefig(HERE / f"{draw.__name__}.png", dpi=DPI)


if __name__ == "__main__":
    main(sys.argv[1:])
