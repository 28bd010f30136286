"""A port from the inside: the first process of a namespace, which makes the interface.

It imports nothing of Simoom, because ``unshare`` starts it as a program of its own. Its arguments
are one JSON object. It makes a TUN interface, sends the descriptor to the emulation, waits for the
begin, runs the command of the port, and tells how that has ended. It ends when the emulation does,
and with it all processes of the namespace.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

INTERFACE = "sim0"
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
IFF_TUN, IFF_NO_PI, IFF_VNET_HDR = 0x0001, 0x1000, 0x4000
TUN_F_CSUM, TUN_F_TSO4 = 0x01, 0x02
IFF_UP, IFF_RUNNING = 0x1, 0x40
SIOCGIFFLAGS, SIOCSIFFLAGS = 0x8913, 0x8914
SIOCSIFADDR, SIOCSIFNETMASK, SIOCSIFMTU = 0x8916, 0x891C, 0x8922
"""Of linux/if_tun.h, linux/if.h and linux/sockios.h."""
NEW_LINK, REQUEST_WITH_ACK, QUEUE_LENGTH = 16, 5, 13
"""Of linux/rtnetlink.h and linux/if_link.h."""
QUEUE = 1000
"""Packets that the kernel keeps for the emulation; it drops what comes beyond."""
NETMASK = "255.0.0.0"
LISTEN, UNCONNECTED = "0A", "07"
"""States in /proc/net/tcp and /proc/net/udp (TCP_LISTEN and TCP_CLOSE of the kernel)."""
STARTS_S = 5.0
"""How long a server may take until it listens; then the others begin all the same."""
FIRST_PORT = "/proc/sys/net/ipv4/ip_unprivileged_port_start"


def _request(name: str, number: int, value: bytes) -> None:
    """Ask the kernel for a change of an interface."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, number, struct.pack("16s24s", name.encode(), value))


def _address(text: str) -> bytes:
    """Return an IPv4 address as ``struct sockaddr_in``."""
    return struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(text))


def _make_interface(address: str, mtu: int) -> int:
    """Make the TUN interface and bring it up, and the loopback; return its descriptor."""
    tun = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR
    fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", INTERFACE.encode(), flags))
    # The emulation divides bursts of TCP into packets, and completes checksums.
    fcntl.ioctl(tun, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4)
    os.set_blocking(tun, False)
    _settle("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1")
    _request(INTERFACE, SIOCSIFMTU, struct.pack("=i", mtu))
    _set_queue_length()
    _request(INTERFACE, SIOCSIFADDR, _address(address))
    _request(INTERFACE, SIOCSIFNETMASK, _address(NETMASK))
    for name in ("lo", INTERFACE):
        _request(name, SIOCSIFFLAGS, struct.pack("=H", IFF_UP | IFF_RUNNING))
    return tun


def _set_queue_length() -> None:
    """Set the length of the interface's queue, which only netlink allows in a namespace."""
    index = socket.if_nametoindex(INTERFACE)
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, 0, 0)
    link += struct.pack("=HHI", 8, QUEUE_LENGTH, QUEUE)
    header = struct.pack("=IHHII", 16 + len(link), NEW_LINK, REQUEST_WITH_ACK, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as netlink:
        netlink.sendall(header + link)
        error = struct.unpack_from("=i", netlink.recv(4096), 16)[0]
    if error:
        raise OSError(-error, os.strerror(-error), "queue length")


def _settle(file: str, value: str) -> None:
    """Write a setting of the namespace; some machines have none of it."""
    try:
        Path(file).write_text(value, encoding="ascii")
    except OSError:
        return


def _mount(what: str, where: str) -> None:
    """Put a file in the place of another, in this namespace alone."""
    subprocess.run(["mount", "--bind", what, where], check=False, stderr=subprocess.DEVNULL)


def _dropped() -> int:
    """Return how many packets the kernel has dropped before the emulation could read them."""
    for line in Path("/proc/net/dev").read_text(encoding="ascii").splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == INTERFACE:
            return int(counts.split()[11])
    return 0


def _send(stream: socket.socket, **message: Any) -> None:
    stream.sendall(json.dumps(message).encode() + b"\n")


def _listens() -> bool:
    """Whether a program in the namespace waits for connections or datagrams."""
    # A socket of IPv6 takes IPv4, too; a machine may have none.
    tables = [Path(f"/proc/net/{name}") for name in ("tcp", "tcp6", "udp", "udp6")]
    lines = [table.read_text(encoding="ascii").splitlines() for table in tables if table.exists()]
    states = [line.split()[3] for table in lines for line in table[1:]]
    return LISTEN in states or UNCONNECTED in states


def _run(given: dict[str, Any], stream: socket.socket) -> int:
    """Run a command until it ends or the emulation does; return its exit code."""
    child = subprocess.Popen(given["command"])
    watch = os.pidfd_open(child.pid)
    if given["serves"]:
        until = time.monotonic() + STARTS_S
        while time.monotonic() < until and child.poll() is None and not _listens():
            time.sleep(0.01)
        _send(stream, started=True)
    while True:
        ready, _, _ = select.select([watch, stream.fileno()], [], [])
        if watch in ready:
            code = child.wait()
            return 128 - code if code < 0 else code
        if not stream.recv(16):
            # The emulation is gone, and with this process all others here.
            os._exit(0)
        child.terminate()


def main() -> None:
    """Be the first process of a namespace."""
    given = json.loads(sys.argv[1])
    # The emulation decides what an interrupt of the terminal ends.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stream = socket.socket(fileno=given["stream"])
    try:
        tun = _make_interface(given["address"], given["mtu"])
    except OSError as error:
        _send(stream, failed=f"{error.strerror} ({error.filename or 'interface'})")
        return
    _settle(FIRST_PORT, "0")
    _mount(given["hosts"], "/etc/hosts")
    _mount(given["resolver"], "/etc/resolv.conf")
    with socket.socket(socket.AF_UNIX) as gate:
        gate.connect(given["gate"])
        socket.send_fds(gate, [given["name"].encode()], [tun])
    os.close(tun)
    _send(stream, ready=True)
    if not stream.recv(16):
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = None
    if given["command"]:
        try:
            code = _run(given, stream)
        except OSError as error:
            _send(stream, missing=f"{given['command'][0]}: {error.strerror}")
            return
    else:
        stream.recv(16)
    _send(stream, code=code, dropped=_dropped())
    stream.recv(16)


if __name__ == "__main__":
    main()
