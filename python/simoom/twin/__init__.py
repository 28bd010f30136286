"""The analytic twin: predictions for a scenario by analytic models.

>>> import simoom as sm
>>> flow = {"from": "server", "to": "sta*", "tcp": {"window_segments": 42}}
>>> cell = sm.Scenario(standard="11b", stations=10, flows=[flow])
>>> twin = sm.predict(cell)
>>> twin
Twin(half_duplex, 23 values, 1 stretched)
>>> twin.summary["total.goodput_mbps"]
5.09...
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simoom.base import lazy

if TYPE_CHECKING:
    from simoom.twin.optimise import Optimum, optimise
    from simoom.twin.result import Residual, Twin
    from simoom.twin.selection import predict
    from simoom.twin.vary import Variation, vary
    from simoom.twin.verdict import AssumptionCheck, Fit

__all__ = [
    "AssumptionCheck",
    "Fit",
    "Optimum",
    "Residual",
    "Twin",
    "Variation",
    "optimise",
    "predict",
    "vary",
]

lazy.export(__name__)
