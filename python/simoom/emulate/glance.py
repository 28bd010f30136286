"""How an emulation goes, as a page shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from simoom.emulate.ports import Port
from simoom.emulate.report import MOSTLY, verdict_of
from simoom.scenario.interfaces import interfaces
from simoom.scenario.observables import observable
from simoom.scenario.scenario import Scenario


def queues_of(scenario: Scenario, ports: Sequence[Port]) -> dict[str, str]:
    """Return the path of the queue before the radio of each port's node, by the port's name."""
    listed = {each["name"]: each for each in interfaces(scenario)}
    found = {}
    for port in ports:
        radio = listed.get(port.at, {"kind": ""})
        if radio["kind"] == "ap":
            found[port.name] = "ap.queue_packets"
        elif radio["kind"] == "station":
            found[port.name] = f"stations[{radio['number']}].queue_packets"
    return found


class Glances:
    """Makes what a page shows of what the loop tells.

    Parameters
    ----------
    ports : sequence of Port
        The ports.
    scenario : Scenario
        What is emulated: the queues of the ports' nodes are shown, and the use of the air where
        there is one cell.
    told : callable
        Takes what is shown.
    """

    def __init__(
        self,
        ports: Sequence[Port],
        scenario: Scenario,
        told: Callable[[dict[str, Any]], object],
    ) -> None:
        queues, uses = queues_of(scenario, ports), scenario.core.airtime_uses()
        self.paths = [*queues.values(), *uses]
        self._queued = list(queues)
        self._uses = [observable(path).heading for path in uses]
        self._at = {port.name: port.at for port in ports}
        self._told = told
        self._before: dict[str, Any] | None = None

    def take(self, glance: dict[str, Any]) -> None:
        """Take a glance of the loop."""
        queues = dict(zip(self._queued, glance["values"], strict=False))
        uses = zip(self._uses, glance["values"][len(self._queued) :], strict=True)
        airtime = [{"name": name, "fraction": fraction} for name, fraction in uses]
        before = self._before or {"at_s": 0.0, "ports": []}
        self._before = glance
        step_s = glance["at_s"] - before["at_s"]
        old = {port["name"]: port for port in before["ports"]}
        ports = [
            _port(port, old.get(port["name"], {}), step_s)
            | {"at": self._at[port["name"]], "queue": queues.get(port["name"])}
            for port in glance["ports"]
        ]
        keys = ("at_s", "handed_over", "above_1ms", "max_s", "recent_max_s", "dropped")
        is_invalid = glance["fell_behind"] or any(port["not_written"] for port in ports)
        mostly_in_time = glance["above_1ms"] <= MOSTLY * glance["handed_over"]
        verdict = verdict_of(mostly_in_time, glance["max_s"], is_invalid=is_invalid)
        told = {key: glance[key] for key in keys}
        self._told({**told, "verdict": verdict, "ports": ports, "airtime": airtime})


def _port(port: dict[str, Any], before: dict[str, Any], step_s: float) -> dict[str, Any]:
    """Return what a port has carried since the glance before, and the ping of its packets."""
    sent, received = (
        8e-6 * (port[key] - before.get(key, 0)) / step_s if step_s > 0 else 0.0
        for key in ("sent_bytes", "received_bytes")
    )
    ways = (port["from_s"], port["to_s"])
    return {
        "name": port["name"],
        "sent_mbps": sent,
        "received_mbps": received,
        "ping_s": None if None in ways else sum(ways),
        "on_the_way": port["on_the_way"],
        "refused": sum(port["refused"].values()),
        "not_written": port["not_written"],
    }
