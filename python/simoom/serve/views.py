"""What views of the page show beside a run or a scenario: the analytic twin, and who hears whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simoom import twin
from simoom.base.files import finite
from simoom.base.issue import Issue, ScenarioError
from simoom.results.tables import names_of
from simoom.scenario.hearing import hearing
from simoom.scenario.words import words
from simoom.serve.drafts import MOST_NODES, nodes_of

if TYPE_CHECKING:
    from simoom.results.run import Run
    from simoom.serve.drafts import Draft

MOST_HEARING = 60
"""Of more nodes the page has no matrix, only the links."""


def twin_of(run: Run) -> dict[str, Any]:
    """Return the predictions of the analytic twin beside the values of a run."""
    found = twin.predict(run.scenario)
    model = found.model
    names = names_of(run.summary)
    values = [
        {"path": each.path, "words": words(each.path, names), "predicted": each.predicted,
         "measured": each.measured, "half_width": each.half_width}
        for each in found.compare(run)
    ]  # fmt: skip
    fits = [
        {"family": fit.family, "form": fit.form,
         "checks": [{"name": check.name, "verdict": check.verdict, "how": check.how}
                    for check in fit.checks]}
        for fit in found.fits
        if fit is model or fit.relevant
    ]  # fmt: skip
    told = {"model": None if model is None else model.family, "values": values, "fits": fits}
    shown: dict[str, Any] = finite(told)
    return shown


def hearing_of(draft: Draft, seed: int, at_s: float) -> dict[str, Any]:
    """Return which nodes of a scenario receive each other, and how well.

    Raises
    ------
    ScenarioError
        The scenario has faults or no radio, or there are more pairs than can be shown.
    """
    scenario = draft.scenario
    if scenario.get("radio") is not None and (count := nodes_of(scenario)) > MOST_NODES:
        message = (
            f"{count:,} nodes: this page shows the pairs of at most {MOST_NODES}; the command "
        )
        message += "simoom hearing prints those of more"
        raise ScenarioError([Issue("stations", message)])
    heard = hearing(scenario, seed=seed, at_s=at_s)
    count = len(heard.nodes)
    number = {name: place for place, name in enumerate(heard.nodes)}
    shown: list[list[Any]] | None = None
    if count <= MOST_HEARING:
        shown = [[None] * count for _ in heard.nodes]
        for pair in heard.pairs:
            own = [pair.signal_dbm, pair.detected, pair.is_link]
            shown[number[pair.source]][number[pair.sink]] = own
    links = [
        {"from": pair.source, "to": pair.sink, "signal_dbm": pair.signal_dbm,
         "snr_db": pair.snr_db, "detected": pair.detected, "rate_mbps": pair.rate_mbps,
         "success": pair.success}
        for pair in heard.links
    ]  # fmt: skip
    return {"nodes": list(heard.nodes), "matrix": shown, "links": links, "hidden": heard.hidden}
