"""What users of other programs have reported, tried here: each test has the right value."""

from __future__ import annotations

import pytest

import simoom as sm


def run(flow: dict[str, object], duration_s: float, **link: object) -> sm.Run:
    """A flow over 20 Mb/s, 48 ms and 100 packets, with both ends as Linux."""
    queue = {"drop_tail": {"limit_packets": 100}}
    path = {"rate_mbps": 20.0, "delay_ms": 24.0, "queue": queue, **link}
    links = [{"from": "a", "to": "r"}, {"from": "r", "to": "b", **path}]
    flows = [{"from": "a", "to": "b", **flow}]
    return sm.run(sm.Scenario(duration_s=duration_s, links=links, flows=flows), seed=1)


@pytest.mark.parametrize("growth", ["linux", "rfc9438"])
def test_an_idle_time_does_not_let_the_window_of_cubic_grow(growth: str) -> None:
    """NTAP/rfc8312bis #14, s2n-quic #157: after a long idle time CUBIC's window is that of the
    cubic function at the end of this time, and a burst leaves. RFC 9438 section 4.2 leaves the time
    out (`cubictcp_cwnd_event`): it does not matter how long it is."""

    def delay_s(pause_s: float) -> object:
        requests = {"size": {"constant": {"bytes": 3_000_000}}, "think_s": pause_s}
        requests |= {"pauses": "constant", "requests": 4, "first": "file"}
        tcp = {"endpoint": "linux", "restart_after_idle": False}
        control = {"cubic": {"growth": growth}}
        flow = {"control": control, "tcp": tcp, "traffic": {"requests": requests}}
        return run(flow, 4 * (pause_s + 4)).summary["flows[0].session_delay_s.mean"]

    assert delay_s(60.0) == pytest.approx(delay_s(1.0), rel=1e-9)


def test_reordering_by_less_than_the_window_of_rack_is_no_loss() -> None:
    """quinn #2711, pion/sctp #389: 25 % of the packets overtake those of the last 5 ms, and a fixed
    threshold of three packets takes the others for lost. RFC 8985 section 6.2 gives the threshold
    up once reordering was seen (`tcp_rack_reo_wnd`)."""
    reorder = {"delay_ms": 5.0, "probability": 0.25}
    tcp = {"endpoint": "linux", "paws": False}
    found = run({"control": "cubic", "tcp": tcp}, 30.0, reorder=reorder).summary
    assert found["flows[0].retransmissions"] == found["flows[0].queue_drops"]


def test_a_hole_is_repaired_once() -> None:
    """inet #78: a segment that was sent again is sent again once more for later duplicate
    acknowledgements. RFC 6675 section 4 (NextSeg) and `tcp_xmit_retransmit_queue` pass over it."""
    loss = {"uniform": {"probability": 0.001}}
    found = run({"control": "new_reno", "tcp": {"endpoint": "linux"}}, 30.0, loss=loss).summary
    assert found["flows[0].retransmissions"] <= 1.01 * (
        found["links[1].drops"] + found["links[1].losses"]
    )
