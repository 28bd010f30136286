"""`simoom check`: all faults at once, as fields, and the repair of those with one remedy."""

import json
import re
import time
import tomllib
from pathlib import Path

import pytest

import simoom as sm
from simoom.scenario.repair import repaired
from simoom.serve.drafts import Desk, Draft

MANY = """\
standard = "11q"
staions = 10
duration_s = -30
warmup_s = "3 s"

[wlan]
cw_min = 30
cw_max = 1.5
rate = 54
slot = "shrt"

[ap.queue.fq_codle]
target_ms = 5

[[flows]]
name = 5
from = "sever"
to = "sta*"
control = "qubic"
tcp.mss_bytes = 0
tcp.sakc = true

[[flows]]
form = "server"
to = "sta3"
count = -3
traffic.web.size.parto = {}
"""
"""Seventeen mistakes: unknown keys and names, types, ranges, and an end that is misspelt."""

PATHS = {
    1: "standard", 2: "staions", 3: "duration_s", 4: "warmup_s", 7: "wlan.cw_min",
    8: "wlan.cw_max", 9: "wlan.rate", 10: "wlan.slot", 12: "ap.queue.fq_codle",
    16: "flows[0].name", 17: "flows[0].from", 19: "flows[0].control",
    20: "flows[0].tcp.mss_bytes", 21: "flows[0].tcp.sakc", 24: "flows[1].form",
    26: "flows[1].count", 27: "flows[1].traffic.web.size.parto",
}  # fmt: skip

SMALL = 'standard = "11g"\nstations = 3\n\n[[flows]]\nfrom = "server"\nto = "sta*"\n'


def issues_of(text):
    with pytest.raises(sm.ScenarioError) as caught:
        sm.Scenario.parse(text).check()
    return caught.value.issues


def told(text):
    return [str(issue) for issue in issues_of(text)]


def test_all_faults_of_a_file_are_told_at_once_in_its_order():
    found = {issue.place.line: issue.path for issue in issues_of(MANY)}
    assert found == PATHS
    assert len(issues_of(MANY)) == len(PATHS), "and nothing that follows from one of them"


def test_a_fault_has_fields():
    first, _, third, *_ = issues_of(MANY)
    assert (first.path, first.place.line, first.place.column) == ("standard", 1, 1)
    assert MANY[slice(*third.place.whole)] == "duration_s = -30"
    slot = next(issue for issue in issues_of(MANY) if issue.path == "wlan.slot")
    assert slot.message == 'must be one of "short", "long", is "shrt"'
    assert (slot.remedy, slot.repairs) == ('did you mean "short"?', (("value", '"short"'),))
    assert str(slot) == f"wlan.slot (line 10): {slot.message}; {slot.remedy}"


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        # A list of stations, a standard, a flow's end: what depends on them is not told.
        ("stations = 'ten'", ["stations"]),
        ("stations = -3", ["stations"]),
        ("standard = '11bn'", ["standard"]),
        ("standard = 11", ["standard"]),
        ("duration_s = -1\nwarmup_s = 20", ["duration_s"]),
        ("wlan.cw_min = 0\nwlan.cw_max = 3", ["wlan.cw_min"]),
        ("wlan.cw_mni = 31", ["wlan.cw_mni"]),
        ("radio = 5\nap.position_m = [0, 1]", ["radio"]),
        # What does not depend on it is.
        ("stations = 'ten'\nwlan.rate_mbps = 13", ["stations"]),
        ("wlan.slot = 'x'\nwlan.rate_mbps = 13", ["wlan.slot", "wlan.rate_mbps"]),
        ("wlan.slot = 'x'\nap.channel = 14.5", ["wlan.slot", "ap.channel"]),
    ],
)
def test_no_fault_follows_from_another(line, paths):
    kept = [each for each in SMALL.splitlines() if each.partition(" ")[0] != line.partition(" ")[0]]
    found = [issue.path for issue in issues_of("\n".join([line, *kept]))]
    if paths == ["stations"] and "rate" in line:
        paths = [*paths, "wlan.rate_mbps"]
    assert found == paths


def test_a_negative_count_is_out_of_range():
    (fault,) = told(SMALL.replace("= 3", "= -3"))
    assert fault == "stations (line 2): must be from 1 to 10000, is -3"


def test_a_table_in_place_of_a_list_is_told_with_what_is_in_it():
    found = told(SMALL.replace("[[flows]]", "[flows]") + 'control = "qubic"\n')
    assert len(found) == 2
    assert "two brackets" in found[0]
    assert 'did you mean "cubic"?' in found[1]


def test_several_lines_that_are_no_toml_are_told_together():
    found = issues_of('standard = 11g\nstations = ten\n[[flows]]\nfrom = "server"\n')
    assert [issue.place.line for issue in found] == [1, 2]


def test_other_lines_are_read_where_a_line_is_no_toml():
    text = "title = lab\nstandard = '11q'\nstations = 1\nstations = 2\nwlan.cw_min = 30\n"
    found = issues_of(text + "[[flows]]\nform = 'ap'\n")
    assert [issue.place.line for issue in found] == [1, 2, 4, 5, 7]
    # Below a header that cannot be read, keys would be looked for in another table.
    found = issues_of("standard = '11q'\n[wlan\ncw_min = 30\n")
    assert [issue.place.line for issue in found] == [2]


@pytest.mark.parametrize("rate_control", ["minstrel", "arf", None])
def test_a_check_of_eight_times_the_stations_takes_about_eight_times_as_long(rate_control):
    def taken(stations):
        scenario = sm.Scenario(
            standard="11ac",
            stations=stations,
            wlan={"rate_control": rate_control} if rate_control else {},
            wire={"rate_mbps": 100.0, "delay_ms": 5.0},
            flows=[{"from": "server", "to": "sta*"}],
        )
        begun = time.process_time()
        scenario.check()
        return time.process_time() - begun

    # The square would be 64 times as long: with Minstrel 2,000 stations once took 8 s.
    assert min(taken(4000) for _ in range(3)) < 24 * max(1e-3, min(taken(500) for _ in range(3)))


def test_files_are_not_opened_before_the_rest_can_be_read(tmp_path):
    """They are relative to the folder of the scenario, and a server may not open them."""
    secret = tmp_path / "secret.csv"
    secret.write_text("a secret\n", encoding="utf-8")
    for file in ("missing.csv", secret):
        text = SMALL + f'traffic.csv.file = "{file}"\ncontrol = "qubic"\n'
        assert [issue.path for issue in issues_of(text)] == ["flows[0].control"]


def test_set_tells_all_its_faults_together(simoom, tmp_path):
    (tmp_path / "cell.toml").write_text(SMALL, encoding="utf-8")
    sets = ["stations=ten", "duration_s=-5", "flows[0].control=qubic", "statoins=1"]
    done = simoom("check", "cell.toml", *(f"--set={each}" for each in sets))
    paths = {line.partition(":")[0] for line in done.stderr.splitlines()}
    assert paths == {each.partition("=")[0] for each in sets}


def test_check_prints_faults_as_json(simoom, tmp_path):
    (tmp_path / "bad.toml").write_text(MANY, encoding="utf-8")
    (tmp_path / "good.toml").write_text(SMALL, encoding="utf-8")
    done = simoom("check", "good.toml", "bad.toml", "--json")
    rows = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert {row["line"]: row["path"] for row in rows} == PATHS
    assert {row["file"] for row in rows} == {"bad.toml"}
    unknown = rows[1]
    assert (unknown["message"], unknown["column"]) == ("unknown key", 1)
    assert unknown["repairs"] == [{"kind": "rename", "value": "stations"}]
    sound = simoom("check", "good.toml", "--json")
    assert (sound.returncode, json.loads(sound.stdout)) == (0, [])


def test_a_file_that_cannot_be_read_is_a_fault_among_the_others(simoom, tmp_path):
    (tmp_path / "bad.toml").write_text(MANY, encoding="utf-8")
    (tmp_path / "folder").mkdir()
    files = ("bad.toml", "missing.toml", "folder", "caffe")
    done = simoom("check", *files, "--json")
    rows = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (2, "")
    assert [row["file"] for row in rows] == ["bad.toml"] * len(PATHS) + list(files[1:])
    assert [row["message"] for row in rows[-3:]] == [
        "there is no such file", "is a directory", "there is no such file or scenario",
    ]  # fmt: skip
    assert rows[-1]["remedy"].startswith("the nearest is cafe")
    told = simoom("check", *files[1:]).stderr.splitlines()
    assert [line.partition(":")[0] for line in told] == list(files[1:])


def test_several_files_are_checked_in_one_call(simoom, tmp_path):
    (tmp_path / "bad.toml").write_text(MANY, encoding="utf-8")
    done = simoom("check", "cafe", "bad.toml", "one_station")
    assert done.returncode == 2
    assert [line.partition(":")[0] for line in done.stdout.splitlines()] == ["cafe", "one_station"]
    assert len(done.stderr.splitlines()) >= len(PATHS)


FAULTY = """\
# A cell.
standard = "11G"   # of the cell
staions = "3"

[wlna]
slot = 'shrot'

[flows]
form = "sever"   # the wired host
to = "sta*"
tcp.timestmaps = false
"""


def test_fix_repairs_what_has_one_remedy_and_keeps_the_rest(simoom, tmp_path):
    file = tmp_path / "cell.toml"
    file.write_text(FAULTY, encoding="utf-8")
    done = simoom("check", "cell.toml", "--fix")
    assert done.returncode == 0, done.stderr
    wanted = FAULTY
    for before, after in [
        ('"11G"', '"11g"'), ("staions", "stations"), ('"3"', "3"), ("wlna", "wlan"),
        ("'shrot'", '"short"'), ("[flows]", "[[flows]]"), ("form", "from"),
        ('"sever"', '"server"'), ("timestmaps", "timestamps"),
    ]:  # fmt: skip
        wanted = wanted.replace(before, after)
    assert file.read_text(encoding="utf-8") == wanted
    shown = done.stdout.splitlines()
    assert "cell.toml:5: [wlna] -> [wlan]" in shown
    assert len([line for line in shown if " -> " in line]) == 9
    assert shown[-1].startswith("cell.toml: sound: ")
    again = simoom("check", "cell.toml", "--fix")
    assert [line for line in again.stdout.splitlines() if " -> " in line] == []


def test_fix_leaves_what_has_several_remedies_or_none(simoom, tmp_path):
    file = tmp_path / "cell.toml"
    text = SMALL + "[wlan]\nrate = 54\ncw_min = 30\n"
    file.write_text(text, encoding="utf-8")
    done = simoom("check", "cell.toml", "--fix")
    assert (done.returncode, done.stdout) == (2, "")
    assert file.read_text(encoding="utf-8") == text
    assert len(done.stderr.splitlines()) == 2


def test_a_repair_never_breaks_a_text(tmp_path):
    # The key that is meant is there already.
    text = SMALL + 'form = "ap"\n'
    changed, changes, left = repaired(text, tmp_path)
    assert (changed, changes, [issue.path for issue in left]) == (text, [], ["flows[0].form"])


def test_a_superfluous_key_is_removed(tmp_path):
    text = SMALL.replace("11g", "11a") + "[wlan]\nslot = 'long'  # as before\ncw_min = 31\n"
    changed, changes, left = repaired(text, tmp_path)
    assert changed == text.replace("slot = 'long'  # as before\n", "")
    assert (changes[0].after, left) == ("", ())


def test_fix_is_for_files(simoom):
    assert "changes files" in simoom("check", "cafe", "--fix").stderr
    assert "takes no --set" in simoom("check", "cafe", "--fix", "--set=stations=1").stderr


def test_the_page_shows_each_fault_at_its_place():
    issues = Draft("# é𝄞\n" + MANY, Desk(Path())).state()["issues"]
    assert len(issues) == len(PATHS)
    utf16 = ("# é𝄞\n" + MANY).encode("utf-16-le")
    shown = [utf16[2 * each["from"] : 2 * each["to"]].decode("utf-16-le") for each in issues]
    assert shown[1] == "staions = 10"
    assert shown[2] == "duration_s = -30"


def test_an_edit_on_the_page_keeps_comments():
    draft = Draft("# A cell.\n" + SMALL.replace("= 3", "= 3  # laptops"), Desk(Path()))
    text = draft.changed("stations", 5)
    assert "stations = 5  # laptops" in text
    text = Draft(text, Desk(Path())).changed("flows[0].control", "cubic")
    assert text.startswith("# A cell.\n")
    assert tomllib.loads(text)["flows"][0]["control"] == "cubic"


def test_the_hook_checks_scenarios():
    hooks = (Path(__file__).parents[1] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entries = re.findall(r"^- id: (\S+)(?:\n  .*)*?\n  entry: (.*)$", hooks, re.MULTILINE)
    assert dict(entries) == {
        "simoom-check": "simoom check",
        "simoom-fix": "simoom check --fix",
    }
