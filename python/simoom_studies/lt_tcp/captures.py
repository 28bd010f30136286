"""The runs of Tables IV to VI: what shuts node 1 out, and how long its timer waits at least.

The paper's interference meets what BS-1 receives: a second cell disturbs BS-1 and not node 1. So
the tables are judged beside that cell, in which node 2 fetches files of 250 ms. A source in place
of BS-2, and a rule by which the frames of both directions are lost, are other readings.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from simoom.runs.evidence import Check
from simoom.scenario.scenario import Scenario
from simoom.studies.claim import Claim, Reading, claim
from simoom.studies.figure import Curve
from simoom.studies.lab import Lab, Sample
from simoom_studies.lt_tcp.cell import (
    ATTEMPTS,
    RTTS,
    SHUT_S,
    At,
    by_label,
    measure,
    measured,
    measured_s,
    replications,
    upload,
)
from simoom_studies.lt_tcp.link import COLOURS, GOODPUT
from simoom_studies.lt_tcp.second_cell import (
    PROBES,
    alone,
    beside_cell,
    beside_source,
    files,
    measure_shut_outs,
)

Key = TypeVar("Key", bound=Hashable)

CELL, SOURCE, RULE = "second cell", "source at BS-2", "all frames lost, by rule"
KINDS = {CELL: 0, SOURCE: 1, RULE: 2}
"""What shuts node 1 out, with its colour."""
SLOW_MS = 500.0
"""A minimum of the retransmission timeout that outlasts a capture of 250 ms."""


@dataclass(frozen=True)
class View:
    """The tables by one reading: what shuts node 1 out, and the least timeout.

    A view of a table and a quantity is the curves of both protocols, see `__call__`.
    """

    lab: Lab
    kind: str = CELL
    rto_min_ms: float | None = None

    @property
    def name(self) -> str:
        """What is read how."""
        timer = "" if self.rto_min_ms is None else f", timeouts of {self.rto_min_ms:g} ms or more"
        return f"{self.kind}{timer}"

    def __call__(self, table: str, quantity: str = GOODPUT) -> dict[str, Curve]:
        """Return the goodput, or another quantity, against the round-trip time, by protocol."""
        is_shut = table != "IV"
        cases = {
            (protocol, rtt): self._scenario(protocol, table, rtt, is_shut=is_shut)
            for protocol in COLOURS
            for rtt in RTTS
        }
        found = self.sample(cases, in_space=is_shut)
        is_same = not is_shut or self == View(self.lab)
        setting = table if is_same else f"{table}, {self.name}"
        return {
            p: measured(p, setting, RTTS, [found[p, rtt] for rtt in RTTS], quantity)
            for p in COLOURS
        }

    def _scenario(self, protocol: str, table: str, rtt_ms: float, *, is_shut: bool) -> Scenario:
        # Without interference no timer expires, whatever its minimum.
        is_slow = is_shut and self.rto_min_ms is not None
        timer = {"tcp": {"rto_min_ms": self.rto_min_ms}} if is_slow else {}
        keys: Mapping[str, Any] = {"rtt_ms": rtt_ms, "attempts": ATTEMPTS[table], "flow": timer}
        if is_shut:
            return self.shut(protocol, **keys)
        return upload(protocol, measured_s=measured_s(self.lab), **keys)

    def shut(self, protocol: str, *, shut_s: float = SHUT_S, **keys: Any) -> Scenario:
        """Return an upload that is shut out for a part of every 2 s; see `upload` for its keys."""
        if self.kind == RULE:
            keys |= {"is_shut": True, "shut_s": shut_s}
            return upload(protocol, measured_s=measured_s(self.lab), **keys)
        single = alone(protocol, measured_s=space_s(self.lab), **keys)
        if self.kind == CELL:
            return beside_cell(single, files(shut_s))
        return beside_source(single, shut_s=shut_s)

    def sample(
        self, cases: Mapping[Key, Scenario], *, in_space: bool = True
    ) -> Mapping[Key, Sample]:
        """Run cases that are shut out, or not in space."""
        if in_space and self.kind != RULE:
            number = space_replications(self.lab)
            return self.lab.sample(cases, measure_shut_outs, replications=number, probes=PROBES)
        return self.lab.sample(cases, measure, replications=replications(self.lab))

    def grid(self, cases: Mapping[tuple[str, At], Mapping[str, Any]]) -> dict[str, Curve]:
        """Return the goodput of cases that are shut out, see `shut` for their keys.

        Cases are named by a label, which begins with the protocol, and an x value.
        """
        scenarios = {
            (label, x): self.shut(label.partition(",")[0], **keys)
            for (label, x), keys in cases.items()
        }
        setting = "" if self == View(self.lab) else f", {self.name}"
        return by_label(self.sample(scenarios), GOODPUT, setting)


def space_s(lab: Lab) -> float:
    """Return the measured time of a run in space."""
    return lab.pick(200.0, 40.0)


def space_replications(lab: Lab) -> int:
    """Return the number of runs in space of each case."""
    return lab.pick(5, 4)


def others(lab: Lab) -> tuple[View, ...]:
    """Return the readings of the tables beside that which decides."""
    return (
        View(lab, SOURCE),
        View(lab, RULE),
        View(lab, CELL, SLOW_MS),
        View(lab, RULE, SLOW_MS),
    )


def judged(
    lab: Lab,
    name: str,
    statement: str,
    *,
    paper: str,
    checks: Callable[[View], Iterable[Check]],
    tolerance: str,
    remark: str = "",
    coarse: str = "",
    repeats: str = "",
) -> Claim:
    """Return a claim about Table V or VI, judged beside the second cell, with other readings."""
    return claim(
        name,
        statement,
        paper=paper,
        checks=checks(View(lab)),
        tolerance=tolerance,
        remark=remark,
        coarse=coarse,
        repeats=repeats,
        reading=f"{CELL}, which disturbs what BS-1 receives; timeouts of 200 ms or more",
        others=[Reading(view.name, tuple(checks(view))) for view in others(lab)],
    )
