"""The ASGI application: what is answered at which address."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from simoom import _core
from simoom.results.run import Run
from simoom.serve import requests
from simoom.serve.drafts import Desk, Draft
from simoom.serve.exports import FILES, SWEEP_FILES, kept, made, swept
from simoom.serve.faults import STATUS, RefusedError, answer, body_of, number, small
from simoom.serve.guard import Guard
from simoom.serve.jobs import Jobs, Work
from simoom.serve.library import Library
from simoom.serve.limits import Limits
from simoom.serve.live import Emulating, Live, listed
from simoom.serve.offers import offers_of
from simoom.serve.start import STATIC, VIEWS, start
from simoom.serve.sweeps import DEFAULT, plan_of
from simoom.serve.tasks import (
    Explanation,
    Pairs,
    Simulation,
    accepted,
    differing,
    pairs_key,
    results,
)
from simoom.serve.timeline import Timelines
from simoom.serve.views import hearing_of, twin_of
from simoom.serve.workers import Bounds, Workers

KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}
Answer = Callable[[Request], Awaitable[Response]]
T = TypeVar("T")

LOOK_S = 0.1
"""Time between two looks at whether a page has left."""


class Service:
    """Answers the requests of the page."""

    def __init__(
        self, library: Library, limits: Limits, first: dict[str, str] | None, jobs: Jobs
    ) -> None:
        self.library = library
        self.desk = library.desk
        self.limits = limits
        self.first = first
        self.jobs = jobs
        self.timelines = Timelines(library)
        bounds = Bounds(limits.check_s, limits.check_mib, library.desk.controllers)
        self.workers = Workers(bounds, library.folder, limits.checks)
        again = Bounds(limits.run_s, limits.run_mib, library.desk.controllers)
        self.exports = Workers(again, library.folder, 1)

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        page = (STATIC / "index.html").read_text(encoding="utf-8")
        return HTMLResponse(page.replace("{nonce}", request.scope["nonce"]))

    async def static(self, request: Request) -> Response:
        """Answer with a part of the page."""
        name = request.path_params["name"]
        file = next((each for each in STATIC.iterdir() if each.name == name), None)
        if file is None or file.suffix not in KINDS:
            raise RefusedError(404, "there is no such file")
        return Response(file.read_bytes(), media_type=KINDS[file.suffix])

    async def start(self, _: Request) -> Response:
        """Answer what the page shows first."""
        found = await run_in_threadpool(start, self.limits, VIEWS)
        return JSONResponse({**found, "first": self.first})

    async def schema(self, _: Request) -> Response:
        """Answer with the schema of scenarios."""
        return Response(_core.schema(), media_type="application/json")

    async def check(self, request: Request) -> Response:
        """Check a scenario."""
        asked = await self._read(requests.Check, request)
        return JSONResponse(await self._aside(request, Draft(asked.text, self.desk).state))

    async def edit(self, request: Request) -> Response:
        """Change values of a scenario's text: one at a path, or some as `--set` has them."""
        asked = await self._read(requests.Edit, request)
        draft = Draft(asked.text, self.desk)
        one, some = (draft.changed, asked.path, asked.value), (draft.varied, asked.set, asked.unset)
        return JSONResponse({"text": await self._aside(request, *(one if asked.path else some))})

    async def runs(self, _: Request) -> Response:
        """List the runs."""
        await run_in_threadpool(self.library.entries, anew=True)
        return JSONResponse(await run_in_threadpool(listed, self.jobs, self.library))

    async def add(self, request: Request) -> Response:
        """Queue a run."""
        asked = await self._read(requests.Add, request)
        found = await self._aside(request, accepted, Draft(asked.text, self.desk), asked.seed)
        if isinstance(found, list):
            return JSONResponse({"issues": found}, status_code=422)
        scenario, key, owners = found
        room = self.limits.series, self.limits.air_mib if asked.air else 0
        work = Simulation(scenario, asked.seed, asked.named, key, *room, owners)
        return await self._queue(work)

    async def run(self, request: Request) -> Response:
        """Answer with the results of a run."""
        key = request.path_params["id"]
        run = await self._run(key)
        beside = await run_in_threadpool(
            lambda: {**self.library.entry(key), "series": self.library.series(key)}
        )
        return JSONResponse({**beside, **await self._aside(request, results, run)})

    async def scenario(self, request: Request) -> Response:
        """Answer with the scenario of a run that is not in the library."""
        job = self.jobs.get(request.path_params["id"])
        if job is None:
            raise RefusedError(404, "there is no such run")
        text = await run_in_threadpool(job.work.scenario.to_toml)
        return JSONResponse({"text": text})

    async def take(self, request: Request) -> Response:
        """Answer with a file of a run."""
        key, name = request.path_params["id"], request.path_params["name"]
        if name not in FILES:
            raise RefusedError(404, "a run has no such file")
        found = await self._run(key)
        series = self.library.series(key) if name == "series.csv" else {}
        content: bytes | Path | None = await run_in_threadpool(kept, found, series, name)
        if content is None:
            folder = self.library.folder.absolute() / "exports"
            content = await self._aside(request, made, found, name, folder, workers=self.exports)
        return _file(content, FILES[name], name)

    async def rename(self, request: Request) -> Response:
        """Give a run another name."""
        key = request.path_params["id"]
        asked = await self._read(requests.Rename, request)
        if not self.library.has(key):
            raise RefusedError(404, "there is no such run in the library")
        await run_in_threadpool(self.library.rename, key, asked.named)
        self.jobs.touch()
        return JSONResponse({})

    async def remove(self, request: Request) -> Response:
        """Remove a run: from the library, or from the list if it has not ended well."""
        key = request.path_params["id"]
        self.jobs.stop(key)
        await run_in_threadpool(self.library.remove, key)
        self.jobs.forget(key)
        self.jobs.touch()
        return JSONResponse({})

    async def why(self, request: Request) -> Response:
        """Answer with the flows of a run and the explanations that it has."""
        key = request.path_params["id"]
        flows = [str(flow["name"]) for flow in (await self._run(key)).flows]
        return JSONResponse({"flows": flows, "found": self.library.explanations(key)})

    async def explain(self, request: Request) -> Response:
        """Queue the runs that explain a flow of a run."""
        key, flow = request.path_params["id"], (await self._read(requests.Explain, request)).flow
        run = await self._run(key)
        if flow and flow not in map(str, (each["name"] for each in run.flows)):
            raise RefusedError(422, f"flow: there is no flow {flow[:40]!r} in this run")
        name = f"Why: {flow or 'the slowest flow'}"
        return await self._queue(Explanation(run.scenario, run.seed, name, key, flow or None))

    async def sweeps(self, _: Request) -> Response:
        """List the sweeps."""
        return JSONResponse(await run_in_threadpool(self.jobs.sweeps.entries, anew=True))

    async def add_sweep(self, request: Request) -> Response:
        """Queue a sweep."""
        asked = await self._read(requests.AddSweep, request)
        plan = await self._aside(request, plan_of, asked, self.desk, self.limits.sweep_runs)
        return await self._queue(plan)

    async def sweep(self, request: Request) -> Response:
        """Answer with the means of a sweep."""
        key, path = request.path_params["id"], request.query_params.get("path", DEFAULT)
        return JSONResponse(await run_in_threadpool(self.jobs.sweeps.show, key, path))

    async def take_sweep(self, request: Request) -> Response:
        """Answer with a file of a sweep."""
        key, name = request.path_params["id"], request.path_params["name"]
        if name not in SWEEP_FILES:
            raise RefusedError(404, "a sweep has no such file")
        asked = self.library, key, request.query_params.get("path", DEFAULT), name
        path = await self._aside(request, swept, *asked, workers=self.exports)
        return _file(path, SWEEP_FILES[name], name)

    async def offers(self, request: Request) -> Response:
        """Answer with keys of a scenario that a sweep may vary, each with values."""
        asked = await self._read(requests.Check, request)
        return JSONResponse(await self._aside(request, offers_of, Draft(asked.text, self.desk)))

    async def remove_sweep(self, request: Request) -> Response:
        """Remove a sweep and its runs."""
        await run_in_threadpool(self.jobs.sweeps.remove, request.path_params["id"])
        self.jobs.touch()
        return JSONResponse({})

    async def difference(self, request: Request) -> Response:
        """Answer with the keys in which two runs differ, and with their pairs if there are any."""
        keys, runs = await self._both(request)
        own = await self._aside(request, differing, *runs)
        job = self.jobs.get(pairs_key(*keys))
        return JSONResponse({**own, "pairs": None if job is None else job.found})

    async def pairs(self, request: Request) -> Response:
        """Queue pairs of runs that compare two runs."""
        keys, (one, other) = await self._both(request)
        name = "Ten pairs of runs"
        return await self._queue(Pairs(one.scenario, one.seed, name, other.scenario, keys))

    async def _both(self, request: Request) -> tuple[tuple[str, str], list[Run]]:
        keys = request.path_params["first"], request.path_params["second"]
        return keys, [await self._run(key) for key in keys]

    async def twin(self, request: Request) -> Response:
        """Answer with the analytic twin beside the values of a run."""
        run = await self._run(request.path_params["id"])
        return JSONResponse(await self._aside(request, twin_of, run))

    async def hearing(self, request: Request) -> Response:
        """Answer which nodes of a scenario receive each other."""
        asked = await self._read(requests.Hear, request)
        draft = Draft(asked.text, self.desk)
        found = await self._aside(request, hearing_of, draft, asked.seed, float(asked.at_s))
        return JSONResponse(found)

    async def air(self, request: Request) -> Response:
        """Answer what a timeline has."""
        key = request.path_params["id"]
        return JSONResponse(await run_in_threadpool(self.timelines.about, key))

    async def tile(self, request: Request) -> Response:
        """Answer with a tile of a timeline."""
        key, level, number = (request.path_params[name] for name in ("id", "level", "number"))
        tile = await run_in_threadpool(self.timelines.tile, key, level, number)
        return Response(tile, media_type="application/octet-stream")

    async def find(self, request: Request) -> Response:
        """Answer with the next frame that matches."""
        query = request.query_params
        chosen = {name: number(query, name) for name in ("radio", "kind", "outcome")}
        found = await run_in_threadpool(
            lambda: self.timelines.file(request.path_params["id"]).find(
                number(query, "number") if "number" in query else -1,
                query.get("forward", "1") == "1",
                **{name: value for name, value in chosen.items() if name in query},
                lost=query.get("lost") == "1",
                retried=query.get("retried") == "1",
            )
        )
        return JSONResponse(found)

    async def frame(self, request: Request) -> Response:
        """Answer with the fields of a frame."""
        key, name = request.path_params["id"], small(request.path_params["number"])
        found = await run_in_threadpool(lambda: self.timelines.file(key).frame(name))
        if found is None:
            raise RefusedError(404, "there is no such frame")
        return JSONResponse(found)

    async def life(self, request: Request) -> Response:
        """Answer with the life of a packet."""
        key, name = request.path_params["id"], small(request.path_params["number"])
        return JSONResponse(await run_in_threadpool(lambda: self.timelines.file(key).life(name)))

    async def _read(self, kind: type[T], request: Request) -> T:
        return requests.read(kind, await body_of(request, self.limits.scenario_bytes))

    async def _run(self, key: str) -> Run:
        return (await run_in_threadpool(self.library.record, key)).run

    async def _queue(self, work: Work) -> Response:
        return JSONResponse({"id": await run_in_threadpool(self.jobs.add, work)})

    async def _aside(
        self,
        request: Request,
        function: Callable[..., T],
        *arguments: Any,
        workers: Workers | None = None,
    ) -> T:
        """Call a function in a worker, and end it if the page leaves meanwhile."""
        stop = threading.Event()

        async def watch() -> None:
            while not await request.is_disconnected():
                await asyncio.sleep(LOOK_S)
            stop.set()

        watching = asyncio.create_task(watch())
        try:
            own = workers or self.workers
            return await run_in_threadpool(own.call, stop, function, *arguments)
        finally:
            watching.cancel()


def _file(content: bytes | Path, media: str, name: str) -> Response:
    """Answer with a file; one on disk is removed then."""
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    if isinstance(content, bytes):
        return Response(content, media_type=media, headers=headers)
    gone = BackgroundTask(content.unlink)
    return FileResponse(content, media_type=media, headers=headers, background=gone)


def application(
    folder: Path,
    *,
    hosts: frozenset[str],
    token: str,
    cookie: str = "simoom",
    desk: Desk | None = None,
    limits: Limits | None = None,
    first: dict[str, str] | None = None,
    threads: int = 1,
    emulation: Emulating | None = None,
) -> ASGIApp:
    """Return the application of a server.

    Parameters
    ----------
    folder : Path
        The run library.
    hosts : frozenset of str
        The values of the ``Host`` header that are answered.
    token : str
        What the printed link has.
    cookie : str, optional
        The name of the cookie that has the token then.
    desk : Desk, optional
        How scenarios are read.
    limits : Limits, optional
        What the server takes.
    first : dict, optional
        Name and text of the scenario that the page opens.
    threads : int, optional
        How many runs at once.
    emulation : Emulating, optional
        The emulation beside which the server runs.

    Raises
    ------
    OSError
        The library cannot be written.
    """
    limits = limits or Limits()
    library = Library(folder, desk or Desk(Path.cwd()))
    jobs = Jobs(library, limits, threads)
    service = Service(library, limits, first, jobs)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        jobs.close()
        service.workers.close()
        service.exports.close()

    run = "/api/runs/{id}"
    routes = [
        Route("/", service.page),
        Route("/static/{name}", service.static),
        Route("/api/start", service.start),
        Route("/api/schema", service.schema),
        Route("/api/check", service.check, methods=["POST"]),
        Route("/api/edit", service.edit, methods=["POST"]),
        Route("/api/runs", service.runs),
        Route("/api/runs", service.add, methods=["POST"]),
        Route(run, service.run),
        Route(run, service.rename, methods=["PATCH"]),
        Route(run, service.remove, methods=["DELETE"]),
        Route(f"{run}/scenario", service.scenario),
        Route(run + "/take/{name}", service.take),
        Route(f"{run}/why", service.why),
        Route(f"{run}/why", service.explain, methods=["POST"]),
        Route(f"{run}/twin", service.twin),
        Route("/api/compare/{first}/{second}", service.difference),
        Route("/api/compare/{first}/{second}", service.pairs, methods=["POST"]),
        Route("/api/sweeps", service.sweeps),
        Route("/api/sweeps", service.add_sweep, methods=["POST"]),
        Route("/api/offers", service.offers, methods=["POST"]),
        Route("/api/sweeps/{id}", service.sweep),
        Route("/api/sweeps/{id}/take/{name}", service.take_sweep),
        Route("/api/sweeps/{id}", service.remove_sweep, methods=["DELETE"]),
        Route("/api/hearing", service.hearing, methods=["POST"]),
        Route(f"{run}/air", service.air),
        Route(f"{run}/air/find", service.find),
        Route(run + "/air/tile/{level:int}/{number:int}", service.tile),
        Route(run + "/air/frame/{number:int}", service.frame),
        Route(run + "/air/life/{number:int}", service.life),
        WebSocketRoute("/api/live", Live(jobs, library, limits, emulation).serve),
    ]
    guard = Middleware(Guard, hosts=hosts, token=token, cookie=cookie)
    handlers = dict.fromkeys((RefusedError, *STATUS), answer)
    return Starlette(
        routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=lifespan
    )
