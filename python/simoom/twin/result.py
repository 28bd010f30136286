"""The predictions of the analytic twin, and their comparison with measurements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simoom.base.frames import pl
from simoom.base.lazy import door
from simoom.results.tables import digits, number
from simoom.runs.stats import mean_ci
from simoom.scenario.scenario import Scenario
from simoom.twin.verdict import Fit

if TYPE_CHECKING:
    from simoom.results.run import Run
    from simoom.runs.replications import Replications


MOST_FLOWS = 4
"""The number of flows whose values the report shows."""


@dataclass(frozen=True)
class Residual:
    """A predicted and the measured value."""

    path: str
    predicted: float
    measured: float
    half_width: float | None
    """Half-width of the 95 % interval of the measured value, if there is one."""

    @property
    def percent(self) -> float:
        """The relative excess of the prediction over the measurement."""
        if self.measured == 0:
            return 0.0 if self.predicted == 0 else math.inf
        return 100 * (self.predicted / self.measured - 1)

    @property
    def half_widths(self) -> float | None:
        """The same in half-widths of the interval."""
        if not self.half_width or not math.isfinite(self.half_width):
            return None
        return (self.predicted - self.measured) / self.half_width


@dataclass(frozen=True, repr=False)
class Twin:
    """The analytic twin of a scenario.

    Attributes
    ----------
    scenario : Scenario
        The scenario.
    fits : tuple of Fit
        The verdicts on every family of models; the chosen family is the first.
    """

    scenario: Scenario
    fits: tuple[Fit, ...]

    @property
    def model(self) -> Fit | None:
        """The chosen model; None if no model fits."""
        return self.fits[0] if self.fits[0].fits else None

    @property
    def summary(self) -> dict[str, float]:
        """The predictions under the paths of a run; empty if no model fits."""
        return dict(self.model.values) if self.model else {}

    def frame(self) -> pl.DataFrame:
        """Return a row for each assumption of each model: family, assumption, verdict, reason.

        Returns
        -------
        polars.DataFrame
            One row; the columns are paths.
        """
        rows = [
            (fit.family, check.name, check.verdict, check.how)
            for fit in self.fits
            for check in fit.checks
        ]
        return pl.DataFrame(rows, schema=["family", "assumption", "verdict", "how"], orient="row")

    def compare(self, measured: Run | Replications) -> tuple[Residual, ...]:
        """Compare the predictions with a run, or with the means of several runs.

        Returns
        -------
        tuple of Residual
            A residual for each result that is predicted and measured.
        """
        found = []
        for path, predicted in self.summary.items():
            value, half = _measured(measured, path)
            if value is not None:
                found.append(Residual(path, predicted, value, half))
        return tuple(found)

    def report(self, *, every: bool = False) -> str:
        """Return a report as text: values, assumptions, and why other models do not apply.

        Parameters
        ----------
        every : bool, optional
            Also list the models that do not concern the scenario.

        Returns
        -------
        str
            The report.
        """
        lines = []
        if self.model is None:
            lines.append("No model fits this scenario.")
        else:
            lines += [f"{self.model.family}, {self.model.form}", ""]
            brief, cut = shortened(list(self.summary.items()))
            wide = max(len(path) for path, _ in brief)
            lines += [f"  {path:<{wide}}  {digits(value, 4):>9}" for path, value in brief]
            lines += [f"  … {cut} more"] if cut else []
            lines += ["", "Assumptions"]
            lines += _assumptions(self.model)
        lines += ["", "Why other models do not apply" if self.model else "Why no model applies"]
        others = [fit for fit in self.fits if fit is not self.model]
        named = [fit for fit in others if fit.relevant or every]
        lines += [line for fit in named for line in _against(fit)]
        if left := len(others) - len(named):
            lines.append(f"  … {left} more that do not concern the scenario; --all lists them")
        return "\n".join(lines) + "\n"

    @door
    def _repr_html_(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        if self.model is None:
            return f"Twin(none of {len(self.fits)} models fits)"
        stretched = len(self.model.stretched)
        return f"Twin({self.model.family}, {len(self.summary)} values, {stretched} stretched)"


def shortened(rows: Sequence[tuple[str, float]]) -> tuple[list[tuple[str, float]], int]:
    """Omit the flows after the first few; return the rest and the number of omitted flows."""
    kept, left = [], set()
    for path, value in rows:
        name = path.partition(".")[0]
        if name.startswith("flows[") and int(name[6:-1]) >= MOST_FLOWS:
            left.add(name)
        else:
            kept.append((path, value))
    return kept, len(left)


def _assumptions(fit: Fit) -> list[str]:
    """Return a line for each assumption, stretched ones first."""
    wide = max(len(check.name) for check in fit.checks)
    ordered = (*fit.stretched, *(check for check in fit.checks if check.verdict == "met"))
    return [f"  {h.name:<{wide}}  {h.verdict:<9}  {h.how}".rstrip() for h in ordered]


def _against(fit: Fit) -> list[str]:
    """Return why a model was not chosen."""
    if fit.fits:
        names = ", ".join(check.name for check in fit.stretched) or "nothing"
        return [f"  {fit.family}: fits as well; stretched: {names}"]
    return [f"  {fit.family}: {check.name}: {check.how}" for check in fit.broken]


def _measured(source: Run | Replications, path: str) -> tuple[float | None, float | None]:
    """Return the measured value at a path and the half-width of its interval."""
    summary: Mapping[str, object] | None = getattr(source, "summary", None)
    if summary is not None:
        base, _, unit = path.rpartition("_")
        half = summary.get(f"{base}_ci95_{unit}")
        return number(summary.get(path)), number(half)  # type: ignore[arg-type]
    runs = getattr(source, "runs", ())
    found = [number(run.summary.get(path)) for run in runs]
    values = [value for value in found if value is not None]
    if not values:
        return None, None
    estimate = mean_ci(values)
    return estimate.mean, estimate.half_width
