"""Coverage of the rule by which replications end (`simoom.runs.precision`), beside the naive one.

    python benches/precision.py [REPETITIONS]

Prints, for known distributions and wanted half-widths relative to the mean, how many of the 95 %
intervals contain the true mean, and the mean number of observations. The naive rule looks after
each observation from the second on and stops at the first interval that is narrow enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from simoom.runs.precision import LEAST_RUNS, Target, required
from simoom.runs.stats import mean_ci

Draw = Callable[[np.random.Generator, int], NDArray[np.float64]]

DISTRIBUTIONS: dict[str, tuple[Draw, float, float]] = {
    "normal, sd 20 %": (lambda rng, n: rng.normal(10.0, 2.0, n), 10.0, 0.2),
    "uniform": (lambda rng, n: rng.uniform(0.0, 1.0, n), 0.5, 0.58),
    "gamma, shape 4": (lambda rng, n: rng.gamma(4.0, 0.25, n), 1.0, 0.5),
    "exponential": (lambda rng, n: rng.exponential(1.0, n), 1.0, 1.0),
    "0 or 1, 30 % ones": (lambda rng, n: (rng.random(n) < 0.3).astype(float), 0.3, 1.53),
    "log-normal, sigma 0.5": (
        lambda rng, n: rng.lognormal(0.0, 0.5, n),
        float(np.exp(0.125)),
        0.53,
    ),
    "log-normal, sigma 1": (lambda rng, n: rng.lognormal(0.0, 1.0, n), float(np.exp(0.5)), 1.31),
}
"""How to draw each distribution, its mean, and its standard deviation relative to the mean."""

WIDTHS = (0.2, 0.1, 0.05)


def stops(sample: NDArray[np.float64], width: float) -> int:
    """Return the number of observations at which the rule ends."""
    target, n = Target("total.goodput_mbps", width, relative=True), LEAST_RUNS
    while n < sample.size:
        need = required(sample[:n], target)
        if need <= n:
            break
        n = min(2 * n if need > 2 * n else max(int(np.ceil(need)), n + 1), sample.size)
    return n


def stops_naively(sample: NDArray[np.float64], width: float) -> int:
    """Return the number of observations at which the naive rule ends."""
    n = np.arange(1, sample.size + 1)
    mean = np.cumsum(sample) / n
    variance = np.maximum(np.cumsum(sample**2) / n - mean**2, 0.0)[1:] * n[1:] / n[:-1]
    half = stdtrit(n[:-1], 0.975) * np.sqrt(variance / n[1:])
    narrow = half <= width * np.abs(mean[1:])
    return int(np.argmax(narrow)) + 2 if narrow.any() else sample.size


def coverage(
    name: str,
    width: float,
    repetitions: int,
    rule: Callable[[NDArray[np.float64], float], int],
) -> tuple[float, float]:
    """Return the fraction of intervals that contain the mean, and the mean number of draws."""
    draw, mean, spread = DISTRIBUTIONS[name]
    # Much longer samples than the precision needs; a skewed result needs more at coarse widths.
    most = 500 + int(3 * (1.96 * spread / width) ** 2) + (3000 if spread > 1.2 else 0)
    rng = np.random.default_rng([1, len(name)])
    held, counts = 0, []
    for _ in range(repetitions):
        sample = draw(rng, most)
        n = rule(sample, width)
        held += mean in mean_ci(sample[:n])
        counts.append(n)
    return held / repetitions, float(np.mean(counts))


def main(arguments: Sequence[str]) -> None:
    """Print the table."""
    repetitions = int(arguments[0]) if arguments else 10_000
    print(f"{repetitions} repetitions; standard error {50 * repetitions**-0.5:.1f} % at most")
    print(f"{'':24}{'width':>6}{'naive':>9}{'runs':>7}{'rule':>9}{'runs':>7}")
    for name in DISTRIBUTIONS:
        for width in WIDTHS:
            naive = coverage(name, width, repetitions, stops_naively)
            ours = coverage(name, width, repetitions, stops)
            cells = "".join(f"{100 * held:8.1f}%{runs:7.0f}" for held, runs in (naive, ours))
            print(f"{name:24}{100 * width:5.0f}%{cells}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
