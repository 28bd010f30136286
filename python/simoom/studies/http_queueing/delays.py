"""How session delays are reported and compared.

File sizes have no variance, so that means over sessions follow the few largest files. Beside the
mean, which the paper shows, stands the delay per segment of the file, its median over runs; claims
that compare settings do so run by run, as equal seeds draw equal sizes and think times.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from simoom.evidence import Value
from simoom.studies.figure import Curve, Source, X, curve
from simoom.studies.lab import Sample

Place = TypeVar("Place", bound=X)
DELAY, EACH = "session_delay_s", "delay_per_segment_ms"
HEAVY_TAIL = (
    "Mean delays are means over runs with Student's t interval, which for Pareto files is of "
    "little use; delays per segment are medians over runs with the interval of order statistics."
)


def ratio(first: Sample, second: Sample) -> Value:
    """Return by which factor the second's sessions take longer, run by run: the median."""
    return Value.median(second[DELAY] / first[DELAY])


def difference_ms(first: Sample, second: Sample) -> Value:
    """Return by how much the second's sessions take longer, run by run: the median, in ms."""
    return Value.median(1e3 * (second[DELAY] - first[DELAY]))


def both(label: str, runs: Mapping[Place, Sample], *, colour: int) -> list[Curve]:
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
