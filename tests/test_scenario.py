import pickle

import numpy as np
import pytest

import simoom as sm


def test_set_returns_a_new_scenario_and_leaves_the_first(cell):
    more = cell.set("stations", 7)
    assert (cell.get("stations"), more.get("stations")) == (3, 7)
    assert cell != more
    assert more.set("stations", 3) == cell
    assert hash(more.set("stations", 3)) == hash(cell)


def test_set_takes_plain_data_of_every_kind(cell):
    web = {"size": {"constant": {"bytes": 1000}}, "think_s": np.float64(0.5), "first": "file"}
    changed = cell.set("flows[0].traffic", {"web": web})
    assert changed.get("flows[0].traffic.web.think_s") == 0.5
    rates = cell.set("wlan.basic_rates_mbps", np.array([6.0, 12.0]))
    assert rates.get("wlan.basic_rates_mbps") == [6.0, 12.0]
    assert cell.set("title", 'quotes " \\ and é\n\x7f').get("title") == 'quotes " \\ and é\n\x7f'
    assert cell.set("flows[0].tcp.timestamps", False).get("flows[0].tcp.timestamps") is False


def test_set_takes_a_wildcard(cell):
    slow = cell.set("flows[*].start_s", 1.5)
    assert [flow["start_s"] for flow in slow.get("flows")] == [1.5, 1.5, 1.5]


def test_a_text_and_keywords_say_the_same():
    flows = [{"from": "server", "to": "sta*", "traffic": {"bulk": {"size_bytes": 1000}}}]
    made = sm.Scenario(standard="11b", stations=2, flows=flows)
    read = sm.Scenario.parse(
        'standard = "11b"\nstations = 2\n[[flows]]\nfrom = "server"\nto = "sta*"\n'
        "traffic.bulk.size_bytes = 1000"
    )
    assert made == read


def test_toml_reads_back_as_the_same_scenario(cell):
    assert sm.Scenario.parse(cell.to_toml()) == cell
    assert pickle.loads(pickle.dumps(cell)) == cell


def test_the_full_form_holds_the_defaults(cell):
    control = {"new_reno": {"hystart": False, "beta_ecn": 0.5}}
    assert cell.to_dict()["flows"][0]["control"] == control


def test_repr_fits_a_line(cell):
    assert repr(cell) == "Scenario('A small cell', standard='11g', 3 stations, 3 flow tables, 4 s)"


def test_load_raises_the_error_of_the_operating_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        sm.Scenario.load(tmp_path / "nowhere.toml")
    with pytest.raises(IsADirectoryError):
        sm.Scenario.load(tmp_path)


def test_a_fault_is_a_value_error_with_its_path(cell):
    with pytest.raises(ValueError, match=r"statoins: .*stations"):
        cell.set("statoins", 3)
    with pytest.raises(sm.ScenarioError) as caught:
        sm.Scenario(standard="11g", stations="many", flows=[])
    assert [issue.path for issue in caught.value.issues] == ["stations"]
    with pytest.raises(sm.ScenarioError, match="finite"):
        sm.Scenario(standard="11g", stations=1, duration_s=float("nan"))
    with pytest.raises(TypeError, match="cannot hold a complex"):
        sm.Scenario(standard="11g", stations=1j)


def test_check_raises_all_faults_at_once(cell):
    cell.check()
    wrong = cell.set("duration_s", -1.0).set("wlan.rate_mbps", 13.0).set("flows[0].to", "sta9")
    with pytest.raises(sm.ScenarioError) as caught:
        wrong.check()
    paths = {issue.path for issue in caught.value.issues}
    assert paths == {"duration_s", "wlan.rate_mbps", "flows[0].to"}
    assert str(caught.value).count("\n") == 2
    same = pickle.loads(pickle.dumps(caught.value))
    assert same.issues == caught.value.issues
