"""`predict`: the verdicts on all families of models, and the choice of one."""

from __future__ import annotations

from simoom.scenario import Scenario
from simoom.twin.result import Twin
from simoom.twin.verdict import Fit


def predict(scenario: Scenario) -> Twin:
    """Predict the results of a run of a scenario.

    The assumptions of every family of models are checked. Of the families without a broken
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
    from simoom.twin import bulk, elsewhere, http, saturated
    from simoom.twin.reading import Cell

    scenario.check()
    cell = Cell(scenario)
    tried = {
        "saturation": saturated.fit,
        "http_sessions": http.fit_sessions,
        "ps_queue": http.fit_ps,
        "http_queueing": http.fit_queueing,
        "half_duplex": bulk.fit,
        "tcp_loss": elsewhere.fit_loss,
        "lt_tcp": elsewhere.fit_coding,
    }
    lacking, unread = elsewhere.lacking(cell), elsewhere.unread(cell)
    fits = []
    for family in dict.fromkeys((*tried, *FAMILIES)):
        if (reason := unread or lacking.get(family)) is not None:
            fits.append(Fit(family, "", (reason,), subject=family not in lacking))
            continue
        try:
            fits.append(tried[family](cell))
        except ValueError as error:  # models raise this for a value out of range
            fits.append(elsewhere.outside(family, error))
    # Python's sort is stable: the order above decides among equals.
    ordered = sorted(fits, key=lambda fit: (not fit.fits, len(fit.strained) if fit.fits else 0))
    return Twin(scenario, tuple(ordered))
