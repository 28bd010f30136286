"""The shortest routes of an ad-hoc network over time, without a run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from simoom import _core
from simoom.base.arguments import whole
from simoom.base.issue import Issue, ScenarioError
from simoom.base.needs import Later
from simoom.scenario.scenario import Scenario

sparse = Later("scipy.sparse", "a route")

SAMPLES = 200
"""The default number of steps from the start to the end of a run."""


@dataclass(frozen=True)
class Course:
    """The shortest route of a flow over time.

    Attributes
    ----------
    source, sink : str
        The nodes.
    hops : ndarray of float
        The number of hops at each time; NaN if there is no route.
    breaks : int
        How often a route loses a link. A route is used until it breaks, even if another one becomes
        shorter.
    """

    source: str
    sink: str
    hops: NDArray[np.float64]
    breaks: int

    @property
    def missing_fraction(self) -> float:
        """The fraction of time without a route."""
        return float(np.isnan(self.hops).mean())


@dataclass(frozen=True, eq=False, repr=False)
class Routes:
    """The links of an ad-hoc network at some times, and what follows from them.

    Two nodes have a link if 90 % of frames of 1536 bytes are received in each direction, without
    interference and fading.

    Attributes
    ----------
    nodes : tuple of str
        The names of the nodes.
    flows : tuple of (str, str)
        Source and sink of each flow between two nodes.
    times_s : ndarray of float, shape (times,)
        The times.
    positions_m : ndarray of float, shape (times, nodes, 2)
        The positions, east and north.
    linked : ndarray of bool, shape (times, nodes, nodes)
        Which nodes have a link.
    """

    nodes: tuple[str, ...]
    flows: tuple[tuple[str, str], ...]
    times_s: NDArray[np.float64]
    positions_m: NDArray[np.float64]
    linked: NDArray[np.bool_]

    @cached_property
    def links(self) -> NDArray[np.int64]:
        """The number of links at each time."""
        both_ways: NDArray[np.int64] = self.linked.sum(axis=(1, 2))
        return both_ways // 2

    @cached_property
    def partitions(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """At each time the sets of nodes that routes connect, the largest first."""
        return tuple(map(self._partitions_of, self.linked))

    def _partitions_of(self, linked: NDArray[np.bool_]) -> tuple[tuple[str, ...], ...]:
        graph = sparse.csr_array(linked)
        count, labels = sparse.csgraph.connected_components(graph, directed=False)
        sets = [
            tuple(name for name, label in zip(self.nodes, labels, strict=True) if label == number)
            for number in range(count)
        ]
        return tuple(sorted(sets, key=len, reverse=True))

    def path(self, source: str, sink: str, *, index: int = 0) -> tuple[str, ...]:
        """Return the nodes of a shortest route at a time; none if there is no route.

        Parameters
        ----------
        source, sink : str
            The first and the last node.
        index : int, optional
            The index of the time.

        Returns
        -------
        tuple of str
            The names of the nodes from the first to the last.
        """
        begin, end = self.nodes.index(source), self.nodes.index(sink)
        return tuple(self.nodes[node] for node in self._path(index, begin, end))

    def _path(self, index: int, begin: int, end: int) -> list[int]:
        # A tree from the end, so that predecessors are the next nodes.
        graph = sparse.csr_array(self.linked[index])
        _, towards = sparse.csgraph.breadth_first_order(graph, end, directed=False)
        if begin != end and towards[begin] < 0:
            return []
        path = [begin]
        while path[-1] != end:
            path.append(int(towards[path[-1]]))
        return path

    @cached_property
    def courses(self) -> tuple[Course, ...]:
        """The shortest route of each flow over time."""
        return tuple(self._course(source, sink) for source, sink in self.flows)

    def _course(self, source: str, sink: str) -> Course:
        begin, end = self.nodes.index(source), self.nodes.index(sink)
        hops = np.full(len(self.times_s), math.nan)
        used: list[int] = []
        breaks = 0
        for index, linked in enumerate(self.linked):
            if used and not linked[used[:-1], used[1:]].all():
                used, breaks = [], breaks + 1
            shortest = self._path(index, begin, end)
            used = used or shortest
            if shortest:
                hops[index] = len(shortest) - 1
        return Course(source, sink, hops, breaks)

    @cached_property
    def lifetimes_s(self) -> NDArray[np.float64]:
        """How long links lasted that began and ended between the first and the last time."""
        ends = np.diff(self.linked.astype(np.int8), axis=0)
        lifetimes: list[float] = []
        for low in range(len(self.nodes)):
            for high in range(low + 1, len(self.nodes)):
                changes = ends[:, low, high]
                (at,) = np.nonzero(changes)
                for begin, end in pairwise(at):
                    if changes[begin] > 0:
                        lifetimes.append(self.times_s[end + 1] - self.times_s[begin + 1])
        return np.array(lifetimes)

    @cached_property
    def changes_per_s(self) -> float:
        """How many links begin or end per second."""
        span_s = self.times_s[-1] - self.times_s[0]
        if span_s == 0:
            return 0.0
        changed = np.diff(self.linked.astype(np.int8), axis=0) != 0
        return float(changed.sum() / 2 / span_s)

    def __repr__(self) -> str:
        span = f"{self.times_s[0]:g} to {self.times_s[-1]:g} s"
        return f"Routes({len(self.nodes)} nodes, {len(self.flows)} flows, {span})"


def routes(
    scenario: Scenario,
    *,
    seed: int = 1,
    replication: int = 0,
    times_s: Sequence[float] | None = None,
) -> Routes:
    """Return the links and shortest routes of an ad-hoc network over time, without a run.

    Parameters
    ----------
    scenario : Scenario
        A scenario with ``radio.ad_hoc``.
    seed : int, optional
        The root of the random streams, from which positions, movement and shadowing are drawn.
    replication : int, optional
        The number of the replication with this seed.
    times_s : sequence of float, optional
        Simulated times, ascending. Default: 201 times from the start to the end of the run.

    Returns
    -------
    Routes
        Positions, links and routes at each time.

    Raises
    ------
    ScenarioError
        The scenario has faults, or no ad-hoc network.

    Examples
    --------
    >>> import simoom as sm
    >>> s = sm.Scenario(
    ...     standard="11b",
    ...     radio={"ad_hoc": True, "propagation": "two_ray", "tx_power_dbm": 24.5},
    ...     stations={"count": 4, "placement": {"chain": {"spacing_m": 400.0}}},
    ...     flows=[{"from": "sta0", "to": "sta3"}],
    ... )
    >>> found = sm.routes(s, times_s=[0.0])
    >>> found.path("sta0", "sta3"), found.links
    (('sta0', 'sta1', 'sta2', 'sta3'), array([3]))
    """
    whole("seed", seed, bits=64)
    whole("replication", replication, bits=32)
    if times_s is None:
        times = np.linspace(0.0, scenario.get("duration_s"), SAMPLES + 1)
    else:
        times = np.asarray(times_s, dtype=float)
    ascends = times.size > 0 and times[0] >= 0 and bool((np.diff(times) > 0).all())
    if not (ascends and np.isfinite(times).all()):
        raise ValueError("times_s: must be one or more ascending times from 0 on")
    found = _core.connectivity(scenario.core, seed, replication, times.tolist())
    if found is None:
        message = "is not true: only the nodes of an ad-hoc network have routes over each other"
        raise ScenarioError([Issue("radio.ad_hoc", message)])
    names, flows, snapshots = found
    linked = np.zeros((len(times), len(names), len(names)), dtype=bool)
    for index, (_, links) in enumerate(snapshots):
        for low, high in links:
            linked[index, low, high] = linked[index, high, low] = True
    return Routes(
        nodes=tuple(names),
        flows=tuple((names[source], names[sink]) for source, sink in flows),
        times_s=times,
        positions_m=np.array([positions for positions, _ in snapshots]),
        linked=linked,
    )
