"""Commands that are interrupted or killed at random times; stores, damaged and compacted."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
CAFE = ROOT / "scenarios" / "cafe.toml"
MOST_S = 1.0
"""From Ctrl-C to the end of the process."""

LONG = ("--set", "duration_s=100000")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", str(CAFE), *LONG, "-q"),
    "run --out": ("run", str(CAFE), *LONG, "-q", "--out", "out"),
    "run --check": ("run", str(ROOT / "scenarios" / "walking_client.toml"), *LONG, "--check"),
    "run --trace": ("run", str(CAFE), *LONG, "-q", "--trace", "t.parquet"),
    "sweep": ("sweep", str(CAFE), *LONG, "--over", "stations=12,13", "-n", "3", "-q"),
    "sweep --processes": (
        "sweep", str(CAFE), *LONG, "--over", "stations=12,13", "-n", "3", "-q", "--processes", "2",
    ),
    "many radios": ("run", "many.toml", "-q"),
    "wide windows": (
        "run", str(CAFE), *LONG, "-q", "--unset", "flows[1].tcp.window_bytes",
        "--set", "flows[1].tcp.window_segments=700000",
        "--set", "flows[1].tcp.initial_window_segments=700000",
    ),
    "study": ("study", "full_duplex", "-q"),
    "model --vary": ("model", str(CAFE), "--vary", "stations=12:9000:8989"),
}  # fmt: skip

MANY = """
standard = "11g"
duration_s = 100.0
ap.position_m = [0.0, 0.0]
stations = { count = 10000, ring_m = 500.0 }
[radio]
[[flows]]
from = "sta*"
to = "ap"
traffic = "saturated"
"""


def ctrl_c(name: str, number: int, path: str) -> tuple[str, float]:
    """Interrupt a command, and return what is wrong and how long it took to end."""
    draw = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "many.toml").write_text(MANY, encoding="utf-8")
        process = subprocess.Popen(
            [sys.executable, "-m", "simoom", *COMMANDS[name]],
            cwd=folder,
            env=os.environ | {"PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        # Python and its packages have been loaded then, on a machine that is not busy.
        time.sleep(draw.uniform(2.0, 8.0))
        if process.poll() is not None:
            _, err = process.communicate()
            return (f"ended early with {process.returncode}: {err[:300]}", 0.0)
        begun = time.monotonic()
        os.killpg(process.pid, signal.SIGINT)
        if draw.random() < 0.3:
            time.sleep(draw.uniform(0, 0.3))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return "does not end within 60 s", 60.0
        took = time.monotonic() - begun
        left = sorted(each.name for each in Path(folder).rglob("*") if each.is_file())
        if process.returncode != 130 or err.splitlines()[-1:] != ["interrupted"]:
            return f"ends with {process.returncode}: {err[:300]}", took
        if "Traceback" in err + out:
            return f"prints a traceback: {err[:300]}", took
        if left != ["many.toml"]:
            return f"leaves {left}", took
        return ("", took)


CLOSED = ("0<&-", "1>&-", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-", "0<&- 2>&-", "1</dev/null",
          "1>/dev/full")  # fmt: skip
SHORT = ("--set", "duration_s=12")
BRIEF: tuple[tuple[str, ...], ...] = (
    ("run", str(CAFE), *SHORT), ("run", str(CAFE), *SHORT, "--json"), ("check", str(CAFE)),
    ("check", "nothing.toml"), ("check", str(CAFE), "--full"), ("scenarios",), ("--version",),
    ("airtime", "--standard", "11g", "--rate", "54", "--bytes", "1536"), ("probes", str(CAFE)),
    ("run", "-"), ("model", str(CAFE)), ("schema",),
    ("sweep", str(CAFE), *SHORT, "--over", "flows[0].start_s=0,1", "-n", "1"),
)  # fmt: skip
"""Commands that end soon."""


def closed(number: int, path: str) -> str:
    """Run a command with closed descriptors, or such that cannot be written; say what is wrong."""
    draw = random.Random(number)
    command, closed = draw.choice(BRIEF), draw.choice(CLOSED)
    with tempfile.TemporaryDirectory() as folder:
        words = [sys.executable, "-m", "simoom", *command]
        done = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *words],
            cwd=folder, env=os.environ | {"PYTHONPATH": path}, check=False, capture_output=True,
            text=True, stdin=subprocess.DEVNULL, timeout=600,
        )  # fmt: skip
        left = list(Path(folder).iterdir())
    said = f"{' '.join(command[:2])} {closed} ends with {done.returncode}: {done.stderr[:300]}"
    is_right = done.returncode in (0, 2) and "Traceback" not in done.stderr + done.stdout
    if not is_right or done.stderr.count("\n") > 3:
        return said
    return f"{said}; leaves {left}" if left else ""


def store(number: int, path: str) -> str:
    """Kill a sweep, damage and compact its store, and compare the sweep with one left alone.

    Two processes compact the store at the same time, of which one is killed; then a third one does.
    """
    draw = random.Random(number)
    over = ("--over", "stations=12,13", "-n", "3", "--set", "duration_s=3.0", "--set",
            "warmup_s=0.1", "--seed", str(number), "--json")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:

        def sweep(*more: str, timeout: float = 600.0) -> str:
            done = subprocess.run(
                [sys.executable, "-m", "simoom", "sweep", str(CAFE), *over, *more],
                cwd=folder, env=os.environ | {"PYTHONPATH": path}, timeout=timeout, check=False,
                capture_output=True, text=True,
            )  # fmt: skip
            return done.stdout if done.returncode == 0 else f"failed: {done.stderr[:500]}"

        if (alone := sweep()).startswith("failed"):
            return alone
        # It is killed, as by a machine that is switched off.
        with contextlib.suppress(subprocess.TimeoutExpired):
            sweep("--store", "kept", timeout=draw.uniform(1.0, 6.0))
        files = sorted(Path(folder).glob("kept/??/*.json"))
        for file in draw.sample(files, len(files) // 2):
            data = bytearray(file.read_bytes())
            how = draw.randrange(4)
            if how == 0:
                data = data[: draw.randrange(len(data))]
            elif how == 1:
                data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
            elif how == 2:
                shutil.copy(draw.choice(files), Path(folder) / "copy")
                data = bytearray((Path(folder) / "copy").read_bytes())
            file.write_bytes(data)
        again = sweep("--store", "kept")
        if again != alone:
            return f"the store changes the sweep: {again[:300]}"
        compact = (sys.executable, "-m", "simoom", "store", "compact", "kept")
        quiet: dict[str, Any] = {
            "cwd": folder, "env": os.environ | {"PYTHONPATH": path}, "stdout": subprocess.DEVNULL,
        }  # fmt: skip
        beside, killed = subprocess.Popen(compact, **quiet), subprocess.Popen(compact, **quiet)
        time.sleep(draw.uniform(0.3, 2.0))
        killed.kill()
        killed.wait()
        if beside.wait() != 0:
            return f"a compaction beside another ends with {beside.returncode}"
        subprocess.run(compact, **quiet, check=True)
        # Runs that the compactions have lost would be computed again, and stored in new files.
        again = sweep("--store", "kept")
        files = list(Path(folder).glob("kept/??/*.json"))
    if again != alone:
        return f"compactions change the sweep: {again[:300]}"
    return f"compactions lost {len(files)} runs" if files else ""
