"""Agreement of emulations: real programs over paths whose right values are known.

Each path runs in real time, so the whole takes about eight minutes. It needs Linux with TUN
interfaces, iperf3 and ping, and the congestion control that a path names.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, median, quantiles
from typing import Any

import simoom as sm
from simoom.emulate.emulation import Emulation
from validation import linux
from validation.references import plain

PROBE = Path(__file__).with_name("probe.py")
PORT = 5201
CONTROL = "/proc/sys/net/ipv4/tcp_congestion_control"
PROBE_DELAY_MS = 5.0
WARM_UP_S, MEASURED_S = 5, 30
PROBE_S = 10
PACES = 1000, 5000
"""Probes a second."""
PROBE_BANDS_US = 60.0, 150.0
"""Of the error of probes: median, and 99th percentile."""
GOODPUT_BAND, PING_BAND, SHORT_PING_BAND = 0.005, 0.02, 0.06
"""Of CUBIC and Reno; the last with a queue of 25 packets."""
BBR_GOODPUT_BAND, BBR_PING_BAND = 0.02, 0.08
CELL_GOODPUT_BAND, CELL_PING_BAND, AMPDU_BAND = 0.03, 0.10, 0.05
KEPT_UP_P99_S = 0.1e-3
"""How late an emulation may be for BBR, whose ping moves with the lateness."""
DUMBBELLS = ("cubic_r20_d48_q100", "cubic_r10_d48_q25", "reno_r20_d48_q100", "bbr_r20_d48_q100")


@dataclass(frozen=True)
class Value:
    """One value of an emulation and what it should be.

    Attributes
    ----------
    path, quantity : str
        What was measured, and where.
    emulated, expected : float
        The value, and the reference.
    band : float
        The largest difference: relative, or the value itself where nothing is expected.
    """

    path: str
    quantity: str
    emulated: float
    expected: float
    band: float

    @property
    def error(self) -> float:
        """The relative difference, or the value itself where nothing is expected."""
        return self.emulated / self.expected - 1 if self.expected else self.emulated

    @property
    def agrees(self) -> bool:
        """Whether it is within its band."""
        return abs(self.error) <= self.band


@dataclass(frozen=True)
class Emulated:
    """The values of one emulation, and how late it was.

    Attributes
    ----------
    values : tuple of Value
        What was measured.
    live : dict
        What the emulation said of itself.
    verdict : str
        Whether it kept up.
    acks : tuple of float
        How many segments an ACK acknowledged, with real and with simulated ends.
    load : float
        The load of the machine in the minute before its end.
    """

    values: tuple[Value, ...]
    live: dict[str, Any]
    verdict: str
    acks: tuple[float, float] | None = None
    load: float = field(default_factory=lambda: os.getloadavg()[0])


def missing() -> str | None:
    """What this machine lacks; None if nothing."""
    lacking = [program for program in ("iperf3", "ping", "unshare") if not shutil.which(program)]
    return f"needs {', '.join(lacking)}" if lacking else None


def _emulate(
    scenario: dict[str, Any], ends: tuple[str, str], programs: Sequence[Sequence[str]]
) -> Emulation:
    """Run two programs at two nodes: the second serves the first."""
    ports = [
        sm.Port(ends[0], "near", tuple(programs[0])),
        sm.Port(ends[1], "far", tuple(programs[1]), serves=True),
    ]
    return sm.emulate(scenario, ports=ports, longest_s=120.0)


def transfer(
    name: str, scenario: dict[str, Any], ends: tuple[str, str], control: str, every_ms: float
) -> tuple[float, list[float], Emulation]:
    """A long TCP flow of iperf3 with pings beside it.

    Returns
    -------
    tuple
        Goodput in Mb/s, round-trip times in ms after the first seconds, and the emulation.
    """
    with tempfile.TemporaryDirectory() as folder:
        flow, pings = Path(folder) / "flow.json", Path(folder) / "pings.txt"
        lasting = WARM_UP_S + MEASURED_S
        count = round(1000 * lasting / every_ms)
        # Nothing of a connection before is remembered in a new network namespace. iperf3 chooses a
        # control after it has connected, when that of the namespace has begun: BBR would leave its
        # pacing behind.
        near = (
            f"echo {control} >{CONTROL} && "
            f"{{ ping -n -i {every_ms / 1000} -c {count} far >{pings} & }} && "
            f"iperf3 -c far -p {PORT} -t {MEASURED_S} -O {WARM_UP_S} -J >{flow}; wait"
        )
        done = _emulate(
            scenario,
            ends,
            (("bash", "-c", near), ("bash", "-c", f"exec iperf3 -s -p {PORT} >/dev/null 2>&1")),
        )
        said = json.loads(flow.read_text(encoding="utf-8"))
        if "error" in said:
            raise OSError(f"{name}: iperf3: {said['error']}")
        times = re.findall(r"icmp_seq=(\d+) .*time=([\d.]+)", pings.read_text(encoding="utf-8"))
    first = WARM_UP_S * 1000 / every_ms
    rtts = [float(time) for number, time in times if int(number) > first]
    return said["end"]["sum_received"]["bits_per_second"] / 1e6, rtts, done


def dumbbell(name: str) -> Emulated:
    """A point of the kernel in virtual time, with real ends."""
    point = next(point for point in linux.points("a") if point.name == name)
    scenario = linux.path(point, linux.PRESET, 0)
    del scenario["flows"]
    control = point.settings["control"]
    is_bbr, is_short = control == "bbr", "_q25" in name
    goodput, rtts, done = transfer(name, scenario, ("a0", "b"), control, 100.0)
    ping = BBR_PING_BAND if is_bbr else SHORT_PING_BAND if is_short else PING_BAND
    measured = point.measured
    values = (
        Value(name, "goodput, Mb/s", goodput, measured["goodput_mbps"].value,
              BBR_GOODPUT_BAND if is_bbr else GOODPUT_BAND),
        Value(name, "ping, median, ms", median(rtts), measured["ping_p50_ms"].value, ping),
        Value(name, "ping, p95, ms", quantiles(rtts, n=20)[-1], measured["ping_p95_ms"].value,
              ping),
    )  # fmt: skip
    return Emulated(values, done.live, done.verdict)


def probes(pace: int) -> Emulated:
    """Datagrams of 200 bytes over a fixed delay: how far the delays are from it."""
    wire = {"rate_mbps": linux.INFINITE_MBPS, "delay_ms": PROBE_DELAY_MS}
    scenario = {"duration_s": 1.0, "warmup_s": 0.0, "links": [{"from": "a", "to": "b", **wire}]}
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "delays.txt"
        own = (sys.executable, "-I", str(PROBE))
        near = (*own, "send", "far", str(pace), str(pace * PROBE_S))
        done = _emulate(scenario, ("a", "b"), (near, (*own, "receive", str(found))))
        delays_us = [int(line) / 1000 for line in found.read_text(encoding="ascii").split()]
    errors = sorted(delay - 1000 * PROBE_DELAY_MS for delay in delays_us)
    name = f"{pace} probes a second over {PROBE_DELAY_MS:g} ms"
    values = (
        Value(name, "error, median, us", median(errors), 0.0, PROBE_BANDS_US[0]),
        Value(name, "error, p99, us", quantiles(errors, n=100)[-1], 0.0, PROBE_BANDS_US[1]),
        Value(name, "probes lost", float(pace * PROBE_S - len(errors)), 0.0, 0.0),
    )
    return Emulated(values, done.live, done.verdict)


CELLS: dict[str, dict[str, Any]] = {
    "802.11g, 54 Mb/s": {"standard": "11g", "wlan": {"rate_mbps": 54.0}},
    "802.11n, 20 MHz, MCS 7": {"standard": "11n", "wlan": {"mcs": 7}},
}


def cell_of(name: str) -> dict[str, Any]:
    """The scenario of a cell, without what is sent."""
    return {
        **CELLS[name],
        "duration_s": float(WARM_UP_S + MEASURED_S),
        "warmup_s": float(WARM_UP_S),
        "ap": {"queue": "fq_codel"},
        "stations": [{"queue": "fq_codel"}],
        "wire": {"delay_ms": 10.0},
    }


def cell(name: str) -> Emulated:
    """A download in a cell: real ends against simulated ends of Linux in the same scenario."""
    scenario = cell_of(name)
    every_ms = 100.0
    goodput, rtts, done = transfer(name, scenario, ("server", "sta0"), "cubic", every_ms)
    runs = [simulated(scenario, every_ms, seed) for seed in range(1, 11)]
    expected = [mean(values) for values in zip(*runs, strict=True)]
    values = [
        Value(name, "goodput, Mb/s", goodput, expected[0], CELL_GOODPUT_BAND),
        Value(name, "ping, median, ms", median(rtts), expected[1], CELL_PING_BAND),
    ]
    if expected[2] > 1.0:
        values.append(
            Value(name, "MPDUs of an A-MPDU", aggregate(done.run), expected[2], AMPDU_BAND)
        )
    # Both directions have the pings, too.
    down, up = (plain(done.run.summary[f"flows[{n}].packets_sent"]) - len(rtts) for n in (0, 1))
    return Emulated(tuple(values), done.live, done.verdict, (down / up, expected[3]))


def simulated(scenario: dict[str, Any], every_ms: float, seed: int) -> tuple[float, ...]:
    """A run with simulated ends of Linux.

    Returns
    -------
    tuple of float
        Goodput in Mb/s, median ping in ms, MPDUs of an A-MPDU, segments of an ACK.
    """
    flows = [
        {"from": "server", "to": "sta0", "control": "cubic", "tcp": {"endpoint": "linux"}},
        {"from": "server", "to": "sta0", "traffic": {"ping": {"interval_ms": every_ms}}},
    ]
    run = sm.run({**scenario, "flows": flows}, seed=seed)
    value = {path: plain(run.summary[path]) for path in (
        "flows[0].goodput_mbps", "flows[1].rtt_s.p50", "flows[0].segments_sent",
        "flows[0].packets_sent",
    )}  # fmt: skip
    segments = value["flows[0].segments_sent"]
    acks = value["flows[0].packets_sent"] - segments
    rtt_ms = 1000 * value["flows[1].rtt_s.p50"]
    return value["flows[0].goodput_mbps"], rtt_ms, aggregate(run), segments / acks


def aggregate(run: sm.Run) -> float:
    """The mean number of MPDUs of a PPDU of the access point: 1 without aggregation."""
    return plain(run.summary.get("ap.mpdus_per_ppdu", 1.0))


def measure() -> Iterator[Emulated]:
    """All emulations, one after the other."""
    for pace in PACES:
        yield probes(pace)
    for name in DUMBBELLS:
        yield dumbbell(name)
    for name in CELLS:
        yield cell(name)
