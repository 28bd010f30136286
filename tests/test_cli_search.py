"""The commands ``simoom search`` and ``simoom sensitivity``, and a sweep on Dask."""

import json
import socket

import pytest

import simoom as sm

CELL = """
standard = "11b"
stations = 2
duration_s = 0.5
[[flows]]
from = "sta*"
to = "ap"
traffic = "saturated"
"""


@pytest.fixture
def run(simoom, tmp_path):
    """Call a command with the cell, and return what it did."""
    (tmp_path / "cell.toml").write_text(CELL, encoding="utf-8")
    return lambda command, *arguments: simoom(command, "cell.toml", *arguments)


def printed(done):
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def said(done):
    """Return the only line of a command that refuses its input."""
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    return line


def test_sensitivity_is_that_of_the_function(run):
    over = ("--over", "stations=1..9", "--over", "wire.delay_ms=1.0..9.0 log")
    few = ("--points", "4", "-n", "2", "--seed", "3")
    for method in ("sobol", "morris"):
        found = printed(run("sensitivity", *over, *few, "--method", method, "--json"))
        same = sm.sensitivity(
            sm.Scenario.parse(CELL),
            {"stations": (1, 9), "wire.delay_ms": (1.0, 9.0)},
            log=["wire.delay_ms"], points=4, replications=2, seed=3, method=method,
        )  # fmt: skip
        assert [each["path"] for each in found["settings"]] == [each.path for each in same]
        assert [each["total"] for each in found["settings"]] == [each.total.mean for each in same]
        assert found["noise"] == same.noise
        text = run("sensitivity", *over, *few, "--method", method).stdout
        assert "stations" in text
        assert all(len(line) <= 80 for line in text.splitlines())
        assert "total.goodput_mbps" in text


def test_a_search_is_that_of_the_function(run, tmp_path):
    options = ("--over", "wlan.cw_min=15,31,63", "-n", "3", "--store", "kept")
    bound = "total.delay_s.p99 < 900 ms"
    found = printed(run("search", *options, "--given", bound, "--json"))
    same = sm.optimise(
        sm.Scenario.parse(CELL), over={"wlan.cw_min": [15, 31, 63]}, replications=3, given=bound
    )
    assert (found["best"], found["mean"]) == (same.at, same.estimate.mean)
    assert [each["verdict"] for each in found["given"]] == ["met"]
    assert len(found["tried"]) == 3
    assert len(sm.Store(tmp_path / "kept")) > 9
    worst = printed(run("search", *options, "--smallest", "--json"))
    assert worst["best"] != found["best"]
    text = run("search", *options, "--given", bound).stdout
    assert "wlan.cw_min" in text
    assert "met" in text


@pytest.mark.parametrize(
    ("command", "options", "message"),
    [
        ("search", (), "--over: name a range or values to vary, as --over stations=1..50"),
        ("search", ("--over", "stations=5..1"), "--over: stations: the first must be less"),
        ("search", ("--over", "stations=1..9 log"), "a search has no logarithmic ranges"),
        ("search", ("--over", "stations=1,2", "--given", "x<3"), "--given: there is no result 'x'"),
        (
            "search",
            ("--over", "stations=1,2", "--best", "total.good"),
            "--best: there is no result",
        ),
        ("search", ("--over", "stations=1,2", "-n", "1"), "--replications 1: must be from 2"),
        ("search", ("--over", "statons=1,2"), "cell.toml: statons: unknown key; did you mean"),
        ("sensitivity", ("--over", "stations=1..3"), "--over: must name at least two paths"),
        (
            "sensitivity",
            ("--over", "stations=1..3", "--over", "wlan.cw_min=15,31", "--points", "7"),
            "--points: must be a power of two for sobol, is 7",
        ),
        ("sensitivity", ("--method", "fast"), "--method fast: must be one of sobol, morris"),
    ],
)
def test_faults_of_options_are_said(run, command, options, message):
    assert message.removeprefix("cell.toml: ") in said(run(command, *options))


def test_a_sweep_on_dask_is_that_at_home(run):
    distributed = pytest.importorskip("distributed")
    over = ("--over", "stations=1,2", "-n", "2", "--json")
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=False,
        protocol="tcp",
        # Port 8787, the default, may be another's.
        dashboard_address="127.0.0.1:0",
    ) as cluster:
        there = run("sweep", *over, "--dask", cluster.scheduler_address)
    assert printed(there) == printed(run("sweep", *over))


def test_faults_of_dask_are_said(run):
    over = ("--over", "stations=1,2")
    no_scheduler = said(run("sweep", *over, "--dask", "nowhere"))
    assert no_scheduler == "--dask nowhere: write the address of a scheduler, tcp://HOST:8786"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    message = said(run("sweep", *over, "--dask", address))
    assert message.startswith(f"--dask {address}: no scheduler of Dask answers")
    both = said(run("sweep", *over, "--dask", address, "--processes", "2"))
    assert both == "--dask: has workers of its own; leave out --processes"
