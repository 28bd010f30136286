"""Spatial reuse among radios: agreement with ns-3, laws, refusals."""

from __future__ import annotations

import pytest
from validation import spatial_reuse
from validation.case import Case

import simoom as sm
from simoom.show import sections as show

(GROUP,) = spatial_reuse.groups()
QUICK = [case for case in GROUP.cases if case.name.startswith("100 m")]


@pytest.mark.parametrize("case", QUICK, ids=lambda case: case.name)
def test_two_saturated_bss_have_the_goodput_of_ns3(case: Case):
    (expected,) = case.expected
    run = sm.run(case.compared(), check=True)
    value = run.summary["total.goodput_mbps"]
    assert value == pytest.approx(expected.target.value, rel=0.03)


def two(level_dbm: float = -72.0, **keys) -> sm.Scenario:
    keys = {"duration_s": 2.0, "warmup_s": 0.2} | keys
    scenario = sm.Scenario(**(spatial_reuse.scenario(100.0, str(level_dbm)) | keys))
    return scenario.set("wlan.edca_defaults", "ns3")


def test_nodes_of_the_same_color_defer_to_each_other():
    def goodput(scenario: sm.Scenario) -> float:
        return sm.run(scenario, check=True).summary["total.goodput_mbps"]

    same = two().set("cells[0].bss_color", 1)
    alone = two().unset("wlan.spatial_reuse")
    assert goodput(same) == goodput(alone) < 0.7 * goodput(two())
    unknown = two().set("cells[0].bss_color", 0)
    assert goodput(unknown) == goodput(alone)


def test_power_falls_by_what_the_level_is_above_the_reference():
    # At -67 dBm stations may have 21 - 15 = 6 dBm, 4 less than they have, and BlockAcks 15 less.
    ignoring = two(-67.0).set("radio.energy_after_frame_dbm", -82)
    summary = sm.run(ignoring, check=True).summary
    for node in ("stations[0]", "stations[1]"):
        assert summary[f"{node}.spatial_reuse.reduced"] > 0
    free = ignoring.set("wlan.spatial_reuse.power_limit", "none")
    summary = sm.run(free, check=True).summary
    assert summary["stations[0].spatial_reuse.reduced"] == 0
    assert summary["stations[0].spatial_reuse.ignored"] > 0


def test_nodes_have_transmit_powers_of_their_own():
    links = sm.hearing(two()).links
    signal = {(link.source, link.sink): link.signal_dbm for link in links}
    assert signal["ap", "sta0"] - signal["sta0", "ap"] == pytest.approx(11.0)
    assert signal["cells[0]", "sta1"] == pytest.approx(signal["ap", "sta0"])


def test_reports_have_a_section_of_it():
    runs = [sm.run(two()), sm.run(two().unset("wlan.spatial_reuse"))]
    titles = [[table.title for table in show.shown(run)] for run in runs]
    assert ["Spatial reuse" in each for each in titles] == [True, False]


@pytest.mark.parametrize(
    ("changes", "path", "words"),
    [
        ({"standard": "11ac"}, "wlan.spatial_reuse", "BSS colors are of 802.11ax"),
        ({"radio.ad_hoc": True}, "wlan.spatial_reuse", "no BSS color"),
        ({"wlan.spatial_reuse.obss_pd_dbm": -61}, "wlan.spatial_reuse.obss_pd_dbm", "-62"),
        ({"ap.bss_color": 64}, "ap.bss_color", "63"),
        (
            {"radio.energy_after_frame_dbm": -60},
            "radio.energy_after_frame_dbm",
            "-60 is above energy_dbm, -62",
        ),
        ({"ap.tx_power_dbm": 61}, "ap.tx_power_dbm", "60"),
    ],
)
def test_what_it_does_not_go_with_is_refused(changes, path, words):
    with pytest.raises(sm.ScenarioError) as caught:
        sm.run(changed(two(), changes))
    assert path in str(caught.value)
    assert words in str(caught.value)


def changed(scenario: sm.Scenario, changes: dict[str, object]) -> sm.Scenario:
    for key, value in changes.items():
        scenario = scenario.set(key, value)
    return scenario


LEVEL = "wlan.spatial_reuse.obss_pd_dbm"


def test_a_level_is_required_and_a_color_needs_it():
    without = two().set("wlan.spatial_reuse.power_limit", "none").unset(LEVEL)
    with pytest.raises(sm.ScenarioError, match=r"wlan\.spatial_reuse\.obss_pd_dbm: missing"):
        sm.run(without)
    lonely = two().unset("wlan.spatial_reuse")
    with pytest.raises(sm.ScenarioError, match=r"ap\.bss_color: no node uses"):
        sm.run(lonely.set("ap.bss_color", 3))


def test_powers_of_nodes_need_a_radio():
    flow = {"from": "sta*", "to": "ap"}
    cell = sm.Scenario(standard="11ax", stations=2, ap={"tx_power_dbm": 20.0}, flows=[flow])
    with pytest.raises(sm.ScenarioError, match=r"ap\.tx_power_dbm: frames have powers only"):
        sm.run(cell)
