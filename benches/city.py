"""A city of cells: the cost of a transmission as the city grows.

Cells are in a square grid on three channels in turn, so far apart that a node detects only its
neighbourhood. If the medium examines only the nodes that detect a frame, the cost of an attempt
does not depend on the number of cells.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from dataclasses import dataclass

PROGRAM = """
import json, resource, sys, time
import simoom as sm

scenario = sm.Scenario.parse(sys.stdin.read())
begin = time.process_time()
sm.run(scenario.set("duration_s", 0.001).set("warmup_s", 0.0))
built = time.process_time()
attempts = sm.run(scenario).summary["total.attempts"]
end = time.process_time()
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([built - begin, end - built, attempts, peak]))
"""


def city(cells: int, stations: int = 40, simulated_s: float = 1.0, apart_m: float = 60.0) -> str:
    """Return a scenario of 802.11a cells in which all stations download."""
    side = math.ceil(math.sqrt(cells))
    places = [(cell % side, cell // side) for cell in range(cells)]
    lines = [
        'standard = "11a"',
        f"duration_s = {simulated_s}",
        "warmup_s = 0.0",
        'radio.error_model = "nist"',
        "radio.propagation.log_distance.exponent = 3.5",
        "wire = { rate_mbps = 1000.0, delay_ms = 2.0 }",
        'flows = [{ from = "server", to = "sta*", tcp.window_bytes = 65535 }]',
        "[ap]",
        "position_m = [0.0, 0.0]",
    ]
    for column, row in places[1:]:
        position = f"position_m = [{column * apart_m}, {row * apart_m}]"
        lines += ["[[cells]]", position, f"channel = {(36, 52, 100)[(column + 2 * row) % 3]}"]
    for cell in range(cells):
        lines += ["[[stations]]", f"count = {stations}", "ring_m = 8.0", f"cell = {cell}"]
    return "\n".join(lines) + "\n"


def one_cell(stations: int, upwards: bool = False, simulated_s: float = 0.01) -> str:
    """Return a cell of 802.11a in which all nodes detect each other.

    If `upwards`, all stations begin to send at the same instant.
    """
    ends = ("sta*", "server") if upwards else ("server", "sta*")
    lines = [
        'standard = "11a"',
        f"duration_s = {simulated_s}",
        "warmup_s = 0.0",
        'radio.error_model = "nist"',
        "wire = { rate_mbps = 1000.0, delay_ms = 2.0 }",
        f'flows = [{{ from = "{ends[0]}", to = "{ends[1]}", tcp.window_bytes = 65535 }}]',
        "[ap]",
        "position_m = [0.0, 0.0]",
        "[[stations]]",
        f"count = {stations}",
        "ring_m = 10.0",
    ]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True)
class Cost:
    """The cost of a city."""

    building_s: float
    per_attempt_us: float
    peak_mib: float


def measure(cells: int) -> Cost:
    """Run a city in a separate process."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input=city(cells),
        capture_output=True,
        text=True,
        check=True,
    )
    building_s, running_s, attempts, peak_kib = json.loads(done.stdout)
    return Cost(building_s, (running_s - building_s) / attempts * 1e6, peak_kib / 1024)


def main() -> None:
    """Measure and print the table."""
    columns = ("stations", "building s", "us per attempt", "peak MiB")
    print(f"{'cells':<8}" + "".join(f"{column:>16}" for column in columns))
    for cells in (5, 10, 25, 50):
        cost = measure(cells)
        values = (40 * cells, cost.building_s, cost.per_attempt_us, cost.peak_mib)
        print(f"{cells:<8}" + "".join(f"{value:>16.4g}" for value in values), flush=True)


if __name__ == "__main__":
    main()
