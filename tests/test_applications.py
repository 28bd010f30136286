"""Applications: requests, writes, video, calls, games, bursts, and traffic from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import simoom as sm
from simoom.base.issue import ScenarioError


def run(traffic: Any, *, down: bool = True, **keys: Any) -> sm.Run:
    """A short run of one flow in a cell behind a link."""
    ends = ("server", "sta0") if down else ("sta0", "server")
    flow = {"from": ends[0], "to": ends[1], "traffic": traffic}
    base: dict[str, Any] = {
        "standard": "11g", "stations": 1, "duration_s": 20.0, "warmup_s": 1.0,
        "wire": {"rate_mbps": 100.0, "delay_ms": 10.0}, "flows": [flow],
    }  # fmt: skip
    return sm.run(sm.Scenario(**{**base, **keys}), check=True)


def test_responses_share_a_connection_and_so_skip_handshakes() -> None:
    size = {"constant": {"bytes": 30_000}}
    think = {"size": size, "think_s": 0.5, "pauses": "constant", "first": "file"}
    web = run({"web": think}).summary
    requests = run({"requests": think}).summary
    assert requests["flows[0].session_delay_s.count"] >= web["flows[0].session_delay_s.count"]
    # A handshake takes a round trip of 20 ms.
    saved = web["flows[0].session_delay_s.mean"] - requests["flows[0].session_delay_s.mean"]
    assert 0.015 < saved < 0.1


def test_writes_have_their_rate_and_leave_the_sender_idle() -> None:
    found = run({"writes": {"rate_mbps": 2.0, "write_bytes": 5000}}).summary
    assert found["flows[0].goodput_mbps"] == pytest.approx(2.0, rel=0.01)
    assert found["flows[0].limited_by.application_fraction"] > 0.9


def test_a_video_plays_at_the_rate_that_the_path_has() -> None:
    video = {"video": {"ladder_mbps": [0.5, 1.0, 2.0, 4.0], "segment_s": 2.0, "startup_s": 2.0}}
    fast = run(video).summary
    assert fast["flows[0].video.rebuffers"] == 0
    assert fast["flows[0].video.rate_mbps"] > 3.0
    slow = run(video, wire={"rate_mbps": 1.6, "delay_ms": 10.0}).summary
    assert slow["flows[0].video.rate_mbps"] == pytest.approx(1.0, abs=0.15)
    starved = run(video, wire={"rate_mbps": 0.4, "delay_ms": 10.0}).summary
    assert starved["flows[0].video.rebuffers"] >= 2
    # 0.5 Mb/s of video arrive at less than 0.4 Mb/s.
    assert 0.15 < starved["flows[0].video.rebuffering_fraction"] < 0.4


def test_a_call_is_good_until_it_is_late() -> None:
    good = run({"call": {}}).summary
    # 120 ms from mouth to ear impair by less than a point of R = 93.2 (G.107).
    assert 4.3 < good["flows[0].mos"] < 4.42
    assert good["flows[0].late_fraction"] == 0.0
    late = run({"call": {}}, wire={"delay_ms": 110.0}).summary
    assert late["flows[0].late_fraction"] == 1.0
    assert late["flows[0].mos"] == pytest.approx(1.0, abs=0.5)


def test_lost_datagrams_are_late() -> None:
    wire = {"delay_ms": 10.0, "loss": {"periodic": {"every": 4}}}
    found = run({"game": {}}, wire=wire).summary
    assert found["flows[0].late_fraction"] == pytest.approx(0.25, abs=0.01)


def test_on_off_sends_its_rate_for_its_share_of_the_time() -> None:
    traffic = {"on_off": {"rate_mbps": 4.0, "on_s": 0.5, "off_s": 1.5, "periods": "constant"}}
    found = run(traffic).summary
    assert found["flows[0].goodput_mbps"] == pytest.approx(1.0, rel=0.1)


def test_jitter_is_the_difference_of_neighbouring_delays() -> None:
    alone = run({"call": {}}).summary
    assert alone["flows[0].jitter_s"] < 1e-4
    flows = [
        {"from": "server", "to": "sta0", "traffic": {"call": {}}},
        {"from": "server", "to": "sta0"},
    ]
    beside = run(None, flows=flows, ap={"queue": {"drop_tail": {"limit_packets": 100}}}).summary
    assert beside["flows[0].jitter_s"] > 10 * alone["flows[0].jitter_s"]


@pytest.mark.parametrize("transport", ["udp", "tcp"])
def test_a_file_says_what_is_sent_when(tmp_path: Path, transport: str) -> None:
    rows = "".join(f"{0.01 * n},{500 + n % 2}\n" for n in range(400))
    (tmp_path / "sent.csv").write_text("time_s,size_bytes\n" + rows)
    (tmp_path / "cell.toml").write_text(
        'standard = "11g"\nstations = 1\nduration_s = 5.0\nwarmup_s = 0.0\n'
        '[[flows]]\nfrom = "server"\nto = "sta0"\n'
        f'traffic.csv = {{ file = "sent.csv", transport = "{transport}" }}\n'
    )
    found = sm.run(tmp_path / "cell.toml", check=True).summary
    assert found["flows[0].goodput_mbps"] == pytest.approx(400 * 500.5 * 8e-6 / 5.0, rel=1e-6)


def test_a_file_that_goes_back_in_time_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "sent.csv"
    file.write_text("time_s,size_bytes\n2,100\n1,100\n")
    with pytest.raises(ScenarioError) as error:
        run({"csv": {"file": str(file)}})
    (issue,) = error.value.issues
    assert issue.path == "flows[0].traffic.csv.file"
    assert issue.message == f"{file}: line 3: 1 s is before the line above, 2 s"


def test_a_ladder_ascends() -> None:
    with pytest.raises(ScenarioError, match="ladder_mbps: must have at least one rate, and ascend"):
        run({"video": {"ladder_mbps": [2.0, 1.0]}})
