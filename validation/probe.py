"""Sends datagrams at a pace, or receives them and writes how long each was on its way.

The receiver takes the kernel's time stamp, so that its own scheduling does not count. Both ends
have the same clock.
"""

import socket
import struct
import sys
import time
from pathlib import Path

PORT = 9
SIZE = 172
"""Bytes of data: 200 with UDP and IPv4."""
PAUSE_S = 1.0
TIMESTAMPNS = 35
"""SO_TIMESTAMPNS of Linux."""
FORMAT = struct.Struct("=qq")


def send(to: str, pace: int, count: int) -> None:
    """Send `count` datagrams, `pace` a second, each with the time at which it was sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.connect((to, PORT))
        time.sleep(PAUSE_S)
        begin = time.monotonic()
        for number in range(count):
            wait = begin + number / pace - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            port.send(time.time_ns().to_bytes(8, "big").ljust(SIZE, b"\0"))
    time.sleep(PAUSE_S)


def receive(file: str) -> None:
    """Write the delay of each datagram in nanoseconds, one a line, until the process ends."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port,
        Path(file).open("w", encoding="ascii", buffering=1) as out,
    ):
        port.setsockopt(socket.SOL_SOCKET, TIMESTAMPNS, 1)
        port.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        port.bind(("", PORT))
        while True:
            data, ancillary, _, _ = port.recvmsg(SIZE, 64)
            seconds, nanoseconds = FORMAT.unpack(ancillary[0][2][: FORMAT.size])
            sent = int.from_bytes(data[:8], "big")
            out.write(f"{1_000_000_000 * seconds + nanoseconds - sent}\n")


if __name__ == "__main__":
    if sys.argv[1] == "send":
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        receive(sys.argv[2])
