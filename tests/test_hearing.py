"""Links of a scenario with a radio: link budget, hidden nodes, and their use by the twin."""

import json
import math

import pytest

import simoom as sm
from simoom.cli import main

UP = [{"from": "sta*", "to": "ap", "traffic": "saturated"}]
EDGE = -82.0
"""From this power on preambles are found, 802.11-2020 17.3.10.6."""


def row(*metres, **keys):
    """Return stations on a line that begins at the access point, separated by a loss matrix."""
    stations = [{"position_m": [each, 0.0]} for each in metres]
    return sm.Scenario(
        standard="11a",
        radio=keys.pop("radio", {}),
        ap={"position_m": [0.0, 0.0]},
        stations=stations,
        flows=UP,
        **keys,
    )


def test_the_signal_is_the_power_less_the_loss():
    heard = sm.hearing(row(10.0))
    (up,) = [link for link in heard.links if link.source == "sta0"]
    # 16.0206 dBm less 46.6777 dB at 1 m and 30 dB for each factor of ten.
    assert up.signal_dbm == pytest.approx(16.0206 - 46.6777 - 30.0, abs=1e-9)
    # Thermal noise of 20 MHz at 290 K and a figure of 7 dB: -174 dBm/Hz, more exactly -173.975.
    noise = 10 * math.log10(1.380649e-23 * 290 * 20e6 * 1e3) + 7.0
    assert up.snr_db == pytest.approx(up.signal_dbm - noise, abs=1e-9)
    assert up.detected
    assert up.success == pytest.approx(1.0)
    assert up.rate_mbps == 54.0


def test_detection_ends_at_the_threshold():
    reach = 10 ** ((16.0206 - 46.6777 - EDGE) / 30.0)
    for factor, found in ((0.999, True), (1.001, False)):
        heard = sm.hearing(row(reach * factor))
        assert [link.detected for link in heard.links] == [found, found]
        assert heard.all_detect_all is found
    assert [link.success for link in heard.links] == [0.0, 0.0]


def test_who_is_out_of_hearing_is_a_node_still():
    heard = sm.hearing(row(10.0, 5000.0))
    assert heard.nodes == ("ap", "sta0", "sta1")
    heard_at_all = [pair for pair in heard.pairs if pair.signal_dbm is not None]
    assert {(pair.source, pair.sink) for pair in heard_at_all} == {("ap", "sta0"), ("sta0", "ap")}
    assert len(heard.links) == 4, "links of flows are reported even if they are too weak"
    assert [link.success for link in heard.links if link.signal_dbm is None] == [0.0, 0.0]
    assert not heard.all_detect_all


def test_a_run_reports_links_that_are_too_weak(cell):
    run = sm.run(row(10.0, 150.0, duration_s=1.0))
    assert "too weak to be received: ap → sta1, sta1 → ap;" in run.report()
    assert "too weak" not in sm.run(row(10.0, duration_s=1.0)).report()
    assert "too weak" not in sm.run(cell).report()


def test_nodes_that_send_to_one_node_and_do_not_detect_each_other_are_hidden():
    # 40 m apart they detect each other, 80 m apart they do not.
    heard = sm.hearing(row(-40.0, 40.0, 5.0))
    assert heard.hidden == (("sta0", "sta1"),)
    assert heard.detects("sta2", "sta0")
    assert not heard.detects("sta1", "sta0")


def test_with_rate_control_a_link_has_the_fastest_usable_mode():
    near, far = (sm.hearing(row(d, wlan={"rate_control": "ideal"})).links[0] for d in (5.0, 35.0))
    assert near.rate_mbps == 54.0
    assert far.rate_mbps < 54.0
    assert far.success >= 0.9
    fixed = sm.hearing(row(35.0)).links[0]
    assert fixed.rate_mbps == 54.0
    assert fixed.success < 0.9


def test_shadowing_goes_by_the_seed():
    shadowed = row(10.0, radio={"shadowing_db": 6.0})
    signals = [sm.hearing(shadowed, seed=seed).links[0].signal_dbm for seed in (1, 1, 2)]
    assert signals[0] == signals[1] != signals[2]


def test_the_frame_has_a_row_a_pair():
    frame = sm.hearing(row(10.0, 20.0)).frame()
    assert frame.height == 6
    assert frame.filter(frame["rate_mbps"].is_null()).height == 2, "stations have no link"


def test_a_scenario_without_a_radio_is_refused(cell):
    with pytest.raises(sm.ScenarioError, match="radio: is missing"):
        sm.hearing(cell)
    with pytest.raises(ValueError, match="at_s"):
        sm.hearing(row(10.0), at_s=-1.0)


def test_the_twin_predicts_a_cell_in_which_all_nodes_detect_each_other():
    assert sm.predict(row(3.0, 3.5)).model.family == "saturation"
    hidden = sm.predict(row(-40.0, 40.0))
    assert hidden.model is None
    (verdict,) = [check for check in hidden.fits[0].checks if check.name == "one_cell"]
    assert verdict.how == "sta0 does not detect sta1; this holds for 2 of 6"


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({"radio": {"capture": {}}}, "no_capture"),
        ({"radio": {"fading": {}}}, "one_cell"),
        ({"cells": [{"position_m": [9.0, 9.0]}]}, "one_cell"),
        ({"wlan": {"rate_control": "ideal"}}, "fixed_mcs"),
        ({"wlan": {"qos": True}}, "dcf"),
    ],
)
def test_the_twin_refuses_radios_that_its_models_do_not_represent(keys, name):
    fit = next(fit for fit in sm.predict(row(3.0, 3.5, **keys)).fits if fit.family == "saturation")
    assert name in [check.name for check in fit.broken]


def test_a_strong_signal_survives_a_collision_and_the_twin_says_so():
    fit = next(f for f in sm.predict(row(2.0, 30.0)).fits if f.family == "saturation")
    assert "no_capture" in [check.name for check in fit.broken]


def test_the_command_prints_links_and_hidden_nodes(tmp_path, capsys):
    path = tmp_path / "hidden.toml"
    path.write_text(row(-40.0, 40.0).to_toml())
    assert main(["hearing", str(path)]) == 0
    out = capsys.readouterr().out
    assert "sta0 → ap" in out
    assert "sta0 from sta1" in out
    assert main(["hearing", str(path), "--json"]) == 0
    pairs = json.loads(capsys.readouterr().out)
    assert {"source", "sink", "signal_dbm", "detected"} <= set(pairs[0])
    assert main(["hearing", str(path), "--at", "nan"]) == 2
    assert "--at nan: must be a number from 0 on" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--seed", 2**64), ("--replication", 2**32)])
def test_numbers_out_of_range_are_one_message(option, value, capsys):
    assert main(["hearing", "scenarios/hidden_nodes.toml", option, str(value)]) == 2
    assert capsys.readouterr().err == f"{option} {value}: must be from 0 to {value - 1}\n"
