"""Names in paths of scenarios and results, keys that are removed, tables that are appended."""

from __future__ import annotations

import re

import pytest

import simoom as sm
from simoom.scenario.address import generic, is_address, value
from simoom.scenario.observables import check_path


@pytest.fixture
def office() -> sm.Scenario:
    return sm.Scenario(
        standard="11g",
        stations=3,
        duration_s=1.0,
        flows=[
            {"name": "down", "from": "server", "to": "sta*"},
            {"name": "up", "from": "sta0", "to": "server", "start_s": 0.1},
            {"from": "server", "to": "sta1"},
        ],
    )


@pytest.mark.parametrize(
    ("path", "indices"),
    [
        ('flows["up"].control', [1]),
        ("flows[up].control", [1]),
        ("flows[*].control", [0, 1, 2]),
        ("flows[server->sta1].control", [2]),
        ('flows[from="server"].control', [0, 2]),
        ('flows[from="server", to="sta1"].control', [2]),
        ('flows["*n"].control', [0]),
    ],
)
def test_tables_have_names(office, path, indices) -> None:
    changed = office.set(path, "cubic")
    for n in range(3):
        control = changed.get(f"flows[{n}].control")
        assert ("cubic" in control) == (n in indices)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ('flows["upp"].control', "no name is 'upp'; there are up"),
        ('flows[to="sta9"].control', "no to is 'sta9'; there are sta"),
        ("flows[size=3].control", "size is none of name, from, to"),
        ('flows["up].control', "brackets contain a number from 0"),
        ("flows[a=b=c].control", 'write an index, a name or conditions: flows["download"]'),
        ('stations["laptop"].mcs', "is no array of tables with names"),
        ('flows["up"].contrl', "did you mean control"),
    ],
)
def test_a_wrong_name_has_one_message(office, path, message) -> None:
    with pytest.raises(sm.ScenarioError) as caught:
        office.set(path, "cubic")
    (issue,) = caught.value.issues
    assert message in str(issue)


def test_several_tables_have_no_one_value(office) -> None:
    assert office.get('flows["up"].start_s') == 0.1
    with pytest.raises(sm.ScenarioError, match=r"are 2 tables; name one, as flows\[0\]"):
        office.get("flows[from=server].start_s")


def test_keys_are_removed(office) -> None:
    assert office.unset("flows[up].start_s").get("flows[1].start_s") == 0.0
    assert [flow["name"] for flow in office.unset("flows[from=server]").get("flows")] == ["up"]
    assert office.unset("flows[*].name").get("flows[0].name") == ""
    assert office.get("flows[1].start_s") == 0.1  # a scenario is immutable
    for path in ("warmup_s", "flows[7]", "flows[0].start_s", "flows[*].control"):
        with pytest.raises(sm.ScenarioError, match="is not set, so that it cannot be unset"):
            office.unset(path)
    with pytest.raises(sm.ScenarioError, match="not a path"):
        office.unset("flows[")


def test_tables_are_appended(office) -> None:
    more = office.set("flows[+]", {"from": "sta2", "to": "server"})
    assert [flow["from"] for flow in more.get("flows")][3:] == ["sta2"]
    groups = sm.Scenario(standard="11g", stations=[{"count": 1}]).set("stations[+]", {"count": 2})
    assert len(groups.get("stations")) == 2
    links = office.set("links[+]", {"from": "server", "to": "ap", "rate_mbps": 10.0})
    assert len(links.get("links")) == 1
    for path, item, message in (
        ("flows[+]", "cubic", "takes a whole table"),
        ("flows[+]", {"frm": "sta0"}, "frm: unknown key"),
        ("stations[+]", {"count": 1}, "is no array of tables"),
    ):
        with pytest.raises(sm.ScenarioError, match=message):
            office.set(path, item)


def test_controllers_have_the_name_of_their_file(office) -> None:
    for text in ("simoom.gallery.reno:Reno", "simoom/gallery/reno.py:Reno"):
        for changed in (office.set("flows[up].control", text),
                        office.set_text("flows[up].control", text)):  # fmt: skip
            assert changed.get("flows[1].control")["python"]["path"] == "simoom.gallery.reno:Reno"
    with pytest.raises(sm.ScenarioError, match="below the current folder"):
        office.set("flows[*].control", "../mine.py:Mine")
    # Only a control is a class.
    assert office.set("title", "a.py:B").get("title") == "a.py:B"


def test_results_have_names(office) -> None:
    summary = sm.run(office).summary
    down = [summary[f"flows[{n}].goodput_mbps"] for n in range(3)]
    assert summary['sum(flows["down"].goodput_mbps)'] == pytest.approx(sum(down))
    assert summary["max(flows[down].goodput_mbps)"] == max(down)
    assert summary["flows[down].goodput_mbps"] == pytest.approx(sum(down) / 3)
    assert summary['flows["up"].goodput_mbps'] == summary["flows[3].goodput_mbps"]
    total = summary["sum(flows[*].goodput_mbps)"]
    assert total == pytest.approx(summary["total.goodput_mbps"])
    ways = [summary[f'sum(flows[{end}="sta*"].goodput_mbps)'] for end in ("from", "to")]
    assert sum(ways) == pytest.approx(total)
    assert summary.get('flows["nobody"].goodput_mbps') is None
    for path, message in (
        ("flows[to=sta*].goodput_mbps", r"are 4 flows; write sum\("),
        ("flows[dwn].goodput_mbps", "no name is 'dwn'"),
        ("median(flows[*].goodput_mbps)", "there are sum, mean, min, max"),
        ("sum(flows[*].name)", "is of text"),
        ("sum(flows[*].goodputs)", r"nearest (is|are) flows\[i\].goodput_mbps"),
        ("sum(total.goodput_mbps)", "must be of elements of a list"),
    ):
        with pytest.raises(KeyError, match=message):
            summary[path]


LAPTOPS = {
    "standard": "11n", "duration_s": 0.5,
    "stations": [{"name": "laptops", "count": 3}, {"name": "phones", "count": 2}],
    "flows": [{"name": "up", "from": "laptops", "to": "ap", "traffic": "saturated"},
              {"name": "down", "from": "ap", "to": "phones", "traffic": "saturated"}],
}  # fmt: skip


def test_stations_of_a_table_share_its_name() -> None:
    cell = sm.Scenario(**LAPTOPS)
    summary = sm.run(cell).summary
    names = [summary[f"flows[{n}].name"] for n in range(5)]
    assert names == ["up sta0", "up sta1", "up sta2", "down sta3", "down sta4"]
    attempts = [summary[f"stations[{n}].attempts"] for n in range(3)]
    assert summary['sum(stations["laptops"].attempts)'] == sum(attempts)
    assert summary["stations[laptops].attempts"] == pytest.approx(sum(attempts) / 3)
    # Their number is one value, and flows follow it.
    assert len(sm.run(cell.set('stations["laptops"].count', 5)).flows) == 7
    # A station that leaves its table keeps the name.
    apart = cell.set('stations["sta1"].rate_control', "minstrel_ht")
    assert len(apart.get("stations")) == 4
    assert len(sm.run(apart).flows) == 5


@pytest.mark.parametrize(
    ("path", "name", "message"),
    [
        ("stations[0].name", "sta1", "is an end of flows already"),
        ("stations[0].name", "server", "is an end of flows already"),
        ("stations[0].name", "tablets", 'did you mean "phones"|laptops" is no end of a flow'),
        ("flows[0].from", "laptop", 'did you mean "laptops"'),
    ],
)
def test_a_name_of_stations_is_no_other_end(path: str, name: str, message: str) -> None:
    with pytest.raises(sm.ScenarioError, match=message):
        sm.Scenario(**LAPTOPS).set(path, name).check()


def test_tables_of_one_name_stand_beside_each_other() -> None:
    tables = [{"name": "laptops"}, {"name": "phones"}, {"name": "laptops"}]
    with pytest.raises(sm.ScenarioError, match="another table, which is not beside this one"):
        sm.Scenario(**LAPTOPS).set("stations", tables).check()


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("file ms", "total.session_delay_s.mean"),
        ('flows["browsing"].file_s.mean', "flows[0].session_delay_s.mean"),
        ("total.good", "total.goodput_mbps"),
        ("collision", "total.collision_probability"),
    ],
)
def test_results_are_found_by_their_begin_and_by_the_heading_of_a_report(
    path: str, found: str
) -> None:
    with pytest.raises(ValueError, match=f"the nearest (is|are) {re.escape(found)}"):
        check_path("--mean", path)


def test_what_a_result_lacks_is_no_number() -> None:
    results = {"flows[0].to": "a", "flows[1].to": "a", "flows[0].mos": None, "flows[1].mos": 4.0}
    assert value(results, "mean(flows[*].mos)") == 4.0
    assert value(results | {"flows[1].mos": None}, "mean(flows[*].mos)") is None
    assert generic('max(flows[to="a]b"].mos)') == "flows[i].mos"
    assert not is_address("contending.stations_fraction[0]")


def test_means_and_plots_take_names(office) -> None:
    path = 'sum(flows["down"].goodput_mbps)'
    over = {'flows["up"].control': ["cubic", "simoom.gallery.reno:Reno", {"cubic": {"beta": 0.5}}]}
    done = sm.sweep(office, over=over, replications=2)
    assert done.over['flows["up"].control'] == ("cubic", "Reno", "cubic(beta=0.5)")
    point = done.points[0].replications
    assert done.mean(path)["mean"][0] == point.mean(path).mean
    (axes,) = done.plot(x='flows["up"].control', y=path).axes
    assert axes.get_ylabel() == 'sum of goodput of flows["down"], Mb/s'
    named = sm.sweep(office, over={"flows[*].control": {"old": "new_reno", "new": "cubic"}},
                     replications=1)  # fmt: skip
    assert named.over == {"flows[*].control": ("old", "new")}
    assert len(named.at({"flows[*].control": "new"})) == 1


def test_the_command_line(simoom, cell_file, tmp_path) -> None:
    (tmp_path / "mine.py").write_text(
        "import simoom as sm\n\n\nclass Mine(sm.Control):\n    pass\n", encoding="utf-8"
    )
    done = simoom("check", cell_file, "--unset", "flows[web]", "--set", 'flows["up"].start_s=1',
                  "--set", 'flows[+]={from="sta2", to="server"}')  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 flows" in done.stdout
    done = simoom("sweep", cell_file, "--over", 'flows["up"].control=cubic,mine.py:Mine', "-n", 1,
                  "--set", "duration_s=1", "--mean", "flows[up].goodput_mbps")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Mine" in done.stdout
    for options, message in (
        (["--unset", "stationz"], "stationz: is not set"),
        (["--set", "flows[upp].start_s=1"], "flows[upp].start_s: no name is 'upp'"),
        (["--set", "flows[up].start_s=-1"], "flows[1].start_s: "),
    ):
        done = simoom("check", cell_file, *options)
        assert done.returncode == 2
        assert done.stderr.startswith(message)


# --- Probes and single stations -------------------------------------------------------------------

NAMED = [
    {"name": "down", "from": "server", "to": "sta*"},
    {"name": "up", "from": "sta1", "to": "server"},
]


@pytest.fixture
def named() -> sm.Scenario:
    return sm.Scenario(standard="11g", stations=3, duration_s=1.0, flows=NAMED)


def test_probes_name_flows_and_stations(named):
    paths = ['flows["up"].goodput_mbps', 'flows["down"].srtt_s', 'stations["sta2"].queue_packets']
    run = sm.run(named, probes=paths)
    assert run.probes == ("flows[3].goodput_mbps", "flows[0].srtt_s", "flows[1].srtt_s",
                          "flows[2].srtt_s", "stations[2].queue_packets")  # fmt: skip
    assert run.series(paths[0]).equals(run.series("flows[3].goodput_mbps"))
    with pytest.raises(KeyError, match="is one of 3 probes"):
        run.samples(paths[1])


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ('flows["dwn"].srtt_s', "no name is 'dwn'; there are"),
        ('flows[to="sta1"].srtt_s', "a probe names a flow by its index or its name"),
        ("sum(flows[*].srtt_s)", "has no function"),
        ('stations["nowhere"].queue_packets', "name a station, as"),
        ('flows["up"].srt_s', "srt_s"),
    ],
)
def test_a_probe_that_is_of_no_flow_is_one_fault(named, path, message):
    with pytest.raises(sm.ScenarioError) as caught:
        sm.run(named, probes=[path])
    (issue,) = caught.value.issues
    assert message in str(issue)


def test_one_station_of_a_table_gets_a_table_of_its_own(named):
    scenario = named.set("stations", [{"count": 3, "data_loss": 0.1}, {"count": 2}])
    one = scenario.set('stations["sta1"].data_loss', 0.5)
    assert one.to_dict()["stations"] != scenario.to_dict()["stations"]
    loss = [(each["count"], each["data_loss"]) for each in one.get("stations")]
    assert loss == [(1, 0.1), (1, 0.5), (1, 0.1), (2, 0.0)]
    assert one.get('stations["sta1"].data_loss') == 0.5
    assert one.get("stations[sta2].data_loss") == 0.1
    assert one.unset("stations[sta1].data_loss").get("stations[sta1].data_loss") == 0.0
    again = one.set("stations[sta1].ack_loss", 0.2)
    assert [each["count"] for each in again.get("stations")] == [1, 1, 1, 2]
    plain = named.set("stations[sta0].data_loss", 0.5)
    assert [each["count"] for each in plain.get("stations")] == [1, 2]
    # The table of its own alone changes nothing.
    split = named.set("stations[sta1].data_loss", 0.0)
    assert sm.run(split).digest == sm.run(named).digest


def test_a_station_that_cannot_be_apart_is_refused(named):
    with pytest.raises(sm.ScenarioError, match="there is no sta7; the last is sta2"):
        named.set('stations["sta7"].data_loss', 0.1)
    ring = sm.Scenario(standard="11g", stations={"count": 4, "ring_m": 5.0})
    with pytest.raises(sm.ScenarioError, match="stands by ring_m of 4 stations"):
        ring.set('stations["sta1"].data_loss', 0.1)


def test_the_command_line_names_probes_and_stations(simoom, cell_file, tmp_path):
    done = simoom("run", cell_file, "--probe", 'flows["down"].goodput_mbps', "--out", "out", "-q",
                  "--set", 'stations["sta1"].data_loss=0.2', "--set", "duration_s=1")  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "flows[0].goodput_mbps" in (tmp_path / "out" / "series.csv").read_text(encoding="utf-8")
    done = simoom("check", cell_file, "--set", 'stations["sta9"].data_loss=0.2')
    assert done.stderr == 'stations["sta9"].data_loss: there is no sta9; the last is sta2\n'
    done = simoom("run", cell_file, "--until", "2 %", "--why")
    assert done.returncode == 2
    assert done.stderr.startswith("--why: is about one run")
