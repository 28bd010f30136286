"""The store: compacted, queried, merged, elsewhere; nothing is lost and nothing counts twice."""

from __future__ import annotations

import hashlib
import json
import math
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

import simoom as sm
from simoom import _core
from simoom.results.record import DamagedError, Record
from simoom.store.places import DRAFT_S, Folder
from simoom.store.shards import MergeError, manifests, merge, read_shard
from simoom.store.store import Store


@pytest.fixture(scope="module")
def run() -> sm.Run:
    scenario = sm.Scenario(
        standard="11g",
        stations=1,
        duration_s=0.5,
        flows=[{"from": "server", "to": "sta*"}],
    )
    return sm.run(scenario, seed=2**64 - 1)


def key(number: int) -> str:
    return hashlib.sha256(str(number).encode()).hexdigest()


def fill(store: Store, run: sm.Run, numbers: range, *, checked: bool = False) -> None:
    for n in numbers:
        store.put(key(n), replace(run, replication=n), checked=checked)


def stored(store: Store) -> dict[str, int]:
    """The replication of each key, as both ways to read a store agree."""
    found = {record.key: record.run.replication for record in store.records()}
    frame = store.frame()
    assert frame["key"].n_unique() == frame.height
    assert dict(frame.select("key", "replication").iter_rows()) == found
    assert store.keys() == found.keys()
    return found


def numbers(wanted: range) -> dict[str, int]:
    return {key(n): n for n in wanted}


def json_files(store: Store) -> list[Path]:
    return sorted(store.directory.glob("??/*.json"))


def test_a_compacted_store_has_the_same_runs_to_the_last_bit(run, tmp_path):
    store = Store(tmp_path)
    strange = replace(run, summary=sm.run(run.scenario).summary | {"total.goodput_mbps": 0.1 + 0.2})
    fill(store, strange, range(5))
    done = store.compact()
    assert (done.runs, done.segments, done.damaged) == (5, 1, ())
    assert not json_files(store)
    for n in range(5):
        found = Store(tmp_path).get(key(n), run.scenario)
        assert (found.summary, found.digest, found.seed) == (
            strange.summary, run.digest, 2**64 - 1,
        )  # fmt: skip
        assert list(found.summary) == list(strange.summary)
    assert store.get(key(9), run.scenario) is None


def test_what_comes_after_a_compaction_is_joined_with_it(run, tmp_path):
    store = Store(tmp_path)
    for begin in (0, 4, 8):
        fill(store, run, range(begin, begin + 4))
        assert stored(store) == numbers(range(begin + 4))
        store.compact()
    assert stored(store) == numbers(range(12))
    assert len(list(tmp_path.glob("segments/*.parquet"))) == 1
    before = list(tmp_path.glob("segments/*"))
    store.compact()
    assert list(tmp_path.glob("segments/*")) == before


def test_segments_have_bounds(run, tmp_path, monkeypatch):
    monkeypatch.setattr("simoom.store.compaction.MOST_RUNS", 4)
    store = Store(tmp_path)
    fill(store, run, range(10))
    store.compact()
    assert sorted(pl.read_parquet(f).height for f in tmp_path.glob("segments/*")) == [2, 4, 4]
    assert stored(store) == numbers(range(10))


def test_a_run_in_two_files_counts_once_and_the_checked_one_first(run, tmp_path):
    store = Store(tmp_path)
    fill(store, run, range(3))
    store.compact()
    fill(store, run, range(2), checked=True)
    assert stored(store) == numbers(range(3))
    assert {r.key for r in store.records() if r.checked} == {key(0), key(1)}
    assert store.get(key(2), run.scenario, checked=True) is None
    store.compact()
    assert {r.key for r in store.records() if r.checked} == {key(0), key(1)}
    assert store.get(key(1), run.scenario, checked=True) is not None
    fill(store, run, range(3))  # another process had not seen the segment
    store.compact()
    assert not json_files(store)
    assert {r.key for r in store.records() if r.checked} == {key(0), key(1)}


def test_damaged_files_stay_and_the_rest_is_compacted(run, tmp_path):
    store = Store(tmp_path)
    fill(store, run, range(4))
    cut, altered, *_ = json_files(store)
    cut.write_bytes(cut.read_bytes()[:99])
    kept = json.loads(altered.read_bytes()) | {"seed": 3}
    altered.write_text(json.dumps(kept), encoding="utf-8")
    with pytest.warns(UserWarning, match="it is left out"):
        assert len(store.frame()) == 2
    done = store.compact()
    assert (done.runs, len(done.damaged)) == (2, 2)
    assert "is no complete record" in done.damaged[0]
    assert "has been altered" in done.damaged[1]
    assert json_files(store) == [cut, altered]
    segment = next(tmp_path.glob("segments/*.parquet"))
    segment.write_bytes(segment.read_bytes()[:500])
    lost = (numbers(range(4)).keys() - {cut.stem, altered.stem}).pop()
    with pytest.warns(UserWarning, match="is no complete segment; remove it"):
        assert Store(tmp_path).get(lost, run.scenario) is None


def test_a_record_of_an_earlier_version_has_the_hash_of_its_values(run, tmp_path):
    store = Store(tmp_path)
    fill(store, run, range(1))
    (file,) = json_files(store)
    kept = json.loads(file.read_bytes())
    del kept["hash"]
    earlier = hashlib.sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    file.write_text(json.dumps({"hash": earlier, **kept}, indent=1), encoding="utf-8")
    assert store.get(key(0), run.scenario).summary == run.summary
    assert store.compact().damaged == ()
    assert store.get(key(0), run.scenario).summary == run.summary


def test_the_hash_of_a_record_is_that_of_the_text_behind_it(run):
    text = Record.of(key(0), run, checked=False).text()
    before, found, rest = text.partition(json.loads(text)["hash"])
    assert before == '{\n "hash": "'
    assert found == hashlib.sha256(rest.encode()).hexdigest()
    for place in range(len(before) + 3, len(text) - 1, 97):
        other = text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :]
        with pytest.raises(DamagedError):
            Record.parse(other, "")


class Killed(BaseException):
    """Stands for SIGKILL."""


class Mortal(Folder):
    """A folder whose process is killed before, or in the middle of, its n-th change."""

    left = 0

    def change(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Killed

    def write(self, name: str, data: bytes) -> None:
        if self.left == 0:
            path = self.path / name
            path.parent.mkdir(exist_ok=True)
            path.with_name(f".{path.stem}-0.part{path.suffix}").write_bytes(data[: len(data) // 2])
        self.change()
        super().write(name, data)

    def remove(self, name: str) -> None:
        self.change()
        super().remove(name)


def test_a_compaction_killed_at_any_change_loses_and_doubles_nothing(run, tmp_path, monkeypatch):
    monkeypatch.setattr("simoom.store.compaction.MOST_RUNS", 3)
    first = Store(tmp_path / "first")
    fill(first, run, range(4))
    first.compact()
    fill(first, run, range(2, 8), checked=True)
    wanted = numbers(range(8))
    for changes in range(100):
        shutil.copytree(tmp_path / "first", tmp_path / "killed")
        store = Store(tmp_path / "killed")
        store.place = Mortal(tmp_path / "killed")
        store.place.left = changes
        try:
            store.compact()
            ended = True
        except Killed:
            ended = False
        again = Store(tmp_path / "killed")
        assert stored(again) == wanted, changes
        assert sum(record.checked for record in again.records()) == 6, changes
        again.compact()
        assert stored(again) == wanted, changes
        assert not json_files(again)
        shutil.rmtree(tmp_path / "killed")
        if ended:
            break
    assert 10 < changes < 99


class Interrupted(Folder):
    """A folder in which another process compacts the store just before the n-th change."""

    left = 0

    def change(self) -> None:
        self.left -= 1
        if self.left == -1:
            Store(self.path).compact()

    def write(self, name: str, data: bytes) -> None:
        self.change()
        super().write(name, data)

    def remove(self, name: str) -> None:
        self.change()
        super().remove(name)


@pytest.mark.thorough
def test_two_compactions_lose_nothing_whatever_their_order_and_the_next_one_joins_them(
    run, tmp_path, monkeypatch
):
    monkeypatch.setattr("simoom.store.compaction.MOST_RUNS", 3)
    for changes in range(100):
        folder = tmp_path / str(changes)
        # Segments are read in the order of their names, which are random: each folder has another.
        fill(first := Store(folder), run, range(4))
        first.compact()
        fill(first, run, range(2, 8), checked=True)
        store = Store(folder)
        store.place = Interrupted(folder)
        store.place.left = changes
        store.compact()
        assert stored(Store(folder)) == numbers(range(8)), changes
        Store(folder).compact()
        Store(folder).compact()
        again = Store(folder)
        assert stored(again) == numbers(range(8)), changes
        assert sum(record.checked for record in again.records()) == 6, changes
        keys = [key for file in folder.glob("segments/*") for key in pl.read_parquet(file)["key"]]
        assert len(keys) == 8, changes
        if store.place.left >= 0:
            break
    assert 10 < changes < 99


def test_drafts_of_killed_processes_are_removed_when_they_are_old(run, tmp_path):
    store = Store(tmp_path)
    fill(store, run, range(1))
    new, old = tmp_path / key(0)[:2] / ".a-1.part.json", tmp_path / key(0)[:2] / ".b-1.part.json"
    for draft in (new, old):
        draft.write_text("{", encoding="utf-8")
    os.utime(old, (time.time() - 2 * DRAFT_S,) * 2)
    store.compact()
    assert new.exists()
    assert not old.exists()


WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[4])
from test_store import key
from simoom.results.record import Record
from simoom.store.store import Store
store, run = Store(sys.argv[1]), Record.read(Path(sys.argv[5])).run
print("ready", flush=True)
for n in range(int(sys.argv[2]), int(sys.argv[3])):
    store.put(key(n), replace(run, replication=n))
"""
COMPACTOR = """
import sys, time
from simoom.store.store import Store
store = Store(sys.argv[1])
print("ready", flush=True)
while True:
    store.compact()
    time.sleep(0.05)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)],
                               stdout=subprocess.PIPE, text=True)  # fmt: skip
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_record_is_written_as_json_with_an_indent(run):
    text = Record.of(key(0), run, checked=False).text()
    assert text == json.dumps(json.loads(text), indent=1, ensure_ascii=False)


def test_values_are_written_as_json_writes_them():
    draw = random.Random(1)
    floats = [*struct.unpack("<20000d", draw.randbytes(160_000)), math.nan, math.inf, -math.inf]
    ends = [sign * 10.0**n for n in range(-320, 309) for sign in (1, -1)]
    floats += [math.nextafter(x, to) for x in ends for to in (0.0, x, 2 * x)]
    floats += [x for n in range(-1074, 1024) for x in (2.0**n, 3.0 * 2.0 ** min(n, 1000))]
    floats += [round(draw.uniform(-1e4, 1e4), draw.randrange(8)) for _ in range(5000)]
    texts = ["", '"\\/', "".join(map(chr, range(260))), "\u2028\U0001f300"]
    others = [0, 2**64 - 1, 2**64, -1, 10**30, True, False, None, *texts]
    values = {f"{n}{text}": value for text in texts for n, value in enumerate([*floats, *others])}
    assert _core.json_lines(values, 1) == json.dumps(values, indent=1, ensure_ascii=False)
    deeper = json.dumps({"": {"a": 0.1}}, indent=1)
    assert '{\n "": ' + _core.json_lines({"a": 0.1}, 2) + "\n}" == deeper
    assert _core.json_lines({}, 2) == "{}"
    with pytest.raises(TypeError, match="no values of type list"):
        _core.json_lines({"a": []}, 1)
    with pytest.raises(UnicodeEncodeError):
        _core.json_lines({"a": "\ud800"}, 1)


def test_writers_and_compactors_share_a_store_and_are_killed(run, tmp_path):
    draw = random.Random(1)
    store, sample = tmp_path / "shared", tmp_path / "sample.json"
    sample.write_text(Record.of(key(0), run, checked=False).text(), encoding="utf-8")
    tests, each = Path(__file__).parent, 60
    parts = [(begin, begin + each) for begin in (0, each, each)]  # the last two write the same
    compactors = [start(COMPACTOR, store) for _ in range(2)]
    writers = [start(WRITER, store, *part, tests, sample) for part in parts]
    for n in range(4):
        time.sleep(draw.uniform(0.0, 0.4))
        victim = writers[n % 2] if n < 2 else compactors[n % 2]
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        victim.stdout.close()
        if n < 2:
            writers[n % 2] = start(WRITER, store, *parts[n % 2], tests, sample)
        else:
            compactors[n % 2] = start(COMPACTOR, store)
    for writer in writers:
        assert writer.wait(120) == 0
    for compactor in compactors:
        assert compactor.poll() is None
        compactor.send_signal(signal.SIGKILL)
        compactor.wait()
    for process in (*writers, *compactors):
        process.stdout.close()
    found = Store(store)
    assert stored(found) == numbers(range(2 * each))
    found.compact()
    assert stored(found) == numbers(range(2 * each))
    counts = found.query("SELECT max(n) FROM (SELECT key, count(*) AS n FROM runs GROUP BY key)")
    assert counts.item() == 1


def test_segments_that_are_joined_between_two_looks_are_found_as_what_they_became(
    run, tmp_path, monkeypatch
):
    fill(Store(tmp_path), run, range(5))
    Store(tmp_path).compact()
    reader = Store(tmp_path)
    names = reader.place.names

    def names_of_before(folder=""):
        found = names(folder)
        monkeypatch.setattr(reader.place, "names", names)
        fill(Store(tmp_path), run, range(5, 10))
        Store(tmp_path).compact()
        return found

    monkeypatch.setattr(reader.place, "names", names_of_before)
    assert len(reader.get_many({key(n): run.scenario for n in range(5)})) == 5


def test_a_segment_that_is_no_file_is_left_out(run, tmp_path):
    fill(Store(tmp_path), run, range(5))
    Store(tmp_path).compact()
    (tmp_path / "segments" / f"{'0' * 32}.parquet").symlink_to(tmp_path / "nowhere")
    assert len(Store(tmp_path).keys()) == 5


def test_a_reader_beside_compactions_sees_all_runs_at_any_moment(run, tmp_path):
    store = Store(tmp_path)
    fill(store, run, range(30))
    end = threading.Event()

    def work() -> None:
        n = 0
        while not end.is_set():
            fill(store, run, range(n % 30, n % 30 + 5))
            Store(tmp_path).compact()
            n += 5

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            assert stored(Store(tmp_path)).items() >= numbers(range(30)).items()
            assert len(Store(tmp_path).get_many({key(n): run.scenario for n in range(30)})) == 30
    finally:
        end.set()
        thread.join()


def test_queries_by_duckdb_and_by_polars_agree(run, tmp_path):
    store = Store(tmp_path)
    assert store.query("SELECT count(*) FROM runs").item() == 0
    fill(store, run, range(4))
    store.compact()
    other = sm.run(run.scenario.set("stations", 2), seed=1)
    store.put(key(9), other)
    sql = """SELECT CAST(scenario->>'$.stations' AS INT) AS stations,
             avg("total.goodput_mbps") AS mean, count("flows[1].timeouts") AS second
             FROM runs GROUP BY 1 ORDER BY 1"""
    y = "total.goodput_mbps"
    assert store.query(sql).rows() == [(1, run.summary[y], 0), (2, other.summary[y], 1)]
    lazy = store.scan().with_columns(stations=pl.col("scenario").str.json_path_match("$.stations"))
    found = lazy.group_by("stations").agg(pl.col(y).mean()).sort("stations").collect()
    assert found.rows() == [("1", run.summary[y]), ("2", other.summary[y])]
    with pytest.raises(ValueError, match="no_such_column"):
        store.query("SELECT no_such_column FROM runs")
    with pytest.raises(ValueError, match="has no result"):
        store.query("-- nothing")


# --- Merging --------------------------------------------------------------------------------------


def test_merged_stores_have_each_run_once(run, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    fill(one, run, range(6))
    one.compact()
    fill(two, run, range(4, 9))
    done = merge(tmp_path / "all", [one, two])
    assert (done.added, done.runs) == (9, 9)
    (note,) = done.notes
    common = f"{one.place.name} and {two.place.name} have 2 runs in common"
    assert note == f"{common}; each counts once"
    assert stored(Store(tmp_path / "all")) == numbers(range(9))
    assert merge(tmp_path / "all", [one]).added == 0


def test_stores_that_do_not_fit_are_refused_and_nothing_is_copied(run, tmp_path):
    one, two = Store(tmp_path / "one"), Store(tmp_path / "two")
    fill(one, run, range(2))
    record = replace(Record.of(key(5), run, checked=False), simoom="0.0.1")
    two.place.write(f"{key(5)[:2]}/{key(5)}.json", record.text().encode())
    into = tmp_path / "all"
    with pytest.raises(MergeError, match=r"2 versions of Simoom.*0\.0\.1 .* in .*two; merge"):
        merge(into, [one, two])
    with pytest.raises(MergeError, match="cannot be merged into itself"):
        merge(one, [one])
    with pytest.raises(MergeError, match="has no runs"):
        merge(into, [Store(tmp_path / "three")])
    other = Store(tmp_path / "other")
    fill(other, replace(run, digest="0" * 16), range(1))
    with pytest.raises(MergeError, match="has other results in"):
        merge(into, [one, other])
    assert len(Store(into)) == 0


@pytest.mark.parametrize("shard", ["0/2", "3/2", "2", "a/b", (1, 0), (0.5, 2)])
def test_a_shard_is_a_part_of_a_whole(shard):
    with pytest.raises(ValueError, match="shard: must be I/N with I from 1 to N"):
        read_shard(shard)


# --- Elsewhere ------------------------------------------------------------------------------------


@pytest.fixture
def bucket(monkeypatch):
    """The URL of a bucket of a local server that speaks S3."""
    boto3 = pytest.importorskip("boto3")
    server_module = pytest.importorskip("moto.server")
    pytest.importorskip("s3fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    server = server_module.ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    boto3.client("s3").create_bucket(Bucket="lab")
    yield "s3://lab/runs"
    server.stop()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.thorough
def test_a_store_in_s3(run, bucket, simoom, tmp_path):
    store = Store(bucket)
    fill(store, run, range(12))
    assert stored(store) == numbers(range(12))
    assert Store(bucket).compact().runs == 12
    fill(store, run, range(10, 14))
    assert stored(store) == numbers(range(14))
    wanted = {key(n): run.scenario for n in range(20)}
    assert set(store.get_many(wanted)) == set(numbers(range(14)))
    assert store.query("SELECT sum(replication) FROM runs").item() == sum(range(14))
    assert merge(tmp_path / "here", [store]).added == 14
    assert stored(Store(tmp_path / "here")) == numbers(range(14))
    done = simoom("store", "check", bucket)
    assert (done.returncode, done.stderr) == (0, "")
    assert "14 runs" in done.stdout
    done = simoom("store", "compact", bucket)
    assert done.stdout == f"{bucket}: 14 runs in 1 file\n"
    done = simoom("store", "merge", "s3://nowhere/x", tmp_path / "here")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "s3://nowhere/x: " in done.stderr


def test_a_store_of_another_protocol(run):
    store = Store("memory://kept")
    fill(store, run, range(3))
    store.compact()
    assert stored(Store("memory://kept")) == numbers(range(3))
    with pytest.raises(OSError, match="is no URL of fsspec"):
        Store("nothing://x")


def test_a_missing_package_is_named_with_its_command(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(ImportError, match=r"a query in SQL needs duckdb.*'simoom\[store\]'"):
        Store(tmp_path).query("SELECT 1")


# --- The command line -----------------------------------------------------------------------------

SWEEP = ("--set", "duration_s=0.5", "--over", "stations=3,4", "-n", "3", "-q")


def test_shards_are_merged_by_the_store(simoom, cell_file, tmp_path):
    def sweep(store: str, *more: str):
        return simoom("sweep", cell_file, *SWEEP, "--store", store, *more)

    for n in (1, 2, 3):
        done = sweep(f"part{n}", "--shard", f"{n}/3")
        assert done.returncode == 0, done.stderr
    assert len(Store(tmp_path / "part1")) == 2
    (first,) = manifests(Store(tmp_path / "part1"))
    assert (first.number, first.of, first.runs, len(first.keys)) == (1, 3, 6, 2)
    missing = simoom("store", "merge", "all", "part1", "part3")
    assert missing.returncode == 2
    assert missing.stderr == (
        "shard 2/3 is missing: name the stores that have them; nothing was copied\n"
    )
    lost = json_files(Store(tmp_path / "part2"))[0]
    lost.rename(tmp_path / "lost")
    lacking = simoom("store", "merge", "all", "part1", "part2", "part3")
    assert lacking.returncode == 2
    assert "shard 2/3 in part2 lacks 1 of 2 runs: the same simoom sweep command" in lacking.stderr
    assert simoom("store", "check", "part2").returncode == 1
    assert len(Store(tmp_path / "all")) == 0
    partly = simoom("store", "merge", "all", "part1", "part2", "--partial")
    assert (partly.returncode, len(Store(tmp_path / "all"))) == (0, 3)
    assert sweep("part2", "--shard", "2/3").returncode == 0
    assert sweep("again", "--shard", "1/2").returncode == 0
    done = simoom("store", "merge", "all", "part1", "part2", "part3", "again")
    assert done.returncode == 0, done.stderr
    assert "(shards 1/3 and 1/2 overlap); each counts once" in done.stderr
    assert "6 in all" in done.stdout
    assert simoom("store", "compact", "all").stdout == "all: 6 runs in 1 file\n"
    whole = simoom("sweep", cell_file, *SWEEP[:-1], "--store", "all", "--json")
    alone = simoom("sweep", cell_file, *SWEEP[:-1], "--json")
    assert whole.stdout == alone.stdout
    assert len(Store(tmp_path / "all")) == 6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--shard", "1/2"], "--shard: needs --store"),
        (["--shard", "3/2", "--store", "kept"], "--shard 3/2: must be I/N"),
        (["--shard", "1/2", "--store", "kept", "--until", "2 %"], "--shard: not with --until"),
        (["--shard", "1/2", "--store", "kept", "--out", "out"], "--shard: not with --out"),
        (["--shard", "1/2", "--store", "kept", "--json"], "--shard: not with --json"),
    ],
)
def test_a_shard_needs_a_store_and_a_known_number_of_runs(simoom, cell_file, options, message):
    done = simoom("sweep", cell_file, "--over", "stations=3", *options)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["query", "nowhere", "SELECT 1"], "nowhere: there is no such folder"),
        (["query", "kept", "SELEC 1"], "SQL: Parser Error"),
        (["query", "kept", "SELECT 1", "--out", "x.txt"], "--out x.txt: must end in .csv"),
        (["merge", "all", "file"], "file: is a file"),
        (["compact", ""], "STORE: is empty"),
        (["compact", "nothing://x"], "nothing://x: is no URL of fsspec"),
    ],
)
def test_the_store_command_says_what_is_wrong(simoom, tmp_path, arguments, message):
    (tmp_path / "kept").mkdir()
    (tmp_path / "file").touch()
    done = simoom("store", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert message in done.stderr


def test_a_query_is_printed_or_written(run, simoom, tmp_path):
    store = Store(tmp_path / "kept")
    fill(store, run, range(2))
    sql = "SELECT replication, digest FROM runs ORDER BY 1"
    assert run.digest in simoom("store", "query", "kept", sql).stdout
    rows = [{"replication": n, "digest": run.digest} for n in (0, 1)]
    assert json.loads(simoom("store", "query", "kept", sql, "--json").stdout) == rows
    assert simoom("store", "query", "kept", sql, "--out", "rows.csv").returncode == 0
    assert pl.read_csv(tmp_path / "rows.csv").height == 2
    assert "total.goodput_mbps" in simoom("store", "query", "kept").stdout
