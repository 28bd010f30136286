import json
import os
import re
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import simoom as sm
from simoom.cli import main

BAD_FILES = {
    "empty": (b"", "the scenario is empty"),
    "noise": (os.urandom(10_000_000), "10000000 bytes"),
    "latin1": ('title = "café"'.encode("latin-1"), r"bad.toml:1:1: not UTF-8 text: byte 0xe9"),
    "syntax": (b'standard = "11g', r"bad.toml:1:\d+: not TOML"),
    "unknown key": (
        b'standard = "11g"\nstatoins = 3',
        r"bad.toml:2:1: statoins: unknown key; did you",
    ),
    "wrong type": (
        b'standard = "11g"\nstations = "many"',
        'bad.toml:2:1: stations: must be .* is "many"',
    ),
}
BAD_VALUES = {
    "duration_s=nan": r"duration_s: must be .* is NaN",
    "duration_s=-1": r"duration_s: must be .* is -1",
    "duration_s=1e300": r"duration_s: must be .* is 1e300",
    "stations=100000000": r"stations: 100000000 are too many",
    "stations=-3": r"stations: must be .* -3",
    "wlan.rate_mbps=13": r"wlan.rate_mbps: 13 is not a rate of 802.11g .*nearest are 12 and 18",
    "flows[0].to=sta9": r"flows\[0\].to: there is no sta9",
    "flows[0].tcp.mss_bytes=2300": r"flows\[0\].tcp.mss_bytes: .*2304",
    "wlan=[1]": r"wlan: ",
}


def refused(done):
    """Assert that a command failed with messages only, and return them."""
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


def refused_once(done):
    """Assert that a command failed with one message of one line, and return it."""
    assert len(refused(done).splitlines()) == 1
    return done.stderr


@pytest.mark.parametrize("kind", BAD_FILES)
@pytest.mark.parametrize("command", ["check", "run"])
def test_a_bad_file_gets_its_message(kind, command, simoom, tmp_path):
    content, message = BAD_FILES[kind]
    (tmp_path / "bad.toml").write_bytes(content)
    done = simoom(command, "bad.toml")
    answer = refused(done)
    assert re.search(message, answer), answer
    further = [line for line in answer.splitlines() if not re.search(message, line)]
    # Beside its fault a scenario of two lines has no flows.
    assert kind == "empty" or all("there are none" in line for line in further), further
    assert answer.startswith("bad.toml:")


@pytest.mark.parametrize("setting", BAD_VALUES)
def test_a_bad_value_is_one_message(setting, simoom, cell_file):
    answer = refused_once(simoom("run", cell_file, "--set", setting))
    assert re.search(BAD_VALUES[setting], answer), answer


def test_all_faults_are_reported_at_once(simoom, cell_file):
    settings = [f"--set={setting}" for setting in ("duration_s=-1", "wlan.cw_min=30")]
    lines = refused(simoom("check", cell_file, *settings)).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["duration_s", "wlan.cw_min"]


def test_a_file_that_cannot_be_read_is_one_message(simoom, tmp_path, capsys, monkeypatch):
    assert refused_once(simoom("run", "gone.toml")) == "gone.toml: there is no such file\n"
    assert "is a directory" in refused_once(simoom("run", tmp_path))

    def deny(*_):
        raise PermissionError(13, "Permission denied", "secret.toml")

    monkeypatch.setattr(sm.Scenario, "load", deny)
    assert main(["check", "secret.toml"]) == 2
    assert capsys.readouterr().err == "secret.toml: permission denied\n"


@pytest.mark.parametrize("setting", ["stations", "=3", ""])
def test_a_setting_without_path_or_value_is_one_message(setting, simoom, cell_file):
    assert "write PATH=VALUE" in refused_once(simoom("run", cell_file, "--set", setting))


def test_unknown_paths_are_reported_with_similar_ones(simoom, cell_file):
    assert "did you mean stations" in refused_once(simoom("run", cell_file, "--set", "statoins=3"))
    probes = ("--probe", "flows[0].goodputt_mbps", "--probe", "nonsense")
    lines = refused(simoom("run", cell_file, *probes)).splitlines()
    assert "did you mean flows[i].goodput_mbps" in lines[0]
    assert lines[1].startswith("nonsense: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seed", "many"], "--seed"),
        (["--seeed", "1"], "--seed"),
        (["second.toml"], "unexpected extra argument"),
    ],
)
def test_a_bad_option_is_reported_with_the_usage(arguments, message, simoom, cell_file):
    answer = refused(simoom("run", cell_file, *arguments))
    assert answer.startswith("Usage: simoom run")
    assert message in answer


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_range_is_one_message(seed, simoom, cell_file):
    assert refused_once(simoom("run", cell_file, "--seed", seed)).startswith(f"--seed {seed}: ")


def test_a_file_is_refused_as_a_directory_of_results(simoom, cell_file):
    assert "is a file" in refused_once(simoom("run", cell_file, "--out", cell_file))
    refused_once(simoom("run", cell_file, "--out", cell_file / "below"))


def test_a_scenario_without_faults_is_reported_as_sound(simoom, cell_file):
    done = simoom("check", cell_file)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{cell_file}: sound: 802.11g, 3 stations, 3 flows, 4 s\n"
    wired = simoom("check", "dumbbell").stdout
    assert wired == "dumbbell: sound: 5 links, 2 flows, 300 s\n"
    done = simoom("check", "-", stdin=cell_file.read_bytes())
    assert done.returncode == 0
    full = simoom("check", cell_file, "--full", "--set", "stations=9")
    keys = json.loads(full.stdout)
    assert (keys["stations"], keys["wlan"]["short_retry_limit"]) == (9, 7)


def test_json_is_the_summary_and_nothing_else(simoom, cell_file):
    done = simoom("run", cell_file, "--json", "--seed", 4, "--set", "duration_s=2")
    assert (done.returncode, done.stderr) == (0, "")
    scenario = sm.Scenario.load(cell_file).set("duration_s", 2)
    assert json.loads(done.stdout) == dict(sm.run(scenario, seed=4).summary)


def test_a_report_is_printed(simoom, cell_file):
    done = simoom("run", cell_file)
    assert (done.returncode, done.stderr) == (0, "")
    for part in ("A small cell", "total goodput", "airtime", "down", "up", "web", "sta2"):
        assert part in done.stdout
    quiet = simoom("run", cell_file, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_out_writes_everything(simoom, cell_file, tmp_path):
    out = tmp_path / "new" / "results"
    done = simoom("run", cell_file, "--out", out, "--probe", "flows[*].goodput_mbps")
    assert done.returncode == 0
    names = {path.name for path in out.iterdir()}
    data = {"summary.json", "scenario.toml", "series.csv", "series.parquet"}
    assert names == data | {"report.html", "report.png", "report.svg"}
    scenario = sm.Scenario.load(cell_file)
    assert sm.Scenario.load(out / "scenario.toml") == scenario
    again = sm.run(scenario, probes=["flows[*].goodput_mbps"])
    assert json.loads((out / "summary.json").read_text()) == dict(again.summary)
    series = pl.read_parquet(out / "series.parquet")
    assert series["path"].unique(maintain_order=True).to_list() == [
        f"flows[{i}].goodput_mbps" for i in range(3)
    ]
    assert pl.read_csv(out / "series.csv").shape == series.shape
    assert (out / "report.png").read_bytes().startswith(b"\x89PNG")


def test_out_without_polars_leaves_out_parquet(cell_file, tmp_path):
    words = ["run", str(cell_file), "--set", "duration_s=2", "--out", str(tmp_path / "out")]
    code = f"import sys; sys.modules['polars'] = None; import simoom.cli; simoom.cli.main({words})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.endswith("scenario.toml, series.csv to " + f"{tmp_path / 'out'}/\n")
    assert not (tmp_path / "out" / "series.parquet").exists()


def test_out_without_matplotlib_has_the_data_and_says_what_is_missing(cell_file, tmp_path):
    out = tmp_path / "out"
    words = ["run", str(cell_file), "--set", "duration_s=2", "--out", str(out), "--quiet"]
    hide = "sys.modules['matplotlib'] = None"
    code = f"import sys; {hide}; import simoom.cli; sys.exit(simoom.cli.main({words}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("summary.json, scenario.toml, series.csv, series.parquet are in ")
    assert done.stderr.endswith("a figure needs matplotlib, which is missing: pip install"
                                " 'simoom[plot]'\n")  # fmt: skip
    written = {path.name for path in out.iterdir()}
    assert written == {"summary.json", "scenario.toml", "series.csv", "series.parquet"}


def test_schema_is_that_of_the_repository(simoom):
    done = simoom("schema")
    assert done.returncode == 0
    assert json.loads(done.stdout)["title"] == "Simoom scenario"


def test_airtime_prints_parts_and_total(simoom):
    arguments = ("airtime", "--standard", "11g", "--rate", 54, "--bytes", 1536)
    done = simoom(*arguments)
    # 18.3.2.4: 20 us of preamble and SIGNAL, 57 symbols of 4 us, 6 us of signal extension.
    assert done.stdout.splitlines()[-1].split() == ["total", "254.000", "us"]
    assert json.loads(simoom(*arguments, "--json").stdout)["total_us"] == 254.0
    lines = refused(simoom("airtime", "--standard", "11x", "--bytes", 0)).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["--standard", "--bytes"]


def test_airtime_of_punctured_channels(simoom):
    wide = ("airtime", "--standard", "11be", "--bytes", 65535, "--mcs", 13, "--width-mhz", 160)
    found = simoom(*wide, "--punctured", 3, "--punctured", 4)
    # 1448 tones of 10 bits: 37 symbols of 13.6 us behind 51.2.
    assert found.stdout.splitlines()[-1].split() == ["total", "554.400", "us"]
    assert "[802.11be-2024 table 36-30]" in refused(
        simoom(*wide, "--punctured", 2, "--punctured", 3)
    )
    assert refused(simoom(*wide, "--punctured", 30)).startswith("--punctured[0]: must be from 1")
    assert "from 0 to 2^64 - 1" in refused(simoom(*wide, "--punctured", 10**30))


def test_airtime_of_an_mcs(simoom):
    ampdu = ("airtime", "--standard", "11ac", "--bytes", 1538, "--mpdus", 32, "--guard-ns", 400)
    # 21.4.3: 40 us, then 395 270 bits in 1267 symbols of 3.6 us, rounded up to 4 us.
    assert json.loads(simoom(*ampdu, "--mcs", 8, "--json").stdout)["total_us"] == 40 + 4564
    ns3 = json.loads(simoom(*ampdu, "--mcs", 8, "--timing", "ns3", "--json").stdout)
    assert ns3["total_us"] == pytest.approx(36 + 3.6 * 1267)
    message = refused(simoom(*ampdu, "--mcs", 9))
    assert message.strip() == (
        "--mcs: 9 does not exist at 20 MHz with 1 stream [802.11-2020 21.5]; the highest is 8"
    )
    he = ("airtime", "--standard", "11ax", "--bytes", 1536, "--mcs", 4, "--packet-extension-us")
    assert json.loads(simoom(*he, 16, "--json").stdout)["packet_extension_us"] == 16
    for wrong in (("--mcs", -1), ("--streams", "many"), ("--ltf", "3x"), ("--mpdus", 1 << 70)):
        refused(simoom(*ampdu, *wrong))


def test_help_and_version_need_no_source(simoom):
    assert "run" in simoom("--help").stdout
    text = simoom("run", "--help").stdout
    for option in ("--set", "--seed", "--probe", "--json", "--out", "--check", "--quiet"):
        assert option in text
    assert simoom("--version").stdout.startswith("simoom 0.")


def test_ctrl_c_stops_a_run_with_one_line(cell_file):
    folder = cell_file.parent
    command = [
        sys.executable, "-m", "simoom", "run", cell_file.name, "--set", "duration_s=1e5",
        "--trace", "frames.txt", "--trace-to", "0.1",
    ]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    # The run has begun when the trace has.
    while len(list(folder.iterdir())) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, "", "interrupted\n")


def test_a_defect_is_no_fault_of_the_user(monkeypatch, capsys):
    class PanicException(BaseException):
        pass

    def panic(*_):
        raise PanicException("a rule of the checker is broken")

    monkeypatch.setattr(sm.Scenario, "load", panic)
    assert main(["check", "any.toml"]) == 70
    assert "defect" in capsys.readouterr().err


def test_commands_are_completed():
    asked = {"_SIMOOM_COMPLETE": "complete_bash", "COMP_WORDS": "simoom sc", "COMP_CWORD": "1"}
    code = "from simoom.cli import entry; entry()"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env={**os.environ, **asked}, capture_output=True, text=True,
                          check=False)  # fmt: skip
    assert done.stdout.split() == ["scenarios", "schema"]
