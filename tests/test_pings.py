"""Pings: their results, DSCP, the cipher, and the picture of goodput and ping."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import simoom as sm
from simoom import plots
from simoom.scenario.observables import PING_PROBES, default_probes
from simoom.show.report import page


def cell(*flows: dict[str, Any], **keys: Any) -> sm.Scenario:
    """A laptop, and a server 10 ms away."""
    base: dict[str, Any] = {
        "standard": "11n", "stations": 1, "duration_s": 6.0, "warmup_s": 1.0,
        "measure": {"interval_s": 0.05}, "wlan": {"mcs": 7},
        "wire": {"rate_mbps": 1000.0, "delay_ms": 10.0},
        "flows": [{"from": "sta0", "to": "server", **flow} for flow in flows],
    }  # fmt: skip
    return sm.Scenario(**{**base, **keys})


PING: dict[str, Any] = {"traffic": {"ping": {}}}


@pytest.fixture(scope="module")
def loaded() -> sm.Run:
    """A ping in AC_BE and one in AC_VO beside an upload."""
    scenario = cell({"name": "upload"}, PING, {**PING, "dscp": "EF"})
    return sm.run(scenario, probes=PING_PROBES, check=True)


def test_a_ping_alone_takes_little_more_than_the_wires() -> None:
    found = sm.run(cell(PING), check=True).summary
    assert 0.020 < found["flows[0].rtt_s.p50"] < 0.021
    assert found["flows[0].ping.lost"] == 0
    assert found["total.rpm"] == pytest.approx(60 / found["flows[0].rtt_s.mean"], rel=0.01)


def test_rpm_is_the_mean_of_that_of_pings_and_of_the_loaded_connection() -> None:
    found = sm.run(cell({"name": "upload"}, PING)).summary
    own_s = 60 / (2 * found["total.rpm"] - found["flows[1].ping.rpm"])
    # Without its longest 5 %.
    assert 0.8 * found["flows[0].rtt_s.mean"] < own_s < found["flows[0].rtt_s.mean"]


def test_a_dscp_is_an_access_category(loaded: sm.Run) -> None:
    assert loaded.summary["flows[1].rtt_s.p50"] > 2 * loaded.summary["flows[2].rtt_s.p50"]
    by_class = cell({"name": "upload"}, PING, {**PING, "class": "voice"})
    assert sm.run(by_class, probes=PING_PROBES).digest == loaded.digest


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"dscp": "EFF"}, 'there is no DSCP "EFF"; did you mean "EF"?'),
        (
            {"dscp": 64},
            'must be the name of a DSCP, as "EF", or a whole number from 0 to 63, is 64',
        ),
        ({"dscp": "EF", "class": "video"}, 'is "video", but the DSCP maps to "voice"'),
    ],
)
def test_a_wrong_dscp_is_one_message(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(sm.ScenarioError) as error:
        cell({**PING, **keys}).check()
    (issue,) = error.value.issues
    assert issue.text.startswith(message)


def test_ccmp_costs_16_bytes_of_airtime() -> None:
    flow = {"from": "sta0", "to": "ap", "traffic": {"saturated": {}}}
    plain = cell(standard="11g", wlan={}, duration_s=3.0).set("flows", [flow])
    sealed = plain.set("wlan.cipher", "ccmp")
    path = "flows[0].goodput_mbps"
    lost = 1 - sm.run(sealed).summary[path] / sm.run(plain).summary[path]
    # 128 bits at 54 Mb/s are 2.4 us, rounded to symbols of 4 us, of about 400.
    assert 0.003 < lost < 0.03


def test_the_picture_has_goodputs_pings_and_their_distribution(loaded: sm.Run) -> None:
    figure = plots.response(loaded)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["Upload, goodput", "Ping, round-trip time", "Ping, cumulative distribution"]
    last = figure.axes[-1].get_lines()
    assert len(last) == 2
    # All replies to requests of the measured time, also those that come together.
    for flow, line in zip((1, 2), last, strict=True):
        drawn = np.asarray(line.get_xdata()) / 1e3
        found = {part: loaded.summary[f"flows[{flow}].rtt_s.{part}"] for part in ("count", "mean")}
        assert drawn.size == found["count"] > 5
        assert drawn.mean() == pytest.approx(found["mean"])
    assert "Upload, goodput" in page(loaded)


def test_without_its_probes_there_is_no_picture() -> None:
    scenario = cell(PING, {"name": "upload"})
    assert default_probes(scenario)[-2:] == list(PING_PROBES)
    assert default_probes(cell({})) == ["total.goodput_mbps", "ap.queue_packets"]
    with pytest.raises(ValueError, match="need flows"):
        plots.response(sm.run(scenario.set("duration_s", 2.0)))
