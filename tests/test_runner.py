"""The runner: each job runs once, and all end when one fails."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

import pytest

from simoom.runs.runner import Runner


class FailedError(Exception):
    """Raised by a job."""


@dataclass(frozen=True)
class Square:
    """A job; equal numbers make equal jobs."""

    number: int
    made: list[int]

    def __hash__(self):
        return hash(self.number)

    def __call__(self, progress=None):
        if progress is not None:
            progress(0.5)
        self.made.append(self.number)
        return self.number**2


def endless(progress):
    while True:
        time.sleep(0.01)
        progress(0.0)


def fail(_):
    raise FailedError


def test_results_come_with_the_number_of_their_job():
    made = []
    with Runner(workers=3) as runner:
        found = dict(runner.results(Square(n, made) for n in range(20)))
    assert found == {n: n**2 for n in range(20)}


def test_equal_jobs_run_once_and_all_get_the_result():
    made = []
    with Runner() as runner:
        assert dict(runner.results([Square(n % 2, made) for n in range(4)])) == {
            0: 0,
            1: 1,
            2: 0,
            3: 1,
        }
        assert dict(runner.results([Square(1, made), Square(2, made)])) == {0: 1, 1: 4}
        assert (runner.submitted, runner.ended) == (3, 3)
    assert sorted(made) == [0, 1, 2]


def test_two_threads_share_a_job():
    made, found = [], []
    with Runner() as runner:
        ask = partial(runner.results, [Square(3, made)])
        threads = [threading.Thread(target=lambda: found.extend(ask())) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == [(0, 9), (0, 9)]
    assert made == [3]


def test_one_failure_ends_all_and_says_which_it_was():
    others, begun = set(threading.enumerate()), time.monotonic()
    with pytest.raises(FailedError) as caught, Runner(workers=2) as runner:
        list(runner.results([endless, fail, endless], describe="job {}".format))
    assert caught.value.__notes__ == ["in job 1"]
    assert time.monotonic() - begun < 3
    left = set(threading.enumerate()) - others
    for thread in left:
        thread.join(30)
    assert not any(thread.is_alive() for thread in left)


def test_results_that_end_with_a_failure_are_not_lost():
    made, found = [], []
    jobs = [Square(1, made), fail, Square(2, made)]
    with ThreadPoolExecutor(1) as one, Runner(one) as runner:
        results = runner.results(jobs)
        found.append(next(results))
        one.submit(int).result()  # behind the others: all have ended
        with pytest.raises(FailedError):
            found.extend(results)
    assert found == [(0, 1), (2, 4)]


def test_a_given_executor_is_left_open():
    made = []
    with ThreadPoolExecutor(1) as one:
        with Runner(one) as runner:
            assert dict(runner.results([Square(2, made)])) == {0: 4}
        assert one.submit(int, "5").result() == 5
