"""Goodput and ping over time, and the distribution of ping, as flent draws them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatter

from simoom import _core
from simoom.base.palette import BLACK, CYCLE
from simoom.plots.style import Picture, literal, style
from simoom.results.run import Run
from simoom.scenario.interfaces import stations
from simoom.scenario.observables import PING_PROBES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from numpy.typing import NDArray

GOODPUT, PING = (path.removeprefix("flows[*].") for path in PING_PROBES)
STEP_S = 0.2
"""Goodputs are means over so much time: the step of flent."""
SMOOTHED = 10
"""The black line of a mean is smoothed over so many steps."""
ROUNDING_S = 1e-9
"""The resolution of simulated time, which sums of times in seconds are less off than."""
BEYOND = 1.1
"""The axis of goodputs ends this much above all but the largest hundredth of them."""


def has_response(run: Run) -> bool:
    """Return whether a run has the probes of `response`."""
    pings = _flows(run, PING)
    return bool(pings) and any(flow not in pings for flow in _flows(run, GOODPUT))


def response(run: Run) -> Figure:
    """Return goodput and ping over time, and the distribution of ping.

    Panels of downloads and uploads have a line for each flow and their mean in black; the panel of
    pings has the round-trip times of the replies, and the last one their distribution in the
    measured time.

    Parameters
    ----------
    run : Run
        A run with the probes ``flows[*].goodput_mbps`` and ``flows[*].ping.reply_rtt_s``.

    Raises
    ------
    ValueError
        The run has no such probes.
    """
    pings = _flows(run, PING)
    rates = [flow for flow in _flows(run, GOODPUT) if flow not in pings]
    if not has_response(run):
        raise ValueError(f"probes: goodput and ping over time need {' and '.join(PING_PROBES)}")
    groups = _directions(run, rates)
    with style():
        figure = Picture(figsize=(6.4, 1.7 * (len(groups) + 2) + 0.6), layout="constrained")
        panels = list(figure.subplots(len(groups) + 2, squeeze=False)[:, 0])
        for axes, (title, flows) in zip(panels, groups.items(), strict=False):
            _draw_rates(axes, run, flows, title)
        _draw_pings(panels[-2], run, pings)
        _draw_distribution(panels[-1], run, pings)
        for axes in panels[:-2]:
            axes.sharex(panels[-2])
            axes.tick_params(labelbottom=False)
    return figure


def _flows(run: Run, name: str) -> list[int]:
    """Return the numbers of the flows of which the run has this probe."""
    found = (_core.element(path, "flows") for path in run.probes)
    return [each[0] for each in found if each and each[1] == name]


def _directions(run: Run, flows: list[int]) -> dict[str, list[int]]:
    """Return downloads, to stations, and uploads, to other nodes."""
    known = stations(run.scenario)
    down = [flow for flow in flows if run.flows[flow]["to"] in known]
    up = [flow for flow in flows if flow not in down]
    return {name: group for name, group in (("Download", down), ("Upload", up)) if group}


def _label(run: Run, flow: int, title: str) -> str:
    """Return the name of a flow without the word that the title has."""
    words = str(run.flows[flow]["name"]).split()
    kept = [word for word in words if word.lower() != title.lower()]
    return literal(" ".join(kept or words))


def _stepped(
    time_s: NDArray[np.float64], value: NDArray[np.float64], step: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the means over so many samples each."""
    count = time_s.size // step * step
    return (
        time_s[:count].reshape(-1, step).mean(axis=1),
        value[:count].reshape(-1, step).mean(axis=1),
    )


def _draw_rates(axes: Axes, run: Run, flows: list[int], title: str) -> None:
    """Draw the goodputs of flows over time, and their mean."""
    courses = []
    for place, flow in enumerate(flows):
        time_s, value = run.samples(f"flows[{flow}].{GOODPUT}")
        step = max(1, round(STEP_S / float(np.median(np.diff(time_s)))))
        time_s, value = _stepped(time_s, value, step)
        courses.append(value)
        colour = CYCLE[place % len(CYCLE)]
        axes.plot(time_s, value, color=colour, linewidth=1.0, label=_label(run, flow, title))
    mean = np.mean(courses, axis=0)
    kernel = np.ones(min(SMOOTHED, mean.size)) / min(SMOOTHED, mean.size)
    weight = np.convolve(np.ones(mean.size), kernel, mode="same")
    smooth = np.convolve(mean, kernel, mode="same") / weight
    axes.plot(time_s, smooth, color=BLACK, linewidth=2.0, label="mean")
    top = BEYOND * float(np.quantile(courses, 0.99))
    axes.set(ylabel="Mb/s", xlim=(0.0, run.simulated_s), ylim=(0.0, max(top, 1e-3)))
    axes.set_title(f"{title}, goodput")
    _legend(axes)


def replies(run: Run, flow: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return when replies to a ping came, in s, and their round-trip times, in ms."""
    time_s, rtt_s = run.samples(f"flows[{flow}].{PING}")
    return time_s, 1e3 * rtt_s


def _draw_pings(axes: Axes, run: Run, pings: list[int]) -> None:
    """Draw the round-trip times of pings over time."""
    for place, flow in enumerate(pings):
        colour = CYCLE[place % len(CYCLE)]
        label = _label(run, flow, "Ping")
        axes.plot(*replies(run, flow), color=colour, linewidth=1.0, label=label)
    axes.set(ylabel="ms", xlabel="time, s", xlim=(0.0, run.simulated_s))
    axes.set_ylim(bottom=0.0)
    axes.set_title("Ping, round-trip time")
    _legend(axes)


def _draw_distribution(axes: Axes, run: Run, pings: list[int]) -> None:
    """Draw the distribution of the round-trip times of pings that were sent in the measured time.

    These are the pings that the results count (``flows[i].rtt_s``).
    """
    begin_s = run.simulated_s - float(run.summary["run.measured_s"])
    for place, flow in enumerate(pings):
        time_s, rtt_ms = replies(run, flow)
        asked_s = time_s - 1e-3 * rtt_ms
        sorted_ms = np.sort(rtt_ms[asked_s >= begin_s - ROUNDING_S])
        share = np.arange(1, sorted_ms.size + 1) / max(1, sorted_ms.size)
        colour = CYCLE[place % len(CYCLE)]
        axes.step(sorted_ms, share, where="post", color=colour, label=_label(run, flow, "Ping"))
    axes.set(xlabel="round-trip time, ms", ylabel="fraction of replies", ylim=(0.0, 1.0))
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    # Between powers of ten only where these are few, in plain numbers.
    axes.xaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.5)))
    axes.set_title("Ping, cumulative distribution")
    _legend(axes)


def _legend(axes: Axes) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
