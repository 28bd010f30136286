"""Files and filters of traces, and the messages about wrong ones."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time

import polars as pl
import pytest

import simoom as sm
from simoom.trace.columns import TABLES

SECOND = ("--set", "duration_s=1", "--set", "warmup_s=0")


def tables(folder, name="out"):
    return {table: pl.read_parquet(folder / f"{name}.{table}.parquet") for table in TABLES}


@pytest.fixture
def short(cell):
    return cell.set("duration_s", 1.0).set("warmup_s", 0.0)


def test_parquet_has_the_same_tables(short, tmp_path):
    run = sm.run(short, trace=tmp_path / "out.parquet")
    assert run.trace is None
    trace = sm.run(short, trace=True).trace
    for table, rows in tables(tmp_path).items():
        assert rows.equals(getattr(trace, table)), table
        assert rows.schema == getattr(trace, table).schema, table
    assert len(list(tmp_path.iterdir())) == len(TABLES)


def test_many_batches_are_joined_in_order(tmp_path):
    scenario = sm.Scenario(
        standard="11ax",
        stations=2,
        duration_s=1.5,
        warmup_s=0,
        flows=[{"from": "ap", "to": "sta*", "traffic": {"saturated": {"payload_bytes": 200}}}],
    )
    sm.run(scenario, trace=tmp_path / "out.parquet")
    packets = tables(tmp_path)["packets"]
    assert packets.height > 3 * 65_536
    assert packets["time_s"].is_sorted()
    assert packets.filter(step="sent")["packet"].is_sorted()


def test_a_table_without_rows_has_its_columns(short, tmp_path):
    udp = {"from": "server", "to": "sta0", "traffic": {"cbr": {"rate_mbps": 1.0}}}
    sm.run(short.set("flows", [udp]), trace=tmp_path / "out.parquet")
    segments = tables(tmp_path)["segments"]
    assert segments.height == 0
    assert segments.columns == [name for name, _ in TABLES["segments"]]


def test_a_stretch_has_what_lasts_into_it(short):
    whole = sm.run(short, trace=True).trace
    part = sm.run(short, trace=True, trace_filter=sm.TraceFilter(0.25, 0.5)).trace
    for table in ("frames", "waits"):
        rows = getattr(whole, table)
        rows = rows.filter(pl.col("start_s") < 0.5, pl.col("end_s") > 0.25)
        assert rows.equals(getattr(part, table)), table
    for table in ("packets", "segments"):
        rows = getattr(whole, table)
        rows = rows.filter(pl.col("time_s") >= 0.25, pl.col("time_s") < 0.5)
        assert rows.equals(getattr(part, table)), table
    assert part.mpdus["frame"].is_in(part.frames["number"].implode()).all()


def test_a_node_has_what_it_sends_and_receives(short):
    whole = sm.run(short, trace=True).trace
    part = sm.run(short, trace=True, trace_filter=sm.TraceFilter(nodes=["sta1"])).trace
    frames = whole.frames.filter((pl.col("transmitter") == "sta1") | (pl.col("receiver") == "sta1"))
    assert frames.equals(part.frames)
    assert part.frames.height < whole.frames.height
    assert part.waits.equals(whole.waits.filter(node="sta1"))
    assert part.packets.equals(whole.packets.filter(node="sta1"))


def test_a_flow_has_the_exchanges_that_carry_it(short):
    whole = sm.run(short, trace=True).trace
    part = sm.run(short, trace=True, trace_filter=sm.TraceFilter(flows=["up"])).trace
    own = whole.mpdus.filter(flow="up")["frame"]
    exchanges = whole.frames.filter(pl.col("number").is_in(own.implode()))["exchange"]
    assert part.frames.equals(whole.frames.filter(pl.col("exchange").is_in(exchanges.implode())))
    assert part.packets.equals(whole.packets.filter(flow="up"))
    assert part.segments.equals(whole.segments.filter(flow="up"))
    assert set(part.waits["node"].cast(pl.String)) == {"ap", "sta1"}


def refused(done, folder, *lines):
    """Assert that a command failed with these messages, and left no file."""
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == list(lines)
    assert [path.name for path in folder.iterdir()] == ["cell.toml"]


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        (
            ["--trace", "out.foo"],
            ["--trace out.foo: there is no trace format .foo; the formats are "],
        ),
        (["--trace", "out"], ["--trace out: has no extension; the formats are "]),
        (
            ["--trace-node", "sta0"],
            ["--trace-from, --trace-to, --trace-node, --trace-flow: need --trace OUT"],
        ),
        (
            ["--trace", "none/out.parquet"],
            ["none/out.parquet: no such file or directory"],
        ),
        (
            ["--trace", "out.parquet", "--trace-node", "sta9", "--trace-flow", "dawn"],
            [
                '--trace-node: there is no node "sta9"; did you mean "sta0"?',
                '--trace-flow: there is no flow "dawn"; did you mean "down"?',
            ],
        ),
        (
            ["--trace", "out.parquet", "--trace-flow", "x"],
            ['--trace-flow: there is no flow "x"; there are down, up, web'],
        ),
        (
            ["--trace", "out.parquet", "--trace-from", "4"],
            ["--trace-from: 4 s is outside of the run, which lasts 1 s"],
        ),
        (
            ["--trace", "out.parquet", "--trace-to", "1.5"],
            ["--trace-to: 1.5 s is outside of the run, which lasts 1 s"],
        ),
        (
            ["--trace", "out.parquet", "--trace-from", "0.5", "--trace-to", "0.5"],
            ["--trace-to: 0.5 s is not after the begin of the stretch, 0.5 s"],
        ),
        (
            ["--trace", "out.parquet", "--trace-from", "nan"],
            ["--trace-from: NaN s is outside of the run, which lasts 1 s"],
        ),
    ],
)
def test_bad_input_is_one_message_for_each_fault(options, lines, simoom, cell_file):
    done = simoom("run", cell_file.name, *SECOND, *options)
    if lines[0].endswith("are "):
        formats = ", ".join(sorted(f".{name}" for name in formats_of_traces()))
        lines = [lines[0] + formats]
    refused(done, cell_file.parent, *lines)


def formats_of_traces():
    from simoom.trace.files import CORE, WRITERS

    return {*WRITERS, *CORE}


def test_a_directory_is_no_trace_file(simoom, cell_file):
    (cell_file.parent / "out.frames.parquet").mkdir()
    done = simoom("run", cell_file.name, *SECOND, "--trace", "out.parquet")
    assert done.returncode == 2
    assert done.stderr == "out.frames.parquet: is a directory\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_one_message(simoom, cell_file):
    folder = cell_file.parent / "closed"
    folder.mkdir(mode=0o500)
    done = simoom("run", cell_file.name, *SECOND, "--trace", "closed/out.parquet")
    assert done.returncode == 2
    assert done.stderr == "closed/out.parquet: permission denied\n"


def limited(*arguments, folder):
    """Run the command line where no file may have more than 10,000 bytes, as on a full disk."""
    return subprocess.run(
        [sys.executable, "-m", "simoom", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )


@pytest.mark.parametrize("extension", sorted(formats_of_traces()))
def test_a_full_disk_is_one_message_and_leaves_nothing(extension, cell_file):
    done = limited(
        "run", cell_file.name, *SECOND, "--trace", f"out.{extension}", folder=cell_file.parent
    )
    assert done.returncode == 2, done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"out.{extension}: "), done.stderr
    assert "file too large" in done.stderr.lower()
    assert [path.name for path in cell_file.parent.iterdir()] == ["cell.toml"]


@pytest.mark.parametrize("extension", sorted(formats_of_traces()))
def test_an_interrupted_run_leaves_nothing(extension, cell_file):
    folder = cell_file.parent
    options = ("--set", "duration_s=100000", "--trace", f"out.{extension}", "--trace-to", "0.1")
    process = subprocess.Popen(
        [sys.executable, "-m", "simoom", "run", cell_file.name, *options],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    while len(list(folder.iterdir())) < 2:
        assert process.poll() is None
        time.sleep(0.01)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert (process.returncode, stderr) == (130, "interrupted\n")
    assert [path.name for path in folder.iterdir()] == ["cell.toml"]


def test_a_fault_leaves_an_older_file_as_it_was(simoom, cell_file):
    old = cell_file.parent / "out.frames.parquet"
    old.write_text("old")
    done = simoom("run", cell_file.name, "--trace", "out.parquet", "--trace-node", "nobody")
    assert done.returncode == 2
    assert old.read_text() == "old"


def test_the_command_says_what_it_wrote(simoom, cell_file):
    done = simoom("run", cell_file.name, *SECOND, "--trace", "out.parquet", "--trace-to", "0.5")
    assert done.returncode == 0
    wrote = [f"wrote out.{table}.parquet" for table in TABLES]
    assert done.stderr.splitlines() == wrote
    assert tables(cell_file.parent)["frames"]["start_s"].max() < 0.5


def test_an_unknown_extension_is_a_value_error(short, tmp_path):
    with pytest.raises(ValueError, match=r"out\.foo: there is no trace format \.foo"):
        sm.run(short, trace=tmp_path / "out.foo")
