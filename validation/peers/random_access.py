"""A Monte Carlo of UORA: stations that always have something to send, Trigger frame by frame.

    python validation/peers/random_access.py > validation/data/monte_carlo_random_access.csv

It has nothing of a network but the rule of 802.11ax clause 26.5.4: counters in lists, and the
generator of the standard library. Intervals are from 20 batches.
"""

from __future__ import annotations

import csv
import math
import random
import statistics
import sys
from collections import Counter

STATIONS = (3, 8, 20, 50)
UNITS = (1, 3, 9)
EXPONENTS = ((3, 5), (0, 7))
"""EOCWmin and EOCWmax: the defaults, and the widest range."""
BATCHES, TRIGGERS = 20, 5000
STUDENT = 2.093
"""The quantile of 95 % for 20 batches."""


def batches(stations: int, units: int, least: int, most: int) -> list[tuple[float, float]]:
    """Return, for each batch, what is received and what is attempted in an RA-RU."""
    draw = random.Random(f"{stations} {units} {least} {most}")
    window = [least] * stations
    counter = [draw.randint(0, least) for _ in range(stations)]
    found = []
    for batch in range(BATCHES + 1):
        received = attempted = 0
        for _ in range(TRIGGERS):
            chosen = {}
            for station in range(stations):
                if counter[station] <= units:
                    chosen[station] = draw.randrange(units)
                else:
                    counter[station] -= units
            senders = Counter(chosen.values())
            for station, unit in chosen.items():
                alone = senders[unit] == 1
                window[station] = least if alone else min(2 * window[station] + 1, most)
                counter[station] = draw.randint(0, window[station])
                received += alone
            attempted += len(chosen)
        if batch > 0:
            found.append((received / (TRIGGERS * units), attempted / (TRIGGERS * units)))
    return found


def main() -> None:
    """Write the table."""
    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    write(["stations", "units", "eocw_min", "eocw_max", "received", "received_ci95", "attempted"])
    for low, high in EXPONENTS:
        for units in UNITS:
            for stations in STATIONS:
                both = batches(stations, units, 2**low - 1, 2**high - 1)
                received = [one for one, _ in both]
                half = STUDENT * statistics.stdev(received) / math.sqrt(BATCHES)
                mean, tried = statistics.fmean(received), statistics.fmean(it for _, it in both)
                write([stations, units, low, high, f"{mean:.5f}", f"{half:.5f}", f"{tried:.4f}"])


if __name__ == "__main__":
    main()
