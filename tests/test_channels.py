"""Channels are frequencies, and distances take time: what a user is told."""

from __future__ import annotations

import pytest

import simoom as sm

FAR = {
    "standard": "11a",
    "duration_s": 0.2,
    "radio": {"propagation": {"log_distance": {"exponent": 2.0}}, "tx_power_dbm": 60.0},
    "wlan": {"rate_mbps": 24},
    "stations": [{"position_m": [30_000, 0]}],
    "flows": [{"from": "sta0", "to": "ap", "traffic": "saturated"}],
}
"""A link over 30 km, of which the slot time without a coverage class allows 300 m."""


def test_a_number_that_the_band_lacks_is_refused_with_the_list() -> None:
    """802.11-2020 table E-4, operating classes 81 and 82."""
    scenario = sm.Scenario(standard="11g", radio={}, ap={"channel": 36}, stations=[{"ring_m": 3}])
    with pytest.raises(sm.ScenarioError, match=r"ap\.channel: 36 is no channel at 2\.4 GHz, where"):
        scenario.check()


def test_a_distance_without_room_in_the_slot_is_told() -> None:
    """802.11-2020 table 9-95: aAirPropagationTime is at most 1 us without a coverage class."""
    scenario = sm.Scenario(**FAR)
    (caveat,) = scenario.caveats()
    assert "sta0 and ap are up to 30000 m apart; signals take 100.1 us" in caveat
    assert "up to 300 m" in caveat
    assert caveat.split(";")[0] in sm.run(scenario).report()
    near = scenario.set("stations[0].position_m", [300, 0])
    assert near.caveats() == []
    # 100 us to the access point and 100 us back are 67 classes of 3 us.
    assert "no response would come in time without wlan.coverage_class = 67" in caveat
    assert scenario.set("wlan.coverage_class", 67).caveats() == [], "the delay is simulated"


def test_check_prints_the_caveat(simoom, tmp_path) -> None:
    file = tmp_path / "far.toml"
    file.write_text(sm.Scenario(**FAR).to_toml())
    done = simoom("check", str(file))
    assert done.returncode == 0
    assert "30000 m apart" in done.stderr


def test_a_coverage_class_lengthens_the_slot() -> None:
    """Each class adds 3 us to the slot time, and so 2 · 3 us to a DIFS (10.3.7)."""
    near = sm.Scenario(**FAR).set("stations[0].position_m", [100, 0])
    run = [sm.run(near.set("wlan.coverage_class", n)).summary["total.goodput_mbps"] for n in (0, 8)]
    # 1500 bytes take 695 us on average with 7.5 slots of back-off.
    assert run[1] == pytest.approx(run[0] * 695 / (695 + 9.5 * 24), rel=0.02)


def neighbours(channels: tuple[int, int], **wlan: object) -> sm.Scenario:
    """Return two cells 10 m apart, each with a station that sends to the server."""
    return sm.Scenario(
        standard="11ac",
        duration_s=1.0,
        radio={},
        wlan=wlan,
        ap={"channel": channels[0]},
        cells=[{"position_m": [10, 0], "channel": channels[1]}],
        stations=[{"position_m": [3, 0]}, {"cell": 1, "position_m": [13, 0]}],
        flows=[{"from": "sta*", "to": "server"}],
    )


def test_cells_in_one_block_of_80_mhz_share_the_air() -> None:
    """802.11-2020 21.3.18.5.3: the primary channel is busy with the preamble in each 20 MHz."""
    total = {
        other: sm.run(neighbours((36, other), width_mhz=80), check=True).summary[
            "total.goodput_mbps"
        ]
        for other in (36, 44, 52)
    }
    assert total[44] == pytest.approx(total[36], rel=0.06)
    assert total[52] > 1.9 * total[36]
