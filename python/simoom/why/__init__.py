"""Why a flow is slow, or two scenarios differ: by what a run measures, and by experiments.

An experiment changes one thing, "no collisions", and runs the scenario again with the same random
numbers. What helps most is named first, with the key to change.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import TYPE_CHECKING, Any, overload

from simoom.base.workers import Progress
from simoom.scenario.scenario import ScenarioLike
from simoom.why.compare import compare
from simoom.why.explain import explain

if TYPE_CHECKING:
    from simoom.why.compare import Difference
    from simoom.why.result import Why

__all__ = ["why"]

REPLICATIONS = 5
MOST = 40


@overload
def why(
    scenario: ScenarioLike,
    other: None = None,
    *,
    flow: str | None = None,
    replications: int = REPLICATIONS,
    most_replications: int = MOST,
    seed: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Why: ...


@overload
def why(
    scenario: ScenarioLike,
    other: ScenarioLike,
    *,
    flow: str | None = None,
    replications: int = REPLICATIONS,
    most_replications: int = MOST,
    seed: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Difference: ...


def why(
    scenario: ScenarioLike,
    other: ScenarioLike | None = None,
    *,
    flow: str | None = None,
    replications: int = REPLICATIONS,
    most_replications: int = MOST,
    seed: int = 1,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Why | Difference:
    """Explain the result of a flow, or the difference between two scenarios.

    Parameters
    ----------
    scenario : Scenario, path or mapping
        The scenario.
    other : Scenario, path or mapping, optional
        Another scenario: the keys in which it differs are changed one after the other, first the
        one that explains most of the difference.
    flow : str, optional
        The name of the flow, as reports have it. The default is the slowest flow, and for two
        scenarios the total goodput.
    replications : int, optional
        The number of runs of each change, at least 2.
    most_replications : int, optional
        The number of runs of a change that fewer do not decide; of two scenarios it has no meaning.
    seed : int, optional
        The root of the random streams of all runs.
    executor : concurrent.futures.Executor, optional
        The executor of the runs; by default a thread for each core.
    progress : callable, optional
        Called after each run with the fraction of completed runs.

    Returns
    -------
    Why or Difference
        The causes in the order of what they explain; of two scenarios, what each key explains.

    Raises
    ------
    ScenarioError
        The scenario has faults, or no flow of this name.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(standard="11n", stations=1, duration_s=2.0, wire={"delay_ms": 20.0},
    ...     flows=[{"from": "server", "to": "sta0", "tcp": {"window_bytes": 20000}}])
    >>> sm.why(s, replications=2).causes[0].cause
    'the receive window of 20,000 B'
    """
    arguments: dict[str, Any] = {
        "flow": flow, "replications": replications, "seed": seed, "executor": executor,
        "progress": progress,
    }  # fmt: skip
    if other is None:
        return explain(scenario, most_replications=most_replications, **arguments)
    return compare(scenario, other, **arguments)
