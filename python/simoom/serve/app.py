"""The ASGI application: what is answered at which address."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp

from simoom import _core, shipped
from simoom.files import finite
from simoom.issue import ScenarioError
from simoom.serve.drafts import Desk, Draft, issues_of
from simoom.serve.guard import Guard
from simoom.serve.jobs import BusyError, Jobs
from simoom.serve.library import Library
from simoom.serve.limits import Limits
from simoom.serve.live import Live, listed
from simoom.serve.sweeps import DEFAULT, plan_of
from simoom.serve.timeline import Timelines
from simoom.serve.views import hearing_of, twin_of

STATIC = Path(__file__).parent / "static"
KINDS = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".txt": "text/plain",
    ".svg": "image/svg+xml",
}
REPORT_WIDTH = 100
DRAIN_BYTES = 1 << 30
"""How much of a body that is too long is read, so that its sender hears of it."""

Answer = Callable[[Request], Awaitable[Response]]


class RefusedError(Exception):
    """A request that is answered by a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Service:
    """Answers the requests of the page."""

    def __init__(
        self, library: Library, desk: Desk, limits: Limits, first: dict[str, str] | None, jobs: Jobs
    ) -> None:
        self.library = library
        self.desk = desk
        self.limits = limits
        self.first = first
        self.jobs = jobs
        self.timelines = Timelines(library)

    async def page(self, request: Request) -> Response:
        """Answer with the page."""
        page = (STATIC / "index.html").read_text(encoding="utf-8")
        return HTMLResponse(page.replace("{nonce}", request.scope["nonce"]))

    async def static(self, request: Request) -> Response:
        """Answer with a part of the page."""
        name = request.path_params["name"]
        file = STATIC / name
        if "/" in name or "\\" in name or file.suffix not in KINDS or not file.is_file():
            raise RefusedError(404, "there is no such file")
        return Response(file.read_bytes(), media_type=KINDS[file.suffix])

    async def start(self, _: Request) -> Response:
        """Answer what the page shows first."""
        gallery = [asdict(each) for each in shipped.scenarios()]
        limits = {"scenario_bytes": self.limits.scenario_bytes}
        return JSONResponse({
            "version": version("simoom"), "gallery": gallery, "first": self.first,
            "limits": limits,
        })  # fmt: skip

    async def schema(self, _: Request) -> Response:
        """Answer with the schema of scenarios."""
        return Response(_core.schema(), media_type="application/json")

    async def check(self, request: Request) -> Response:
        """Check a scenario."""
        draft = Draft(await self._text(request), self.desk)
        return JSONResponse(await run_in_threadpool(draft.state))

    async def edit(self, request: Request) -> Response:
        """Change one value of a scenario's text."""
        body = await self._body(request)
        draft = Draft(field(body, "text", str), self.desk)
        path, value = field(body, "path", str), body.get("value")
        changed = await run_in_threadpool(draft.changed, path, value)
        return JSONResponse({"text": changed})

    async def runs(self, _: Request) -> Response:
        """List the runs."""
        await run_in_threadpool(self.library.entries, anew=True)
        return JSONResponse(await run_in_threadpool(listed, self.jobs, self.library))

    async def add(self, request: Request) -> Response:
        """Queue a run."""
        body = await self._body(request)
        text, seed = field(body, "text", str), field(body, "seed", int)
        if not 0 <= seed < 1 << 53:
            raise RefusedError(422, f"seed: must be in [0, 2**53), is {seed}")
        name, air = field(body, "name", str), field(body, "air", bool)
        draft = Draft(text, self.desk)
        try:
            scenario = await run_in_threadpool(lambda: draft.scenario)
            key = await run_in_threadpool(
                self.jobs.add, scenario, seed=seed, name=name.strip()[:200], air=air
            )
        except BusyError as error:
            raise RefusedError(429, str(error)) from None
        except ScenarioError as error:
            return JSONResponse({"issues": issues_of(error, text)}, status_code=422)
        return JSONResponse({"id": key})

    async def run(self, request: Request) -> Response:
        """Answer with the results of a run."""
        return JSONResponse(await run_in_threadpool(self._results, request.path_params["id"]))

    def _results(self, key: str) -> dict[str, Any]:
        from simoom.report import summary_data, text

        run = self.library.record(key).run
        return {
            **self.library.entry(key),
            "summary": summary_data(run),
            "scenario": run.scenario.to_toml(),
            "series": self.library.series(key),
            "report": text(run, width=REPORT_WIDTH),
            "digest": run.digest,
            "events": run.events,
        }

    async def rename(self, request: Request) -> Response:
        """Give a run another name."""
        key = request.path_params["id"]
        name = field(await self._body(request), "name", str).strip()
        if not self.library.has(key):
            raise RefusedError(404, "there is no such run in the library")
        await run_in_threadpool(self.library.rename, key, name)
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
        return JSONResponse(await run_in_threadpool(self._why, request.path_params["id"]))

    def _why(self, key: str) -> dict[str, Any]:
        flows = [str(flow["name"]) for flow in self.library.record(key).run.flows]
        return {"flows": flows, "found": self.library.explanations(key)}

    async def explain(self, request: Request) -> Response:
        """Queue the runs that explain a flow of a run."""
        key, flow = request.path_params["id"], field(await self._body(request), "flow", str)
        flows = (await run_in_threadpool(self._why, key))["flows"]
        if flow and flow not in flows:
            raise RefusedError(422, f"flow: there is no flow {flow[:40]!r} in this run")
        try:
            own = await run_in_threadpool(self.jobs.explain, key, flow or None)
        except BusyError as error:
            raise RefusedError(429, str(error)) from None
        return JSONResponse({"id": own})

    async def sweeps(self, _: Request) -> Response:
        """List the sweeps."""
        return JSONResponse(await run_in_threadpool(self.jobs.sweeps.entries, anew=True))

    async def add_sweep(self, request: Request) -> Response:
        """Queue a sweep."""
        body = await self._body(request)
        text, over = field(body, "text", str), field(body, "over", dict)
        runs, seed = field(body, "replications", int), field(body, "seed", int)
        if not (0 <= seed < 1 << 53 and 1 <= runs < 1 << 16):
            raise RefusedError(422, "replications: at least 1; seed: in [0, 2**53)")
        if not all(isinstance(values, str) for values in over.values()):
            raise RefusedError(400, "over: the values of an axis must be one text")
        name = field(body, "name", str).strip()[:200]
        try:
            plan = await run_in_threadpool(
                lambda: plan_of(
                    text, over, self.desk, name=name, replications=runs, seed=seed,
                    most=self.limits.sweep_runs,
                )
            )  # fmt: skip
            return JSONResponse({"id": await run_in_threadpool(self.jobs.run_sweep, plan)})
        except BusyError as error:
            raise RefusedError(429, str(error)) from None
        except ScenarioError:
            raise
        except (ValueError, TypeError) as error:
            raise RefusedError(422, str(error)) from None

    async def sweep(self, request: Request) -> Response:
        """Answer with the means of a sweep."""
        key, path = request.path_params["id"], request.query_params.get("path", DEFAULT)
        return JSONResponse(await run_in_threadpool(self.jobs.sweeps.show, key, path))

    async def remove_sweep(self, request: Request) -> Response:
        """Remove a sweep and its runs."""
        await run_in_threadpool(self.jobs.sweeps.remove, request.path_params["id"])
        self.jobs.touch()
        return JSONResponse({})

    async def twin(self, request: Request) -> Response:
        """Answer with the analytic twin beside the values of a run."""
        key = request.path_params["id"]
        found = await run_in_threadpool(lambda: twin_of(self.library.record(key).run))
        return JSONResponse(await run_in_threadpool(finite, found))

    async def hearing(self, request: Request) -> Response:
        """Answer which nodes of a scenario receive each other."""
        body = await self._body(request)
        draft, seed = Draft(field(body, "text", str), self.desk), field(body, "seed", int)
        at_s = body.get("at_s", 0.0)
        if not 0 <= seed < 1 << 53 or isinstance(at_s, bool) or not isinstance(at_s, (int, float)):
            raise RefusedError(422, "seed, at_s: must be numbers from 0 on")
        try:
            found = await run_in_threadpool(
                lambda: hearing_of(draft.scenario, seed=seed, at_s=float(at_s))
            )
        except ScenarioError:
            raise
        except ValueError as error:
            raise RefusedError(422, str(error)) from None
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

    async def _text(self, request: Request) -> str:
        text: str = field(await self._body(request), "text", str)
        return text

    async def _body(self, request: Request) -> dict[str, Any]:
        """Read the JSON object of a request."""
        # Escapes of JSON make a text longer.
        limit = 2 * self.limits.scenario_bytes + 4096
        data, length = bytearray(), 0
        async for chunk in request.stream():
            length += len(chunk)
            if length <= limit:
                data += chunk
            elif length > DRAIN_BYTES:
                break
        most = self.limits.scenario_bytes
        long = f"the scenario has more than {most >> 10:,} KiB, and this server takes no longer one"
        if length > limit:
            raise RefusedError(413, long)
        try:
            body = json.loads(data)
        except (ValueError, RecursionError):
            raise RefusedError(400, "the request is not JSON") from None
        if not isinstance(body, dict):
            raise RefusedError(400, "the request must be a JSON object")
        if len(str(body.get("text", "")).encode(errors="replace")) > most:
            raise RefusedError(413, long)
        return body


def field(body: dict[str, Any], name: str, kind: type) -> Any:
    """Return a field of a request; raise if it is missing or of another type."""
    value = body.get(name)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise RefusedError(400, f"{name}: must be of type {kind.__name__}")
    return value


def number(query: Any, name: str) -> int:
    """Return a whole number of an address; 0 if there is none."""
    text = query.get(name, "0")
    if not text.removeprefix("-").isdecimal() or len(text) > 12:
        raise RefusedError(400, f"{name}: must be a whole number")
    value = int(text)
    if name != "number" and not 0 <= value < (1 << 32 if name == "radio" else 256):
        raise RefusedError(400, f"{name}: is out of range")
    return value


def small(value: int) -> int:
    """Return the number of a frame or packet; raise if there can be none."""
    if not 0 <= value < 1 << 32:
        raise RefusedError(404, "there is no such number")
    return value


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

    Raises
    ------
    OSError
        The library cannot be written.
    """
    limits = limits or Limits()
    library = Library(folder)
    jobs = Jobs(library, limits, threads)
    service = Service(library, desk or Desk(Path.cwd()), limits, first, jobs)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        jobs.close()

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
        Route(f"{run}/why", service.why),
        Route(f"{run}/why", service.explain, methods=["POST"]),
        Route(f"{run}/twin", service.twin),
        Route("/api/sweeps", service.sweeps),
        Route("/api/sweeps", service.add_sweep, methods=["POST"]),
        Route("/api/sweeps/{id}", service.sweep),
        Route("/api/sweeps/{id}", service.remove_sweep, methods=["DELETE"]),
        Route("/api/hearing", service.hearing, methods=["POST"]),
        Route(f"{run}/air", service.air),
        Route(f"{run}/air/find", service.find),
        Route(run + "/air/tile/{level:int}/{number:int}", service.tile),
        Route(run + "/air/frame/{number:int}", service.frame),
        Route(run + "/air/life/{number:int}", service.life),
        WebSocketRoute("/api/live", Live(jobs, library, limits).serve),
    ]
    guard = Middleware(Guard, hosts=hosts, token=token, cookie=cookie)
    handlers: Any = {RefusedError: _refused, ScenarioError: _faulty, LookupError: _missing,
                     OSError: _os_error}  # fmt: skip
    return Starlette(
        routes=routes, middleware=[guard], exception_handlers=handlers, lifespan=lifespan
    )


async def _refused(_: Request, error: RefusedError) -> Response:
    return JSONResponse({"error": str(error)}, status_code=error.status)


async def _faulty(_: Request, error: ScenarioError) -> Response:
    return JSONResponse({"error": "; ".join(map(str, error.issues))}, status_code=422)


async def _missing(_: Request, error: LookupError) -> Response:
    return JSONResponse({"error": str(error)}, status_code=404)


async def _os_error(_: Request, error: OSError) -> Response:
    reason = error.strerror or "cannot be written"
    return JSONResponse({"error": f"the run library: {reason.lower()}"}, status_code=507)
