"""The WebSocket of a page: the lists of runs and sweeps as they change, and a run's time series.

The server sends ``{"type": "runs"}`` with both lists, ``{"type": "series"}``, and beside an
emulation ``{"type": "emulation"}``; the page sends
``{"type": "watch"}`` and ``{"type": "stop"}``. A message that is none of these is answered by
``{"type": "error"}``.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from simoom.base.files import read_json
from simoom.serve.jobs import ENDED, Jobs
from simoom.serve.library import Library
from simoom.serve.limits import Limits
from simoom.serve.tasks import Simulation

LOOK_S = 0.15
"""Time between two looks for changes."""


@dataclass
class Emulating:
    """An emulation beside which the server runs; what it tells is replaced as a whole."""

    told: dict[str, Any] | None = None


class Live:
    """The WebSockets of a server."""

    def __init__(
        self, jobs: Jobs, library: Library, limits: Limits, emulation: Emulating | None = None
    ) -> None:
        self._jobs = jobs
        self._library = library
        self._limits = limits
        self._emulation = emulation
        self._open = 0

    async def serve(self, socket: WebSocket) -> None:
        """Serve one page until it leaves."""
        if self._open >= self._limits.pages:
            await socket.close(1013, f"{self._limits.pages} pages are open already: close one")
            return
        self._open += 1
        try:
            await socket.accept()
            page = _Page(self._jobs, self._library, socket, self._emulation)
            told = asyncio.create_task(page.tell())
            try:
                await self._listen(socket, page)
            finally:
                told.cancel()
                with suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                    await told
        except (WebSocketDisconnect, RuntimeError):
            pass
        finally:
            self._open -= 1

    async def _listen(self, socket: WebSocket, page: _Page) -> None:
        mistakes = 0
        while True:
            message = await socket.receive()
            if message["type"] != "websocket.receive":
                return
            fault = page.on(message.get("text"))
            if fault is None:
                continue
            mistakes += 1
            await socket.send_json({"type": "error", "message": fault})
            if mistakes >= self._limits.mistakes:
                await socket.close(1008, "too many messages that cannot be read")
                return


class _Page:
    """What one page has been told."""

    def __init__(
        self, jobs: Jobs, library: Library, socket: WebSocket, emulation: Emulating | None
    ) -> None:
        self._emulation = emulation
        self._seen: dict[str, Any] | None = None
        self._jobs = jobs
        self._library = library
        self._socket = socket
        self._watched: str | None = None
        self._sent: dict[str, int] = {}
        self._thinned = 0

    def on(self, text: str | None) -> str | None:
        """Take a message of the page; return what is wrong with it, if something is."""
        if text is None:
            return "a message must be text"
        try:
            message = read_json(text)
        except ValueError as error:
            return f"the message {error}"
        if not isinstance(message, dict):
            return "a message must be an object"
        key = message.get("id")
        if not (key is None or isinstance(key, str)):
            return "id: must be the id of a run"
        match message.get("type"):
            case "watch":
                self._watched, self._sent, self._thinned = key, {}, -1
            case "stop" if key is not None:
                self._jobs.stop(key)
            case other:
                return f"type: must be watch or stop, is {json.dumps(other)[:40]}"
        return None

    async def tell(self) -> None:
        """Send what has changed, again and again."""
        version = -1
        while True:
            if version != self._jobs.version:
                version = self._jobs.version
                runs = await run_in_threadpool(listed, self._jobs, self._library)
                sweeps = await run_in_threadpool(self._jobs.sweeps.entries)
                # Of a sweep that ends between two looks, a page sees the entry only.
                told = {"type": "runs", "runs": runs, "sweeps": sweeps}
                await self._socket.send_json(told)
            await self._tell_series()
            if self._emulation is not None and self._emulation.told is not self._seen:
                self._seen = self._emulation.told
                await self._socket.send_json({"type": "emulation", "emulation": self._seen})
            await asyncio.sleep(LOOK_S)

    async def _tell_series(self) -> None:
        key = self._watched
        job = None if key is None else self._jobs.get(key)
        if key is None or job is None:
            return
        thinned, series = self._jobs.series(key, self._sent, self._thinned)
        if not series:
            return
        anew = thinned != self._thinned
        if anew:
            self._sent, self._thinned = {}, thinned
        for path, samples in series.items():
            self._sent[path] = self._sent.get(path, 0) + len(samples["t"])
        message = {"type": "series", "id": key, "anew": anew, "series": series}
        # The first samples, too, are sent anew.
        own = {"owners": job.work.owners} if anew and isinstance(job.work, Simulation) else {}
        await self._socket.send_json({**message, **own})


def listed(jobs: Jobs, library: Library) -> list[dict[str, Any]]:
    """Return the runs that wait or run, then those in the library, then what else has ended.

    The runs of sweeps are not among them: there may be thousands.
    """
    own = jobs.entries()
    kept = [entry for entry in library.entries() if entry["sweep"] is None]
    active = [job for job in own if job["state"] not in ENDED]
    names = {entry["id"] for entry in (*kept, *active)}
    ended = [job for job in own if job["id"] not in names]
    again = {job["id"] for job in active}
    return [*active, *(entry for entry in kept if entry["id"] not in again), *ended]
