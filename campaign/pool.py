"""Processes that carry out trials: one that hangs or dies is a finding, and is replaced."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SILENT_S = 240.0
"""A trial without an answer for this time hangs; its runs are cut long before."""


class Worker:
    """One process."""

    def __init__(self, path: str) -> None:
        self._environment = os.environ | {"PYTHONPATH": path}
        self.outcomes: Counter[str] = Counter()
        """How its trials ended."""
        self._start()

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "campaign.worker"],
            cwd=Path(__file__).parents[1],
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )

    def fileno(self) -> int:
        """Return the descriptor of its answers."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def send(self, request: dict[str, Any]) -> None:
        """Begin a trial."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # `receive` reports how the process ended

    def receive(self) -> str:
        """Return what is wrong, or an empty text."""
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], SILENT_S)[0]:
            self.close()
            self._start()
            return f"hangs: no answer in {SILENT_S:g} s"
        line = output.readline()
        if not line:
            code = self._process.wait()
            self._start()
            return f"the process ended with code {code}"
        found: str
        found, outcome = json.loads(line)
        self.outcomes[outcome] += 1
        return found

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()


def carry_out(
    requests: Iterator[dict[str, Any]], workers: list[Worker]
) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield each request with what is wrong, in the order in which the trials end."""
    busy: dict[Worker, dict[str, Any]] = {}
    idle = list(workers)
    while True:
        while idle and (request := next(requests, None)) is not None:
            worker = idle.pop()
            worker.send(request)
            busy[worker] = request
        if not busy:
            return
        ready = select.select(list(busy), [], [], SILENT_S)[0]
        for worker in ready or list(busy):
            found = worker.receive()
            idle.append(worker)
            yield busy.pop(worker), found


def try_one(request: dict[str, Any], worker: Worker) -> str:
    """Return what is wrong with one request."""
    worker.send(request)
    return worker.receive()
