"""Runs a point in a guest of its own, and counts its quantities as `docs/linux.md` says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from validation.linux import SECOND_S, SECOND_SHIFT_S, SHIFT_S, SIZES, Point, Result
from validation.uml.programs import Refused, need

GUEST = Path(__file__).parent / "guest.py"
PROGRAMS = {"ip": "iproute2", "tc": "iproute2", "ethtool": "ethtool"}
MEMORY = "512M"
START_NS = 1_700_000_000 * 10**9
"""The date at which the guest's clock begins."""
WALL_S = 600.0
"""A guest that takes longer is ended. A run of 65 s at 20 Mb/s takes about half a minute."""


def job_of(point: Point, repeat: int) -> dict[str, Any]:
    """What the guest does in a repeat of a point."""
    settings, controls = point.settings, point.controls

    def number(key: str) -> float:
        return float(settings.get(key, 0))

    shift_s = SHIFT_S * repeat
    return {
        "controls": controls,
        "bottleneck": settings["bottleneck"],
        "after_bottleneck": settings.get("after_bottleneck", ""),
        "return_delay_ms": [float(each) for each in settings["return_delay_ms"].split("+")],
        "tcp_ecn": settings.get("tcp_ecn", "2"),
        "omitted_s": number("omitted_s"),
        "measured_s": number("measured_s"),
        "ping_every_ms": number("ping_every_ms"),
        "idle_s": number("idle_s"),
        "shift_s": shift_s,
        "starts_s": [
            shift_s + (SECOND_S + SECOND_SHIFT_S * repeat if n else 0.0)
            for n in range(len(controls))
        ],
        "sizes": SIZES if point.group == "e" else {},
    }


def guest(
    kernel: Path, job: Mapping[str, Any], programs: Mapping[str, str] = PROGRAMS
) -> dict[str, Any]:
    """Boot the kernel, let it do a job, and return what it reports."""
    need(programs)
    python = Path(sys.executable).resolve()
    with tempfile.TemporaryDirectory(prefix="simoom-uml-") as name:
        shared = Path(name)
        shutil.copy(GUEST, shared)
        (shared / "job.json").write_text(json.dumps(job))
        command = [
            str(kernel.resolve()),
            f"mem={MEMORY}",
            "rootfstype=hostfs",
            "rootflags=/",
            "ro",
            "quiet",
            "time-travel=inf-cpu",
            f"time-travel-start={START_NS}",
            "con=null",
            "con0=null,fd:1",
            f"init={python}",
            "--",
            "-I",
            str(shared / GUEST.name),
            str(shared),
        ]
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=WALL_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise Refused(f"{kernel}: {error}") from None
        report = shared / "result.json"
        if not report.exists():
            lines = (done.stdout + done.stderr).decode(errors="replace").strip().splitlines()
            raise Refused(f"{kernel}: the guest ended without a result: {' / '.join(lines[-3:])}")
        found: dict[str, Any] = json.loads(report.read_text())
    if "error" in found:
        raise Refused(f"in the guest: {found['error'].strip().splitlines()[-1]}")
    return found


def quantities(job: Mapping[str, Any], report: Mapping[str, Any]) -> Result:
    """The quantities of a run, with the names of the reference values."""
    counters = {key: value for key, value in report.items() if key.endswith("_all")}
    if "fetched" in report:
        return {**report["fetched"], "retransmits_all": counters["retransmits_all"]}
    flows = report["flows"]
    begin = max(flow["connected"] for flow in flows) + job["omitted_s"]
    goodputs = [
        8e-6
        * sum(count for at, count in flow["arrivals"] if 0 <= at - begin < job["measured_s"])
        / job["measured_s"]
        for flow in flows
    ]
    if len(flows) == 1:
        result = {"goodput_mbps": goodputs[0], "retransmits": flows[0]["retransmits"]}
    else:
        result = {"goodput_total_mbps": sum(goodputs), "share_first": goodputs[0] / sum(goodputs)}
        for n, (flow, goodput) in enumerate(zip(flows, goodputs, strict=True), start=1):
            result[f"flow{n}.goodput_mbps"] = goodput
            result[f"flow{n}.retransmits"] = flow["retransmits"]
    if "pings" in report:
        result |= of_pings(report["pings"], report["begin"] + job["omitted_s"])
    return {key: float(value) for key, value in {**result, **counters}.items()}


def of_pings(pings: Mapping[str, Any], begin: float) -> Result:
    """Percentiles and mean of the round-trip times of pings sent since `begin`."""
    rtts = [rtt for at, rtt in zip(pings["sent"], pings["rtts"], strict=True) if at >= begin]
    back = sorted(1000 * rtt for rtt in rtts if rtt is not None)
    if not back:
        return {"ping_lost_percent": 100.0}
    return {
        "ping_p50_ms": percentile(back, 0.5),
        "ping_p95_ms": percentile(back, 0.95),
        "ping_mean_ms": fmean(back),
        "ping_lost_percent": 100 * (1 - len(back) / len(rtts)),
    }


def percentile(ordered: list[float], share: float) -> float:
    """A percentile, linear between two values."""
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
