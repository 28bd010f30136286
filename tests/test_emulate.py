"""Emulations: ports, tapes, and real programs where a machine can make namespaces.

How late an emulation is depends on the machine, so that no test asserts it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

import simoom as sm
from simoom.base.issue import ArgumentError
from simoom.emulate.ports import (
    Port,
    Tape,
    addresses,
    comment_of,
    fingerprint,
    read_ports,
    with_ports,
)
from simoom.serve.drafts import Desk
from simoom.serve.library import Library

CELL = """
title = "A cell with a call"
standard = "11g"
stations = 2
duration_s = 30.0
ap.queue.fq_codel = {}

[wire]
rate_mbps = 20.0
delay_ms = 5.0

[[flows]]
from = "server"
to = "sta1"
traffic.cbr = { rate_mbps = 0.5, payload_bytes = 500 }
start_s = 0.2
stop_s = 20.0
"""

FETCH = """
import sys, urllib.request
body = urllib.request.urlopen("http://server/file").read()
open("got", "wb").write(body)
sys.exit(7)
"""


@pytest.fixture
def cell(tmp_path, monkeypatch):
    """Return a scenario in a folder of its own, which is the current one."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "cell.toml"
    file.write_text(CELL, encoding="utf-8")
    return file


def simoom(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "simoom", *arguments], capture_output=True, text=True, check=False
    )


def test_a_port_has_the_address_of_its_node_in_captures(cell):
    scenario = sm.Scenario.load(cell)
    assert addresses(scenario, [Port("sta1", "phone")]) == {"phone": (10, 0, 0, 3)}


def test_each_port_has_a_flow_to_each_other(cell):
    ports = [Port("sta0", "phone"), Port("sta1", "laptop"), Port("server", "server")]
    changed, first = with_ports(sm.Scenario.load(cell), ports, 10.0)
    changed.check()
    flows = json.loads(changed.core.flows())
    assert first == 1
    assert [(flow["name"], flow["from"], flow["to"]) for flow in flows[first:]] == [
        ("phone to laptop", "sta0", "sta1"),
        ("phone to server", "sta0", "server"),
        ("laptop to phone", "sta1", "sta0"),
        ("laptop to server", "sta1", "server"),
        ("server to phone", "server", "sta0"),
        ("server to laptop", "server", "sta1"),
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "has no table [[ports]]"),
        ("ports = 1", "has no table [[ports]]"),
        ("[[ports]]\nat = 3", "ports[0].at is missing"),
        ('[[ports]]\nat = "sta0"\ncomand = ["x"]', "no key 'comand'; the nearest is command"),
        ('[[ports]]\nat = "sta0"\ncommand = "curl x"', "ports[0].command must be a list"),
        ("[[ports", "is not TOML"),
    ],
)
def test_a_fault_of_a_file_of_ports_is_named(tmp_path, text, fault):
    file = tmp_path / "ports.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ArgumentError, match="ports") as raised:
        read_ports(file)
    assert fault in str(raised.value)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (["--at", "sta9", "--", "true"], "no node 'sta9'"),
        (["--at", "server", "--", "true"], "a node has one port"),
        (["--at", "sta0", "--", "no-such-program"], "no-such-program: no such program"),
        (["--at", "sta0"], "COMMAND: the program that runs there"),
        (["--", "true"], "--at: names the node"),
        (["--at", "sta0", "--for", "0", "--", "true"], "--for"),
        (["--at", "sta0", "--server", "", "--", "true"], "--server: is empty"),
    ],
)
def test_bad_input_gets_one_message(cell, arguments, fault):
    done = simoom("emulate", str(cell), *arguments)
    assert done.returncode == 2
    assert fault in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_capture_that_is_no_tape_is_refused(cell, tmp_path):
    capture = tmp_path / "air.pcapng"
    sm.run(sm.Scenario.load(cell).set("duration_s", 0.5).unset("flows[0].stop_s"), trace=capture)
    for file in (cell, next(tmp_path.glob("air*.pcapng"))):
        done = simoom("run", str(cell), "--tape", str(file))
        assert done.returncode == 2
        assert "not a tape" in done.stderr


@pytest.mark.usefixtures("namespaces")
def test_a_program_fetches_a_file_through_the_air(cell, tmp_path):
    content = os.urandom(200_000)
    (tmp_path / "file").write_bytes(content)
    done = simoom(
        "emulate", str(cell), "--at", "sta0", "--tape", "call.pcapng", "--json",
        "--", sys.executable, "-c", FETCH,
    )  # fmt: skip
    assert done.returncode == 7, done.stderr
    assert (tmp_path / "got").read_bytes() == content
    told = json.loads(done.stdout)
    assert told["repeats"]
    assert told["exit_code"] == 7
    phone, server = told["ports"]
    # The kernel hands over bursts of segments; on the air are packets.
    assert 200_000 < server["sent_bytes"] <= 1500 * server["sent_packets"]
    assert phone["received_packets"] + told["dropped"] + told["resident"] >= server["sent_packets"]
    # The file cannot be here earlier than 20 Mb/s allow.
    assert told["end_s"] > 200_000 * 8 / 20e6

    # The tape gives the same run, which is that of the scenario with what the ports sent.
    again = simoom("run", str(cell), "--tape", "call.pcapng", "--json")
    assert json.loads(again.stdout) == told["summary"]
    repeated = Tape.read("call.pcapng").scenario_of(sm.Scenario.load(cell), "call.pcapng")
    run = sm.run(repeated, check=True, trace="air.pcapng")
    assert run.digest == told["digest"]
    captured = b"".join(each.read_bytes() for each in tmp_path.glob("air*.pcapng"))
    assert b"GET /file HTTP/1.1" in captured
    assert content[1000:1400] in captured
    other = simoom("run", str(cell), "--set", "stations=3", "--tape", "call.pcapng")
    assert other.returncode == 2
    assert "another scenario" in other.stderr


LARGE = """
import fcntl, socket, struct, time
IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_MTU, SIOCSIFMTU = 10, 2, 14, 0x8922
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
fcntl.ioctl(udp, SIOCSIFMTU, struct.pack("16si20x", b"sim0", 9000))
udp.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
udp.connect(("server", 9))
udp.send(b"x" * 1473)
for _ in range(500):
    if udp.getsockopt(socket.IPPROTO_IP, IP_MTU) == 1500:
        break
    time.sleep(0.01)
print(udp.getsockopt(socket.IPPROTO_IP, IP_MTU))
"""


@pytest.mark.usefixtures("namespaces")
def test_a_packet_that_is_too_large_does_not_enter_and_its_sender_is_told(cell):
    done = simoom("emulate", str(cell), "--at", "sta0", "--json", "--", sys.executable, "-c", LARGE)
    assert done.returncode == 0, done.stderr
    size, _, told = done.stdout.partition("\n")
    assert size == "1500"
    assert json.loads(told)["ports"][0]["refused"]["too_large"] == 1


@pytest.mark.usefixtures("namespaces")
def test_ports_of_a_file_reach_each_other_and_nothing_else(cell, tmp_path):
    talk = (
        "import socket\n"
        "udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "udp.settimeout(10)\n"
        "udp.connect(('echo', 9999))\n"
        "udp.send(b'x' * 1000)\n"
        "assert len(udp.recv(2000)) == 1000\n"
        "try:\n"
        "    socket.create_connection(('192.0.2.1', 80), 1)\n"
        "except OSError as error:\n"
        "    print(error.strerror)\n"
        "for address in ('10.0.0.77', '10.255.255.255'):\n"
        "    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "    udp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)\n"
        "    udp.sendto(b'x', (address, 1))\n"
        "open('talked', 'w').write('yes')\n"
    )
    echo = (
        "import socket\n"
        "udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "udp.bind(('', 9999))\n"
        "while True:\n"
        "    data, peer = udp.recvfrom(2000)\n"
        "    udp.sendto(data, peer)\n"
    )
    (tmp_path / "talk.py").write_text(talk, encoding="utf-8")
    (tmp_path / "echo.py").write_text(echo, encoding="utf-8")
    (tmp_path / "ports.toml").write_text(
        f'[[ports]]\nat = "sta0"\ncommand = ["{sys.executable}", "talk.py"]\n'
        f'[[ports]]\nat = "sta1"\nname = "echo"\nserves = true\n'
        f'command = ["{sys.executable}", "echo.py"]\n',
        encoding="utf-8",
    )
    done = simoom("emulate", str(cell), "--ports", "ports.toml", "--json")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "talked").exists()
    text = done.stdout[done.stdout.index("{") :]
    told = json.loads(text)
    assert "Network is unreachable" in done.stdout
    assert told["ports"][0]["refused"]["no_such_port"] == 2
    assert told["ports"][1]["received_packets"] == 1


@pytest.mark.usefixtures("namespaces")
def test_an_emulation_is_in_the_library_like_any_run(cell, tmp_path):
    (tmp_path / "file").write_bytes(bytes(20_000))
    command = [sys.executable, "-c", FETCH]
    done = simoom("emulate", str(cell), "--at", "sta0", "--library", "runs", "--seed", "3",
                  "--json", "--", *command)  # fmt: skip
    assert done.returncode == 7, done.stderr
    told = json.loads(done.stdout)
    # Of a server for another folder: the tape is admitted because it is the library's own.
    library = Library(tmp_path / "runs", Desk(tmp_path / "elsewhere"))
    (entry,) = library.entries()
    assert (entry["state"], entry["seed"]) == ("done", 3)
    assert entry["name"] == f"emulation, {Path(sys.executable).name}"
    record = library.record(entry["id"])
    assert record.run.digest == told["digest"]
    assert library.air(entry["id"]).exists()
    assert "total.goodput_mbps" in library.series(entry["id"])
    assert sm.run(record.run.scenario, seed=3).digest == told["digest"]
    library.remove(entry["id"])
    assert not library.entries()
    assert not list(library.tapes.iterdir())


TALK = """
import socket, time
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.settimeout(1)
udp.connect(("echo", 9999))
for number in range(4000):
    udp.send(b"x" * 1000)
    try:
        udp.recv(2000)
    except TimeoutError:
        pass
    time.sleep(0.01)
"""
ECHO = """
import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("", 9999))
while True:
    udp.sendto(*udp.recvfrom(2000))
"""


@pytest.mark.usefixtures("namespaces")
def test_a_page_shows_how_it_goes_and_then_its_run(cell, tmp_path, open_page):
    (tmp_path / "talk.py").write_text(TALK, encoding="utf-8")
    (tmp_path / "echo.py").write_text(ECHO, encoding="utf-8")
    (tmp_path / "ports.toml").write_text(
        f'[[ports]]\nat = "sta0"\ncommand = ["{sys.executable}", "talk.py"]\n'
        f'[[ports]]\nat = "sta1"\nname = "echo"\nserves = true\n'
        f'command = ["{sys.executable}", "echo.py"]\n',
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "simoom", "emulate", str(cell), "--ports", "ports.toml",
               "--page", "0", "--quiet"]  # fmt: skip
    begun = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        link = begun.stderr.readline().strip()
        with open_page(link, 390, 844) as page:
            banner = page.get_by_role("region", name="Emulation")
            expect(banner).to_contain_text("Emulation runs: A cell with a call", timeout=20_000)
            ports = banner.locator("tr")
            expect(ports.nth(2)).to_contain_text("echo (sta1)")
            # 1028 bytes at most every 10 ms, each answered.
            port = re.compile(r"sta00\.\d\d Mb/s0\.\d\d Mb/s[\d.]+ (µs|ms)")
            expect(ports.nth(1)).to_contain_text(port, timeout=20_000)
            airtime = banner.get_by_role("figure")
            expect(airtime).to_contain_text(re.compile(r"payload\d+\.\d %.*idle\d+\.\d %"))
            begun.send_signal(signal.SIGINT)
            expect(banner).to_contain_text("Emulation has ended", timeout=60_000)
            banner.get_by_role("link", name="Its run in the library").click()
            expect(page.get_by_role("heading", name="emulation, ")).to_be_visible(timeout=20_000)
        begun.send_signal(signal.SIGINT)
        begun.communicate(timeout=60)
    finally:
        begun.kill()
        begun.wait()
    (entry,) = Library(tmp_path / "simoom-runs", Desk(tmp_path)).entries()
    assert entry["state"] == "done"


def _processes():
    """Return the command lines of all processes."""
    lines = []
    for each in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines.append(each.read_bytes())
        except OSError:
            continue
    return lines


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_an_emulation(cell, how):
    mark = f"97531{how.value}"
    sleeper = [sys.executable, "-c", "import time; time.sleep(600)", mark]
    command = [sys.executable, "-m", "simoom", "emulate", str(cell), "--at", "sta0", "--json",
               "--", *sleeper]  # fmt: skip
    begun = subprocess.Popen(command, stdout=subprocess.PIPE)
    is_mine = f"time.sleep(600)\0{mark}\0".encode()
    while sum(line.endswith(is_mine) and b"simoom" not in line for line in _processes()) == 0:
        assert begun.poll() is None
        time.sleep(0.05)
    begun.send_signal(how)
    output, _ = begun.communicate(timeout=60)
    if how == signal.SIGINT:
        assert json.loads(output)["repeats"]
    for _ in range(100):
        left = [line for line in _processes() if mark.encode() in line]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def test_a_tape_says_what_it_is_of(tmp_path):
    with pytest.raises(FileNotFoundError):
        Tape.read(tmp_path / "none")
    ports = [Port("sta0", "phone"), Port("server", "server")]
    scenario = sm.Scenario.parse(CELL)
    comment = comment_of(scenario, ports, 3, 1)
    assert Tape.of(comment, 2.5, "a file") == Tape(tuple(ports), fingerprint(scenario), 3, 1, 2.5)
    assert fingerprint(scenario) == fingerprint(scenario.set("duration_s", 20.0))
    assert fingerprint(scenario) != fingerprint(scenario.set("stations", 3))


def test_a_network_without_flows_may_have_ports():
    links = [{"from": "a", "to": "b", "rate_mbps": 10.0, "delay_ms": 1.0}]
    scenario = sm.Scenario(links=links)
    changed, first = with_ports(scenario, [Port("a", "near"), Port("b", "far")], 10.0)
    changed.check()
    assert first == 0
    with pytest.raises(sm.ScenarioError, match="there are none"):
        scenario.check()


@pytest.mark.usefixtures("namespaces")
def test_a_program_that_cannot_start_is_told(cell, tmp_path):
    broken = tmp_path / "broken"
    broken.write_text("#!/no/such/interpreter\n", encoding="ascii")
    broken.chmod(0o755)
    done = simoom("emulate", str(cell), "--at", "sta0", "--for", "1", "--", "./broken")
    assert done.returncode == 2
    assert "./broken: No such file or directory; sta0 runs nothing" in done.stderr


@pytest.mark.usefixtures("namespaces")
def test_a_port_that_serves_needs_no_program(cell, tmp_path):
    (tmp_path / "ports.toml").write_text(
        f'[[ports]]\nat = "sta0"\ncommand = ["{sys.executable}", "-c", ""]\n'
        '[[ports]]\nat = "sta1"\nserves = true\n',
        encoding="utf-8",
    )
    done = simoom("emulate", str(cell), "--ports", "ports.toml", "--json")
    assert done.returncode == 0, done.stderr
