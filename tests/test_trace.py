"""Traces: the run stays the same, its counters agree with the records, and files are complete."""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

import polars as pl
import pytest

import simoom as sm
from simoom.trace.columns import TABLES

FILES = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
OF_THE_MAC = [
    "Beacon",
    "Null",
    "QoS Null",
    "PS-Poll",
    "Authentication",
    "Reassociation Request",
    "Reassociation Response",
]
"""Frames that carry no packet of the network layer."""
INITIATES = ["RTS", "CTS-to-self", "Data", "BlockAckReq", "Trigger", *OF_THE_MAC]
LOST_TO_OTHERS = ["collision", "interference", "receiver transmits", "receiver busy"]


@functools.cache
def traced(name: str) -> tuple[sm.Run, sm.Run]:
    """Return a short run of a scenario without a trace, and one with."""
    file = next(file for file in FILES if file.stem == name)
    flows = tomllib.loads(file.read_text(encoding="utf-8"))["flows"]
    last_s = max(flow.get("start_s", 0.0) for flow in flows)
    duration_s = 3.0 if last_s < 3.0 else last_s + 1.0
    scenario = sm.Scenario.load(file).set("duration_s", duration_s).set("warmup_s", 0.0)
    return sm.run(scenario), sm.run(scenario, trace=True)


@pytest.fixture(params=[file.stem for file in FILES])
def pair(request):
    return traced(request.param)


@pytest.fixture
def run(pair):
    return pair[1]


def in_a_cell(run):
    return "airtime.idle_fraction" in run.summary


def nodes(run):
    """Return the counters of each node with a radio of its own, by name."""
    summary = run.summary
    named = {"ap": "ap"} if "ap.attempts" in summary else {}
    for index in range(1000):
        if f"stations[{index}].name" not in summary:
            return named
        named[summary[f"stations[{index}].name"]] = f"stations[{index}]"
    return named


def count(rows, *conditions, **values):
    return rows.filter(*conditions, **values).height


def test_a_traced_run_is_the_same(pair):
    plain, traced_run = pair
    assert traced_run.digest == plain.digest
    assert traced_run.events == plain.events
    assert traced_run.summary == plain.summary
    assert plain.trace is None


def test_a_checked_run_may_be_traced():
    scenario = traced("hidden_nodes")[0].scenario.set("duration_s", 0.5)
    both = sm.run(scenario, trace=True, check=True)
    assert both.trace.frames.equals(sm.run(scenario, trace=True).trace.frames)


def test_signals_that_a_node_does_not_sense_set_no_nav():
    """With the EIFS of ns-2, the NAV beside weak signals depended on whether a run is watched."""
    scenario = sm.Scenario(
        standard="11ax",
        duration_s=46.0,
        radio={"ad_hoc": True},
        routing={"gateway": True, "protocol": {"aodv": {"hello": True, "delete_period_s": 0.02}}},
        stations={
            "count": 3,
            "movement": {"manhattan": {"area_m": [323.9043851151657, 24.64704623023129]}},
        },
        wlan={"short_retry_limit": 4, "eifs": "ns2"},
        wire={"rate_mbps": 100},
        flows=[{"from": "server", "to": "sta0", "traffic": "game", "start_s": 0.0267}],
    )
    assert sm.run(scenario, check=True).digest == sm.run(scenario).digest


def test_records_are_in_the_order_of_time(run):
    for table in TABLES:
        rows = getattr(run.trace, table)
        if "number" in rows.columns:
            assert rows["number"].to_list() == list(range(rows.height))
        for column in ("start_s", "time_s", "frame"):
            if column in rows.columns:
                assert rows[column].is_sorted(), (table, column)


def test_columns_are_those_of_the_contract(run):
    for table, columns in TABLES.items():
        assert getattr(run.trace, table).columns == [name for name, _ in columns]


def overlaps(rows, *keys):
    """Return the rows that begin before the row before them with the same keys ends."""
    before = pl.col("end_s").shift(1).over(keys)
    ordered = rows.sort(*keys, "start_s").with_columns(before.alias("before"))
    return ordered.filter(pl.col("start_s") < pl.col("before") - 1e-12)


def test_a_radio_sends_one_ppdu_at_a_time(run):
    # A PPDU to several users is a frame for each, with the same times.
    ppdu = ["transmitter", "start_s", "end_s"]
    frames = run.trace.frames
    assert frames.unique([*ppdu, "receiver"]).height == frames.height
    assert overlaps(frames.unique(ppdu), "transmitter").is_empty()


def test_an_edcaf_waits_for_one_thing_at_a_time(run):
    waits = run.trace.waits
    assert overlaps(waits.filter(pl.col("kind") != "NAV"), "node", "access_category").is_empty()
    assert overlaps(waits.filter(kind="NAV"), "node").is_empty()


def test_who_sends_does_not_count_down(run):
    """A back-off counts idle slots only, so none overlaps a frame of its own radio."""
    frames = run.trace.frames.select(
        pl.col("transmitter").alias("node"), "start_s", pl.col("end_s").alias("sent_s")
    )
    backoffs = run.trace.waits.filter(kind="backoff").select(
        "node", pl.col("start_s").alias("begin_s"), "end_s"
    )
    both = backoffs.sort("end_s").join_asof(
        frames.sort("start_s"),
        left_on="end_s",
        right_on="start_s",
        by="node",
        allow_exact_matches=False,
    )
    assert both.filter(pl.col("sent_s") > pl.col("begin_s") + 1e-12).is_empty()


@pytest.mark.parametrize("name", ["hotspot_11b", "hidden_nodes", "retry_limits", "mixed_bg"])
def test_a_backoff_goes_on_where_it_stopped_and_ends_in_a_frame(name):
    trace = traced(name)[1].trace
    first = trace.frames.filter(pl.col("kind").is_in(INITIATES)).unique("exchange", keep="first")
    sends = first.select(pl.col("transmitter").alias("node"), "start_s")
    backoffs = trace.waits.filter(kind="backoff")
    steps = pl.concat([backoffs, sends], how="diagonal").sort("node", "start_s")
    before = pl.col("slots_after", "end_s").shift(1).over("node").name.prefix("last_")
    steps = steps.with_columns(before).filter(pl.col("last_slots_after").is_not_null())
    goes_on = steps.filter(kind="backoff").filter(pl.col("last_slots_after") > 0)
    assert goes_on.height > 100
    assert (goes_on["slots_before"] == goes_on["last_slots_after"]).all()
    sent = steps.filter(pl.col("kind").is_null())
    assert sent.height > 100
    assert (sent["last_slots_after"] == 0).all()
    slot_s = 20e-6
    counted = backoffs["slots_before"] - backoffs["slots_after"]
    lasting = backoffs["end_s"] - backoffs["start_s"]
    assert ((lasting / slot_s - counted) > -1e-6).all()
    assert ((lasting / slot_s - counted) < 1 + 1e-6).all()


def test_every_packet_is_known_and_goes_its_way(run):
    trace = run.trace
    steps = trace.packets
    sent = steps.filter(step="sent")
    assert sent["packet"].to_list() == list(range(sent.height))
    of_the_mac = trace.frames.filter(pl.col("kind").is_in(OF_THE_MAC))["number"]
    carried = trace.mpdus.filter(~pl.col("frame").is_in(of_the_mac.implode()))
    assert carried["packet"].is_in(sent["packet"].implode()).all()
    ends = steps.filter(pl.col("step").is_in(["arrived", "dropped", "resident"]))
    # A routing message belongs to no flow, and ends where it is received.
    of_flows = sent.filter(pl.col("flow").is_not_null())
    assert of_flows["packet"].is_in(ends["packet"].implode()).all()
    arrived = steps.filter(step="arrived")
    # Where nodes forward, a node whose ACK got lost may send a copy on another way.
    if "routing.messages" not in run.summary:
        assert arrived["packet"].is_unique().all()
    first = steps.group_by("packet", maintain_order=True).first()
    assert set(first["step"].cast(pl.String)) <= {"sent"}


def test_attempts_are_those_of_the_counters(run):
    frames = run.trace.frames
    opens = pl.col("start_s") == pl.col("start_s").min().over("exchange")
    frames = frames.with_columns(opens.alias("opens"))
    for name, path in nodes(run).items():
        own = frames.filter(pl.col("transmitter") == name, pl.col("kind").is_in(INITIATES))
        assert own.filter("opens")["exchange"].n_unique() == run.summary[f"{path}.attempts"], name
        data = own.filter(kind="Data")
        if in_a_cell(run) and f"{path}.mpdus" in run.summary and own.filter(kind="RTS").is_empty():
            assert data["mpdus"].sum() == run.summary[f"{path}.mpdus"]
            assert data["mpdus_retried"].sum() == run.summary[f"{path}.repeated_mpdus"]
            requests = count(own.filter(~answers_trigger()), kind="BlockAckReq")
            assert requests == run.summary[f"{path}.block_ack_requests"]


def answers_trigger():
    """Return which frames stations send in resource units, in exchanges of the access point."""
    return pl.col("ru_tones").is_not_null() & is_of_station()


def is_of_station() -> pl.Expr:
    """Whether a frame is sent by a station."""
    return pl.col("transmitter").cast(pl.String).str.starts_with("sta")


def lost_to_several(frames: pl.DataFrame) -> int:
    """Return the number of PPDUs to several users of which none received anything, and some lost
    it to other frames."""
    users = frames.group_by("transmitter", "start_s").agg(
        received=(pl.col("outcome") == "received").any(),
        disturbed=pl.col("outcome").is_in(LOST_TO_OTHERS).any(),
    )
    return count(users, ~pl.col("received"), pl.col("disturbed"))


def test_losses_are_those_of_the_counters(run):
    frames = run.trace.frames.filter(pl.col("kind") != "CTS-to-self", ~answers_trigger())
    if not in_a_cell(run):
        # That users have lost a MU-BAR is told when the exchange ends.
        frames = frames.filter(pl.col("trigger").cast(pl.String).ne_missing("MU-BAR"))
    responds = pl.col("kind").is_in(["CTS", "Ack", "BlockAck"])
    owner = pl.when(responds).then("receiver").otherwise("transmitter").cast(pl.String)
    frames = frames.with_columns(owner.alias("owner"))
    begun = pl.col("exchange").n_unique().over("start_s") > 1
    # A full-duplex access point whose RTS meets that of a station goes on: no collision for it.
    goes_on = (pl.col("kind") == "Data").any().over("exchange", "transmitter")
    if not in_a_cell(run):
        to_ap = (pl.col("kind") == "RTS") & (pl.col("receiver") == "ap")
        met = (to_ap & (pl.col("outcome") == "received")).any().over("start_s")
        goes_on = met & (pl.col("transmitter") == "ap")
    frames = frames.filter(
        ~((pl.col("kind") == "RTS") & (pl.col("outcome") != "received") & goes_on)
    )
    # And it transmits a CTS while the receiver of its own RTS answers.
    answer = (pl.col("kind") == "CTS") & (pl.col("outcome") == "receiver transmits")
    frames = frames.filter(~answer)
    for name, path in nodes(run).items():
        own = frames.filter(owner=name)
        # Without radios, interference is that of sources that are not 802.11.
        # With full duplex two data frames overlap on purpose, and one may get lost to the other.
        is_full_duplex = "full_duplex.primary" in run.summary
        others = LOST_TO_OTHERS
        if in_a_cell(run) and not is_full_duplex:
            others = [outcome for outcome in others if outcome != "interference"]
        to_several = pl.col("ru_tones").is_not_null()
        lost = count(own.filter(~to_several), pl.col("outcome").is_in(others))
        lost += lost_to_several(own.filter(to_several))
        if in_a_cell(run):
            # A collision counts when it begins.
            lost += count(
                frames.with_columns(begun.alias("c")), owner=name, outcome="unknown", c=True
            )
        elif "routing.messages" in run.summary:
            # One node lost a broadcast by noise, which the trace says; others, to a transmitter.
            lost += count(own, pl.col("outcome") == "noise", pl.col("receiver").is_null())
        assert lost == run.summary[f"{path}.collisions"], name
        if in_a_cell(run):
            noise = count(own, pl.col("outcome") == "noise", pl.col("receiver").is_not_null())
            assert noise == run.summary[f"{path}.noise_losses"], name
            by_sources = (pl.col("outcome") == "interference") & (not is_full_duplex)
            disturbed = count(own, by_sources)
            assert disturbed == run.summary.get(f"{path}.interference_losses", 0), name


def test_drops_are_those_of_the_counters(run):
    packets = run.trace.packets
    causes = {
        "queue_drops": "queue",
        "wire_losses": "loss",
        "broadcast_losses": "broadcast",
    }
    # A MAC also discards frames that have arrived, whose acknowledgements were lost, and a router
    # may send a packet again that its MAC has discarded: neither is a loss.
    discards = {"retry_drops": "retry limit", "lifetime_drops": "lifetime"}
    for index, flow in enumerate(run.flows):
        # Flows count from the end of the warm-up on, which is after the first instant.
        own = packets.filter(pl.col("time_s") > 0, flow=flow["name"])
        assert count(own, step="sent") == run.summary[f"flows[{index}].packets_sent"]
        assert count(own, step="marked") == run.summary[f"flows[{index}].ecn_marks"]
        for counter, cause in causes.items():
            counted = run.summary.get(f"flows[{index}].{counter}", 0)
            assert count(own, step="dropped", cause=cause) == counted, (flow["name"], counter)
        for counter, cause in discards.items():
            counted = run.summary.get(f"flows[{index}].{counter}", 0)
            assert count(own, step="dropped", cause=cause) <= counted, (flow["name"], counter)
        assert count(own, step="dropped") == run.summary[f"flows[{index}].lost"], flow["name"]


def test_retransmissions_are_those_of_the_counters(run):
    for index, flow in enumerate(run.flows):
        counted = run.summary.get(f"flows[{index}].retransmissions")
        own = run.trace.segments.filter(
            pl.col("flow") == flow["name"],
            pl.col("event") == "sent",
            pl.col("direction") == "forward",
            pl.col("length_bytes") > 0,
        )
        if counted is not None:
            assert count(own, pl.col("retransmission")) == counted, flow["name"]
            assert own.height == run.summary[f"flows[{index}].segments_sent"], flow["name"]


def in_order(segments):
    """Return the bytes that have arrived without a gap, over all connections."""
    total = 0
    for (_,), rows in segments.group_by("connection"):
        known = 1
        for seq, length, flags in rows.sort("seq").select("seq", "length_bytes", "flags").rows():
            start = max(seq, 1) if "SYN" in flags else seq
            if start <= known:
                known = max(known, start + length)
        total += known - 1
    return total


def test_delivered_bytes_are_those_of_the_counters(run):
    if run.scenario.get("flows[0].control") == "lt":
        pytest.skip("parity repairs lost data")
    for index, flow in enumerate(run.flows):
        arrived = run.trace.packets.filter(flow=flow["name"], step="arrived", direction="forward")
        segments = run.trace.segments.filter(
            flow=flow["name"], event="received", direction="forward"
        )
        udp = arrived["size_bytes"].sum() - 28 * arrived.height
        counted = run.summary[f"flows[{index}].goodput_mbps"]
        payload = in_order(segments) if segments.height else udp
        assert payload * 8e-6 / run.simulated_s == pytest.approx(counted, rel=1e-9), flow["name"]


def test_airtime_is_that_of_the_ledger(run):
    if not in_a_cell(run):
        pytest.skip("each radio has a ledger of its own")
    end = run.simulated_s
    lasting = pl.min_horizontal("end_s", pl.lit(end)) - pl.col("start_s")
    frames = run.trace.frames.with_columns(lasting.alias("lasting_s"))
    collided = pl.col("exchange").n_unique().over("start_s") > 1
    frames = frames.with_columns(collided.alias("collided"))
    together = frames.filter("collided").group_by("start_s").agg(pl.col("lasting_s").max())
    alone = frames.filter(~pl.col("collided"), pl.col("outcome") != "collision")

    def fraction(*names):
        return sum(run.summary[f"airtime.{name}_fraction"] for name in names)

    if "ap.mu.ra_rus" in run.summary:
        # A part of an exchange may be a collision: that of the resource units in which stations
        # collide.
        parts = ("collision", "payload", "header", "mac_ack", "lost", "padding", "trigger")
        assert covered_s(frames, end) / end == pytest.approx(fraction(*parts), abs=1e-9)
        in_units = frames.filter(answers_trigger(), outcome="collision")
        most = covered_s(pl.concat([in_units, frames.filter("collided")]), end) / end
        assert together["lasting_s"].sum() / end < fraction("collision") <= most
    elif frames.filter(kind="CTS-to-self").is_empty():
        assert together["lasting_s"].sum() / end == pytest.approx(fraction("collision"), abs=1e-9)
        used = fraction("payload", "tcp_ack", "header", "mac_ack", "rts_cts", "lost")
        for of_some in ("two_frames", "busy_tone", "padding", "trigger"):
            used += run.summary.get(f"airtime.{of_some}_fraction", 0.0)
        assert covered_s(alone, end) / end == pytest.approx(used, abs=1e-9)


def covered_s(frames, end):
    """Sum up the time in which any of the frames is on the air."""
    frames = frames.sort("start_s").with_columns(pl.min_horizontal("end_s", pl.lit(end)))
    before = pl.col("end_s").cum_max().shift(1, fill_value=0.0)
    new = pl.col("end_s") - pl.max_horizontal("start_s", before)
    return frames.select(new.clip(lower_bound=0.0))["end_s"].sum()


def test_airtime_in_space_is_that_of_each_radio(run):
    kinds = {
        "rts": ["RTS"],
        "cts": ["CTS", "CTS-to-self"],
        "data": ["Data"],
        "ack": ["Ack", "BlockAck"],
        "request": ["BlockAckReq"],
    }
    for name, path in nodes(run).items():
        for kind, members in kinds.items():
            counted = run.summary.get(f"{path}.airtime.{kind}_fraction")
            own = run.trace.frames.filter(
                pl.col("transmitter") == name, pl.col("kind").is_in(members)
            )
            end_s = own["end_s"].clip(upper_bound=run.simulated_s)
            used = (end_s - own["start_s"]).sum() / run.simulated_s
            if counted is not None and path != "ap":
                assert used == pytest.approx(counted, abs=1e-9), (name, kind)


def test_frames_tell_what_is_punctured():
    scenario = sm.Scenario.load("punctured").set("duration_s", 0.2).set("warmup_s", 0.0)
    frames = sm.run(scenario, trace=True).trace.frames
    data = frames.filter((pl.col("kind") == "Data") & (pl.col("format") == "EHT"))
    told = {(row["width_mhz"], row["punctured"]) for row in data.to_dicts()}
    assert (80, "4") in told
    assert {punctured for width, punctured in told if width == 80} == {"4"}
    assert frames.filter(pl.col("format") != "EHT")["punctured"].null_count() > 0


def test_frames_tell_what_is_punctured_where_it_follows_the_medium():
    """The neighbour is in the fourth subchannel; what it leaves free has all four."""
    scenario = sm.Scenario.load("punctured").set("duration_s", 0.5).set("warmup_s", 0.0)
    scenario = scenario.set("ap.punctured", []).set("wlan.bandwidth_operation", "punctured")
    run = sm.run(scenario, trace=True)
    data = run.trace.frames.filter((pl.col("kind") == "Data") & (pl.col("format") == "EHT"))
    own = data.filter(pl.col("transmitter") == "ap")
    assert set(own["width_mhz"]) == {80}
    assert set(own["punctured"]) == {None, "4"}
    assert own["punctured"].count() == run.summary["ap.punctured_ppdus"]
    others = data.filter(pl.col("transmitter") == "cells[0]")
    assert others["punctured"].count() == 0
