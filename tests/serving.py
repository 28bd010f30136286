"""A server in the process of a test: its client, and what a test asks of it."""

from __future__ import annotations

import time

from starlette.testclient import TestClient

from simoom.serve import application
from simoom.serve.drafts import Desk

TOKEN = "a-token"
HOST = "127.0.0.1:8642"
ORIGIN = {"origin": f"http://{HOST}"}
LIVE = f"ws://{HOST}/api/live"
CELL = """title = "Two stations"
standard = "11b"
stations = 2
duration_s = 3.0

[[flows]]
from = "sta*"
to = "ap"
traffic = "saturated"
"""
SPACE = """standard = "11a"
duration_s = 1.0
ap.position_m = [0, 0]
stations = [{ position_m = [40, 0] }, { position_m = [-40, 0] }]

[radio]

[[flows]]
from = "sta*"
to = "ap"
traffic = "saturated"
"""


def client_of(folder, **options):
    desk = options.pop("desk", Desk(folder))
    app = application(
        folder / "library", hosts=frozenset({HOST}), token=TOKEN, desk=desk, **options
    )
    client = TestClient(app, base_url=f"http://{HOST}")
    client.cookies.set("simoom", TOKEN)
    return client


def add(page, text, *, seed=1, name="", air=False):
    return page.post("/api/runs", json={"text": text, "seed": seed, "name": name, "air": air})


def ended(page, key, within_s=60.0):
    """Wait until a run has ended and return its entry."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        for entry in page.get("/api/runs").json():
            if entry["id"] == key and entry["state"] in ("done", "stopped", "failed"):
                return entry
        time.sleep(0.02)
    raise AssertionError("the run goes on")


def made(page, text, **options):
    key = add(page, text, **options).json()["id"]
    assert ended(page, key)["state"] == "done"
    return key


SWEPT = """standard = "11g"
stations = 1
duration_s = 0.2

[[flows]]
from = "server"
to = "sta*"
"""


def post_sweep(page, over, text=SWEPT, replications=2):
    body = {"text": text, "over": over, "replications": replications, "seed": 1, "name": "mine"}
    return page.post("/api/sweeps", json=body)


def swept(page, over, **options):
    """Run a sweep to its end and return its key."""
    key = post_sweep(page, over, **options).json()["id"]
    while found := [entry for entry in page.get("/api/runs").json() if entry["id"] == key]:
        assert found[0]["state"] in ("waiting", "running"), found
        time.sleep(0.02)
    return key
