"""The web server that an emulation starts if no other is named: it serves the present folder.

It imports nothing of Simoom, because it is a program of its own.
"""

from __future__ import annotations

from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class QuietFiles(SimpleHTTPRequestHandler):
    """Serves files over connections that stay, and prints nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its name in the library
        """Print nothing."""


if __name__ == "__main__":
    ThreadingHTTPServer(("", 80), QuietFiles).serve_forever()
