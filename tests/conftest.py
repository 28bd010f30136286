"""Shared fixtures of the tests."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import simoom as sm

ROOT = Path(__file__).parents[1]

SLOW = {
    "models/test_saturation.py": "simulates the chains slot by slot",
    "studies/test_afw_few.py": "runs the quick version of the study",
    "studies/test_cli.py": "starts the command for each test",
    "studies/test_http_queueing.py": "runs the quick version of the study",
    "studies/test_lt_tcp.py": "runs the quick version of the study",
    "test_address.py": "starts the command",
    "test_air.py": "draws pictures",
    "test_campaign.py": "runs random scenarios under the checker",
    "test_city.py": "counts instructions of fifty cells, builds the runner",
    "test_cli.py": "starts the command for each test",
    "test_compare.py": "starts the command",
    "test_designs.py": "starts the command for each test",
    "test_docs.py": "runs all commands and examples of the pages",
    "test_executors.py": "starts a cluster, and workers that are killed",
    "test_instructions.py": "counts instructions, builds the runner",
    "test_memory.py": "runs long simulations",
    "test_precision.py": "measures coverage, starts the command",
    "test_reliability.py": "starts the command for each test",
    "test_report.py": "draws pages and plots",
    "test_search.py": "runs searches",
    "test_serve.py": "runs scenarios in a server",
    "test_serve_page.py": "opens pages in Chromium",
    "test_store.py": "starts the command, and processes that are killed",
    "test_sweep.py": "starts the command, and workers",
    "test_toy.py": "builds the simulator with the feature toy",
    "test_perfetto.py": "reads traces by their schema",
    "test_trace.py": "runs all scenarios",
    "test_trace_files.py": "starts the command for each test",
    "test_trace_page.py": "opens pages in Chromium",
    "test_twin.py": "solves the models of hundreds of scenarios",
    "test_twin_aggregates.py": "simulates a grid of cells",
    "test_twin_design.py": "starts the command for each test",
    "test_variates.py": "repeats estimates thousands of times",
    "test_validation.py": "runs the quick version of the table of agreement",
}
"""Files whose tests are marked slow, each with what takes the time."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    slow = {ROOT / "tests" / file for file in SLOW}
    for item in items:
        if item.path in slow:
            item.add_marker(pytest.mark.slow)


CELL = """
title = "A small cell"
standard = "11g"
stations = 3
duration_s = 4.0
[wire]
rate_mbps = 100.0
delay_ms = 1.0
[[flows]]
name = "down"
from = "server"
to = "sta0"
[[flows]]
name = "up"
from = "sta1"
to = "server"
[[flows]]
name = "web"
from = "server"
to = "sta2"
traffic.web = { size = { exponential = { mean_bytes = 20000.0 } }, think_s = 0.2 }
"""


@pytest.fixture
def cell() -> sm.Scenario:
    return sm.Scenario.parse(CELL)


@pytest.fixture
def small() -> sm.Scenario:
    """A TCP flow over a lossy wire, of which a run takes milliseconds."""
    return sm.Scenario(
        standard="11g",
        stations=1,
        duration_s=1.0,
        wire={"rate_mbps": 50.0, "delay_ms": 5.0, "loss": {"uniform": {"probability": 0.01}}},
        flows=[{"from": "server", "to": "sta*"}],
    )


@pytest.fixture
def endless(cell: sm.Scenario) -> sm.Scenario:
    """A scenario that runs for minutes, so that a test can interrupt it."""
    return cell.set("duration_s", 100_000.0)


@pytest.fixture
def cell_file(tmp_path: Path) -> Path:
    path = tmp_path / "cell.toml"
    path.write_text(CELL, encoding="utf-8")
    return path


Program = Callable[..., str]


@pytest.fixture(scope="session")
def program() -> Program:
    """Find a program of the system that tests use, by its names and its Debian package.

    With CI set a missing program fails the test; `make test` has then tried to install it.
    """

    def find(*names: str, package: str) -> str:
        for name in names:
            if path := shutil.which(name):
                return path
        if os.environ.get("CI"):
            pytest.fail(f"CI needs {names[0]}: apt install {package}")
        pytest.skip(f"{names[0]} is not installed (Debian package {package})")

    return find


Simoom = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def simoom(tmp_path: Path) -> Simoom:
    """Run the command line in a separate process."""

    def call(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "simoom", *map(str, arguments)],
            cwd=tmp_path,
            input=stdin,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
        )

    return call
