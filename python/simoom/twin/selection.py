"""`predict`: the verdicts on all families of models, and the choice of one."""

from __future__ import annotations

from simoom.scenario import Scenario
from simoom.twin.result import Twin
from simoom.twin.verdict import Fit


def predict(scenario: Scenario) -> Twin:
    """Predict the results of a run of a scenario.

    The assumptions of every family of models are check. Of the families without a broken
    assumption, the one with the fewest stretched assumptions is chosen.

    Parameters
    ----------
    scenario : Scenario
        The scenario.

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
    from simoom.models import FAMILIES
    from simoom.twin import bulk, duplex, http, interference, losses, saturated, scope
    from simoom.twin.inputs import Cell

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
    }
    irrelevant, unsupported = scope.irrelevant_families(cell), scope.unsupported(cell)
    fits = []
    for family in dict.fromkeys((*fit_functions, *FAMILIES)):
        if (reason := unsupported or irrelevant.get(family)) is not None:
            fits.append(Fit(family, "", (reason,), relevant=family not in irrelevant))
            continue
        narrower = scope.half_duplex(cell, family) or scope.no_interference(cell, family)
        if (reason := narrower) is not None:
            fits.append(Fit(family, "", (reason,)))
            continue
        try:
            fits.append(fit_functions[family](cell))
        except ValueError as error:  # models raise this for a value out of range
            fits.append(scope.out_of_range(family, error))
    # The sort is stable: of models with equally many stretched assumptions, the first in the
    # order above is chosen.
    ordered = sorted(fits, key=lambda fit: (not fit.fits, len(fit.stretched) if fit.fits else 0))
    return Twin(scenario, tuple(ordered))
