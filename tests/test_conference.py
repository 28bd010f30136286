"""A conference: Google Congestion Control beside a step of capacity, CUBIC, BBR, and losses.

The bands stood before the first run. They follow from draft-ietf-rmcat-gcc-02 (the rates of growth
and of decrease), RFC 8867 sections 5.1 and 5.6 (the capacities and the path: 50 ms one way, a queue
of 300 ms) and Carlucci et al. (MMSys 2016: full use of the link, small queues, and with the
adaptive threshold a fair share beside TCP).
"""

from __future__ import annotations

from typing import Any

import pytest

import simoom as sm
from simoom.base.issue import ScenarioError

CONFERENCE = {"name": "conference", "from": "a", "to": "b", "traffic": {"conference": {}}}
TARGET = "flows[0].conference.target_mbps"


def path(rate_mbps: float, *others: dict[str, Any], **keys: Any) -> sm.Scenario:
    """The path of RFC 8867: 50 ms one way, a queue of 300 ms."""
    packets = max(10, round(rate_mbps * 1e6 * 0.3 / 8 / 1250))
    line = {"from": "a", "to": "b", "name": "line", "rate_mbps": rate_mbps, "delay_ms": 50.0}
    line["queue"] = {"drop_tail": {"limit_packets": packets}}
    base = {"duration_s": 100.0, "warmup_s": 40.0, "links": [line],
            "flows": [CONFERENCE, *others], "measure": {"interval_s": 0.1}}  # fmt: skip
    return sm.Scenario(**{**base, **keys})


def target(run: sm.Run, start: float, end: float) -> float:
    """The mean target rate in this time."""
    frame = run.series(TARGET)
    times, values = frame["time_s"].to_numpy(), frame["value"].to_numpy()
    return float(values[(times >= start) & (times < end)].mean())


STEADY_USE = (0.8, 1.0)
"""Alone: decreases to 0.85 of what arrives, and growth to more than the link has."""

STEADY_DELAY_S = 0.15
"""Alone: the mean delay, of which 50 ms are the path. The queue could hold 300 ms."""


@pytest.mark.slow
@pytest.mark.parametrize("keys", [
    {}, {"estimator": "trendline"}, {"feedback": "remb"},
])  # fmt: skip
def test_alone_it_uses_the_link_with_short_queues(keys: dict[str, Any]) -> None:
    runs = sm.replicate(path(1.0).set("flows[0].traffic.conference", keys), replications=5)
    use = runs.mean("links[0].utilisation")
    assert STEADY_USE[0] < use.ci_low, use
    assert use.ci_high <= STEADY_USE[1], use
    assert runs.mean("flows[0].delay_s.mean").ci_high < STEADY_DELAY_S
    assert runs.mean("flows[0].conference.freezes").ci_high < 1.0


STEP_UP_S, STEP_UP = 20.0, 0.8
"""From 1 to 2.5 Mb/s: 8 % a second take ln(2.5 * 0.8 / 0.85) / ln(1.08) = 11 s; RFC 8867 has
20 s."""

STEP_DOWN_S, STEP_DOWN_FREEZES_S = 5.0, 2.0
"""From 2.5 to 0.6 Mb/s: over-use is detected within a second, and the queue of 300 ms is drained
by 0.85 of the rate in 2 s. Meanwhile the picture stops for no longer than this."""


def step(of_mbps: float, start_s: float, stop_s: float) -> dict[str, Any]:
    """What takes away capacity for a time: datagrams that go before all others.

    In one queue with the conference they would not be a step of capacity: then a flow gets its
    part of what arrives, and over-use does not show what is free.
    """
    cbr = {"rate_mbps": of_mbps, "payload_bytes": 600}
    ends = {"from": "a", "to": "b", "start_s": start_s, "stop_s": stop_s, "start_spread_s": 0.0}
    return {**ends, "class": "voice", "traffic": {"cbr": cbr}}


@pytest.mark.slow
def test_it_follows_steps_of_the_capacity() -> None:
    # 2.5 Mb/s, of which 1 are free at first; from 60 s to 90 s 0.6, then 2.5 again.
    others = step(1.43, 0.0, 30.0), step(1.81, 60.0, 90.0)
    cell = path(2.5, *others, duration_s=120.0)
    cell = cell.set("links[0].queue", {"priority": {"limit_packets": 75}})
    for seed in range(3):
        run = sm.run(cell, seed=seed, probes=[TARGET, "flows[0].conference.freezes"], check=True)
        assert target(run, 20.0, 30.0) < 1.15
        after_up = target(run, 30.0 + STEP_UP_S, 60.0)
        assert after_up > STEP_UP * 2.5, (seed, after_up)
        low = target(run, 60.0 + STEP_DOWN_S, 90.0)
        assert 0.5 * 0.6 < low < 1.1 * 0.6, (seed, low)
        frozen = run.summary["flows[0].conference.frozen_fraction"] * 80.0
        assert frozen < STEP_DOWN_FREEZES_S, (seed, frozen)


SHARE_BESIDE_CUBIC = (0.25, 0.75)
"""The share of a link of 2 Mb/s beside one flow with CUBIC: "fair" in the paper, that is half."""


def beside(control: str, estimator: str = "kalman") -> Any:
    """A conference beside a flow over TCP, for 100 s after 40 s."""
    tcp = {"name": "tcp", "from": "a", "to": "b", "control": control, "start_s": 20.0}
    cell = path(2.0, tcp, duration_s=140.0)
    cell = cell.set("flows[0].traffic.conference.estimator", estimator)
    return sm.replicate(cell, replications=20)


MEASURED_BESIDE_CUBIC = (0.55, 0.9)
"""What is measured instead goes beyond the band: 0.73 (0.62 to 0.84). The queue stays full, so that
its gradient is 0, and losses between 2 and 10 % neither raise nor lower the rate."""


@pytest.mark.slow
def test_beside_cubic_the_adaptive_threshold_of_the_draft_does_not_starve() -> None:
    share = beside("cubic").mean("flows[0].goodput_mbps")
    assert share.ci_low > 2.0 * SHARE_BESIDE_CUBIC[0]
    low, high = (2.0 * part for part in MEASURED_BESIDE_CUBIC)
    assert low < share.ci_low, share
    assert share.ci_high < high, share


@pytest.mark.slow
def test_beside_cubic_the_threshold_of_webrtc_starves() -> None:
    """It falls within a tenth of a second: CUBIC's slow growth is over-use, as in the reports."""
    share = beside("cubic", "trendline").mean("flows[0].goodput_mbps")
    assert share.ci_high < 2.0 * SHARE_BESIDE_CUBIC[0]


LEAST_BESIDE_BBR_MBPS = 0.3
"""Of BBR the papers say that it takes more than its share; the conference keeps its least rate."""


@pytest.mark.slow
def test_beside_bbr_it_keeps_its_least_rate() -> None:
    own = beside("bbr").mean("flows[0].goodput_mbps")
    assert own.ci_low > LEAST_BESIDE_BBR_MBPS * 0.9
    assert own.ci_high < 1.0, "less than half"


def lossy(probability: float) -> sm.Run:
    """A link of 5 Mb/s that loses packets."""
    cell = path(5.0, duration_s=80.0).set("links[0].loss.uniform.probability", probability)
    return sm.run(cell, probes=[TARGET], check=True)


@pytest.mark.slow
def test_losses_below_2_percent_do_not_matter_and_above_10_they_do() -> None:
    """Section 6 of the draft: below 2 % the rate grows, above 10 % it falls by half of them."""
    without, few, many = (target(lossy(p), 60.0, 80.0) for p in (0.0, 0.01, 0.15))
    assert without > 2.9
    assert few > 0.9 * without
    assert many < 0.5 * without


def faults(conference: dict[str, Any], **keys: Any) -> list[str]:
    """The faults of a conference with these keys."""
    flow = {**CONFERENCE, "traffic": {"conference": conference}, **keys}
    with pytest.raises(ScenarioError) as error:
        path(1.0, flows=[flow]).check()
    return [str(issue) for issue in error.value.issues]


def test_bad_input_has_one_clear_message() -> None:
    at = "flows[0].traffic.conference"
    assert faults({"max_rate_mbps": 0.2}) == [
        f"{at}.max_rate_mbps: 0.2 is below `min_rate_mbps`, 0.3; the rate adapts between the two"
    ]
    assert faults({"start_rate_mbps": 5.0}) == [
        f"{at}.start_rate_mbps: 5 is not between `min_rate_mbps`, 0.3, and `max_rate_mbps`, 3"
    ]
    [text] = faults({"estimator": "kalmann"})
    assert text.startswith(f"{at}.estimator")
    assert "kalman" in text
    [text] = faults({"feedback_interval_ms": 0.0})
    assert text.startswith(f"{at}.feedback_interval_ms")
    assert "10" in text


def test_a_conference_is_not_broadcast() -> None:
    flow = {"from": "server", "to": "broadcast", "traffic": {"conference": {}}}
    cell = {"standard": "11g", "stations": 1, "duration_s": 2.0, "flows": [flow]}
    with pytest.raises(ScenarioError, match="a conference adapts to one receiver"):
        sm.Scenario(**cell).check()


def test_reports_are_packets_and_their_loss_stops_the_rate() -> None:
    free = path(5.0, duration_s=20.0, warmup_s=10.0)
    lossless = sm.run(free, seed=1, check=True).summary
    # 50 audio packets a second, and reports each 100 ms; without packets of the video.
    assert lossless["links[0].reverse.packets"] == pytest.approx(10 * 10, abs=2)
    mute = free.set("links[0].reverse.loss.uniform.probability", 0.99)
    assert sm.run(mute, seed=1, check=True).summary["flows[0].conference.rate_mbps"] < (
        0.8 * lossless["flows[0].conference.rate_mbps"]
    )


def test_results_are_in_headline_and_table() -> None:
    run = sm.run(sm.Scenario.load("conference").set("duration_s", 25.0))
    text = str(run.report())
    assert "late, " in text
    assert "conference" in text
    assert "freezes" in text


@pytest.mark.slow
def test_packets_that_overtake_others_bring_the_rate_down() -> None:
    """As users of mediasoup report of jitter that reorders: the estimate is very low."""
    cell = path(5.0, duration_s=60.0, warmup_s=20.0)
    jitter = cell.set("links[0].reorder", {"delay_ms": 50.0, "probability": 0.1})
    found = [sm.run(each, seed=1, check=True).summary for each in (cell, jitter)]
    free, low = (summary["flows[0].conference.rate_mbps"] for summary in found)
    assert low < 0.35 < 2.0 < free
