"""A packet-level simulator of TCP over IEEE 802.11.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> run = sm.run(s, seed=1)
>>> run.summary["total.goodput_mbps"] > 0
True
"""

from simoom.base import startup  # noqa: F401  first: Ctrl-C may come while the rest is loaded

# isort: split
from typing import TYPE_CHECKING

from simoom.base import lazy

if TYPE_CHECKING:
    from simoom._core import Ack, Departing, Loss
    from simoom.base.issue import Issue, ScenarioError
    from simoom.emulate import Port, emulate
    from simoom.results.run import Run, run
    from simoom.runs import designs
    from simoom.runs.compare import Comparison, compare
    from simoom.runs.replications import Replications, replicate, warmup
    from simoom.runs.sensitivity import Sensitivity, sensitivity
    from simoom.runs.stats import Estimate, mean_ci, paired_difference, quantile_ci
    from simoom.runs.sweep import Sweep, sweep
    from simoom.scenario.airtime import airtime
    from simoom.scenario.control import Control
    from simoom.scenario.hearing import Hearing, hearing
    from simoom.scenario.routes import Routes, routes
    from simoom.scenario.scenario import Scenario
    from simoom.show.timeline import timeline
    from simoom.store.shards import merge
    from simoom.store.store import Store
    from simoom.trace.trace import Trace, TraceFilter
    from simoom.twin.optimise import Optimum, optimise
    from simoom.twin.result import Twin
    from simoom.twin.selection import predict
    from simoom.why import why

__all__ = [
    "Ack",
    "Comparison",
    "Control",
    "Departing",
    "Estimate",
    "Hearing",
    "Issue",
    "Loss",
    "Optimum",
    "Port",
    "Replications",
    "Routes",
    "Run",
    "Scenario",
    "ScenarioError",
    "Sensitivity",
    "Store",
    "Sweep",
    "Trace",
    "TraceFilter",
    "Twin",
    "airtime",
    "compare",
    "designs",
    "emulate",
    "hearing",
    "mean_ci",
    "merge",
    "optimise",
    "paired_difference",
    "predict",
    "quantile_ci",
    "replicate",
    "routes",
    "run",
    "sensitivity",
    "sweep",
    "timeline",
    "warmup",
    "why",
]

DOORS = {
    "Figure.plot": "simoom.studies.draw:figure",
    "Replications._repr_html_": "simoom.show.notebook:replications",
    "Run._repr_html_": "simoom.show.notebook:run",
    "Run.notices": "simoom.results.notices:notices",
    "Run.report": "simoom.show.report:text",
    "Run.timeline": "simoom.show.timeline:timeline",
    "Scenario._repr_html_": "simoom.show.notebook:scenario",
    "Store.compact": "simoom.store.compaction:compact",
    "Sweep._repr_html_": "simoom.show.notebook:sweep",
    "Sweep.plot": "simoom.plots:sweep",
    "Trace._repr_html_": "simoom.show.notebook:trace",
    "Twin._repr_html_": "simoom.show.notebook:twin",
    "Why._repr_html_": "simoom.why.page:fragment",
    "Why.plot": "simoom.why.draw:figure",
    "Why.report": "simoom.why.text:text",
    "explained": "simoom.why.page:content",
    "shelf_in": "simoom.serve.shelf:Shelf",
    "trace_page": "simoom.show.rows:PageWriter",
}
"""Methods of results that later rooms carry out, with the function behind each."""

lazy.export(__name__, {"designs": "runs.designs"})
lazy.hang(DOORS)
