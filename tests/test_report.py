import base64
import re
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

import simoom as sm
from simoom import plots
from simoom.base import kinds
from simoom.results import tables
from simoom.scenario.observables import catalogue
from simoom.serve.tasks import results
from simoom.show import report, sections
from simoom.why import draw


@pytest.fixture(scope="module")
def run():
    flows = [
        {"name": "bulk", "from": "server", "to": "sta*"},
        {"name": "<b>", "from": "sta0", "to": "server", "traffic": "web", "start_s": 0.5},
        {"name": "voice", "from": "ap", "to": "sta1", "traffic": "cbr"},
    ]
    scenario = sm.Scenario(
        title="A & B", standard="11g", stations=2, duration_s=5.0, flows=flows
    ).set("flows[1].traffic.web.think_s", 0.1)
    return sm.run(scenario, probes=["total.goodput_mbps", "flows[*].goodput_mbps"])


@pytest.fixture(scope="module")
def many():
    flows = [{"from": "server", "to": "sta*"}]
    return sm.run(sm.Scenario(standard="11g", stations=40, duration_s=2.0, flows=flows))


class Checker(HTMLParser):
    """Records what a page loads, and whether its tags match."""

    def __init__(self):
        super().__init__()
        self.open, self.loaded, self.text = [], [], []
        self.links, self.places = [], []

    def handle_starttag(self, tag, attributes):
        links = [value for name, value in attributes if name == "href"]
        self.links += [link.removeprefix("#") for link in links if link.startswith("#")]
        self.places += [value for name, value in attributes if name == "id"]
        sources = [value for name, value in attributes if name == "src"]
        self.loaded += sources + [link for link in links if not link.startswith("#")]
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@pytest.mark.parametrize("width", [60, 80, 100, 160])
def test_the_text_fits_the_width(run, many, width):
    for each in (run, many):
        lines = each.report(width=width).splitlines()
        assert max(map(len, lines)) <= width


def test_the_text_shows_the_summary(run):
    text = run.report()
    goodput = tables.digits(run.summary["flows[1].goodput_mbps"])
    assert re.search(rf"^bulk sta1 .*\b{goodput}\b", text, re.MULTILINE)
    bar = next(line for line in text.splitlines() if line.startswith("█") and len(line) > 50)
    assert len(bar) == 100
    assert bar.count("█") == pytest.approx(100 * run.summary["airtime.payload_fraction"], abs=1)


def test_each_report_says_what_limits_the_flows():
    link = {"from": "a", "to": "b", "rate_mbps": 100.0, "delay_ms": 10.0}
    flows = [{"from": "a", "to": "b", "tcp": {"window_bytes": 65_535}}]
    run = sm.run(sm.Scenario(duration_s=5.0, warmup_s=1.0, links=[link], flows=flows))
    percent = round(100 * run.summary["flows[0].limited_by.receive_window_fraction"])
    assert percent > 90
    text = run.report()
    assert re.search(rf"^limited by +receive window {percent} %.* of the time", text, re.MULTILINE)
    assert re.search(rf"^a->b .* rwnd {percent} %$", text, re.MULTILINE)
    page = report.page(run)
    assert page.count(f"receive window {percent} %") == 2


def test_a_section_is_one_entry_that_all_reports_show(run, monkeypatch):
    column = tables.Column("name", "toy\nheading")
    toy = sections.Section("Toys", (column,), lambda _: sections.Found([{"name": "a toy"}], "<b>"))
    monkeypatch.setattr(sections, "SECTIONS", (*sections.SECTIONS, toy))
    for text in (run.report(), unescape(report.page(run)), unescape(run._repr_html_())):
        for part in ("toys", "toy", "heading", "a toy", "<b>"):
            assert part in text.lower()
    assert results(run)["tables"][-1] == {
        "title": "Toys", "caption": "<b>", "rows": [["a toy"]],
        "columns": [{"heading": "toy\nheading", "words": True}],
    }  # fmt: skip


def test_all_reports_have_the_same_sections(run):
    titles = [table.title for table in sections.shown(run)]
    assert titles == [
        "Flows", "Delays by link and node", "Stations", "Airtime", "Analytic twin"
    ]  # fmt: skip
    assert [table["title"] for table in results(run)["tables"]] == titles
    assert re.findall(r"<h2 [^>]*>(.*?)</h2>", report.page(run))[: len(titles)] == titles
    assert re.findall(r"<summary>(.*?)(?: <small>.*?)?</summary>", run._repr_html_()) == titles
    for _, text in sections.headline(run.summary):
        assert text.split(",")[0] in " ".join(run.report().split())
        assert text in unescape(run._repr_html_())


def test_the_headline_begins_with_the_scores_of_calls():
    up, down = (
        {"name": name, "from": source, "to": sink, "traffic": {"call": {}}}
        for name, source, sink in (("up", "sta0", "server"), ("down", "server", "sta0"))
    )
    keys = {"standard": "11g", "stations": 1, "duration_s": 2.0, "flows": [down, up]}
    two = sm.run(sm.Scenario(**keys, wire={"loss": {"uniform": {"probability": 0.0}}}))
    two.summary["flows[0].mos"], two.summary["flows[1].mos"] = 1.25, 4.25
    assert sections.headline(two.summary)[0] == ("calls", "MOS 1.25 (down), 2.75 in the mean")
    one = sm.run(sm.Scenario(**{**keys, "flows": [up]}))
    score = tables.digits(one.summary["flows[0].mos"])
    assert sections.headline(one.summary)[0] == ("calls", f"MOS {score}")


def entered(call):
    """Return the files of the package in which functions are called."""
    package, files = Path(sm.__file__).parent, set()

    def note(frame, event, _):
        file = Path(frame.f_code.co_filename)
        if event == "call" and package in file.parents:
            files.add(file.relative_to(package).as_posix())

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return files


def test_a_report_enters_few_files_beside_those_of_its_twin():
    done = sm.run(sm.Scenario.load("performance_anomaly"))
    done.report()
    of_twin = entered(lambda: sm.predict(done.scenario))
    # The twin's comparison with the run is its own, too.
    beside = entered(done.report) - of_twin - {"twin/result.py"}
    assert {"show/report.py", "show/sections.py", "results/tables.py"} <= beside
    assert len(beside) <= 8, sorted(beside)


def test_long_tables_are_truncated_with_a_note(many):
    text = many.report()
    assert "… 21 more" in text
    assert "server->sta18" in text
    assert "server->sta19" not in text


def test_the_page_is_complete_and_self_contained(run):
    checker = Checker()
    page = report.page(run)
    checker.feed(page)
    assert checker.open == []
    assert checker.loaded
    assert all(link.startswith("data:image/svg+xml;base64,") for link in checker.loaded)
    # Its contents name all of its parts, in their order.
    assert checker.links == checker.places
    assert len(checker.loaded) < len(checker.links)
    assert {"flows", "stations", "scenario"} <= set(checker.links)
    for link in checker.loaded:
        ET.fromstring(base64.b64decode(link.partition(",")[2]))
    text = "".join(checker.text)
    for part in ("A & B", "<b>", run.digest, 'standard = "11g"', "flows[2].delay_s.p99"):
        assert part in text


def test_what_a_page_shows_is_escaped():
    hostile = "<script>alert('a')</script>"
    flows = [{"name": hostile, "from": "server", "to": "sta0"}]
    scenario = sm.Scenario(
        title=hostile, description=hostile, standard="11g", stations=1, duration_s=1.0, flows=flows
    )
    page = report.page(sm.run(scenario))
    assert "<script" not in page
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert "".join(checker.text).count(hostile) >= 4  # title, heading, description, scenario


def test_equal_runs_give_equal_pages(run):
    again = sm.run(run.scenario, probes=run.probes)
    assert report.page(again) == report.page(run)


def test_airtime_bars_add_up(run):
    (axes,) = plots.airtime(run).axes
    assert sum(bar.get_width() for bar in axes.patches) == pytest.approx(100)
    shown = axes.get_legend_handles_labels()[1]
    assert set(shown) <= set(kinds.AIRTIME.values())


def test_goodput_bars_are_the_summary(run):
    (axes,) = plots.goodput(run).axes
    widths = [bar.get_width() for bar in axes.patches]
    assert widths == [flow["goodput_mbps"] for flow in run.flows]


def test_goodput_of_replications_has_their_intervals(run):
    runs = sm.replicate(run.scenario, replications=3)
    (axes,) = plots.goodput(runs).axes
    means = [bar.get_width() for bar in axes.patches]
    assert means == [runs.mean(f"flows[{i}].goodput_mbps").mean for i in range(len(run.flows))]
    assert "3 runs" in axes.get_title(loc="left")


def test_many_flows_are_one_sorted_line(many):
    (axes,) = plots.goodput(many).axes
    (line,) = axes.lines
    drawn = list(line.get_ydata())
    assert drawn == sorted((flow["goodput_mbps"] for flow in many.flows), reverse=True)


@pytest.mark.parametrize("quantity", ["delay_s", "rtt_s", "session_delay_s"])
def test_delays_are_drawn_for_flows_that_have_them(run, quantity):
    (axes,) = plots.delay(run, quantity).axes
    names = [label.get_text() for label in axes.get_yticklabels()]
    assert names == [f["name"] for f in run.flows if f.get(f"{quantity}.p50") is not None]


def test_series_of_a_kind_share_a_panel(run):
    upper, lower = plots.series(run).axes
    assert len(upper.lines) == 1
    assert len(lower.lines) == len(run.flows)
    with pytest.raises(KeyError, match="probes="):
        plots.series(run, "ap.queue_packets")


def test_an_idle_cell_can_be_drawn(tmp_path):
    flows = [{"from": "server", "to": "sta0", "start_s": 1.9}]
    scenario = sm.Scenario(standard="11b", stations=1, duration_s=2.0, warmup_s=0.0, flows=flows)
    scenario = scenario.set("stations", {"count": 1, "data_loss": 0.999})
    idle = sm.run(scenario)
    assert idle.summary["flows[0].goodput_mbps"] == 0
    assert idle.summary["flows[0].delay_s.mean"] is None
    assert "-" in idle.report()
    report.write(idle, tmp_path)
    assert (tmp_path / "report.png").stat().st_size > 10_000


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_report_divides_tables_and_cuts_no_number(width: int) -> None:
    flows = [
        {"name": "up", "from": "sta*", "to": "ap", "traffic": {"call": {}}},
        {"name": "down", "from": "server", "to": "sta0"},
        {"name": "web", "from": "server", "to": "sta1",
         "traffic": {"requests": {"think_s": 0.05}}},
    ]  # fmt: skip
    keys = {"standard": "11g", "stations": 2, "duration_s": 1.0, "flows": flows,
            "wire": {"delay_ms": 1.0}}  # fmt: skip
    report = sm.run(keys).report(width)
    assert "…" not in report
    assert max(map(len, report.splitlines())) <= width
    for heading in ("goodput", "RTOs", "MOS", "retry"):
        assert heading in report


@pytest.mark.parametrize("width", [40, 66])
def test_a_narrow_report_cuts_no_number_of_the_twin(width: int) -> None:
    done = sm.run(sm.Scenario.load("performance_anomaly").set("duration_s", 5.0))
    twin = next(table for table in sections.shown(done) if table.title == "Analytic twin")
    assert twin.rows
    lines = {tuple(line.split()) for line in done.report(width).splitlines()}
    for row in twin.rows:
        for key in ("measured", "predicted", "residual"):
            assert any(row[key] in line for line in lines), row


def test_each_column_tells_its_path(simoom, cell_file) -> None:
    shown = simoom("run", cell_file, "--paths").stdout
    found = dict(re.split(r"  +", line) for line in shown.splitlines()[-30:] if "[i]." in line)
    assert found["goodput Mb/s"] == "flows[i].goodput_mbps"
    assert found["file ms"] == "flows[i].session_delay_s.mean"
    assert found["queueing ms"] == "stations[i].queueing_s"
    assert set(found.values()) <= {*catalogue(), "flows[i].limited_by.*"}


def test_many_flows_have_sums_by_direction(many) -> None:
    shown = many.report(80)
    groups = tables.sums(many.flows)
    assert [row["flows"] for row in groups] == [len(many.flows)]
    assert groups[0]["goodput_mbps"] == pytest.approx(many.summary["total.goodput_mbps"])
    assert f"{groups[0]['name']}  " in shown


def test_a_page_has_the_explanation_of_a_flow() -> None:
    flow = {"from": "server", "to": "sta0", "tcp": {"window_bytes": 20000}}
    keys = {"standard": "11n", "stations": 1, "duration_s": 1.0, "wire": {"delay_ms": 20.0},
            "flows": [flow]}  # fmt: skip
    why = sm.why(keys, replications=2)
    page = report.page(sm.run(keys), why)
    assert "the receive window of 20,000 B" in page
    assert "flows[0].tcp.window_bytes=16777216" in page
    assert draw.finding(why) in unescape(page)
    bars = draw.bars(why)
    assert bars[0].value.mean < bars[1].value.mean == why.causes[0].value.mean
    # The waterfall begins where the flow is, and each step where the one before has ended.
    together = [bar for bar in bars if bar.begin]
    assert [bar.begin for bar in together] == [
        *([why.value.mean] if together else []), *(bar.value.mean for bar in together[:-1])
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("control", "tcp", "sentence"),
    [
        ("prague", {"ecn": "accurate"}, ""),
        ("prague", {}, "Prague falls back to NewReno, without ECT(1): the sender offers no ECN"),
        (
            "prague",
            {"ecn": "accurate", "ecn_receiver": "classic"},
            "the receiver offers ECN by RFC 3168, and not accurate ECN (tcp.ecn_receiver)",
        ),
        ("dctcp", {"ecn": "classic"}, ""),
        ("dctcp", {"ecn": "accurate", "ecn_receiver": "off"}, "DCTCP falls back to NewReno"),
        ("cubic", {}, ""),
    ],
)
def test_a_fall_back_is_a_sentence_of_the_report(control, tcp, sentence):
    flow = {"from": "server", "to": "home", "control": control, "tcp": tcp}
    run = sm.run(
        sm.Scenario(
            duration_s=2.0,
            links=[{"from": "server", "to": "home", "rate_mbps": 10.0, "delay_ms": 5.0}],
            flows=[flow],
        ),
        probes=["flows[0].ecn.feedback"],
    )
    text = " ".join(run.report().split())
    assert ("falls back" in text) == bool(sentence)
    assert sentence in text
    # What the ends agreed on is what the sentence says.
    agreed = run.samples("flows[0].ecn.feedback")[1][-1]
    needed = {"prague": 2, "dctcp": 1}.get(control, 0)
    assert (agreed < needed) == bool(sentence)


def test_acks_without_room_for_the_option_of_accurate_ecn_are_a_sentence_of_the_report():
    run = sm.run(
        sm.Scenario(
            duration_s=1.0,
            links=[{"from": "server", "to": "home", "rate_mbps": 10.0, "delay_ms": 5.0}],
            flows=[{"from": "server", "to": "home", "tcp": {"ecn": "accurate"}}],
        )
    )
    sentence = "timestamps and SACK blocks left no room"
    assert run.summary["flows[0].ecn.acks_without_option"] == 0
    assert sentence not in " ".join(run.report().split())
    run.summary["flows[0].ecn.acks_without_option"] = 3
    assert f"{sentence}: flows[0] (3)" in " ".join(run.report().split())
