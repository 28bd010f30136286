"""Statistics of session delays and their comparison.

The distribution of file sizes has infinite variance, so that a few large files dominate means over
sessions. In addition to the paper's mean, figures therefore show the delay per segment of the file,
as the median over runs. Claims that compare settings compare pairs of runs, because equal seeds
draw equal sizes and think times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from simoom.runs.evidence import Value
from simoom.studies.figure import Curve, Source, X, curve
from simoom.studies.lab import Sample

XValue = TypeVar("XValue", bound=X)
DELAY, EACH = "session_delay_s", "delay_per_segment_ms"
HEAVY_TAIL = (
    "Mean delays are means over runs with Student's t interval, which is unreliable for Pareto "
    "files; delays per segment are medians over runs with the interval of order statistics."
)


def ratio(first: Sample, second: Sample) -> Value:
    """Return the median over pairs of runs of the ratio of the session delays."""
    return Value.median(second[DELAY] / first[DELAY])


def difference_ms(first: Sample, second: Sample) -> Value:
    """Return the median over pairs of runs of the difference of the session delays, in ms."""
    return Value.median(1e3 * (second[DELAY] - first[DELAY]))


def both(label: str, runs: Mapping[XValue, Sample], *, colour: int) -> list[Curve]:
    """Return the two curves of a setting: mean delay, and delay per segment."""
    return [
        curve(
            label,
            Source.SIMULATION,
            runs,
            [how(sample[quantity]) for sample in runs.values()],
            quantity,
            colour=colour,
        )
        for quantity, how in ((DELAY, Value.mean), (EACH, Value.median))
    ]
