"""The endpoint of Linux: with a controller in Python, and wrong keys."""

from __future__ import annotations

from typing import Any

import pytest

import simoom as sm


class Fixed(sm.Control):
    """A window of 30 segments from the first acknowledgement on."""

    def on_ack(self, _: sm.Ack) -> None:
        """Set the window."""
        self.window = 30.0


def upload(**tcp: Any) -> sm.Scenario:
    """An upload over 802.11g with these keys of TCP."""
    flow = {"from": "sta0", "to": "server", "tcp": tcp}
    return sm.Scenario(
        standard="11g", stations=1, duration_s=4.0, warmup_s=1.0, flows=[flow],
        wire={"rate_mbps": 100.0, "delay_ms": 5.0},
    )  # fmt: skip


def test_a_controller_in_python_runs_above_the_endpoint_of_linux() -> None:
    scenario = upload(endpoint="linux").set("flows[0].control", Fixed)

    def linux(queue: str, **rules: Any) -> dict[str, Any]:
        found = scenario.set("stations[0].queue", queue)
        return sm.run(found.set("flows[0].tcp.endpoint", {"linux": rules}), check=True).summary

    def paced(**rules: Any) -> float:
        return float(linux("fq", **rules)["flows[0].limited_by.pacing_fraction"])

    # Acknowledgements come at less than the pacing rate: what leaves late is credited.
    assert 0 < paced() < 0.5 * paced(pacing_credit=False)
    found = sm.run(scenario, check=True).summary
    plain = sm.run(upload().set("flows[0].control", Fixed)).summary
    assert found["flows[0].goodput_mbps"] > 0.9 * plain["flows[0].goodput_mbps"] > 15.0
    # 30 segments fill the queue of the station; those beyond a small queue wait in the sender.
    small = linux("drop_tail", limit_output_bytes=8000)
    assert small["flows[0].limited_by.small_queue_fraction"] > 0.1
    assert small["stations[0].queue_packets.mean"] < 0.9 * plain["stations[0].queue_packets.mean"]


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("endpoint", "windows", 'must be one of "rfc", "linux", is "windows"'),
        ("endpoint.linux.pacing_shift", 40, "must be from 0 to 20, is 40"),
        ("endpoint.linux.grow", True, "unknown key"),
        ("endpoint.linux.tso_defer", 3, "must be true or false"),
        ("endpoint.linux.pacing_credit", "half", "must be true or false"),
        ("endpoint.linux.version", "5.4", 'must be one of "6.18", "6.1", "4.9", is "5.4"'),
        ("endpoint.linux.limit_output_bytes", 0, "must be"),
    ],
)
def test_a_wrong_key_is_one_message_at_its_path(key: str, value: object, message: str) -> None:
    with pytest.raises(sm.ScenarioError) as error:
        upload().set(f"flows[0].tcp.{key}", value).check()
    (issue,) = error.value.issues
    assert issue.path == f"flows[0].tcp.{key}"
    assert issue.message.startswith(message)
