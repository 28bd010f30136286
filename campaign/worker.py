"""A process of the campaign: a request a line, and an answer a line. It may die."""

from __future__ import annotations

import json
import resource
import signal
import sys

from campaign import trials

MOST_MEMORY = 3 << 30
"""What a trial may use; a scenario that needs more must be refused."""


def main() -> None:
    """Answer until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    answers = sys.stdout
    sys.stdout = sys.stderr
    for line in sys.stdin:
        outcomes: list[str] = ["none"]
        try:
            found = trials.answer(json.loads(line), outcomes.append)
        except BaseException as error:  # noqa: BLE001  a panic has no other base class
            found = f"{type(error).__name__}: {str(error)[:2000]}"
        print(json.dumps([found, outcomes[-1]]), file=answers, flush=True)


if __name__ == "__main__":
    main()
