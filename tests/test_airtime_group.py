"""The exchange of a group of stations by command and function: parts, padding, faults."""

import json

import pytest

import simoom as sm


def refused(done):
    """Return what a command that refuses its input says."""
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def parts(found):
    """Return names and durations of all parts."""
    return [(part["part"], part["duration_us"]) for part in found["parts"]]


FOUR = ("airtime", "--standard", "11ax", "--mcs", 7, "--bytes", 3000, "--user", "ru=52 count=4")


def test_a_group_is_told_part_by_part(simoom):
    lines = simoom(*FOUR).stdout.splitlines()
    # 802.11ax-2021 27.3: 24 + 8 + 4 + 4 + 7.2 us, 101 symbols of 13.6 us; a MU-BAR of 64 bytes at
    # 24 Mb/s; BlockAcks of 36 bytes in 2 symbols of 14.4 us after 48 us, and L-SIG in steps of 4.
    told = [line.split(maxsplit=2) for line in lines[:20]]
    assert told[:3] == [
        ["start", "us", "lasts us  part"],
        ["0.000", "1420.800", "HE MU PPDU"],
        ["24.000", "L-STF,", "L-LTF, L-SIG, RL-SIG"],
    ]
    assert ["4.000", "HE-SIG-B"] in told
    assert ["1436.800", "44.000", "MU-BAR Trigger"] in told
    assert ["1496.800", "76.800", "HE TB PPDUs, BlockAcks"] in told
    assert ["1573.600", "3.200", "until the announced end"] in told
    assert ["total", "1576.800", "60.883 Mb/s of 12000 bytes"] in told
    header, *users = [line.split() for line in lines[-5:]]
    assert header[:4] == ["user", "tones", "MCS", "streams"]
    assert [user[0] for user in users] == ["0", "1", "2", "3"]
    assert {tuple(user[1:]) for user in users} == {
        ("52", "7", "1", "bcc", "17.647", "3000", "101", "0.000", "4")
    }


def test_command_and_function_say_the_same(simoom):
    command = simoom(*FOUR, "--direction", "up", "--bsrp", "--json")
    found = sm.airtime("11ax", users=[{"ru": 52, "count": 4}], mcs=7, psdu_bytes=3000,
                       direction="up", bsrp=True)  # fmt: skip
    assert json.loads(command.stdout) == found
    assert found["total_us"] == 1776.0
    assert parts(found)[-1] == ("Multi-STA BlockAck", 48.0)
    assert found["throughput_mbps"] == pytest.approx(12_000 * 8 / 1776.0)
    waits = [part["start_us"] + part["duration_us"] for part in found["parts"]]
    starts = [*(part["start_us"] for part in found["parts"][1:]), found["total_us"]]
    assert waits == pytest.approx(starts)


def test_a_user_overrides_what_is_of_all(simoom):
    users = ("--user", "ru=106, mcs=3, bytes=1540", "--user", "msdu-bytes=100 mpdus=2 streams=2")
    found = json.loads(simoom(*FOUR[:-2], *users, "--json").stdout)
    one, two = found["users"]
    assert (one["ru"], one["mcs"], one["psdu_bytes"], one["streams"]) == (106, 3, 1540, 1)
    assert (two["ru"], two["mcs"], two["psdu_bytes"], two["streams"]) == (106, 7, 136 + 134, 2)
    assert two["idle_us"] == pytest.approx(13.6 * (one["symbols"] - two["symbols"]))
    assert two["padding_bytes"] > one["padding_bytes"]
    assert found["payload_bytes"] == 1540 + 200


def test_rules_of_ns3_are_an_option():
    users = [{"ru": 26, "psdu_bytes": 1540, "mcs": 7, "count": 9}]
    for timing, ppdu in (("standard", 1452.0), ("ns3", 1452.8)):
        found = sm.airtime("11ax", users=users, timing=timing, nominal_padding_us=0, ack="none")
        assert parts(found) == [("HE MU PPDU", ppdu)]
    padded = sm.airtime("11ax", users=users, nominal_padding_us=16, ack="none")
    assert parts(padded) == [("HE MU PPDU", 1468.0)]
    assert padded["parts"][0]["packet_extension_us"] == 16.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--user ru=106,count=3 --bytes 100", "--user[0].ru: there is no room for 106 tones"),
        ("--user count=10 --bytes 100", "--user: 10 are more than the 9 resource units of 20 MHz"),
        ("--user ru=484 --bytes 100", "--user[0].ru: 484 tones are wider than a channel of 20"),
        ("--user ru=52,mcs=11 --bytes 100", "--user[0].mcs: 11 in 52 tones takes 1024-QAM"),
        ("--user ru=26 --mcs 10 --bytes 100", "--mcs: 10 in 26 tones takes 1024-QAM"),
        ("--user coding=bcc --mcs 10 --bytes 100", "--user[0].coding: bcc goes up to 242 tones"),
        ("--user mcs=0,bytes=9000", "--user[0].bytes: the PPDU would last"),
        ("--user mcs=0 --bytes 1536 --mpdus 9", "--mpdus: the PPDU would last 12944 us, more than"),
        ("--user mcs=3", "--user[0].bytes: missing"),
        ("--user mcs=x --bytes 9", "--user[0].mcs: must be a whole number from 0"),
        ("--user 52 --bytes 9", "--user '52': '52' is no key and value, as mcs=7; the keys are"),
        ("--user tones=52 --bytes 9", "--user 'tones=52': 'tones=52' is no key and value"),
        ("--ack bar_chain --bytes 9", "--ack: applies to the exchange of a group"),
        ("--user ru=52 --bytes 9 --direction up --guard-ns 800", "--guard-ns: 2x does not go"),
        ("--mcs 3", "--bytes: missing; as 1536, or give users"),
    ],
)
def test_bad_input_has_one_message(simoom, options, message):
    text = refused(simoom("airtime", "--standard", "11ax", *options.split()))
    assert len(text.splitlines()) == 1, text
    assert text.startswith(message)


@pytest.mark.parametrize("standard", ["11b", "11a", "11g", "11n", "11ac", "11be"])
def test_only_802_11ax_has_users(simoom, standard):
    text = refused(simoom("airtime", "--standard", standard, "--user", "bytes=100"))
    assert text.startswith("--standard: PPDUs of several users are ")
    assert text.rstrip().endswith("take 11ax")


def test_the_function_names_faults_by_path():
    with pytest.raises(sm.ScenarioError) as error:
        sm.airtime("11ax", users=[{"ru": 52}, {"ru": 52, "mpdus": 300}], psdu_bytes=100)
    assert [issue.path for issue in error.value.issues] == ["users[1].mpdus"]
    with pytest.raises(sm.ScenarioError, match="did you mean mcs"):
        sm.airtime("11ax", users=[{"mcss": 5}], psdu_bytes=100)
    with pytest.raises(sm.ScenarioError, match="missing"):
        sm.airtime("11ax")
