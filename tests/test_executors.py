"""Executors of other packages: Dask with processes that are killed, controllers that travel."""

from __future__ import annotations

import os
import pickle
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from pathlib import Path

import pytest

import simoom as sm
from simoom.base.issue import LostWorkerError
from simoom.results.run import RunJob
from simoom.runs.runner import Runner
from simoom.store.store import Store

pytestmark = pytest.mark.filterwarnings("default")  # those of Dask's threads when it is killed

CONTROLLER = """
import os
import simoom as sm

class Counted(sm.Control):
    '''Notes each connection that it controls, in the folder COUNTED.'''

    gain: float = 1.0

    def __init__(self):
        with open(os.path.join(os.environ["COUNTED"], str(os.getpid())), "a") as file:
            file.write("x")

    def on_ack(self, ack):
        self.window += self.gain / self.window
"""


class Cluster:
    """A scheduler and workers of Dask, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("scheduler", "--port", port, "--no-dashboard", "--no-show")
        self.workers = [self.add_worker() for _ in range(2)]

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start("worker", self.address, "--nthreads", "1", "--no-nanny",
                           "--no-dashboard", "--death-timeout", "60")  # fmt: skip

    def _start(self, kind: str, *arguments: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "distributed.cli.dask_" + kind, "--host", "127.0.0.1"]
        # In a folder of their own, and without the caller's modules.
        environment = {**os.environ, "PYTHONPATH": ""}
        log = (self.folder / f"{kind}.log").open("ab")
        with log:
            return subprocess.Popen([*command, *arguments], cwd=self.folder, env=environment,
                                    stdout=log, stderr=log)  # fmt: skip

    def kill(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    (tmp_path / "counted").mkdir()
    (tmp_path / "dask").mkdir()
    monkeypatch.setenv("COUNTED", str(tmp_path / "counted"))
    monkeypatch.setenv("DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT", "20s")
    started = Cluster(tmp_path / "dask")
    yield started
    started.kill()


@pytest.fixture
def controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A controller in a file that workers do not have."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "counted_control.py").write_text(CONTROLLER, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path / "mine")
    sys.modules.pop("counted_control", None)
    return "counted_control:Counted"


def test_dask_with_a_worker_and_the_scheduler_killed(small, cluster, controller, tmp_path) -> None:
    """Every run is in the store once afterwards, and has the result of a run at home."""
    from distributed import Client

    scenario = small.set("flows[0].control.python.path", controller)
    scenario = scenario.set("duration_s", 6.0)
    store, over, runs = tmp_path / "kept", {"stations": [1, 2]}, 20

    def sweep(client: Client, progress=None) -> sm.Sweep:
        return sm.sweep(scenario, over=over, replications=runs, store=store,
                        executor=client.get_executor(), progress=progress)  # fmt: skip

    def kill(done: float) -> None:
        if done >= 0.2 and cluster.workers[0].poll() is None:
            cluster.workers[0].kill()
        if done >= 0.5 and cluster.scheduler.poll() is None:
            cluster.scheduler.kill()

    ended = pytest.raises(LostWorkerError, match="the executor has ended before its runs")
    with Client(cluster.address, timeout=60) as client, ended:
        sweep(client, kill)
    kept = len(Store(store))
    assert 2 * runs / 2 <= kept < 2 * runs
    cluster.kill()
    again = Cluster(cluster.folder)
    try:
        with Client(again.address, timeout=60) as client:
            done = sweep(client)
    finally:
        again.kill()
    frame = Store(store).query("SELECT key, count(*) AS counter FROM runs GROUP BY key")
    assert (frame.height, frame["counter"].unique().to_list()) == (2 * runs, [1])
    assert len(list(store.glob("??/*.json"))) == 2 * runs
    # The controller has run in the workers, which do not have its file.
    assert len(list((tmp_path / "counted").iterdir())) >= 3
    assert str(os.getpid()) not in {file.name for file in (tmp_path / "counted").iterdir()}
    here = sm.sweep(scenario, over=over, replications=2)
    for one, other in zip(here.points, done.points, strict=True):
        assert [r.digest for r in one.replications] == [
            r.digest for r in list(other.replications)[:2]
        ]


def arrive(job: RunJob, folder: Path, *, meanwhile: str = "") -> str:
    """Run a job in a new process without the caller's modules; return what it prints."""
    (folder / "job.pickle").write_bytes(pickle.dumps(job))
    code = textwrap.dedent(f"""
        import pickle, sys
        {meanwhile}
        run = pickle.load(open("job.pickle", "rb"))()
        print(run.digest)
    """)
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                          check=False, env={**os.environ, "PYTHONPATH": ""})  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_controller_travels_and_replaces_an_older_one(small, tmp_path, controller, monkeypatch):
    monkeypatch.setenv("COUNTED", str(tmp_path))
    scenario = small.set("flows[0].control.python.path", controller)
    wanted = sm.run(scenario).digest
    assert arrive(RunJob(scenario), tmp_path) == wanted
    (tmp_path / "counted_control.py").write_text(
        CONTROLLER.replace("+=", "*=").replace("self.gain / self.window", "1.0"), encoding="utf-8"
    )
    assert arrive(RunJob(scenario), tmp_path, meanwhile="import counted_control") == wanted


def test_a_package_travels_with_all_its_modules(small, tmp_path, monkeypatch):
    package = tmp_path / "mine" / "mylab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("GAIN = 2.0\n", encoding="utf-8")
    (package / "aimd.py").write_text(
        "import simoom as sm\nfrom mylab import GAIN\nclass Aimd(sm.Control):\n"
        "    def on_ack(self, ack):\n        self.window += GAIN / self.window\n",
        encoding="utf-8",
    )
    monkeypatch.syspath_prepend(tmp_path / "mine")
    # Other tests of this process may have another module of this name.
    monkeypatch.delitem(sys.modules, "mylab", raising=False)
    scenario = small.set("flows[0].control", "mylab.aimd:Aimd")
    assert arrive(RunJob(scenario), tmp_path) == sm.run(scenario).digest


def test_a_class_of_a_script_travels(small, tmp_path):
    pytest.importorskip("cloudpickle")
    (tmp_path / "script.py").write_text(
        textwrap.dedent("""
        import pickle, sys
        import simoom as sm
        from simoom.results.run import RunJob
        class Mine(sm.Control):
            def on_ack(self, ack):
                self.window += 2.0 / self.window
        if __name__ == "__main__":
            s = sm.Scenario.load("cell.toml").set("flows[0].control", Mine)
            open("job.pickle", "wb").write(pickle.dumps(RunJob(s)))
            print(sm.run(s).digest)
        """),
        encoding="utf-8",
    )
    (tmp_path / "cell.toml").write_text(small.to_toml(), encoding="utf-8")
    there = subprocess.run([sys.executable, "script.py"], cwd=tmp_path, check=True,
                           capture_output=True, text=True)  # fmt: skip
    code = "import pickle\nprint(pickle.load(open('job.pickle', 'rb'))().digest)"
    here = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True,
                          capture_output=True, text=True)  # fmt: skip
    assert here.stdout == there.stdout


class Closed(Executor):
    """An executor that ends after some jobs, in one of several ways."""

    def __init__(self, how: str, after: int) -> None:
        self.how, self.left = how, after

    def submit(self, fn, /, *args, **kwargs):
        future: Future[object] = Future()
        self.left -= 1
        if self.left >= 0:
            future.set_result(fn(*args, **kwargs))
        elif self.how == "cancels":
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            raise RuntimeError("cannot schedule new futures after shutdown")
        return future


@pytest.mark.parametrize("how", ["cancels", "refuses"])
def test_an_executor_that_ends_loses_nothing(small, tmp_path, how):
    arguments = {"over": {"stations": [1]}, "replications": 6, "store": tmp_path}
    with pytest.raises(LostWorkerError, match="the executor has ended before its runs"):
        sm.sweep(small, executor=Closed(how, 4), **arguments)
    assert len(Store(tmp_path)) == 4
    assert len(sm.sweep(small, **arguments)) == 6


def test_a_killed_process_of_a_pool_loses_nothing(small, tmp_path):
    def kill(done: float) -> None:
        if done > 0.3:
            for process in list((pool._processes or {}).values()):
                process.kill()

    arguments = {"over": {"stations": [1]}, "replications": 12, "store": tmp_path}
    with ProcessPoolExecutor(2) as pool, pytest.raises(LostWorkerError, match="was killed"):
        sm.sweep(small.set("duration_s", 5.0), executor=pool, progress=kill, **arguments)
    assert 4 <= len(Store(tmp_path)) < 12
    assert len(sm.sweep(small.set("duration_s", 5.0), **arguments)) == 12


def test_replicate_and_compare_continue_from_a_store(small, tmp_path):
    with pytest.raises(LostWorkerError):
        sm.replicate(small, replications=6, store=tmp_path, executor=Closed("cancels", 4))
    made: list[int] = []

    class Counting(Closed):
        def submit(self, fn, /, *args, **kwargs):
            made.append(1)
            return super().submit(fn, *args, **kwargs)

    done = sm.replicate(small, replications=6, store=tmp_path, executor=Counting("", 99))
    assert (len(done), len(made)) == (6, 2)
    sm.compare(small, small.set("stations", 2), replications=6, store=tmp_path,
               executor=Counting("", 99))  # fmt: skip
    assert len(made) == 8
    with pytest.raises(ValueError, match="a store keeps no time series"):
        sm.replicate(small, probes=["total.goodput_mbps"], store=tmp_path)


def test_jobs_wait_in_a_window_and_leave_nothing_behind():
    class Watched(Closed):
        most = 0

        def submit(self, fn, /, *args, **kwargs):
            Watched.most = max(Watched.most, len(runner._futures))
            return super().submit(fn, *args, **kwargs)

    runner = Runner(Watched("", 10_000), shares=False, window=50)
    with runner:
        found = dict(runner.results(Number(n) for n in range(1000)))
    assert found == {n: n for n in range(1000)}
    assert Watched.most <= 50
    assert (len(runner._futures), len(runner._jobs), runner.ended) == (0, 0, 1000)


class Number:
    """An empty job."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, _progress: object = None) -> int:
        return self.number


def test_only_the_results_that_are_kept_take_memory(small, tmp_path):
    y = "total.goodput_mbps"
    whole = sm.sweep(small, over={"stations": [1, 2]}, replications=2, store=tmp_path)
    paths = [y, 'sum(flows[to="sta*"].timeouts)']
    for store in (None, tmp_path):
        kept = sm.sweep(small, over={"stations": [1, 2]}, replications=2, keep=paths, store=store)
        assert kept.mean(y).equals(whole.mean(y))
        assert kept.mean(paths[1]).equals(whole.mean(paths[1]))
        assert {len(run.summary) for run in kept} == {2}
    flows = ["flows[*].goodput_mbps", "flows[*].name"]
    kept = sm.sweep(small, over={"stations": [1, 2]}, replications=2, keep=flows)
    assert [len(run.summary) for run in kept] == [2, 2, 4, 4]
    with pytest.raises(ValueError, match="keep: there is no"):
        sm.sweep(small, over={"stations": [1]}, keep=["total.goodputs"])
    with pytest.raises(ValueError, match="shard: needs a store"):
        sm.sweep(small, over={"stations": [1]}, shard="1/2")
