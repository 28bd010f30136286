"""Requests to the server of the page: JSON values of every kind, a library of others, cookies."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import simoom as sm
from campaign import inputs
from simoom.results.record import Record, _hash_of_values
from simoom.scenario import control
from simoom.serve import Limits, application
from simoom.serve.drafts import Desk

HOST, TOKEN = "127.0.0.1:8642", "a-token"
SMALL = (
    'standard = "11g"\nstations = 1\nduration_s = 0.2\n[[flows]]\nfrom = "server"\nto = "sta0"\n'
)
CODE = "{python = {path = 'evil:Evil'}}"
DEEP = "[" * 900 + "]" * 900
TEXTS = ("", "x", "\x00", "ü😀", "a" * 5000, "../x", "/etc/passwd", "\u202e", "flows[0].to",
         "[" * 9000, "nan", "1e999", "{python = {path = 'evil:Evil'}}", "1979-05-27",
         "1,,2", "1" * 5000)  # fmt: skip
WRITTEN = ("null", "true", "0", "-1", "1.5", "1e999", "-0.0", "NaN", "1" + "0" * 400, "1" * 5000,
           '"\\ud800"', '"\\udfff\\ud800"', "[]", "[null]", "{}", '{"": null}', '{"\\udfff": 1}',
           DEEP, "", "]", '"\\u0000"')  # fmt: skip
"""JSON, some of it that cannot be represented by values, and what is none."""
COOKIES = ("a[b]=c", "=", "x={", 'y="unclosed', "simoom=another", ";;;", "é=ÿ", "simoom",
           "a=b" * 2000,           '$Version="1"; x')  # fmt: skip
FORGERIES: tuple[dict[str, Any], ...] = (
    {"scenario": 'title = "\ud800"\n'}, {"seed": "1"}, {"seed": 10**400},
    {"simulated_s": float("nan")},
    {"summary": {"total.goodput_mbps": {"a": 1}}}, {"summary": {"\udfff": 1.0}}, {"digest": 7},
    {"key": {}}, {"scenario": SMALL.replace('to = "sta0"', f'to = "sta0"\ncontrol = {CODE}')},
    {"scenario": SMALL.replace('to = "sta0"', 'to = "sta0"\ntraffic.csv.file = "/etc/passwd"')},
    {"scenario": SMALL.replace("0.2", "-1")}, {"summary": {}}, {"events": -1},
)  # fmt: skip
BESIDE = ('{"name": "\\ud800", "sweep": null}', "[]", "7", '{"name": {}, "sweep": []}',
          "[" * 100_000, '{"name": NaN}', '{"x": {"t": ["a"], "v": 3}}', "\x00",
          '{"": {"value": 1}}')  # fmt: skip


class Site:
    """A server in this process, with a library that others have made."""

    def __init__(self) -> None:
        from starlette.testclient import TestClient

        self._folder = tempfile.TemporaryDirectory(prefix="simoom-campaign-")
        folder = Path(self._folder.name)
        self.asked: list[str] = []
        control.find = self.asked.append  # type: ignore[assignment]
        app = application(
            folder / "library", hosts=frozenset({HOST}), token=TOKEN, desk=Desk(folder),
            limits=Limits(queue=3, run_s=2.0, check_s=10.0, sweep_runs=8),
        )  # fmt: skip
        self.page = TestClient(app, base_url=f"http://{HOST}", raise_server_exceptions=False)
        self.page.__enter__()
        self.page.cookies.set("simoom", TOKEN)
        self.good = self._run()
        self.keys = [self.good, "0" * 64, "x", "..%2f..%2fx", "é", *self._forge(folder / "library")]

    def close(self) -> None:
        """End the server and remove its library."""
        self.page.__exit__(None, None, None)
        self._folder.cleanup()

    def _run(self) -> str:
        body = {"text": SMALL, "seed": 1, "name": "", "air": True}
        key: str = self.page.post("/api/runs", json=body).json()["id"]
        while self.page.get(f"/api/runs/{key}/air").status_code != 200:
            pass
        return key

    def _forge(self, library: Path) -> list[str]:
        """Write records with hashes that belong to them, and files beside them."""
        file = library / "runs" / self.good[:2] / f"{self.good}.json"
        text, made = file.read_text(encoding="utf-8"), []
        assert Record.parse(text, "").key == self.good
        for number, changes in enumerate(FORGERIES):
            key = f"{number:064x}"
            kept = json.loads(text) | {"key": key} | changes
            kept.pop("hash")
            own = library / "runs" / key[:2] / f"{key}.json"
            own.parent.mkdir(exist_ok=True)
            own.write_text(json.dumps({"hash": _hash_of_values(kept), **kept}))
            for part in ("names", "series", "why", "sweeps"):
                beside = BESIDE[number % len(BESIDE)]
                (library / part / f"{key}.json").write_text(beside, encoding="utf-8")
            (library / "air" / f"{key}.air").write_bytes(beside.encode() * number)
            made.append(key)
        return made


site = cache(Site)


def _routes(key: str, draw: random.Random) -> dict[str, tuple[str, str, dict[str, Any] | None]]:
    """Return each route with its method and a body that is right."""
    text = _scenario(draw)
    number = draw.choice((0, 1, 63, 2**32, 10**30))
    run = f"/api/runs/{key}"
    return {
        "check": ("POST", "/api/check", {"text": text}),
        "edit": ("POST", "/api/edit", {"text": text, "path": "title", "value": "x"}),
        "add": ("POST", "/api/runs", {"text": text, "seed": 1, "name": "", "air": False}),
        "hearing": ("POST", "/api/hearing", {"text": text, "seed": 1, "at_s": 0.0}),
        "add sweep": ("POST", "/api/sweeps", {"text": text, "over": {"stations": "1"},
                      "replications": 1, "seed": 1, "name": ""}),
        "explain": ("POST", f"{run}/why", {"flow": ""}),
        "rename": ("PATCH", run, {"name": "x"}),
        "run": ("GET", run, None),
        "why": ("GET", f"{run}/why", None),
        "twin": ("GET", f"{run}/twin", None),
        "air": ("GET", f"{run}/air", None),
        "find": ("GET", f"{run}/air/find?radio={draw.choice((0, -1, 'x', '٣'))}&lost=1", None),
        "tile": ("GET", f"{run}/air/tile/{draw.choice((0, 20, 63, 64))}/{number}", None),
        "frame": ("GET", f"{run}/air/{draw.choice(('frame', 'life'))}/{number}", None),
        "sweep": ("GET", f"/api/sweeps/{key}", None),
        "remove": ("DELETE", f"/api/{draw.choice(('runs', 'sweeps'))}/{'f' * 64}", None),
        "static": ("GET", f"/static/{draw.choice(('app.js', 'x' * 5000, '%00', '..', '%ff.js'))}",
                   None),
    }  # fmt: skip


def _scenario(draw: random.Random) -> str:
    """Return the text of a scenario: small, shipped, mutated, or one that names code or files."""
    kind = draw.randrange(8)
    if kind == 0:
        made = inputs.scenario(draw.randrange(1 << 30))
        try:
            return sm.Scenario(**made).to_toml()
        except sm.ScenarioError:
            return SMALL
    if kind == 1:
        return inputs.mutated_toml(draw).decode(errors="replace")
    if kind == 2:
        return SMALL + draw.choice((f"control = {CODE}\n", 'traffic.csv.file = "a\\u0000"\n',
                                    'traffic.csv.file = ""\n', 'traffic.csv.file = "/etc/x"\n',
                                    f'name = "{"ü" * 3000}"\n', f"x = {DEEP}\n"))  # fmt: skip
    return SMALL


def _body(right: dict[str, Any], draw: random.Random) -> bytes:
    """Return a body with some fields of another kind, or none at all."""
    parts = {key: json.dumps(value) for key, value in right.items()}
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
        name = draw.choice((*parts, "nothing"))
        if draw.random() < 0.1:
            parts.pop(name, None)
        elif draw.random() < 0.5:
            parts[name] = draw.choice(WRITTEN)
        else:
            value: Any = draw.choice(TEXTS)
            if name == "over":
                value = {draw.choice(("stations", "flows[*].control", *TEXTS)): value}
            parts[name] = json.dumps(value)
    written = ", ".join(f'"{key}": {value}' for key, value in parts.items())
    return (
        draw.choice((b"", b"[]", b"\xff", b"{"))
        if draw.random() < 0.05
        else (f"{{{written}}}".encode())
    )


def trial(number: int, note: Callable[[str], None]) -> str:
    """Send one request, and see that the server goes on."""
    draw = random.Random(number)
    own = site()
    key = draw.choice((own.good, own.good, *own.keys))
    name, (method, path, right) = draw.choice(list(_routes(key, draw).items()))
    headers: dict[bytes, bytes] = {}
    if draw.random() < 0.2:
        others = draw.choice(COOKIES)
        pair = [f"simoom={TOKEN}", others]
        draw.shuffle(pair)
        headers[b"cookie"] = "; ".join(pair).encode("latin-1")
    content = None if right is None else _body(right, draw)
    answer = own.page.request(method, path, content=content, headers=headers)
    note("ran" if answer.status_code < 400 else "refused")
    if fault := _fault(name, answer):
        return f"{method} {path[:80]} {(content or b'')[:200]!r}: {fault}"
    if name == "rename" and answer.status_code == 200:
        written = json.loads(content or b"")["name"].strip()[:200]
        (read,) = [each["name"] for each in own.page.get("/api/runs").json() if each["id"] == key]
        if read != written:
            return f"the name {written!r} is read back as {read!r}"
    if number % 10 == 0:
        for each in ("/api/runs", "/api/sweeps"):
            if own.page.get(each).status_code != 200:
                return f"{each} ends with {own.page.get(each).status_code}"
        (state,) = [e["state"] for e in own.page.get("/api/runs").json() if e["id"] == own.good]
        if state != "done":
            return f"the good run is {state}"
    return f"code is asked for: {own.asked}" if own.asked else ""


def _fault(name: str, answer: Any) -> str:
    """Return what is wrong with an answer."""
    if answer.status_code >= 500:
        return f"status {answer.status_code}: {answer.text[:300]}"
    if name in ("static", "tile") or answer.headers.get("content-type", "").startswith(
        "text/plain"
    ):
        return ""
    try:
        said = answer.json()
    except ValueError:
        return f"the answer is no JSON: {answer.text[:100]}"
    if answer.status_code >= 400 and not (said.get("error") or said.get("issues")):
        return f"status {answer.status_code} without a message"
    return ""
