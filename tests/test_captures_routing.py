"""What Wireshark shows of networks whose nodes forward: DSR, AODV and ARP."""

from __future__ import annotations

import subprocess

import pytest

import simoom as sm

PLACES = [[0.0, 0.0], [200.0, 0.0], [400.0, 0.0], [600.0, 0.0]]


def chain(protocol: str) -> sm.Scenario:
    """Return a chain of three hops whose nodes know nothing at first, with TCP."""
    return sm.Scenario(
        standard="11b",
        duration_s=3.0,
        warmup_s=0.0,
        wlan={"rate_mbps": 2.0, "basic_rates_mbps": [1.0]},
        radio={"preset": "ns2", "ad_hoc": True},
        routing={"protocol": protocol, "arp": "rfc826"},
        stations=[{"position_m": place} for place in PLACES],
        flows=[{"from": "sta0", "to": "sta3", "traffic": "bulk", "tcp": {"window_segments": 8}}],
    )


@pytest.fixture(scope="module")
def rows(program, tmp_path_factory):
    """Return a function that gives fields of all packets of a capture, without wrong checksums."""
    tshark = program("tshark", package="tshark")
    folder = tmp_path_factory.mktemp("captures")

    def read(protocol: str, *fields: str) -> tuple[sm.Run, list[list[str]]]:
        run = sm.run(chain(protocol), trace=folder / f"{protocol}.pcapng")
        checks = ("ip.check_checksum:TRUE", "tcp.check_checksum:TRUE", "wlan.check_checksum:TRUE")
        options = [word for check in checks for word in ("-o", check)]
        every = ("_ws.malformed", "_ws.expert.severity", "wlan.fcs.status", *fields)
        options += [word for field in every for word in ("-e", field)]
        command = [tshark, "-r", folder / f"{protocol}.monitor.pcapng", "-T", "fields", *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found = [line.split("\t") for line in done.stdout.splitlines()]
        error = 0x00800000
        for malformed, severity, fcs, *_ in found:
            assert malformed == ""
            assert all(int(each) < error for each in severity.split(",") if each)
            assert fcs == "1"
        return run, [row[len(every) - len(fields) :] for row in found]

    return read


def test_wireshark_shows_the_options_of_dsr(rows):
    fields = ("dsr.option.type", "dsr.option.rreq.targetaddress", "dsr.option.rrep.address")
    _, found = rows("dsr", *fields)
    requests = [row for row in found if "1" in row[0].split(",")]
    assert {row[1] for row in requests} >= {"10.0.0.5"}, "the address of sta3"
    replies = {row[2] for row in found if "2" in row[0].split(",")}
    assert "10.0.0.3,10.0.0.4,10.0.0.5" in replies
    # Type 96 is the source route of a reply, and 224 its padding.
    assert "2,224,96" in {row[0] for row in found}


def test_data_packets_carry_their_route(rows):
    fields = ("dsr.option.ack.address", "dsr.option.srcrt.segsleft", "wlan.ta", "tcp.len")
    _, found = rows("dsr", *fields, "tcp.checksum.status")
    data = [row for row in found if row[1] and row[3] not in ("", "0")]
    assert len(data) > 100
    assert {row[0] for row in data} == {"10.0.0.3,10.0.0.4"}, "the nodes between the ends"
    left = {(row[2][-2:], row[1]) for row in data}
    assert left == {("01", "2"), ("02", "1"), ("03", "0")}
    assert {row[4] for row in data} == {"1"}


def test_wireshark_shows_the_messages_of_aodv(rows):
    fields = ("aodv.type", "aodv.dest_ip", "udp.port")
    _, found = rows("aodv", *fields)
    messages = [row for row in found if row[0]]
    assert {row[0] for row in messages} >= {"1", "2"}
    assert {row[2] for row in messages} == {"654,654"}
    assert "10.0.0.5" in {row[1] for row in messages if row[0] == "1"}
    assert len(messages) > 5


def test_wireshark_shows_who_asks_for_which_address(rows):
    run, found = rows("dsr", "arp.opcode", "arp.src.proto_ipv4", "arp.dst.proto_ipv4", "wlan.da")
    requests = [row for row in found if row[0] == "1"]
    assert len(requests) == run.summary["routing.arp_requests"] > 0
    assert {row[3] for row in requests} == {"ff:ff:ff:ff:ff:ff"}
    pairs = {(row[1], row[2]) for row in requests}
    replies = [row for row in found if row[0] == "2"]
    assert len(replies) >= run.summary["routing.arp_replies"] > 0
    assert {(row[2], row[1]) for row in replies} <= pairs
