"""What `simoom serve` takes after it has run and shown ten runs: memory of its process, and disk.

    python benches/serving.py [--runs N]

Starts the command in a folder for temporary files and does over HTTP what the page does: runs
`cafe` with a timeline and another seed each time, asks for its results, its timeline at all levels,
frames and lives of packets, and for the scenario. Prints the resident memory of the server, and of
the workers beside it, and the length of the library by kind of file.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

MIB = 1 << 20
LEVELS = range(20, 38, 2)
TILES = 12
"""Tiles of a level that are asked for."""


class Client:
    """What a page asks a server for."""

    def __init__(self, link: str) -> None:
        self.address = link.partition("/?")[0]
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(cookies)
        self._opener.open(link).read()

    def get(self, path: str) -> bytes:
        found: bytes = self._opener.open(self.address + path).read()
        return found

    def post(self, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        headers = {"origin": self.address, "content-type": "application/json"}
        request = urllib.request.Request(self.address + path, data, headers)
        return json.loads(self._opener.open(request).read())


def resident(pid: int) -> int:
    """Return the resident memory of a process, in bytes."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def below(pid: int) -> list[int]:
    """Return the processes that a process has started, with theirs."""
    own = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        own += [int(each) for each in (task / "children").read_text(encoding="ascii").split()]
    return [each for child in own for each in (child, *below(child))]


def show(page: Client, key: str) -> None:
    """Ask for what the views of a run show."""
    page.get(f"/api/runs/{key}")
    about = json.loads(page.get(f"/api/runs/{key}/air"))
    for level in LEVELS:
        count = (about["end_ns"] >> level) + 1
        for number in range(0, count, max(1, count // TILES)):
            page.get(f"/api/runs/{key}/air/tile/{level}/{number}")
    for number in range(100, 1000, 100):
        page.get(f"/api/runs/{key}/air/frame/{number}")
        page.get(f"/api/runs/{key}/air/life/{number}")


def said(server: int, what: str) -> None:
    workers = sum(map(resident, below(server)))
    print(f"{what:>16}: server {resident(server) / MIB:6.1f} MiB, "
          f"workers {workers / MIB:6.1f} MiB", flush=True)  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "simoom", "serve", "cafe", "--port", "0", "--quiet"]
        with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            page = Client(server.stdout.readline().strip())
            start = json.loads(page.get("/api/start"))
            page.get("/api/schema")
            text = start["first"]["text"]
            said(server.pid, "page shown")
            for seed in range(1, runs + 1):
                page.post("/api/check", {"text": text})
                body = {"text": text, "seed": seed, "name": "", "air": True}
                key = page.post("/api/runs", body)["id"]
                while json.loads(page.get("/api/runs"))[0]["state"] != "done":
                    time.sleep(0.2)
                show(page, key)
                said(server.pid, f"{seed} runs shown")
            server.send_signal(signal.SIGINT)
        library = Path(folder) / "simoom-runs"
        for part in sorted(library.iterdir()):
            if part.is_dir():
                size = sum(file.stat().st_size for file in part.rglob("*") if file.is_file())
                print(f"{part.name}: {size / runs / 1e6:.2f} MB a run")


if __name__ == "__main__":
    main()
