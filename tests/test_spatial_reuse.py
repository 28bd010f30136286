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


GROUP_OF_BOTH = {"bss_colors": [1, 2], "obss_pd_dbm": -67}


def of_group(**keys) -> dict[str, object]:
    group = GROUP_OF_BOTH | keys
    return {
        "wlan.spatial_reuse.srg": [{key: group[key] for key in group if group[key] is not None}]
    }


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
        (of_group(bss_colors=[1, 64]), "srg[0].bss_colors[1]", "must be from 1 to 63, is 64"),
        (of_group(bss_colors=[0, 1]), "srg[0].bss_colors[0]", "must be from 1 to 63, is 0"),
        (of_group(bss_colors=[]), "srg[0].bss_colors", "two BSS colors or more"),
        (of_group(bss_colors=[1, 1]), "srg[0].bss_colors", "names a color twice"),
        (of_group(bss_colors=[1, 3]), "srg[0].bss_colors", "no BSS has the color 3"),
        (of_group(obss_pd_dbm=-61), "srg[0].obss_pd_dbm", "-62"),
        (of_group(obss_pd_dbm=None), "srg[0].obss_pd_dbm", "missing"),
        (of_group(obss_pd_min_dbm=-66), "srg[0].obss_pd_dbm", "is below obss_pd_min_dbm, -66"),
        ({"wlan.spatial_reuse.srg": 2 * [GROUP_OF_BOTH]}, "srg[1].bss_colors", "earlier group"),
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


def digest(scenario: sm.Scenario) -> str:
    return sm.run(scenario, check=True).digest


@pytest.mark.parametrize("level_dbm", [-77, -67])
def test_a_group_of_all_is_the_same_as_its_level_for_all(level_dbm: float):
    grouped = changed(two(-82.0), of_group(obss_pd_dbm=level_dbm))
    assert digest(grouped) == digest(two(level_dbm)) != digest(two(-82.0))
    assert digest(grouped.unset(LEVEL)) == digest(grouped)
    free = changed(grouped, of_group(obss_pd_dbm=level_dbm, obss_pd_min_dbm=level_dbm))
    assert digest(free) == digest(two(level_dbm).set("wlan.spatial_reuse.power_limit", "none"))


def test_nodes_of_no_group_have_the_level_of_all():
    """Of three cells, the first two are a group; the third one is as far from both."""
    places = ([60.0, 0.0], [30.0, 52.0])
    cells = [{"position_m": place, "tx_power_dbm": 21.0} for place in places]
    stations = [
        {"position_m": [0.0, 5.0]},
        {"position_m": [60.0, 5.0], "cell": 1},
        {"position_m": [30.0, 57.0], "cell": 2},
    ]
    scenario = two(-82.0, cells=cells, stations=stations).set("radio.energy_after_frame_dbm", -82)
    run = sm.run(changed(scenario, of_group(obss_pd_dbm=-62)), check=True)
    ignored = [
        run.summary[f"{cell}.{counter}"]
        for cell in ("ap", "cells[0]", "cells[1]")
        for counter in ("spatial_reuse.ignored", "spatial_reuse.ignored_in_group")
    ]
    assert ignored[0] == ignored[1] > 0
    assert ignored[2] == ignored[3] > 0
    assert ignored[4:] == [0, 0]
    assert "of its\ngroup" in [column.heading for column in reusers(run).columns]
    alone = changed(scenario, {"wlan.spatial_reuse.obss_pd_dbm": -72})
    summary = sm.run(alone).summary
    assert summary["ap.spatial_reuse.ignored"] > 0
    assert "ap.spatial_reuse.ignored_in_group" not in summary


def reusers(run: sm.Run):
    (table,) = [table for table in show.shown(run) if table.title == "Spatial reuse"]
    return table


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
