"""Which requests are answered, and the headers of every answer.

A page of another site can make a browser send requests to this server. They are refused: by the
``Host`` header if the other site's name resolves to this machine, by the ``Origin`` header if its
script sends a request or opens a WebSocket, and by the token, which only the printed link has.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    # Browsers write style attributes when a text is edited.
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; "
    "style-src-attr 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
HEADERS = {
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
READING = ("GET", "HEAD")


class Guard:
    """Passes on requests with the right host, origin and token, and adds headers to answers."""

    def __init__(self, app: ASGIApp, *, hosts: frozenset[str], token: str, cookie: str) -> None:
        self._app = app
        self._hosts = hosts
        self._token = token
        self._cookie = cookie

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        scope["nonce"] = nonce = secrets.token_urlsafe(16)
        is_in_link = self._is_token(_queried(scope))

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = MutableHeaders(raw=message.setdefault("headers", []))
                for name, value in HEADERS.items():
                    own[name] = value
                own["content-security-policy"] = POLICY.format(nonce=nonce)
                if is_in_link:
                    cookie = f"{self._cookie}={self._token}; HttpOnly; SameSite=Strict; Path=/"
                    own.append("set-cookie", cookie)
            await send(message)

        fault = self._fault(scope, headers, is_in_link=is_in_link)
        if fault is None:
            await self._app(scope, receive, send_guarded)
        elif scope["type"] == "websocket":
            # Before it is accepted, to close a WebSocket is to answer 403.
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": fault})
        else:
            is_in_link = False
            response = PlainTextResponse(f"{fault}\n", status_code=403)
            await response(scope, receive, send_guarded)

    def _fault(self, scope: Scope, headers: Headers, *, is_in_link: bool) -> str | None:
        """Return why a request is refused, if it is."""
        host = headers.get("host", "").lower()
        if host not in self._hosts:
            return "this server has another name: open the link that simoom serve printed"
        origin = headers.get("origin")
        needs_origin = scope["type"] == "websocket"
        if (origin is not None or needs_origin) and origin != f"http://{host}":
            return "the request comes from another site"
        if headers.get("sec-fetch-site", "none") == "cross-site" and not is_in_link:
            return "the request comes from another site"
        if not (is_in_link or any(map(self._is_token, _cookies(headers, self._cookie)))):
            return "the token is missing: open the link that simoom serve printed"
        if is_in_link and scope.get("method", "GET") not in READING:
            return "the token in the address only opens the page"
        return None

    def _is_token(self, text: str) -> bool:
        return secrets.compare_digest(text.encode(), self._token.encode())


def _queried(scope: Scope) -> str:
    """Return the token in the address of the page."""
    if scope["type"] != "http" or scope["path"] != "/":
        return ""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    token: str = query.get("token", [""])[0]
    return token


def _cookies(headers: Headers, name: str) -> Iterator[str]:
    """Yield the values of all cookies of this name: others of this host may be malformed."""
    for header in headers.getlist("cookie"):
        for pair in header.split(";"):
            own, _, value = pair.partition("=")
            if own.strip() == name:
                yield value.strip()
