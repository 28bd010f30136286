"""Libraries, requests and controllers that the server did not make: nothing of them hurts it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from tests.serving import HOST, LIVE, ORIGIN, TOKEN, add, client_of, ended, made, post_sweep, swept

import simoom as sm
from simoom.base.files import read_json
from simoom.results.record import Record, _hash_of_values
from simoom.scenario import control
from simoom.serve import Limits
from simoom.serve.drafts import Desk, Draft
from simoom.serve.workers import Bounds, Call, FailedError, StoppedError, Worker

SMALL = (
    'standard = "11g"\nstations = 1\nduration_s = 0.2\n[[flows]]\nfrom = "server"\nto = "sta0"\n'
)
CODE = "{python = {path = 'evil:Evil'}}"
EVIL = """
import pathlib, sys
pathlib.Path(r"{marker}").touch()
import simoom
class Evil(simoom.Control): pass
"""


@pytest.fixture
def page(tmp_path):
    with client_of(tmp_path) as client:
        yield client


# --- Libraries from elsewhere -------------------------------------------------------------------


def unpack(library: Path) -> tuple[str, str, str]:
    """Make a library as others may: a run, one that names code in Python, and a sweep of both."""
    with client_of(library.parent) as page:
        good = made(page, SMALL, air=True)
        sweep = swept(page, {"stations": "1"}, replications=1)
    coded = sm.Scenario.parse(SMALL).set_text("flows[0].control", CODE)
    bad = "e" * 64
    record = Record.read(library / "runs" / good[:2] / f"{good}.json")
    named = replace(record, key=bad, run=replace(record.run, scenario=coded))
    for part, suffix, text in (
        ("names", "json", json.dumps({"name": "bait"})),
        ("series", "json", json.dumps({"x": {"t": [0.0], "v": [1.0]}})),
        ("why", "json", json.dumps({"": {"value": 1}})),
        (f"runs/{bad[:2]}", "json", named.text()),
    ):
        (library / part).mkdir(exist_ok=True)
        (library / part / f"{bad}.{suffix}").write_text(text, encoding="utf-8")
    air = library / "air"
    (air / f"{bad}.air").write_bytes((air / f"{good}.air").read_bytes())
    file = library / "sweeps" / f"{sweep}.json"
    kept = json.loads(file.read_text())
    kept["scenario"] = coded.to_toml()
    kept["points"][0]["runs"].append(bad)
    file.write_text(json.dumps(kept))
    return good, bad, sweep


def every_request(good: str, bad: str, sweep: str) -> list[tuple[str, str, object]]:
    """Return method, address and body of all that a page can ask of a library."""
    coded = sm.Scenario.parse(SMALL).set_text("flows[0].control", CODE).to_toml()
    found: list[tuple[str, str, object]] = [
        ("GET", "/api/runs", None),
        ("GET", "/api/sweeps", None),
    ]
    for key in (good, bad):
        run = f"/api/runs/{key}"
        parts = ("", "/why", "/twin", "/air", "/air/find", "/air/tile/20/0", "/air/frame/1",
                 "/air/life/1")  # fmt: skip
        found += [("GET", run + part, None) for part in parts]
        found.append(("POST", run + "/why", {"flow": ""}))
        found.append(("PATCH", run, {"name": "another"}))
    drafts = {"text": coded, "seed": 1, "name": "", "air": True, "at_s": 0.0, "path": "title",
              "value": "x"}  # fmt: skip
    found += [("POST", f"/api/{name}", drafts) for name in ("check", "edit", "hearing", "runs")]
    swept = {**drafts, "text": SMALL, "replications": 1, "over": {"flows[*].control": CODE}}
    found += [("POST", "/api/sweeps", swept), ("GET", f"/api/sweeps/{sweep}", None)]
    found += [("DELETE", f"/api/sweeps/{sweep}", None), ("DELETE", f"/api/runs/{bad}", None)]
    return found


def test_a_library_from_elsewhere_runs_nothing(tmp_path):
    """Code lies in the current folder, where a server without ``--controllers`` never looks."""
    folder, bait = tmp_path / "unpacked", tmp_path / "ran"
    folder.mkdir()
    keys = unpack(folder / "library")
    # Modules that the server, and the process from which its workers are forked, import.
    for name in ("evil", "numpy", "scipy", "polars", "uvicorn"):
        (folder / f"{name}.py").write_text(EVIL.format(marker=bait), encoding="utf-8")
    start = tmp_path / "start.py"
    start.write_text("from simoom.cli import entry\nif __name__ == '__main__':\n    entry()\n")
    command = [
        sys.executable,
        str(start),
        "serve",
        "--port",
        "0",
        "--quiet",
        "--library",
        "library",
    ]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as server:
        try:
            address, _, token = server.stdout.readline().strip().partition("/?token=")
            cookie = {"cookie": f"simoom-{address.rpartition(':')[2]}={token}"}
            with httpx2.Client(base_url=address, headers=cookie, timeout=60) as client:
                for method, path, body in every_request(*keys):
                    answer = client.request(method, path, json=body)
                    assert answer.status_code < 500, (method, path, answer.text)
                    if keys[1] in path and method == "GET":
                        assert "--controllers" in answer.json()["error"], path
        finally:
            server.terminate()
    assert not bait.exists()


def test_code_of_a_record_runs_on_no_way_into_the_library(tmp_path, monkeypatch):
    """The module could be imported here; `find` is where it would be."""
    keys = unpack(tmp_path / "library")
    asked = []
    monkeypatch.setattr(control, "find", asked.append)
    with client_of(tmp_path) as page:
        entries = {entry["id"]: entry for entry in page.get("/api/runs").json()}
        assert entries[keys[0]]["state"] == "done"
        assert entries[keys[1]]["state"] == "failed"
        assert entries[keys[1]]["message"].startswith("flows[0].control.python: is code in Python")
        for method, path, body in every_request(*keys):
            answer = page.request(method, path, json=body)
            assert answer.status_code < 500, (method, path, answer.text)
    assert asked == []


def test_a_record_that_names_code_is_run_again_only_when_that_is_allowed(tmp_path, simoom):
    _, bad, _ = unpack(tmp_path / "library")
    (tmp_path / "evil.py").write_text(EVIL.format(marker=tmp_path / "ran"), encoding="utf-8")
    done = simoom("rerun", tmp_path / "library" / "runs" / bad[:2] / f"{bad}.json")
    assert done.returncode == 2
    assert "evil:Evil" in done.stderr
    assert "--controllers" in done.stderr
    for command in ("check", "compact", "check"):
        assert simoom("store", command, tmp_path / "library" / "runs").returncode == 0
    assert not (tmp_path / "ran").exists()


def forged(text: str, **changes: object) -> str:
    """Return a record with other values and the hash that belongs to them."""
    kept = json.loads(text) | changes
    kept.pop("hash")
    return json.dumps({"hash": _hash_of_values(kept), **kept})


@pytest.mark.parametrize(
    "changes",
    [
        {"scenario": 'title = "\ud800"\n'},
        {"scenario": ["x"]},
        {"seed": "1"},
        {"seed": -1},
        {"seed": 10**400},
        {"seed": True},
        {"replication": None},
        {"simulated_s": float("nan")},
        {"simulated_s": "x"},
        {"events": [1]},
        {"digest": "\udfff"},
        {"digest": 7},
        {"key": "a" * 64},
        {"key": {}},
        {"checked": "no"},
        {"simoom": 0},
        {"summary": []},
        {"summary": {"total.goodput_mbps": {"a": 1}}},
        {"summary": {"total.goodput_mbps": "\ud800"}},
        {"summary": {"\udfff": 1.0}},
        {"summary": {"total.goodput_mbps": [1]}},
    ],
)
def test_a_bad_record_is_shown_as_bad_alone(tmp_path, changes):
    with client_of(tmp_path) as page:
        good = made(page, SMALL)
    runs = tmp_path / "library" / "runs"
    bad = "b" * 64
    text = (runs / good[:2] / f"{good}.json").read_text(encoding="utf-8")
    (runs / "bb").mkdir()
    (runs / "bb" / f"{bad}.json").write_text(forged(text, **({"key": bad} | changes)))
    with client_of(tmp_path) as page:
        entries = {entry["id"]: entry["state"] for entry in page.get("/api/runs").json()}
        assert entries == {good: "done", bad: "failed"}
        with page.websocket_connect(LIVE, headers=ORIGIN) as live:
            assert len(live.receive_json()["runs"]) == 2
        assert page.get(f"/api/runs/{bad}").status_code == 422
        assert page.get(f"/api/runs/{good}").status_code == 200


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "\\ud800", "sweep": null}', "[]", "7", '{"name": {}, "sweep": []}', "[" * 100_000,
        '{"name": NaN}', '{"x": {"t": ["a"], "v": 3}}', '{"a": {"t": [1e999], "v": [0]}}', "\x00",
    ],
)  # fmt: skip
def test_what_lies_beside_a_record_spoils_no_list(tmp_path, text):
    with client_of(tmp_path) as page:
        good = made(page, SMALL)
        library = tmp_path / "library"
        for part in ("names", "series", "why"):
            (library / part / f"{good}.json").write_text(text, encoding="utf-8")
        (library / "sweeps" / f"{good}.json").write_text(text, encoding="utf-8")
        (library / "air" / f"{good}.air").write_text(text, encoding="utf-8")
        for path in ("/api/runs", "/api/sweeps", f"/api/runs/{good}", f"/api/runs/{good}/why"):
            assert page.get(path).status_code == 200, path
        for path in (f"/api/sweeps/{good}", f"/api/runs/{good}/air"):
            assert page.get(path).status_code == 404, path


@pytest.mark.skipif(sys.platform == "win32", reason="named pipes and holes")
def test_what_is_no_file_of_a_library_is_not_read(tmp_path):
    """A pipe would be waited for, and a file with a hole of a terabyte would fill the memory."""
    with client_of(tmp_path) as page:
        good = made(page, SMALL)
        library = tmp_path / "library"
        for part, make in (("names", os.mkfifo), ("series", os.mkfifo), ("why", os.mkdir)):
            file = library / part / f"{good}.json"
            file.unlink(missing_ok=True)
            make(file)
        odd = {
            key: library / "runs" / key[:2] / f"{key}.json"
            for key in ("b" * 64, "c" * 64, "d" * 64)
        }
        for file in odd.values():
            file.parent.mkdir(exist_ok=True)
        os.mkfifo(odd["b" * 64])
        odd["c" * 64].mkdir()
        with odd["d" * 64].open("wb") as file:
            file.truncate(1 << 40)
        states = {entry["id"]: entry["state"] for entry in page.get("/api/runs").json()}
        assert states == {good: "done"} | dict.fromkeys(odd, "failed")
        assert page.get(f"/api/runs/{good}").json()["series"] == {}
        for key in odd:
            assert page.get(f"/api/runs/{key}").status_code == 422


def test_a_timeline_with_damaged_rows_is_one_message(tmp_path):
    with client_of(tmp_path) as page:
        key = made(page, SMALL, air=True)
        file = tmp_path / "library" / "air" / f"{key}.air"
        data = file.read_bytes()
        # The index at the end stays.
        file.write_bytes(data[:8] + b"\xff" * 4000 + data[4008:])
        answers = [
            page.get(f"/api/runs/{key}/air/{part}")
            for part in ("tile/20/0", "tile/30/0", "frame/1", "life/1", "find")
        ]
        faults = [each.json()["error"] for each in answers if each.status_code != 200]
        assert set(faults) == {"the run library: is no complete .air file"}


# --- Requests -----------------------------------------------------------------------------------

DEEP = "[" * 900 + "]" * 900
VALUES = ["null", "true", "0", "-1", "1.5", "1e999", "NaN", "1" + "0" * 400, "1" * 5000, '""',
          '"\\ud800"', '"\\u0000"', '"x"', "[]", "[null]", "{}", '{"": null}', '{"\\udfff": 1}',
          DEEP]  # fmt: skip
ROUTES = {
    "/api/check": {"text": SMALL},
    "/api/edit": {"text": SMALL, "path": "title", "value": "x"},
    "/api/runs": {"text": SMALL, "seed": 1, "name": "", "air": False},
    "/api/hearing": {"text": SMALL, "seed": 1, "at_s": 0.0},
    "/api/sweeps": {"text": SMALL, "over": {"stations": "1"}, "replications": 1, "seed": 1,
                    "name": ""},
    f"/api/runs/{'0' * 64}/why": {"flow": ""},
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_json_of_every_kind_at_every_field_is_answered_by_one_message(tmp_path, route):
    with client_of(tmp_path, limits=Limits(queue=1)) as page:
        for name in ROUTES[route]:
            others = {key: value for key, value in ROUTES[route].items() if key != name}
            for value in VALUES:
                body = f'{json.dumps(others)[:-1]}{", " if others else ""}"{name}": {value}}}'
                answer = page.post(route, content=body.encode())
                said = answer.json()
                assert answer.status_code < 500, (name, value, answer.text)
                if answer.status_code >= 400 and "issues" not in said:
                    assert list(said) == ["error"]
                    assert said["error"]
        assert page.get("/api/runs").status_code == 200


@pytest.mark.parametrize(
    ("route", "changes", "message"),
    [
        ("/api/edit", {"value": None}, "cannot hold a NoneType"),
        ("/api/edit", {"value": {"a": [None]}}, "cannot hold a NoneType"),
        ("/api/sweeps", {"over": {"stations": "[" * 10_000}}, "nested too deeply"),
        ("/api/sweeps", {"over": {"title": "1979-05-27"}}, "cannot hold a date"),
        ("/api/sweeps", {"over": {"stations": "1" * 5000}}, "stations"),
    ],
)
def test_a_value_that_no_scenario_has_is_one_message(page, route, changes, message):
    answer = page.post(route, json={**ROUTES[route], **changes})
    assert answer.status_code == 400
    assert message in answer.json()["error"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f'{{"at_s": 1{"0" * 400}}}', "the request has a number"),
        ('{"text": "\\ud800"}', "the request has half of a surrogate pair"),
        (f'{{"value": {DEEP}}}', "the request is nested more than 100 deep"),
        ('{"value": NaN}', "the request has a number"),
        ("{", "the request is not JSON"),
    ],
)
def test_a_body_is_read_by_one_reader(page, text, message):
    for route in ROUTES:
        answer = page.post(route, content=text.encode())
        assert answer.status_code == 400
        assert answer.json()["error"].startswith(message)


def test_a_file_name_with_nul_is_a_fault_of_the_scenario(page):
    text = SMALL + 'traffic.csv.file = "a\\u0000b"\n'
    (issue,) = page.post("/api/check", json={"text": text}).json()["issues"]
    assert "NUL" in issue["message"]
    empty = page.post("/api/check", json={"text": SMALL + 'traffic.csv.file = ""\n'}).json()
    assert [issue["message"] for issue in empty["issues"]] == ["is empty; name a file"]


@pytest.mark.parametrize("name", ["a" * 5000 + ".js", "%00.js", "app.css%ff", "."])
def test_no_name_of_a_part_of_the_page_is_a_fault_of_the_library(page, name):
    assert page.get(f"/static/{name}").status_code in (400, 404)


@pytest.mark.parametrize("number", ["9" * 5000, "٣", "-1", "1.5", ""])
def test_a_number_in_an_address_is_one_message(page, number):
    key = "0" * 64
    for path in (f"tile/{number}/0", f"frame/{number}", f"find?radio={number or 'x'}"):
        assert page.get(f"/api/runs/{key}/air/{path}").status_code in (400, 404)


@pytest.mark.parametrize(
    "others", ["a[b]=c", "=", "x={", 'y="unclosed', "simoom", "simoom=another", ";;;", "é=\u00ff"]
)
def test_a_cookie_of_others_locks_no_page_out(page, others):
    page.cookies.clear()
    for cookie in (f"{others}; simoom={TOKEN}", f"simoom={TOKEN}; {others}"):
        headers = {"cookie": cookie.encode("latin-1")}
        assert page.get("/api/start", headers=headers).status_code == 200
        assert (
            page.get("/api/start", headers={"cookie": others.encode("latin-1")}).status_code == 403
        )


# --- What takes too much ------------------------------------------------------------------------

MANY = (
    'standard = "11a"\nradio = {}\nap.position_m = [0, 0]\nduration_s = 1\n'
    'stations = { count = 2000, ring_m = 5.0 }\n[[flows]]\nfrom = "sta*"\nto = "ap"\n'
    'traffic = "saturated"\n'
)


def test_pairs_are_computed_where_they_are_shown(page, monkeypatch):
    """Those of 2,000 stations took 1.9 GB."""
    draft = Draft(MANY, Desk(Path.cwd()))
    monkeypatch.setattr("simoom.serve.drafts.hearing", None)
    assert draft.state()["map"] is None
    answer = page.post("/api/hearing", json={"text": MANY, "seed": 1, "at_s": 0.0})
    assert answer.status_code == 422
    assert "2,001 nodes" in answer.json()["error"]


CONTROLLERS = """
import os, time
import simoom

class Sleep(simoom.Control):
    def on_ack(self, ack): time.sleep(3600)

class Take(simoom.Control):
    def on_ack(self, ack): self.taken = bytearray(1 << 36)
    def __init__(self): self.taken = None

class Abort(simoom.Control):
    def on_ack(self, ack): os.abort()

class Leave(simoom.Control):
    def on_ack(self, ack): os._exit(3)

class Raise(simoom.Control):
    def on_ack(self, ack): raise ValueError("half \\ud800")
"""


@pytest.fixture
def coded(tmp_path, monkeypatch):
    """A page of a server with controllers, and a function that names one of them."""
    (tmp_path / "odd_controllers.py").write_text(CONTROLLERS, encoding="utf-8")
    (tmp_path / "odd_sleep.py").write_text("import time\ntime.sleep(3600)\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    limits = Limits(run_s=3.0, check_s=3.0)
    with client_of(tmp_path, desk=Desk(tmp_path, controllers=True), limits=limits) as page:
        yield page


def named(kind: str) -> str:
    value = f"{{python = {{path = 'odd_controllers:{kind}'}}}}"
    return sm.Scenario.parse(SMALL).set_text("flows[0].control", value).to_toml()


@pytest.mark.parametrize(
    ("kind", "state", "message"),
    [
        ("Sleep", "stopped", "it took more than 3 s"),
        ("Take", "failed", "it took more memory than it may"),
        ("Abort", "failed", "its process was aborted: it took more memory than it may"),
        ("Leave", "failed", "its process has ended with exit code 3"),
        ("Raise", "failed", "ValueError: half \\ud800"),
    ],
)
def test_a_controller_ends_its_own_run_only(coded, tmp_path, kind, state, message):
    key = add(coded, named(kind), air=True).json()["id"]
    other = add(coded, SMALL).json()["id"]
    entry = ended(coded, key)
    assert entry["state"] == state
    assert message in entry["message"]
    assert ended(coded, other)["state"] == "done"
    assert list(tmp_path.rglob("*.part*")) == []
    again = client_of(tmp_path)
    assert [run["state"] for run in again.get("/api/runs").json()] == ["done"]


def test_a_controller_that_sleeps_can_be_deleted(coded):
    key = add(coded, named("Sleep")).json()["id"]
    coded.delete(f"/api/runs/{key}")
    assert made(coded, SMALL)


def test_a_check_that_takes_too_long_is_one_message(coded):
    text = sm.Scenario.parse(SMALL).set_text(
        "flows[0].control", "{python = {path = 'odd_sleep:X'}}"
    )
    answer = coded.post("/api/check", json={"text": text.to_toml()})
    assert (answer.status_code, answer.json()["error"]) == (422, "it took more than 3 s")
    assert coded.post("/api/check", json={"text": SMALL}).json()["issues"] == []


@pytest.mark.usefixtures("coded")
def test_a_check_ends_when_the_page_leaves(tmp_path):
    """Its limit of time is an hour; a page that types on asks for another check."""
    limits = Limits(check_s=3600.0, checks=1)
    desk = Desk(tmp_path, controllers=True)
    value = "{python = {path = 'odd_sleep:X'}}"
    text = sm.Scenario.parse(SMALL).set_text("flows[0].control", value).to_toml()
    body = json.dumps({"text": text}).encode()
    messages = [{"type": "http.request", "body": body}, {"type": "http.disconnect"}]
    headers = [(b"host", HOST.encode()), (b"cookie", f"simoom={TOKEN}".encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/check", "query_string": b"",
             "headers": headers}  # fmt: skip

    async def receive():
        return messages.pop(0) if len(messages) > 1 else messages[0]

    async def send(message):
        answers.append(message)

    answers = []
    with client_of(tmp_path, desk=desk, limits=limits) as page:
        asyncio.run(page.app(scope, receive, send))
        assert answers[0]["status"] == 422
        assert page.post("/api/check", json={"text": SMALL}).json()["issues"] == []


def test_the_source_of_a_controller_is_read_anew_for_each_run(tmp_path, coded):
    (tmp_path / "odd_own.py").write_text("import simoom\nclass Own(simoom.Control): pass\n")
    text = named("Own").replace("odd_controllers", "odd_own")
    first = made(coded, text)
    (tmp_path / "odd_own.py").write_text(
        "import simoom\nclass Own(simoom.Control):\n    window: float = 2.0\n"
    )
    assert made(coded, text) != first


def test_a_worker_has_a_limit_of_memory_and_goes_on(tmp_path):
    worker = Worker(Bounds(60.0, 256), tmp_path)
    never = threading.Event()
    with pytest.raises(FailedError, match="it took more memory than it may, 256 MiB"):
        worker.call(Call(eval, ("len(bytearray(1 << 30))",)), stop=never)
    assert worker.call(Call(eval, ("len(bytearray(100 << 20))",)), stop=never) == 100 << 20
    worker.end()


@pytest.mark.parametrize("function", [signal.pause, time.sleep])
def test_a_task_ends_when_nobody_waits_for_it(tmp_path, function):
    worker = Worker(Bounds(3600.0, 256), tmp_path)
    stop = threading.Event()
    threading.Timer(0.5, stop.set).start()
    with pytest.raises(StoppedError):
        worker.call(Call(function, () if function is signal.pause else (3600,)), stop=stop)
    assert not worker.is_alive


def test_workers_import_no_controller_unless_they_may(tmp_path):
    never = threading.Event()
    for may in (False, True):
        worker = Worker(Bounds(60.0, 256, controllers=may), tmp_path)
        with pytest.raises(ValueError, match="there is no module" if may else "does not run"):
            worker.call(Call(control.find, ("no_such_module:X",)), stop=never)
        worker.end()


@pytest.mark.parametrize(
    "text", ['"\\ud800"', "[NaN]", '{"a": Infinity}', DEEP, "1" * 5000, "\ud800"]
)
def test_json_that_cannot_be_sent_again_is_refused(text):
    with pytest.raises(ValueError, match=r"surrogate|number|nested|not JSON"):
        read_json(text)


def test_json_is_read_as_it_is():
    for value in (None, True, 0, -1.5, "é😀", [], {}, {"a": [{"b": None}]}, [[[]]]):
        assert read_json(json.dumps(value)) == value


def test_a_sweep_axis_with_code_is_refused(page):
    assert "--controllers" in post_sweep(page, {"flows[*].control": CODE}).json()["error"]
