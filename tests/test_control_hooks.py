"""What controllers written in Python see and set besides the window: timers, segments, delays."""

from __future__ import annotations

import pytest

import simoom as sm
from simoom import Ack, Departing, Loss, _core


class Fixed(sm.Control):
    """A constant window of three segments."""

    def __init__(self) -> None:
        self.window = 3.0


class Ticking(Fixed):
    """Asks for a call every 10 ms from 50 ms on, and records the calls."""

    ticks: list[float]

    def __init__(self) -> None:
        super().__init__()
        self.timer_s = 0.05

    def on_timer(self, now_s: float) -> None:
        assert self.timer_s is None
        self.ticks.append(now_s)
        self.timer_s = now_s + 0.01


class Probing(Fixed):
    """Sends one segment more if nothing was sent or acknowledged for a second."""

    probed: list[float]

    def on_send(self, departing: Departing) -> None:
        self.timer_s = departing.now_s + 1.0

    def on_timer(self, now_s: float) -> None:
        self.probed.append(now_s)


class Late(Ticking):
    """Asks for a call in the past."""

    def on_timer(self, now_s: float) -> None:
        self.timer_s = now_s


class Sending(Fixed):
    """Records the segments that leave."""

    sent: list[Departing]

    def on_send(self, departing: Departing) -> None:
        self.sent.append(departing)


class Constant(sm.Control):
    """A constant window of five segments."""

    def __init__(self) -> None:
        self.window = 5.0


class Owner(Constant):
    """Sets its window in each state by itself."""

    owns_window = True


class Undecided(Fixed):
    """Owns its window by a number."""

    owns_window = 1  # type: ignore[assignment]


class Recorder(sm.Control):
    """NewReno's windows, roughly; records what it sees."""

    acks: list[Ack]
    causes: set[str]

    def on_ack(self, ack: Ack) -> None:
        if not ack.app_limited:
            self.window += ack.acked / self.window
        self.acks.append(ack)

    def on_loss(self, loss: Loss) -> None:
        self.window = 1.0 if loss.cause == "timeout" else max(1.0, self.window / 2)
        self.causes.add(loss.cause)


def cell(control: object) -> sm.Scenario:
    return sm.Scenario(
        standard="11b",
        stations=1,
        duration_s=5.0,
        wire={"rate_mbps": 100.0, "delay_ms": 5.0},
        flows=[{"from": "server", "to": "sta*"}],
    ).set("flows[0].control", control)


AFTER_IDLE = """
set initial_window 1
set control python path={path}
0.000 write 1000
0.000 connect
0.000 > S 0:0(0)
0.100 < S. 0:0(0) ack 1 win 65535 <mss 1000>
0.100 > . 1:1001(1000) ack 1
0.200 < . 1:1(0) ack 1001 win 65535
9.000 write 100000
+0 skip
"""


def test_its_timer_calls_it() -> None:
    Ticking.ticks = []
    sm.run(cell(Ticking).set("duration_s", 1.0), seed=1)
    assert Ticking.ticks == pytest.approx([0.05 + 0.01 * n for n in range(len(Ticking.ticks))])
    assert len(Ticking.ticks) > 90


def test_its_timer_ends_with_the_connection() -> None:
    Ticking.ticks = []
    file = cell(Ticking).set("flows[0].traffic", {"bulk": {"size_bytes": 100_000}})
    sm.run(file, seed=1)
    assert 0.1 < Ticking.ticks[-1] < 1.0, "of five seconds"


def test_a_timer_that_a_departing_segment_sets_needs_no_acknowledgement() -> None:
    Probing.probed = []
    # No acknowledgement returns during the first two seconds.
    slow = cell(Probing).set("wire.delay_ms", 2000.0).set("duration_s", 12.0)
    sm.run(slow.set("flows[0].tcp.rto_initial_ms", 60000.0), seed=1)
    assert Probing.probed[0] < 6.0


def test_a_timer_of_the_past_ends_the_run() -> None:
    Ticking.ticks = []
    with pytest.raises(ValueError, match=r"Late.timer_s: must be a time after 0.05\d* s, or None"):
        sm.run(cell(Late), seed=1)


def test_it_sees_the_segments_that_leave() -> None:
    Sending.sent = []
    lossy = cell(Sending).set("wire.loss", {"uniform": {"probability": 0.05}})
    run = sm.run(lossy.set("warmup_s", 0.0), seed=1)
    sent = Sending.sent
    assert len(sent) == sum(int(flow["segments_sent"]) for flow in run.flows)
    assert sum(each.resent for each in sent) > 0
    assert all(each.size == 1.0 and 0.0 <= each.in_flight <= 3.0 for each in sent)
    assert all(each.now_s == each.now_ns * 1e-9 for each in sent)


def test_the_window_of_an_owner_applies_in_each_state() -> None:
    def sent(name: str) -> int:
        script = AFTER_IDLE.format(path=f"{__name__}:{name}")
        lines, failure = _core.tcp_script(script)
        assert failure is None, failure
        return sum(kind == "unasked" for _, kind, _, _ in lines)

    # RFC 5681 section 4.1: after an idle time the sender restarts from the initial window.
    assert (sent("Constant"), sent("Owner")) == (1, 5)
    with pytest.raises(TypeError, match=r"Undecided.owns_window: must be True or False, is 1"):
        sm.run(cell(Undecided), seed=1)


def test_it_sees_the_one_way_delay_and_what_follows_a_timeout() -> None:
    Recorder.acks, Recorder.causes = [], set()
    lossy = cell(Recorder).set("wire.loss", {"uniform": {"probability": 0.1}})
    lossy = lossy.set("duration_s", 20.0)
    sm.run(lossy.set("flows[0].tcp.timestamps", True), seed=1)
    assert "timeout" in Recorder.causes
    assert any(ack.after_timeout for ack in Recorder.acks)
    assert not all(ack.after_timeout for ack in Recorder.acks)
    for ack in Recorder.acks:
        assert ack.forward_delay_ns is not None
        assert ack.forward_delay_s == ack.forward_delay_ns * 1e-9
        assert ack.forward_delay_s >= 0.005, "that of the wire"
        assert ack.rtt_ns is None or ack.forward_delay_ns < ack.rtt_ns
    Recorder.acks = []
    sm.run(lossy.set("flows[0].tcp.timestamps", False), seed=1)
    assert {ack.forward_delay_s for ack in Recorder.acks} == {None}
