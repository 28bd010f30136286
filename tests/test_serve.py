"""The server of the page: which requests it answers, runs, the library, and the timeline."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2
import numpy as np
import pytest
from starlette.websockets import WebSocketDisconnect
from tests.serving import (
    HOST,
    LIVE,
    ORIGIN,
    SPACE,
    SWEPT,
    TOKEN,
    add,
    client_of,
    ended,
    made,
    post_sweep,
    swept,
)

import simoom as sm
from simoom.serve import Limits
from simoom.serve.drafts import Desk
from simoom.serve.jobs import Job, Jobs
from simoom.serve.library import Library, Listing
from simoom.serve.tasks import Simulation
from simoom.show.sections import headline, shown


@pytest.fixture
def page(tmp_path):
    with client_of(tmp_path) as client:
        yield client


# --- Which requests are answered ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "reason"),
    [
        ({"host": "evil.example:8642"}, "another name"),
        ({"host": "127.0.0.1:8643"}, "another name"),
        ({"origin": "http://evil.example"}, "another site"),
        ({"origin": "null"}, "another site"),
        ({"origin": f"https://{HOST}"}, "another site"),
        ({"sec-fetch-site": "cross-site"}, "another site"),
        ({"cookie": "simoom=another-token"}, "token is missing"),
        ({"cookie": ""}, "token is missing"),
    ],
)
def test_a_request_from_elsewhere_is_refused(page, headers, reason):
    for path in ("/", "/api/start", "/static/app.css", "/api/runs"):
        answer = page.get(path, headers=headers)
        assert answer.status_code == 403, path
        assert reason in answer.text
        assert "set-cookie" not in answer.headers


def test_the_printed_link_gives_the_cookie_and_no_other_request_does(page):
    page.cookies.clear()
    assert page.get("/?token=wrong").status_code == 403
    answer = page.get(f"/?token={TOKEN}")
    assert answer.status_code == 200
    cookie = answer.headers["set-cookie"]
    assert cookie == f"simoom={TOKEN}; HttpOnly; SameSite=Strict; Path=/"
    page.cookies.clear()
    assert page.get(f"/api/start?token={TOKEN}").status_code == 403


def test_every_answer_forbids_frames_and_foreign_scripts(page):
    for path in ("/", "/api/start", "/nothing", "/api/runs/x"):
        headers = page.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_the_page_has_the_nonce_of_its_policy(page):
    answers = [page.get("/"), page.get("/")]
    nonces = [
        re.search(r"nonce-([^']+)'", a.headers["content-security-policy"])[1] for a in answers
    ]
    assert nonces[0] != nonces[1]
    for nonce, answer in zip(nonces, answers, strict=True):
        assert f'content="{nonce}"' in answer.text


@pytest.mark.parametrize("origin", [None, "http://evil.example", "null"])
def test_a_web_socket_of_another_site_is_refused(page, origin):
    headers = {} if origin is None else {"origin": origin}
    with (
        pytest.raises(WebSocketDisconnect),
        page.websocket_connect(LIVE, headers=headers),
    ):
        pass


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static/../app.py", "/static/app.py",
        "/static/..%5c..%5cREADME.md", "/static/%2fetc%2fpasswd", "/static/app.css%00.js",
    ],
)  # fmt: skip
def test_only_parts_of_the_page_are_served(page, path):
    assert page.get(path).status_code in (404, 405)


@pytest.mark.parametrize(
    "key", ["..%2f..%2fsecret", "%2e%2e", "x", "0" * 63, "G" * 64, "..%2f" + "0" * 64]
)
def test_no_id_leaves_the_library(page, tmp_path, key):
    secret = tmp_path / "secret.json"
    secret.write_text("{}")
    for method in ("GET", "DELETE", "PATCH"):
        answer = page.request(
            method, f"/api/runs/{key}", json={"name": "x"} if method == "PATCH" else None
        )
        assert answer.status_code in (404, 405), answer.text
    assert page.get(f"/api/runs/{key}/air").status_code == 404
    assert secret.exists()


# --- What is sent -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"[]", 400, "must be a JSON object"),
        (b"{}", 400, "text: must be of type str"),
        (b'{"text": 3}', 400, "text: must be of type str"),
    ],
)
def test_a_malformed_request_is_answered_by_one_message(page, body, status, message):
    answer = page.post("/api/check", content=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_a_scenario_of_100_mb_is_refused_with_its_limit(page):
    chunk = b"#" * (1 << 20)
    answer = page.post("/api/check", content=(chunk for _ in range(100)))
    assert answer.status_code == 413
    assert answer.json()["error"] == (
        "the scenario has more than 1,024 KiB, and this server takes no longer one"
    )
    assert page.get("/api/start").status_code == 200


def test_faults_have_the_places_of_their_values(page, cell):
    text = '# a cell\ntitle = "ü😀"\nstandard = "11g"\nstations = 2\n[wlan]\ncw_min = 30\n'
    text += '[[flows]]\nfrom = "server"\nto = "sta9"\n'
    issues = page.post("/api/check", json={"text": text}).json()["issues"]
    shown = text.encode("utf-16-le")
    places = {
        issue["path"]: shown[2 * issue["from"] : 2 * issue["to"]].decode("utf-16-le")
        for issue in issues
    }
    assert places == {"wlan.cw_min": "cw_min = 30", "flows[0].to": 'to = "sta9"'}
    assert [issue["line"] for issue in issues] == [6, 9]
    (fault,) = page.post("/api/check", json={"text": "standard = \n"}).json()["issues"]
    assert fault["line"] == 1
    assert page.post("/api/check", json={"text": cell.to_toml()}).json()["issues"] == []


def test_an_edit_keeps_comments_and_order(page):
    text = (
        '# a cell\nstandard = "11g"  # OFDM\nstations = 2\n\n[[flows]]\nfrom = "ap"\nto = "sta*"\n'
    )

    def edited(path, value):
        answer = page.post("/api/edit", json={"text": text, "path": path, "value": value})
        return answer.json()["text"]

    assert edited("stations", 5) == text.replace("stations = 2", "stations = 5")
    assert edited("flows[0].to", "sta0") == text.replace("sta*", "sta0")
    assert edited("flows[0].control", "cubic") == text.replace(
        "[[flows]]\n", '[[flows]]\ncontrol = "cubic"\n'
    )
    assert edited("duration_s", 9.0) == text.replace("\n[[flows]]", "\nduration_s = 9.0\n[[flows]]")
    changed = edited("wlan.cw_min", 31)
    assert sm.Scenario.parse(changed) == sm.Scenario.parse(text).set("wlan.cw_min", 31)
    assert (
        page.post("/api/edit", json={"text": text, "path": "statoins", "value": 1}).status_code
        == 422
    )


def test_a_map_has_positions_and_who_detects_whom(page):
    text = """
        standard = "11a"
        radio = {}
        ap.position_m = [0, 0]
        stations = [{ position_m = [40, 0] }, { position_m = [-40, 0] }]
        flows = [{ from = "sta*", to = "ap", traffic = "saturated" }]
    """
    shown = page.post("/api/check", json={"text": text}).json()["map"]
    nodes = {node["name"]: (node["at"], node["path"]) for node in shown["nodes"]}
    assert nodes["sta1"] == ([-40, 0], "stations[1].position_m")
    assert nodes["ap"] == ([0, 0], "ap.position_m")
    assert shown["hidden"] == [["sta0", "sta1"]]
    moved = {"text": text, "path": "stations[1].position_m", "value": [5.0, 6.0]}
    assert "position_m = [5.0, 6.0] }]" in page.post("/api/edit", json=moved).json()["text"]


def test_code_and_files_from_elsewhere_are_refused(page, cell):
    text = cell.to_toml()
    code = cell.set("flows[0].control", {"python": {"path": "os:system"}}).to_toml()
    (issue,) = add(page, code).json()["issues"]
    assert issue["path"] == "flows[0].control.python"
    assert "--controllers" in issue["message"]
    assert page.post("/api/check", json={"text": code}).json()["issues"][0]["path"] == issue["path"]
    assert page.post("/api/check", json={"text": text}).json()["issues"] == []


@pytest.mark.parametrize("where", ["../secret.tcl", "{absolute}", "link.tcl"])
def test_a_file_outside_the_folder_is_refused(tmp_path, where):
    folder = tmp_path / "own"
    folder.mkdir()
    secret = tmp_path / "secret.tcl"
    secret.write_text("a secret")
    (folder / "link.tcl").symlink_to(secret)
    text = f"""
        standard = "11b"
        radio = {{}}
        ap.position_m = [0, 0]
        stations = {{ count = 1, movement.setdest.file = "{where.format(absolute=secret)}" }}
        flows = [{{ from = "sta0", to = "ap" }}]
    """
    with client_of(tmp_path, desk=Desk(folder)) as page:
        (issue,) = page.post("/api/check", json={"text": text}).json()["issues"]
    assert issue["message"].endswith(": is outside the folder of this server")
    assert "a secret" not in issue["message"]


# --- Runs ---------------------------------------------------------------------------------------


def test_a_run_gives_the_results_that_python_gives(page, cell):
    key = made(page, cell.to_toml(), seed=7, name="mine")
    kept = page.get(f"/api/runs/{key}").json()
    run = sm.run(cell, seed=7, probes=["total.goodput_mbps"])
    assert kept["digest"] == run.digest
    assert kept["summary"]["total.goodput_mbps"] == run.summary["total.goodput_mbps"]
    times, values = run.samples("total.goodput_mbps")
    assert kept["series"]["total.goodput_mbps"] == {"t": times.tolist(), "v": values.tolist()}
    assert kept["name"] == "mine"
    assert kept["headline"] == [list(fact) for fact in headline(run.summary)]
    assert kept["tables"] == [table.data() for table in shown(run)]
    assert sm.Scenario.parse(kept["scenario"]) == cell


def test_the_library_outlives_the_server(tmp_path, cell):
    with client_of(tmp_path) as page:
        key = made(page, cell.to_toml(), name="first")
    with client_of(tmp_path) as page:
        (entry,) = page.get("/api/runs").json()
        assert (entry["id"], entry["name"], entry["state"]) == (key, "first", "done")
        page.patch(f"/api/runs/{key}", json={"name": "second"})
        assert page.get(f"/api/runs/{key}").json()["name"] == "second"
        page.delete(f"/api/runs/{key}")
        assert page.get("/api/runs").json() == []
        assert page.get(f"/api/runs/{key}").status_code == 404
    assert [file for file in tmp_path.rglob("*") if file.is_file()] == []


def test_a_damaged_result_is_shown_as_such_and_can_be_deleted(tmp_path, cell):
    with client_of(tmp_path) as page:
        key = made(page, cell.to_toml())
    (file,) = (tmp_path / "library" / "runs").glob("??/*.json")
    file.write_text(file.read_text().replace('"seed": 1', '"seed": 2'))
    with client_of(tmp_path) as page:
        (entry,) = page.get("/api/runs").json()
        assert (entry["state"], entry["message"]) == ("failed", "the record of this run is damaged")
        answer = page.get(f"/api/runs/{key}")
        assert (answer.status_code, answer.json()["error"]) == (422, entry["message"])
        page.delete(f"/api/runs/{key}")
        assert page.get("/api/runs").json() == []


def test_a_run_can_be_stopped_and_others_go_on(page, endless, cell):
    first = add(page, endless.to_toml()).json()["id"]
    second = add(page, cell.to_toml()).json()["id"]
    page.cookies.set("simoom", TOKEN)
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        live.send_json({"type": "watch", "id": first})
        while live.receive_json()["type"] != "series":
            pass
        live.send_json({"type": "stop", "id": first})
        assert ended(page, first)["state"] == "stopped"
    assert ended(page, second)["state"] == "done"


def test_live_samples_are_those_of_the_finished_run(page, cell):
    text = cell.set("duration_s", 120.0).to_toml()
    key = add(page, text).json()["id"]
    seen = {"t": [], "v": []}
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        live.send_json({"type": "watch", "id": key})
        is_done = False
        while not is_done:
            message = live.receive_json()
            if message["type"] == "series":
                own = message["series"].get("total.goodput_mbps", {"t": [], "v": []})
                seen["t"] += own["t"]
                seen["v"] += own["v"]
            if message["type"] == "runs":
                is_done = any(r["id"] == key and r["state"] == "done" for r in message["runs"])
    kept = page.get(f"/api/runs/{key}").json()["series"]["total.goodput_mbps"]
    count = len(seen["t"])
    assert count > 0
    assert seen["t"] == kept["t"][:count]
    assert seen["v"] == kept["v"][:count]


def test_samples_of_a_long_run_are_thinned_and_pages_follow(tmp_path, cell, monkeypatch):
    monkeypatch.setattr("simoom.serve.jobs.MOST_SAMPLES", 1000)
    jobs = Jobs(Library(tmp_path, Desk(tmp_path)), Limits(), threads=0)
    job = Job(Simulation(cell, 1, "", key := "0" * 64))
    jobs._jobs[key] = job
    seen, thinned, starts = [], -1, {}
    for batch in range(100):
        times = np.arange(300.0) + 300 * batch
        jobs._collect(job, {"x": (times, times)})
        now, series = jobs.series(key, starts, thinned)
        seen = series["x"]["t"] if now != thinned else seen + series["x"]["t"]
        thinned, starts = now, {"x": len(seen)}
        assert seen == list(job.series["x"][0])
        assert len(seen) <= 1000
    assert len(seen) > 500
    assert seen[-1] > 29_990.0


def test_a_page_that_leaves_ends_no_run(page, cell):
    key = add(page, cell.set("duration_s", 60.0).to_toml()).json()["id"]
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        live.send_json({"type": "watch", "id": key})
        live.receive_json()
    assert ended(page, key)["state"] == "done"


def test_malformed_messages_are_answered_and_too_many_close_the_socket(page):
    messages = ["{", "[]", "3", '{"type": "fly"}', '{"type": "watch", "id": 7}', "[" * 10_000]
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        assert live.receive_json() == {"type": "runs", "runs": [], "sweeps": []}
        for message in messages:
            live.send_text(message)
            assert live.receive_json()["type"] == "error"
        live.send_bytes(b"\x00")
        assert live.receive_json() == {"type": "error", "message": "a message must be text"}
        for _ in range(3):
            live.send_text("{")
            live.receive_json()
        with pytest.raises(WebSocketDisconnect):
            live.receive_json()
    assert page.get("/api/runs").json() == []


def test_ten_pages_see_the_same_runs(page, cell):
    with ExitStack() as stack:
        pages = [
            stack.enter_context(page.websocket_connect(LIVE, headers=ORIGIN)) for _ in range(10)
        ]
        key = add(page, cell.to_toml()).json()["id"]
        for own in pages:
            while not any(r["id"] == key for r in own.receive_json().get("runs", [])):
                pass


def test_limits_of_queue_time_and_pages(tmp_path, endless):
    limits = Limits(queue=2, run_s=0.3, pages=1)
    with client_of(tmp_path, limits=limits) as page:
        keys = [add(page, endless.to_toml(), seed=seed).json()["id"] for seed in (1, 2)]
        full = add(page, endless.to_toml(), seed=3)
        assert full.status_code == 429
        assert full.json()["error"] == "2 runs wait already: stop one, or wait"
        assert ended(page, keys[1])["message"] == "it took more than 0.3 s"
        with (
            page.websocket_connect(LIVE, headers=ORIGIN),
            pytest.raises(WebSocketDisconnect),
            page.websocket_connect(LIVE, headers=ORIGIN),
        ):
            pass


def test_the_same_scenario_and_seed_are_run_once(page, cell):
    text = cell.to_toml()
    key = made(page, text)
    assert add(page, text + "\n# a comment\n").json()["id"] == key
    assert len(page.get("/api/runs").json()) == 1
    assert add(page, text, seed=2).json()["id"] != key


@pytest.mark.parametrize("seed", [-1, 1 << 53, 1.5, True, "1", None])
def test_a_wrong_seed_is_refused(page, cell, seed):
    answer = add(page, cell.to_toml(), seed=seed)
    assert answer.status_code in (400, 422)
    assert answer.json()["error"].startswith("seed: must be")


# --- Explanations -------------------------------------------------------------------------------

WINDOW = """standard = "11n"
stations = 1
duration_s = 1.0
wire.delay_ms = 20.0

[[flows]]
name = "down"
from = "server"
to = "sta0"
tcp.window_bytes = 20000
"""


def test_a_run_is_explained_in_the_queue(page):
    key = made(page, WINDOW)
    address = f"/api/runs/{key}/why"
    assert page.get(address).json() == {"flows": ["down"], "found": {}}
    own = page.post(address, json={"flow": "down"}).json()["id"]
    while entry := next((e for e in page.get("/api/runs").json() if e["id"] == own), None):
        assert (entry["explains"], entry["flow"]) == (key, "down")
        time.sleep(0.02)
    found = page.get(address).json()["found"]["down"]
    expected = sm.why(sm.Scenario.parse(WINDOW), flow="down", seed=1)
    assert "flows[0].tcp.window_bytes=16777216" in found["causes"][0][1]
    assert found["value"]["mean"] == expected.value.mean
    assert [bar["mean"] for bar in found["bars"]][:2] == [
        expected.value.mean, expected.causes[0].value.mean
    ]  # fmt: skip
    # It goes with its run.
    page.delete(f"/api/runs/{key}")
    assert page.get(address).status_code == 404


def test_an_explanation_can_be_stopped(page, endless):
    key = made(page, WINDOW)
    first = add(page, endless.to_toml()).json()["id"]
    own = page.post(f"/api/runs/{key}/why", json={"flow": ""}).json()["id"]
    page.delete(f"/api/runs/{own}")
    page.delete(f"/api/runs/{first}")
    assert page.get(f"/api/runs/{key}/why").json()["found"] == {}


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [({"flow": "nobody"}, 422, "nobody"), ({}, 400, "flow"), ({"flow": 3}, 400, "flow")],
)
def test_a_flow_that_does_not_exist_is_one_message(page, body, status, message):
    key = made(page, WINDOW)
    said = page.post(f"/api/runs/{key}/why", json=body)
    assert said.status_code == status
    assert message in said.json()["error"]
    missing = page.post(f"/api/runs/{'0' * 64}/why", json={"flow": ""})
    assert missing.status_code == 404


# --- Theory, hearing, sweeps --------------------------------------------------------------------


def test_the_twin_is_beside_the_values_of_its_run(page):
    saturated = SPACE.split("[radio]")[1]
    text = f'standard = "11b"\nstations = 5\nduration_s = 1.0\n{saturated}'
    key = made(page, text)
    found = page.get(f"/api/runs/{key}/twin").json()
    run = sm.run(sm.Scenario.parse(text), seed=1)
    twin = sm.predict(run.scenario)
    assert found["model"] == twin.model.family
    assert {own["path"]: (own["predicted"], own["measured"]) for own in found["values"]} == {
        each.path: (each.predicted, each.measured) for each in twin.compare(run)
    }
    assert [check["name"] for check in found["fits"][0]["checks"]] == [
        check.name for check in twin.model.checks
    ]


def test_hearing_has_each_pair_once(page):
    text = SPACE
    body = {"text": text, "seed": 1, "at_s": 0.0}
    found = page.post("/api/hearing", json=body).json()
    heard = sm.hearing(sm.Scenario.parse(text))
    assert found["nodes"] == list(heard.nodes)
    for pair in heard.pairs:
        row, column = heard.nodes.index(pair.source), heard.nodes.index(pair.sink)
        assert found["matrix"][row][column] == [pair.signal_dbm, pair.detected, pair.is_link]
    assert found["hidden"] == [list(pair) for pair in heard.hidden]
    for changes, message in (({"at_s": -1.0}, "at_s"), ({"seed": -1}, "seed"),
                             ({"text": text.replace("[radio]", "")}, "radio")):  # fmt: skip
        said = page.post("/api/hearing", json={**body, **changes})
        assert said.status_code == 422
        assert message in said.json()["error"]


def test_a_sweep_has_the_means_that_python_gives_and_its_points_open_runs(page):
    over = {"stations": "1, 2", "flows[*].control": "new_reno, cubic"}
    before = made(page, SWEPT)
    key = swept(page, over)
    found = page.get(f"/api/sweeps/{key}").json()
    axes = {"stations": [1, 2], "flows[*].control": ["new_reno", "cubic"]}
    expected = sm.sweep(sm.Scenario.parse(SWEPT), over=axes, replications=2)
    means = expected.mean("total.goodput_mbps").to_dicts()
    assert found["over"] == axes
    assert found["labels"] == {"stations": ["1", "2"], "flows[*].control": ["new_reno", "cubic"]}
    assert [point["mean"] for point in found["points"]] == [row["mean"] for row in means]
    assert [point["ci_low"] for point in found["points"]] == [row["ci_low"] for row in means]
    point = found["points"][3]
    run = page.get(f"/api/runs/{point['runs'][1]}").json()
    assert run["replication"] == 1
    assert run["summary"]["total.goodput_mbps"] == point["values"][1]
    other = page.get(f"/api/sweeps/{key}?path=total.jain_index").json()
    assert other["points"][0]["mean"] == 1.0
    # The list of runs has the one that was run alone, and none of the sweep.
    assert [entry["id"] for entry in page.get("/api/runs").json()] == [before]
    assert [entry["name"] for entry in page.get("/api/sweeps").json()] == ["mine"]
    page.delete(f"/api/sweeps/{key}")
    assert page.get(f"/api/sweeps/{key}").status_code == 404
    assert page.get(f"/api/runs/{point['runs'][1]}").status_code == 404
    assert page.get(f"/api/runs/{before}").status_code == 200


@pytest.mark.parametrize(
    ("over", "message"),
    [
        ({}, "one axis or two"),
        ({"stations": "1", "duration_s": "1", "warmup_s": "0"}, "one axis or two"),
        ({"stations": "1,,2"}, "stations: a value between two commas is missing"),
        ({"stations": "1,1"}, "stations: has 1 twice"),
        ({"stations": "1, -3"}, "stations"),
        ({"nothing": "1"}, "nothing"),
        ({"stations": ",".join(map(str, range(1, 1200)))}, "at most 2,000"),
        ({"flows[*].control": "{python={path='os:system'}}"}, "--controllers"),
    ],
)
def test_a_sweep_that_cannot_be_is_one_message(page, over, message):
    said = post_sweep(page, over)
    assert said.status_code in (400, 422)
    assert message in said.json()["error"]
    assert page.get("/api/runs").json() == []


def test_a_page_is_told_of_a_sweep_that_it_did_not_see_in_progress(page):
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        assert live.receive_json()["sweeps"] == []
        # The sweep ends between two looks: no message had its job.
        key = swept(page, {"stations": "1"}, replications=1)
        while (told := live.receive_json())["sweeps"] == []:
            pass
        assert [entry["id"] for entry in told["sweeps"]] == [key]
        assert [entry["id"] for entry in told["runs"]] == []
        made = told["sweeps"][0]["made"]
        swept(page, {"stations": "1"}, replications=1)
        while (told := live.receive_json())["sweeps"][0]["made"] == made:
            pass
        page.delete(f"/api/sweeps/{key}")
        while live.receive_json()["sweeps"]:
            pass


def test_a_list_that_is_read_while_a_file_changes_is_read_again():
    files = ["first"]

    def read():
        found = [{"id": name} for name in files]
        if files == ["first"]:
            files.append("second")
            listing.changed()
        return found

    listing = Listing(read)
    assert listing.get() == [{"id": "first"}]
    assert listing.get() == [{"id": "first"}, {"id": "second"}]
    assert listing.get() is listing.get()


def test_a_damaged_sweep_is_not_listed_and_its_page_says_so(page, tmp_path):
    key = "0" * 64
    for text in ("[]", "{}", "{"):
        (tmp_path / "library" / "sweeps" / f"{key}.json").write_text(text, encoding="utf-8")
        assert page.get("/api/sweeps").json() == []
        assert page.get(f"/api/sweeps/{key}").status_code == 404
    with page.websocket_connect(LIVE, headers=ORIGIN) as live:
        assert live.receive_json()["sweeps"] == []


@pytest.mark.parametrize("key", ["0" * 64, "..%2f..%2fsecret", "x"])
def test_no_sweep_leaves_the_library(page, key):
    for method in (page.get, page.delete):
        assert method(f"/api/sweeps/{key}").status_code == 404


# --- The timeline -------------------------------------------------------------------------------


@pytest.fixture
def timeline(page, cell):
    scenario = cell.set("duration_s", 2.0)
    key = made(page, scenario.to_toml(), air=True)
    return f"/api/runs/{key}/air", sm.run(scenario, trace=True).trace


def test_a_tile_has_the_frames_of_the_trace(page, timeline):
    path, trace = timeline
    about = page.get(path).json()
    assert about["frames"] == len(trace.frames)
    assert about["radios"] == ["ap", "sta0", "sta1", "sta2"]
    tile = page.get(f"{path}/tile/26/10").content
    start, end = 10 * 2**26 / 1e9, 11 * 2**26 / 1e9
    frames = trace.frames.filter((trace.frames["start_s"] < end) & (trace.frames["end_s"] > start))
    head = np.frombuffer(tile, np.uint32, 8)
    assert (head[0], head[1] & 1, head[2]) == (1, 0, len(frames))
    starts = np.frombuffer(tile, np.float64, len(frames), offset=32)
    np.testing.assert_allclose(starts / 1e9, frames["start_s"].to_numpy())


def test_the_search_finds_collisions_of_a_node(page, timeline):
    path, trace = timeline
    about = page.get(path).json()
    wanted = trace.frames.filter(
        (trace.frames["transmitter"] == "sta1") & (trace.frames["outcome"] == "collision")
    )["number"].to_list()
    radio, outcome = about["radios"].index("sta1"), about["outcome"].index("collision")
    found, at = [], -1
    while True:
        query = f"number={at}&radio={radio}&outcome={outcome}"
        frame = page.get(f"{path}/find?{query}").json()
        if frame is None:
            break
        found.append(at := frame["number"])
    assert found == wanted != []


def test_the_life_of_a_segment_goes_from_its_write_to_its_ack(page, timeline):
    path, trace = timeline
    about = page.get(path).json()
    carried = trace.mpdus.filter((trace.mpdus["flow"] == "down") & (trace.mpdus["bytes"] > 1000))
    frame = page.get(f"{path}/frame/{carried['frame'][200]}").json()
    life = page.get(f"{path}/life/{frame['mpdus_carried'][0]['packet']}").json()
    assert life[0]["what"] in ("packet", "segment")
    assert life[-1]["what"] == "acknowledged"
    assert [step["at_ns"] for step in life] == sorted(step["at_ns"] for step in life)
    steps = [about["step"][step["step"]] for step in life if step["what"] == "packet"]
    assert steps[0] == "sent"
    assert {"dequeued", "arrived", "served"} <= set(steps)


@pytest.mark.parametrize(
    "path",
    ["tile/0/0", "tile/63/0", "tile/20/99999999999999999999", "frame/4000000000",
     "frame/99999999999999", "tile/20/-1"],
)  # fmt: skip
def test_tiles_and_frames_that_do_not_exist_are_not_found(page, timeline, path):
    assert page.get(f"{timeline[0]}/{path}").status_code == 404


def test_a_run_without_a_timeline_gets_one_when_it_is_run_again(page, cell):
    text = cell.to_toml()
    key = made(page, text)
    assert "run it again" in page.get(f"/api/runs/{key}/air").json()["error"]
    assert add(page, text, air=True).json()["id"] == key
    assert ended(page, key)["state"] == "done"
    end = time.monotonic() + 30
    while page.get(f"/api/runs/{key}/air").status_code != 200:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_every_shipped_scenario_is_in_the_gallery(page):
    entries = page.get("/api/start").json()["gallery"]
    files = (Path(__file__).parents[1] / "scenarios").glob("*.toml")
    # Their texts have no lines for the command line (test_serve_gallery.py).
    shown = {entry["name"]: sm.Scenario.parse(entry["text"]) for entry in entries}
    assert shown == {file.stem: sm.Scenario.load(file) for file in files}


# --- The command --------------------------------------------------------------------------------


def test_a_port_in_use_is_one_message(simoom):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = simoom("serve", "--port", port)
    message = f"--port {port}: is in use; choose another one, or 0 for a free one\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_a_library_that_cannot_be_written_is_one_message(simoom, tmp_path):
    (tmp_path / "file").write_text("")
    done = simoom("serve", "--port", 0, "--library", tmp_path / "file" / "runs")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{tmp_path / 'file' / 'runs' / 'runs'}: not a directory\n"


def test_a_file_that_is_no_scenario_of_this_size_is_refused(simoom, tmp_path):
    (tmp_path / "long.toml").write_text("#" * (1 << 21))
    done = simoom("serve", "--port", 0, "long.toml")
    assert (done.returncode, done.stderr) == (2, "long.toml: has more than 1,024 KiB\n")


@pytest.mark.parametrize(
    "option", [["--run-s", "0"], ["--threads", "0"], ["--port", "70000"], ["--queue", "-1"]]
)
def test_an_option_out_of_range_is_one_message(simoom, option):
    done = simoom("serve", *option)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{option[0]} {option[1]}: must be ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_ctrl_c_ends_the_server_and_its_runs(tmp_path, endless):
    command = [sys.executable, "-m", "simoom", "serve", "--port", "0"]
    with subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8"
    ) as server:
        link = server.stdout.readline().strip()
        address, _, token = link.partition("/?token=")
        port = address.rpartition(":")[2]
        cookie = {"cookie": f"simoom-{port}={token}"}
        body = {"text": endless.to_toml(), "seed": 1, "name": "", "air": True}
        with httpx2.Client(base_url=address, headers=cookie) as client:
            assert client.post("/api/runs", json=body).status_code == 200
        server.send_signal(signal.SIGINT)
        _, errors = server.communicate(timeout=60)
    assert server.returncode == 130
    assert errors.splitlines()[-1] == "interrupted"
    assert "Traceback" not in errors
    left = [file.name for file in (tmp_path / "simoom-runs").rglob("*") if file.is_file()]
    assert left == []


def test_the_oldest_timelines_are_dropped_first_and_said_so(tmp_path, small):
    library = Library(tmp_path, Desk(tmp_path))
    done = sm.run(small)
    keys = [f"{n}" * 64 for n in range(3)]
    for age, key in enumerate(keys):
        library.put(key, done, name="")
        library.air(key).write_bytes(bytes(1000))
        os.utime(library.air(key), (1000 + age, 1000 + age))
    library.drop_timelines(2000, keys[0])
    assert [library.air(key).is_file() for key in keys] == [True, False, True]
    dropped = [library.entry(key)["air_dropped"] for key in keys]
    assert dropped == [False, True, False]
