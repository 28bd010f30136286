"""Links and shortest routes of ad-hoc networks without a run."""

import json

import numpy as np
import pytest

import simoom as sm
from simoom.cli import main


def network(**keys):
    """Return an ad-hoc network whose frames at 2 Mb/s are received up to about 250 m away."""
    given = {
        "standard": "11b",
        "duration_s": 100.0,
        "wlan": {"rate_mbps": 2.0},
        "radio": {
            "ad_hoc": True,
            "propagation": "two_ray",
            "tx_power_dbm": 24.5,
            "sensitivity_dbm": -64.4,
            "detect_dbm": -64.4,
        },
        "flows": [{"from": "sta0", "to": "sta3"}],
    }
    return sm.Scenario(**given | keys)


CHAIN = {"count": 4, "placement": {"chain": {"spacing_m": 200.0}}}


def test_a_chain_has_one_route():
    found = sm.routes(network(stations=CHAIN), times_s=[0.0])
    assert found.nodes == ("sta0", "sta1", "sta2", "sta3")
    assert found.path("sta0", "sta3") == found.nodes
    assert found.path("sta2", "sta2") == ("sta2",)
    assert found.links.tolist() == [3]
    assert found.partitions == ((found.nodes,),)
    assert found.positions_m[0].tolist() == [[0, 0], [200, 0], [400, 0], [600, 0]]


def test_nodes_too_far_apart_are_in_two_partitions():
    stations = [
        {"count": 2, "placement": {"chain": {"spacing_m": 200.0}}},
        {"count": 3, "position_m": [700.0, 0.0], "placement": "chain"},
    ]
    found = sm.routes(network(stations=stations), times_s=[0.0])
    assert found.partitions == ((("sta2", "sta3", "sta4"), ("sta0", "sta1")),)
    assert found.path("sta0", "sta3") == ()
    (course,) = found.courses
    assert course.missing_fraction == 1.0
    assert course.breaks == 0


def passes(at_s, north_m):
    """Return a waypoint between two nodes that are 400 m apart."""
    return {"at_s": at_s, "position_m": [200.0, north_m]}


def test_a_node_that_passes_changes_the_route():
    # sta1 passes at 10 m/s between sta0 and sta3, which are 400 m apart; sta2 is far away.
    stations = [
        {"position_m": [0.0, 0.0]},
        {"waypoints": [passes(0, -500.0), passes(100, 500.0)]},
        {"position_m": [5000.0, 0.0]},
        {"position_m": [400.0, 0.0]},
    ]
    found = sm.routes(network(stations=stations), times_s=np.linspace(0.0, 100.0, 1001))
    (course,) = found.courses
    # A link is 250 m long: sqrt(250**2 - 200**2) is 150 m before and behind the line.
    there = found.times_s[~np.isnan(course.hops)]
    assert (there[0], there[-1]) == (pytest.approx(35.0, abs=0.5), pytest.approx(65.0, abs=0.5))
    assert course.breaks == 1
    assert set(course.hops[~np.isnan(course.hops)]) == {2.0}
    assert found.lifetimes_s == pytest.approx([30.0, 30.0], abs=0.8)
    assert found.changes_per_s == pytest.approx(4 / 100)


def test_moving_nodes_depend_on_the_seed_alone():
    stations = {"count": 10, "movement": {"random_waypoint": {"area_m": [600.0, 600.0]}}}
    first, same, other = (sm.routes(network(stations=stations), seed=seed) for seed in (1, 1, 2))
    assert len(first.times_s) == 201
    assert np.array_equal(first.positions_m, same.positions_m)
    assert not np.array_equal(first.positions_m, other.positions_m)
    assert repr(first) == "Routes(10 nodes, 1 flows, 0 to 100 s)"


def test_a_cell_with_an_access_point_has_no_routes():
    cell = network(stations=CHAIN).set("radio.ad_hoc", False)
    cell = cell.set("flows", [{"from": "sta0", "to": "ap"}])
    with pytest.raises(sm.ScenarioError, match=r"radio\.ad_hoc: is not true"):
        sm.routes(cell)
    with pytest.raises(ValueError, match="ascending"):
        sm.routes(network(stations=CHAIN), times_s=[2.0, 1.0])


@pytest.mark.parametrize("columns", [80, 40])
def test_the_command_fits_the_terminal(tmp_path, capsys, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    stations = {"count": 20, "movement": {"random_waypoint": {"area_m": [900.0, 900.0]}}}
    path = tmp_path / "net.toml"
    flows = [{"from": "sta0", "to": "sta3"}, {"from": "sta12", "to": "sta19"}]
    path.write_text(network(stations=stations, flows=flows).to_toml())
    for arguments in ([], ["--at", "50"]):
        assert main(["routes", str(path), *arguments]) == 0
        text = capsys.readouterr().out
        assert "sta12 → sta19" in text
        assert "partitions" in text
        assert max(map(len, text.splitlines())) <= columns
    assert main(["routes", str(path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(found["flows"][0]["hops"]) == len(found["times_s"]) == 201
    assert main(["routes", str(path), "--at", "-1"]) == 2


def test_a_movement_file_is_found_beside_its_scenario(tmp_path, monkeypatch):
    folder = tmp_path / "scenarios"
    folder.mkdir()
    stations = {"count": 2, "movement": {"csv": {"file": "walk.csv"}}}
    scenario = network(stations=stations, flows=[{"from": "sta0", "to": "sta1"}])
    (folder / "net.toml").write_text(scenario.to_toml())
    walk = folder / "walk.csv"
    walk.write_text("time_s,node,x_m,y_m\n0,0,0,0\n0,1,0,10\n50,1,0,110\n")
    monkeypatch.chdir(folder)
    loaded = sm.Scenario.load("net.toml")
    monkeypatch.chdir(tmp_path)
    found = sm.routes(loaded, times_s=[0.0, 25.0])
    assert found.positions_m[1].tolist() == [[0.0, 0.0], [0.0, 60.0]]
    # The content of the file is a part of what determines results.
    from simoom.results.record import identity

    before = identity(loaded, seed=1, replication=0)
    walk.write_text(walk.read_text().replace("110", "120"))
    assert identity(loaded, seed=1, replication=0) != before


SETDEST = """$node_(0) set X_ 0.0
$node_(0) set Y_ 0.0
$node_(1) set X_ 200.0
$node_(1) set Y_ 0.0
$ns_ at 1.0 "$node_(1) setdest 200.0 900.0 20.0"
"""


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("$node_(1) set Y_ 0.0\n", ""), "node 1 has no X_ and Y_"),
        (("setdest 200.0", "goes to 200.0"), "line 5: "),
        (("900.0 20.0", "900.0 2000.0"), "line 5: node 1: a speed of 2000 m/s"),
        (("set X_ 200.0", "set X_ 0.0"), "the nodes 0 and 1 are at one place"),
        (("node_(1) setdest", "node_(7) setdest"), "line 5: there is no node 7"),
        ((SETDEST, "time_s,node,x_m,y_m\n"), "line 1: "),
    ],
)
def test_a_fault_of_a_movement_file_is_one_message(tmp_path, monkeypatch, change, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "way.tcl").write_text(SETDEST.replace(*change))
    stations = {"count": 2, "movement": {"setdest": {"file": "way.tcl"}}}
    scenario = network(stations=stations, routing={"protocol": "dsr"})
    with pytest.raises(sm.ScenarioError) as raised:
        scenario.set("flows[0].to", "sta1").check()
    (issue,) = raised.value.issues
    assert issue.path == "stations.movement.setdest.file"
    assert f"way.tcl{', ' if message.startswith('line') else ': '}{message}" in issue.message


def test_nodes_that_no_path_ever_joins_have_no_flow():
    far = [{"at_s": 0.0, "position_m": [700.0, 900.0]}, {"at_s": 90.0, "position_m": [700.0, 10.0]}]
    stations = [{"position_m": [0.0, 0.0]}, {"position_m": [200.0, 0.0]}, {"waypoints": far}]
    scenario = network(stations=stations, routing={"protocol": "dsr"}).set("flows[0].to", "sta2")
    with pytest.raises(
        sm.ScenarioError, match=r"flows\[0\]\.to: no path joins sta0 and sta2 at any"
    ):
        scenario.check()
    # At 90 s, and only then, it is near enough to sta1.
    scenario.set("stations[2].waypoints[1].position_m", [440.0, 10.0]).check()
