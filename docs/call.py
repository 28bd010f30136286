"""A video call: 30 frames a second each way over UDP, and how many of them froze.

``python call.py`` answers, ``python call.py NAME`` calls for 20 s. A frame is shown 150 ms after
the other end has sent it; a frame that is not complete by then is frozen. Both ends have one clock.
"""

import socket
import sys
import time

PORT, FRAMES_PER_S, PACKETS, BYTES, PLAYOUT_S, LASTS_S = 5004, 30, 4, 1000, 0.15, 20.0
EF = 46 << 2


def call(udp, peer, until):
    """Send frames to a peer and receive its frames; return how many came in time."""
    complete, missing, number, start = 0, {}, 0, time.monotonic()
    while (now := time.monotonic()) < until:
        due = start + number / FRAMES_PER_S
        if now >= due:
            for _ in range(PACKETS):
                udp.sendto(f"{number} {time.monotonic()!r} ".encode().ljust(BYTES), peer)
            number += 1
            continue
        udp.settimeout(max(min(due, until) - now, 1e-4))
        try:
            frame, sent = udp.recv(2 * BYTES).split()[:2]
        except TimeoutError:
            continue
        if time.monotonic() - float(sent) <= PLAYOUT_S:
            missing[frame] = missing.get(frame, PACKETS) - 1
            complete += missing[frame] == 0
    return complete, number


def main():
    """Call or answer."""
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, EF)
    if len(sys.argv) > 1:
        peer = (socket.gethostbyname(sys.argv[1]), PORT)
    else:
        udp.bind(("", PORT))
        _, peer = udp.recvfrom(2 * BYTES)
    complete, expected = call(udp, peer, time.monotonic() + LASTS_S)
    who = "from the far end" if len(sys.argv) > 1 else "to the far end"
    print(f"{expected - complete} of {expected} frames {who} froze", flush=True)


if __name__ == "__main__":
    main()
