"""The first process of the guest: makes the network, the flows and the pings of one run.

Called by the kernel as ``python3 -I guest.py DIRECTORY``, with the run in ``DIRECTORY/job.json``.
Writes what it measured to ``result.json`` there, or why it failed, and halts the machine. Uses the
standard library only. Each role is a process of its own, in the network namespace of its node;
processing takes no time in the guest, so that the clock stands while Python works.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

Job = dict[str, Any]
Result = dict[str, Any]

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000
POWER_OFF = 0x4321FEDC
SHARE = Path("/run/share")
PORT = 5000
CHUNK = 131_072
"""What a sender writes at a time."""
READ = 1 << 22
TOTAL_RETRANS = 100
"""Offset of ``tcpi_total_retrans`` in ``struct tcp_info``."""
RETURN_LIMIT = 10_000
SETTLE_S = 1.0
"""The flows begin when the network stands, this long after the last command."""
SYSCTLS = {
    "tcp_no_metrics_save": "1",
    "tcp_rmem": "4096 131072 6291456",
    "tcp_wmem": "4096 16384 4194304",
}
COUNTERS = {
    "segments_out": "Tcp.OutSegs",
    "retransmits": "Tcp.RetransSegs",
    "timeouts": "TcpExt.TCPTimeouts",
    "fast_retransmits": "TcpExt.TCPFastRetrans",
    "reordering_seen": "TcpExt.TCPSACKReorder",
    "dsack_received": "TcpExt.TCPDSACKRecv",
    "dsack_segments": "TcpExt.TCPDSACKRecvSegs",
    "undone": "TcpExt.TCPDSACKUndo",
}
"""Counters of the first sender's kernel over the whole run."""


def checked(returned: int, what: str) -> None:
    """Raise an error if a call of the C library failed."""
    if returned < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount(kind: str, where: str | Path, options: str = "") -> None:
    """Mount a file system."""
    arguments = (text.encode() for text in ("none", str(where), kind))
    checked(LIBC.mount(*arguments, 0, options.encode()), f"mount {kind} {where}")


def enter(node: str) -> None:
    """Move this process into the network namespace of a node."""
    with Path("/run/netns", node).open("rb") as file:
        checked(LIBC.setns(file.fileno(), CLONE_NEWNET), f"setns {node}")


def command(*words: str) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def tc(node: str, device: str, words: str, parent: str = "root handle 1:") -> None:
    """Add a queue discipline to a device."""
    command("tc", "-n", node, "qdisc", "add", "dev", device, *parent.split(), *words.split())


def address(node: str, peer: str, links: list[tuple[str, str]]) -> str:
    """The address of a node on its link to a peer: 10.0.LINK.1 or, of its second end, .2."""
    for number, ends in enumerate(links):
        if {node, peer} == set(ends):
            return f"10.0.{number}.{1 + ends.index(node)}"
    raise KeyError((node, peer))


def make_network(job: Job) -> list[str]:
    """Make nodes, links, routes and disciplines; return the nodes from the router to b."""
    senders = [f"a{number}" for number in range(len(job["controls"]))]
    behind = ["r", "m", "b"] if job["after_bottleneck"] else ["r", "b"]
    links = [(sender, "r") for sender in senders] + list(pairwise(behind))
    for node in [*senders, *behind]:
        command("ip", "netns", "add", node)
        command("ip", "-n", node, "link", "set", "lo", "up")
    for ends in links:
        make_link(ends, links)
    for sender in senders:
        route(sender, "default", "r", links)
    for near, far in pairwise(behind):
        route(far, "default", near, links)
        if far != "b":
            route(near, f"10.0.{len(links) - 1}.0/24", far, links)
    for node in [*senders, *behind]:
        settle(node, job)
    bottleneck, _, child = job["bottleneck"].partition("/")
    tc("r", f"to-{behind[1]}", bottleneck)
    if child:
        tc("r", f"to-{behind[1]}", child, "parent 1:1")
    if job["after_bottleneck"]:
        tc("m", "to-b", f"{job['after_bottleneck']} limit {RETURN_LIMIT}")
    # All delay is on the return path: in front of each of two senders, or behind b.
    delays = job["return_delay_ms"]
    for number, delay in enumerate(delays):
        where = ("r", f"to-a{number}") if len(delays) > 1 else ("b", f"to-{behind[-2]}")
        tc(*where, f"netem delay {delay}ms limit {RETURN_LIMIT}")
    return behind


def make_link(ends: tuple[str, str], links: list[tuple[str, str]]) -> None:
    """A pair of devices without rate, delay or offloads, each with the other's address known."""
    one, two = ends
    names = {one: f"to-{two}", two: f"to-{one}"}
    words = ("type", "veth", "peer", "name", names[two], "netns", two)
    command("ip", "-n", one, "link", "add", names[one], *words)
    macs = {}
    for node, peer in ((one, two), (two, one)):
        device = names[node]
        command(
            "ip", "-n", node, "address", "add", f"{address(node, peer, links)}/24", "dev", device
        )
        offloads = ("tso", "off", "gso", "off", "gro", "off")
        command("ip", "netns", "exec", node, "ethtool", "-K", device, *offloads)
        command("ip", "-n", node, "link", "set", device, "up")
        shown = json.loads(command("ip", "-j", "-n", node, "link", "show", "dev", device))
        macs[node] = shown[0]["address"]
    for node, peer in ((one, two), (two, one)):
        neighbour = (address(peer, node, links), "lladdr", macs[peer])
        command("ip", "-n", node, "neigh", "replace", *neighbour, "dev", names[node])


def route(node: str, to: str, via: str, links: list[tuple[str, str]]) -> None:
    """A route of a node."""
    command("ip", "-n", node, "route", "add", to, "via", address(via, node, links))


def settle(node: str, job: Job) -> None:
    """Set the variables of a node's kernel."""

    def write() -> Result:
        for name, value in {**SYSCTLS, "tcp_ecn": job["tcp_ecn"]}.items():
            Path("/proc/sys/net/ipv4", name).write_text(value)
        Path("/proc/sys/net/ipv4/ip_forward").write_text("1")
        return {}

    collect([start(node, write)])


Child = tuple[int, int]


def start(node: str, work: Callable[[], Result]) -> Child:
    """Do work in a process of its own, in the namespace of a node."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading
    try:
        os.close(reading)
        enter(node)
        report = work()
    except BaseException:  # noqa: BLE001 - whatever it is, it is reported
        report = {"error": traceback.format_exc()}
    with os.fdopen(writing, "w") as file:
        json.dump(report, file)
    os._exit(0)


def collect(children: list[Child]) -> list[Result]:
    """Wait for processes, and return what they report."""
    reports = []
    for child, reading in children:
        with os.fdopen(reading) as file:
            report = json.loads(file.read() or '{"error": "a process ended without a report"}')
        os.waitpid(child, 0)
        if "error" in report:
            raise RuntimeError(report["error"])
        reports.append(report)
    return reports


def sleep_until(instant: float) -> None:
    """Sleep until an instant of the monotonic clock."""
    time.sleep(max(0.0, instant - time.monotonic()))


def total_retransmits(connection: socket.socket) -> int:
    """Segments that a connection has sent again."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, TOTAL_RETRANS + 4)
    return int(struct.unpack_from("I", info, TOTAL_RETRANS)[0])


def send(job: Job, number: int, to: str, begin: float) -> Result:
    """Send as long as the flow lasts; report the retransmissions of the measured time."""
    sleep_until(begin)
    connection = socket.socket()
    control = job["controls"][number].encode()
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
    connection.connect((to, PORT + number))
    connected = time.monotonic()
    writer = os.fork()
    if not writer:
        write(connection)
    counts = []
    for after in (job["omitted_s"], job["omitted_s"] + job["measured_s"]):
        sleep_until(connected + after)
        counts.append(total_retransmits(connection))
    sleep_until(job["end"])
    os.kill(writer, signal.SIGKILL)
    os.waitpid(writer, 0)
    return {"retransmits": counts[1] - counts[0], "connected": connected}


def write(connection: socket.socket) -> NoReturn:
    """Write until the connection or this process is ended."""
    chunk = bytes(CHUNK)
    try:
        while True:
            connection.sendall(chunk)
    finally:
        os._exit(0)


def receive(number: int, end: float) -> Result:
    """Read all of a flow; report when how many bytes came."""
    listening = socket.socket()
    listening.bind(("", PORT + number))
    listening.listen()
    listening.settimeout(end - time.monotonic())
    connection, _ = listening.accept()
    buffer = bytearray(READ)
    arrivals = []
    while (left := end - time.monotonic()) > 0:
        connection.settimeout(left)
        try:
            count = connection.recv_into(buffer)
        except TimeoutError:
            break
        if not count:
            break
        arrivals.append((time.monotonic(), count))
    return {"arrivals": arrivals}


def checksum(data: bytes) -> int:
    """The checksum of ICMP (RFC 1071) of an even number of bytes."""
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def ping(job: Job, to: str) -> Result:
    """Send echo requests with 56 bytes of data; report the round-trip time of each, or none."""
    interval = job["ping_every_ms"] / 1000
    count = int((job["end"] - job["begin"]) / interval)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    raw.connect((to, 0))
    sent: list[float] = []
    rtts: list[float | None] = [None] * count
    while True:
        due = job["begin"] + len(sent) * interval if len(sent) < count else job["end"] + 1
        left = due - time.monotonic()
        if left <= 0 and len(sent) == count:
            return {"sent": sent, "rtts": rtts}
        if left <= 0:
            body = struct.pack("!BBHHH", 8, 0, 0, 1, len(sent)) + bytes(56)
            sent.append(time.monotonic())
            raw.send(body[:2] + struct.pack("!H", checksum(body)) + body[4:])
            continue
        raw.settimeout(left)
        try:
            packet = raw.recv(2048)
        except TimeoutError:
            continue
        kind, _, _, _, sequence = struct.unpack_from("!BBHHH", packet, 4 * (packet[0] & 15))
        if kind == 0:
            rtts[sequence] = time.monotonic() - sent[sequence]


def answer(job: Job) -> Result:
    """Answer requests: four bytes each, which are the size of the answer."""
    listening = socket.socket()
    control = job["controls"][0].encode()
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control)
    listening.bind(("", PORT))
    listening.listen()
    for _ in job["sizes"]:
        connection, _ = listening.accept()
        while request := connection.recv(4):
            connection.sendall(bytes(struct.unpack("!I", request)[0]))
        connection.close()
    return {}


def fetch(job: Job, to: str) -> Result:
    """Request an answer of each size over a new connection, and again after an idle time."""
    found = {}
    sleep_until(job["begin"] + job["shift_s"])
    for name, size in job["sizes"].items():
        connection = socket.socket()
        begun = time.monotonic()
        connection.connect((to, PORT))
        found[f"{name}.connect_ms"] = 1000 * (time.monotonic() - begun)
        for quantity in ("fetch_ms", "fetch_after_idle_ms"):
            begun = time.monotonic()
            connection.sendall(struct.pack("!I", size))
            left = size
            while left:
                left -= len(connection.recv(READ))
            found[f"{name}.{quantity}"] = 1000 * (time.monotonic() - begun)
            time.sleep(job["idle_s"])
        connection.close()
        time.sleep(job["idle_s"])
    return found


def counters() -> Result:
    """The counters of this namespace's kernel."""
    values: dict[str, str] = {}
    for file in ("/proc/net/snmp", "/proc/net/netstat"):
        lines = Path(file).read_text().splitlines()
        for names, numbers in zip(lines[::2], lines[1::2], strict=True):
            section, *keys = names.split()
            values |= {
                f"{section}{key}": n for key, n in zip(keys, numbers.split()[1:], strict=True)
            }
    named = {name: values[key.replace(".", ":")] for name, key in COUNTERS.items()}
    return {f"{name}_all": int(value) for name, value in named.items()}


def of_discipline(device: str) -> Result:
    """Drops and marks of the bottleneck's discipline; of the child, where it has one."""
    shown = json.loads(command("tc", "-n", "r", "-s", "-j", "qdisc", "show", "dev", device))[-1]
    marks = shown.get("ecn_mark", 0) + sum(tin["ecn_mark"] for tin in shown.get("tins", ()))
    return {"dropped_all": shown["drops"], "marked_all": marks}


def run(job: Job) -> Result:
    """Do a run, and return what was measured."""
    behind = make_network(job)
    job["begin"] = time.monotonic() + SETTLE_S
    last_s = max(job["starts_s"], default=0.0)
    # A round trip for the handshake, within the longest delay.
    job["end"] = job["begin"] + last_s + job["omitted_s"] + job["measured_s"] + 1.0
    number = len(job["controls"])
    links = number + len(behind) - 2
    to, source = f"10.0.{links}.2", "10.0.0.1"
    if job["sizes"]:
        server = start("a0", lambda: answer(job))
        (report,) = collect([start("b", lambda: fetch(job, source))])
        collect([server])
        return {"fetched": report, **collect([start("a0", counters)])[0]}
    receivers = [start("b", partial(receive, n, job["end"])) for n in range(number)]
    senders = [
        start(f"a{n}", partial(send, job, n, to, job["begin"] + job["starts_s"][n]))
        for n in range(number)
    ]
    pings = [start("a0", lambda: ping(job, to))] if job["ping_every_ms"] else []
    flows = [
        {**sent, **got} for sent, got in zip(collect(senders), collect(receivers), strict=True)
    ]
    (counted,) = collect([start("a0", counters)])
    report = {"flows": flows, "begin": job["begin"], **counted, **of_discipline(f"to-{behind[1]}")}
    if pings:
        (report["pings"],) = collect(pings)
    return report


def main() -> None:
    """Mount what the guest needs, run the job, write its result, and halt."""
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    try:
        mount("proc", "/proc")
        mount("sysfs", "/sys")
        mount("tmpfs", "/run")
        SHARE.mkdir()
        mount("hostfs", SHARE, sys.argv[1])
        try:
            result = run(json.loads((SHARE / "job.json").read_text()))
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            result = {"error": traceback.format_exc()}
        (SHARE / "result.json").write_text(json.dumps(result))
        os.sync()
    except Exception:  # noqa: BLE001 - whatever it is, it is reported
        traceback.print_exc()
    sys.stdout.flush()
    LIBC.reboot(POWER_OFF)


if __name__ == "__main__":
    main()
