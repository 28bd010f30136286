"""A packet-level simulator of TCP over IEEE 802.11.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> run = sm.run(s, seed=1)
>>> run.summary["total.goodput_mbps"] > 0
True
"""

from simoom import startup  # noqa: F401  first: Ctrl-C may come while the rest is loaded

# isort: split
from typing import TYPE_CHECKING

from simoom import lazy

if TYPE_CHECKING:
    from simoom import designs
    from simoom._core import Ack, Departing, Loss
    from simoom.airtime import airtime
    from simoom.compare import Comparison, compare
    from simoom.control import Control
    from simoom.hearing import Hearing, hearing
    from simoom.issue import Issue, ScenarioError
    from simoom.replications import Replications, replicate, warmup
    from simoom.routes import Routes, routes
    from simoom.run import Run, run
    from simoom.scenario import Scenario
    from simoom.sensitivity import Sensitivity, sensitivity
    from simoom.shards import merge
    from simoom.stats import Estimate, mean_ci, paired_difference, quantile_ci
    from simoom.store import Store
    from simoom.sweep import Sweep, sweep
    from simoom.timeline import timeline
    from simoom.trace import Trace, TraceFilter
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

HOMES = {
    "designs": "designs",
    "_core": "Ack Departing Loss",
    "airtime": "airtime",
    "compare": "Comparison compare",
    "control": "Control",
    "hearing": "Hearing hearing",
    "issue": "Issue ScenarioError",
    "replications": "Replications replicate warmup",
    "routes": "Routes routes",
    "run": "Run run",
    "scenario": "Scenario",
    "sensitivity": "Sensitivity sensitivity",
    "shards": "merge",
    "stats": "Estimate mean_ci paired_difference quantile_ci",
    "store": "Store",
    "sweep": "Sweep sweep",
    "timeline": "timeline",
    "trace": "Trace TraceFilter",
    "twin.optimise": "Optimum optimise",
    "twin.result": "Twin",
    "twin.selection": "predict",
    "why": "why",
}
"""The public names of each module; `TYPE_CHECKING` has them for type checkers."""

lazy.export(__name__, HOMES)
