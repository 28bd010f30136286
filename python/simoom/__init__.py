"""A packet-level simulator of TCP over IEEE 802.11.

>>> import simoom as sm
>>> s = sm.Scenario(standard="11b", stations=1, flows=[{"from": "server", "to": "sta0"}])
>>> run = sm.run(s, seed=1)
>>> run.summary["total.goodput_mbps"] > 0
True
"""

from simoom._core import Ack, Departing, Loss
from simoom.airtime import airtime
from simoom.control import Control
from simoom.hearing import Hearing, hearing
from simoom.issue import Issue, ScenarioError
from simoom.routes import Routes, routes
from simoom.run import Replications, Run, replicate, run
from simoom.scenario import Scenario
from simoom.stats import Estimate, mean_ci, paired_difference
from simoom.sweep import Sweep, sweep
from simoom.timeline import timeline
from simoom.trace import Trace, TraceFilter
from simoom.twin import Optimum, Twin, optimise, predict
from simoom.why import why

__all__ = [
    "Ack",
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
    "Sweep",
    "Trace",
    "TraceFilter",
    "Twin",
    "airtime",
    "hearing",
    "mean_ci",
    "optimise",
    "paired_difference",
    "predict",
    "replicate",
    "routes",
    "run",
    "sweep",
    "timeline",
    "why",
]
