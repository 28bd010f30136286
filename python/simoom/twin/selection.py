"""`predict`: the verdicts on all families of models, and the choice of one."""

from __future__ import annotations

import math
from collections.abc import Callable

from simoom.base.frames import np
from simoom.models import FAMILIES
from simoom.scenario.scenario import Scenario, ScenarioLike
from simoom.twin import (
    aggregates,
    bulk,
    chain,
    duplex,
    http,
    interference,
    losses,
    ofdma,
    ofdma_uplink,
    saturated,
    scope,
)
from simoom.twin.inputs import Cell
from simoom.twin.result import Twin
from simoom.twin.verdict import Fit


def predict(scenario: ScenarioLike) -> Twin:
    """Predict the results of a run of a scenario.

    The assumptions of every family of models are checked. Of the families without a broken
    assumption, the one with the fewest stretched assumptions is chosen.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario: a `Scenario`, its TOML file, or its keys.

    Returns
    -------
    Twin
        Predictions under the paths of a run's summary, and the assumptions behind them.

    Raises
    ------
    ScenarioError
        The scenario has faults.

    Examples
    --------
    >>> import simoom as sm
    >>> flows = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
    >>> twin = sm.predict(sm.Scenario(standard="11a", stations=5, flows=flows))
    >>> twin.model.family, round(twin.summary["total.collision_probability"], 3)
    ('saturation', 0.271)
    """
    scenario = Scenario.of(scenario)
    scenario.check()
    cell = Cell(scenario)
    fit_functions = {
        "saturation": saturated.fit,
        "http_sessions": http.fit_sessions,
        "ps_queue": http.fit_ps,
        "http_queueing": http.fit_queueing,
        "half_duplex": bulk.fit,
        "tcp_loss": losses.fit_loss,
        "lt_tcp": losses.fit_coding,
        "full_duplex": duplex.fit,
        "bluetooth": interference.fit,
        "tcp_corruption": interference.fit_tcp,
        "aggregation": aggregates.fit_saturated,
        "tcp_aggregation": aggregates.fit_downloads,
        "ofdma": ofdma.fit,
        "ofdma_uplink": ofdma_uplink.fit,
        "chain": chain.fit,
    }
    irrelevant = scope.irrelevant_families(cell)
    fits = []
    for family in dict.fromkeys((*fit_functions, *FAMILIES)):
        reason = scope.unsupported(cell, family) or irrelevant.get(family)
        if reason is not None:
            fits.append(Fit(family, "", (reason,), relevant=family not in irrelevant))
            continue
        narrower = scope.half_duplex(cell, family) or scope.no_interference(cell, family)
        if (reason := narrower) is not None:
            fits.append(Fit(family, "", (reason,)))
            continue
        fits.append(scope.beside_beacons(cell, _attempt(family, fit_functions[family], cell)))
    # The sort is stable: of models with equally many stretched assumptions, the first in the
    # order above is chosen.
    ordered = sorted(fits, key=lambda fit: (not fit.fits, len(fit.stretched) if fit.fits else 0))
    return Twin(scenario, tuple(ordered))


def _attempt(family: str, fit_function: Callable[[Cell], Fit], cell: Cell) -> Fit:
    """Return the verdict on a family; a model may have no solution at the limits of its range."""
    try:
        with np.errstate(divide="raise", invalid="raise"):
            fit = fit_function(cell)
    except ValueError as error:  # models raise this for a value out of range
        return scope.out_of_range(family, str(error))
    except ArithmeticError:
        return scope.out_of_range(family, "every attempt collides, or nothing is ever sent")
    path = next((path for path, value in fit.values.items() if not math.isfinite(value)), None)
    if path is not None:
        return scope.out_of_range(family, f"{path} has no finite solution")
    return fit
