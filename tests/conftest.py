"""Shared fixtures of the tests."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import simoom as sm
from simoom.emulate.namespace import UNSHARE

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parents[1]

# A shell has background commands ignore SIGINT; commands that tests interrupt would inherit it.
signal.signal(signal.SIGINT, signal.default_int_handler)

SLOW = {
    "studies/test_cli.py": "starts the command for each test",
    "test_address.py": "starts the command",
    "test_air.py": "draws pictures",
    "test_cli.py": "starts the command for each test",
    "test_compare.py": "starts the command",
    "test_designs.py": "starts the command for each test",
    "test_docs.py": "runs all commands and examples of the pages",
    "test_executors.py": "starts a cluster, and workers that are killed",
    "test_memory.py": "runs long simulations",
    "test_precision.py": "measures coverage, starts the command",
    "test_reliability.py": "starts the command for each test",
    "test_report.py": "draws pages and plots",
    "test_search.py": "runs searches",
    "test_serve.py": "runs scenarios in a server",
    "test_serve_foreign.py": "runs scenarios in a server",
    "test_serve_minute.py": "opens pages in Chromium",
    "test_serve_sweeps.py": "opens pages in Chromium, runs sweeps",
    "test_serve_overview.py": "opens pages in Chromium",
    "test_serve_page.py": "opens pages in Chromium",
    "test_site.py": "builds the site",
    "test_store.py": "starts the command, and processes that are killed",
    "test_sweep.py": "starts the command, and workers",
    "test_types.py": "runs mypy",
    "test_perfetto.py": "reads traces by their schema",
    "test_trace.py": "runs all scenarios",
    "test_trace_files.py": "starts the command for each test",
    "test_trace_page.py": "opens pages in Chromium",
    "test_twin.py": "solves the models of hundreds of scenarios",
    "test_twin_aggregates.py": "simulates a grid of cells",
    "test_twin_design.py": "starts the command for each test",
}
"""Files whose tests are marked slow, each with what takes the time."""

THOROUGH = {
    "models/test_saturation.py": "simulates the chains slot by slot",
    "studies/test_afw_few.py": "runs the quick version of the study",
    "studies/test_full_duplex.py": "runs the quick version of the study",
    "studies/test_http_queueing.py": "runs the quick version of the study",
    "studies/test_l4s_wifi.py": "runs the quick version of the study",
    "studies/test_lt_tcp.py": "runs the quick version of the study",
    "studies/test_mcs_cubic.py": "runs the quick version of the study",
    "studies/test_ofdma_tcp.py": "runs the quick version of the study",
    "test_campaign.py": "runs random scenarios under the checker",
    "test_city.py": "counts instructions of fifty cells, builds the runner",
    "test_firefox.py": "opens all views of the page in Firefox",
    "test_instructions.py": "counts instructions, builds the runner",
    "test_playground.py": "builds the simulator for browsers, opens pages in Chromium",
    "test_pictures.py": "draws all kinds of pictures at two sizes",
    "test_site.py": "builds the site",
    "test_toy.py": "builds the simulator with the feature toy",
    "test_validation.py": "runs the quick version of the table of agreement",
    "test_variates.py": "repeats estimates thousands of times",
    "test_wheel.py": "builds and installs the wheel",
}
"""Files that build the simulator anew or take minutes: `make test-thorough` runs their tests."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of slow files."""
    marks = [
        (pytest.mark.slow, {ROOT / "tests" / file for file in (*SLOW, *THOROUGH)}),
        (pytest.mark.thorough, {ROOT / "tests" / file for file in THOROUGH}),
    ]
    for item in items:
        for mark, files in marks:
            if item.path in files:
                item.add_marker(mark)


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


def build_site(there: Path) -> None:
    """Build the documentation site; a link that leads nowhere fails the build."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(there)]
    env = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def site_builder() -> Callable[[Path], None]:
    """The function that builds the documentation site into a folder."""
    return build_site


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


MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
WAIT_MS = 60_000
"""A loaded machine is slow; what is waited for is an event, never a time."""


@pytest.fixture(scope="session")
def namespaces() -> None:
    """Skip where no port can be made."""
    code = (
        "import fcntl, os, struct\n"
        'tun = os.open("/dev/net/tun", os.O_RDWR)\n'
        'fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"probe", 0x1001))\n'
    )
    try:
        done = subprocess.run(
            [*UNSHARE, sys.executable, "-I", "-c", code],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    except OSError as error:
        pytest.skip(f"no ports here: {error}")
    if done.returncode != 0:
        pytest.skip(f"no ports here: {done.stderr.strip().splitlines()[-1:]}")


@pytest.fixture(scope="session")
def empty_tape() -> Callable[[str, int, float], bytes]:
    """Return a function that writes a tape without packets: its comment, flows and end in s."""

    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack("<I", len(body) + 12)
        return struct.pack("<I", kind) + length + body + length

    def option(code: int, value: bytes) -> bytes:
        return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)

    def write(comment: str, flows: int, end_s: float) -> bytes:
        end_ns = round(end_s * 1e9)
        halves = struct.pack("<II", end_ns >> 32, end_ns & 0xFFFFFFFF)
        section = struct.pack("<IHHQ", 0x1A2B3C4D, 1, 0, 2**64 - 1)
        interface = struct.pack("<HHI", 101, 0, 0)
        blocks = [block(0x0A0D0D0A, section + option(1, comment.encode()) + option(0, b""))]
        blocks += [block(1, interface + option(0, b""))] * flows
        statistics = struct.pack("<I", 0) + halves + option(3, halves) + option(0, b"")
        return b"".join([*blocks, block(5, statistics)])

    return write


@pytest.fixture(scope="session")
def wait_ms() -> int:
    """How long a page may take to show what is expected."""
    return WAIT_MS


@pytest.fixture(scope="session")
def chromium(program: Program) -> str:
    """The path of a browser."""
    return program("chromium", "google-chrome", MAC_CHROME, package="chromium")


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    """A browser for Playwright, whose expectations and pages wait for a minute."""
    # Playwright has an event loop in the thread, so that the fixture ends with its module.
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=WAIT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextlib.contextmanager
def server_in(folder: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[str]:
    """Start ``simoom serve`` in a folder and give the link that it prints."""
    command = [sys.executable, "-m", "simoom", "serve", "--port", "0", "--quiet", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", env=env
    ) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


@pytest.fixture(scope="session")
def serve() -> Callable[..., contextlib.AbstractContextManager[str]]:
    """Start ``simoom serve`` in a folder: a context with the link that it prints."""
    return server_in


Simoom = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def open_page(browser: Browser) -> Callable[..., contextlib.AbstractContextManager[Page]]:
    """Opens a link in a new context; the page may log no error, but for some that are expected."""

    @contextlib.contextmanager
    def opened(link: str, width: int, height: int, *, expected: str = "") -> Iterator[Page]:
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        faults: list[str] = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda m: faults.append(m.text) if m.type == "error" else None)
        page.goto(link)
        yield page
        context.close()
        assert [fault for fault in faults if not expected or expected not in fault] == []

    return opened


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
