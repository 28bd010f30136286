"""What is answered to requests that cannot be met: one message each."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from simoom.base.files import read_json
from simoom.base.issue import ScenarioError
from simoom.base.needs import MissingPackageError
from simoom.serve.jobs import BusyError
from simoom.serve.library import BadRecordError
from simoom.serve.workers import FailedError, StoppedError

DRAIN_BYTES = 1 << 30
"""How much of a body that is too long is read, so that its sender hears of it."""


class RefusedError(Exception):
    """A request that is answered by a message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def body_of(request: Request, most: int) -> dict[str, Any]:
    """Read the JSON object of a request, whose scenario has at most so many bytes."""
    # Escapes of JSON make a text longer.
    limit = 2 * most + 4096
    data, length = bytearray(), 0
    async for chunk in request.stream():
        length += len(chunk)
        if length <= limit:
            data += chunk
        elif length > DRAIN_BYTES:
            break
    long = f"the scenario has more than {most >> 10:,} KiB, and this server takes no longer one"
    if length > limit:
        raise RefusedError(413, long)
    try:
        body = read_json(bytes(data))
    except ValueError as error:
        raise RefusedError(400, f"the request {error}") from None
    if not isinstance(body, dict):
        raise RefusedError(400, "the request must be a JSON object")
    if len(str(body.get("text", "")).encode()) > most:
        raise RefusedError(413, long)
    return body


def number(query: Any, name: str) -> int:
    """Return a whole number of an address; 0 if there is none."""
    text = query.get(name, "0")
    if not (text.isascii() and text.removeprefix("-").isdecimal()) or len(text) > 12:
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


STATUS: dict[type[Exception], int] = {
    ScenarioError: 422,
    BadRecordError: 422,
    StoppedError: 422,
    FailedError: 422,
    BusyError: 429,
    LookupError: 404,
    MissingPackageError: 501,
    OSError: 507,
    # What a request has that is no number, no path and no text.
    ValueError: 400,
    TypeError: 400,
    RecursionError: 400,
}
"""The status of the answer to each exception; the message is its own."""


async def answer(_: Request, error: Exception) -> Response:
    """Answer an exception by its message."""
    if isinstance(error, RefusedError):
        return _json(error.status, str(error))
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    match error:
        case ScenarioError():
            said = "; ".join(map(str, error.issues))
        case OSError():
            said = f"the run library: {(error.strerror or str(error)).lower()}"
        case _:
            said = str(error)
    return _json(status, said)


def _json(status: int, message: str) -> Response:
    said = message.encode(errors="backslashreplace").decode()
    return JSONResponse({"error": said}, status_code=status)
