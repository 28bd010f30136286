"""Figures of results, in a format for print.

Every function returns a `matplotlib.figure.Figure` or draws on given axes. `air` draws the frames
of a stretch of time, `network` a map of an ad-hoc network, `route_courses` its routes over time,
the others the results of a run.
"""

from simoom.needs import needed

with needed("a figure"):
    import matplotlib as mpl  # noqa: F401  all below needs it

# isort: split
from simoom.palette import BLACK, CYCLE
from simoom.plots.air import air, draw_air
from simoom.plots.courses import draw_route_courses, route_courses
from simoom.plots.network import carried_mbps, draw_network, network
from simoom.plots.response import has_response, response
from simoom.plots.results import (
    airtime,
    contenders,
    delay,
    draw_airtime,
    draw_contenders,
    draw_delay,
    draw_goodput,
    draw_series,
    draw_sweep,
    goodput,
    measured_delays,
    overview,
    series,
    sweep,
)
from simoom.plots.style import save, style, svg

__all__ = [
    "BLACK",
    "CYCLE",
    "air",
    "airtime",
    "carried_mbps",
    "contenders",
    "delay",
    "draw_air",
    "draw_airtime",
    "draw_contenders",
    "draw_delay",
    "draw_goodput",
    "draw_network",
    "draw_route_courses",
    "draw_series",
    "draw_sweep",
    "goodput",
    "has_response",
    "measured_delays",
    "network",
    "overview",
    "response",
    "route_courses",
    "save",
    "series",
    "style",
    "svg",
    "sweep",
]
