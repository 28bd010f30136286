"""Figures of results, in a format for print.

Every function returns a `matplotlib.figure.Figure` or draws on given axes. `air` draws the frames
of a stretch of time, `network` a map of an ad-hoc network, `route_courses` its routes over time,
the others the results of a run.
"""

from functools import partial
from typing import TYPE_CHECKING

from simoom.base import lazy
from simoom.base.needs import need
from simoom.base.palette import BLACK, CYCLE

if TYPE_CHECKING:
    from simoom.plots.air import air, draw_air
    from simoom.plots.courses import draw_route_courses, route_courses
    from simoom.plots.network import carried_mbps, draw_network, network
    from simoom.plots.response import has_response, response
    from simoom.plots.results import (
        airtime,
        calls,
        contenders,
        delay,
        draw_airtime,
        draw_calls,
        draw_contenders,
        draw_delay,
        draw_goodput,
        draw_series,
        goodput,
        has_calls,
        measured_delays,
        overview,
        series,
    )
    from simoom.plots.style import Picture, file_name, save, save_both, style, svg
    from simoom.plots.sweeps import draw_sweep, sweep

__all__ = [
    "BLACK",
    "CYCLE",
    "Picture",
    "air",
    "airtime",
    "calls",
    "carried_mbps",
    "contenders",
    "delay",
    "draw_air",
    "draw_airtime",
    "draw_calls",
    "draw_contenders",
    "draw_delay",
    "draw_goodput",
    "draw_network",
    "draw_route_courses",
    "draw_series",
    "draw_sweep",
    "file_name",
    "goodput",
    "has_calls",
    "has_response",
    "measured_delays",
    "network",
    "overview",
    "response",
    "route_courses",
    "save",
    "save_both",
    "series",
    "style",
    "svg",
    "sweep",
]

lazy.export(__name__, load=partial(need, purpose="a figure"))
