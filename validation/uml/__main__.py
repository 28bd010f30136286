"""Points of Linux's TCP in virtual time, made anew: build a kernel, then run points in it."""

from __future__ import annotations

import argparse
import csv
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from simoom.runs.runner import cores
from simoom.runs.stats import mean_ci
from validation import linux
from validation.linux import Measured, Point
from validation.uml.build import build
from validation.uml.programs import Refused
from validation.uml.run import guest, job_of, quantities

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "target" / "uml"
"""Where kernels are built."""
COLUMNS = ("group", "point", "quantity", "value", "half_width", "n", "settings")


def chosen(names: list[str], changes: list[str]) -> list[Point]:
    """The points with these names, with changed settings."""
    every = {point.name: point for point in linux.points()}
    unknown = [name for name in names if name not in every]
    if unknown:
        raise Refused(f"no point {unknown[0]!r}; there are {', '.join(every)}")
    points = [every[name] for name in names]
    return [changed(point, changes) for point in points] if changes else points


def changed(point: Point, changes: list[str]) -> Point:
    """A point with other settings; the rate is that which the bottleneck's command says."""
    settings = dict(point.settings)
    for change in changes:
        key, equals, value = change.partition("=")
        if not equals or key not in {*settings, "tcp_ecn", "after_bottleneck"} - {"rate_mbps"}:
            known = ", ".join(sorted({*settings, "tcp_ecn", "after_bottleneck"} - {"rate_mbps"}))
            raise Refused(f"--set {change}: expected KEY=VALUE with a key of {known}")
        settings[key] = value
    rate = re.search(r"(?:rate|bandwidth) ([0-9.]+)mbit", settings["bottleneck"])
    if not rate:
        raise Refused(f"bottleneck={settings['bottleneck']}: it has no rate in mbit")
    settings["rate_mbps"] = rate[1]
    check_numbers(settings)
    return replace(point, name=f"{point.name} {' '.join(changes)}", settings=settings, measured={})


def check_numbers(settings: dict[str, str]) -> None:
    """Refuse settings that are not what the guest expects."""
    flows = settings["control"].split("+")
    delays = settings["return_delay_ms"].split("+")
    if len(flows) > 2 or len(flows) != len(delays):
        raise Refused("control and return_delay_ms: one value, or two joined by +")
    unknown = set(flows) - set(linux.CONTROLS)
    if unknown:
        raise Refused(f"control={unknown.pop()}: expected one of {', '.join(linux.CONTROLS)}")
    names = ("measured_s", "omitted_s", "ping_every_ms", "idle_s")
    numbers = {key: settings[key] for key in names if key in settings}
    for key, value in [*numbers.items(), *(("return_delay_ms", delay) for delay in delays)]:
        if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", value):
            raise Refused(f"{key}={value}: expected a number of at least 0")
    if float(settings.get("measured_s", 1)) == 0:
        raise Refused("measured_s=0: expected a time above 0")


def made(point: Point, kernel: Path, repeats: int | None) -> Point:
    """The point with what this kernel does."""
    runs = []
    for repeat in range(repeats or point.repeats):
        job = job_of(point, repeat)
        runs.append(quantities(job, guest(kernel, job)))
    measured = {}
    for key in dict.fromkeys(key for run in runs for key in run):
        values = [run[key] for run in runs if key in run]
        measured[key] = Measured(fmean(values), half_width(values))
    return replace(point, measured=measured, repeats=len(runs))


def half_width(values: list[float]) -> float:
    """That of the 95 % interval of three and more repeats, or half of the range of two."""
    if len(values) < 3:
        return (max(values) - min(values)) / 2
    found = mean_ci(values)
    return (found.ci_high - found.ci_low) / 2


def rows(points: Iterable[Point]) -> Iterable[tuple[object, ...]]:
    """The rows of a table of points, as in ``validation/data/linux.csv``."""
    for point in points:
        settings = "; ".join(f"{key}={value}" for key, value in point.settings.items())
        for quantity, measured in point.measured.items():
            values = (f"{measured.value:.6g}", f"{measured.half_width:.4g}")
            yield (point.group, point.name, quantity, *values, point.repeats, settings)


def show(recorded: Point, anew: Point, simulated: linux.Compared | None) -> None:
    """Print the values of a point: the recorded ones, those made anew, and those simulated."""
    print(f"\n{anew.name} ({anew.repeats} runs)")
    print(f"{'':24} {'recorded':>10} {'anew':>10} {'+-':>8} {'simoom':>10}")
    for quantity, value in anew.measured.items():
        before = recorded.measured.get(quantity)
        text = f"{before.value:.6g}" if before else ""
        line = f"{quantity:24} {text:>10} {value.value:>10.6g} {value.half_width:>8.3g}"
        if simulated and quantity in simulated.simulated:
            line += f" {simulated.simulated[quantity]:>10.6g}"
            if quantity in simulated.judged:
                line += "" if simulated.agrees(quantity) else "  differs"
        print(line, flush=True)


def of_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m validation.uml", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    kernel = commands.add_parser("build", help="build a kernel, and print where it is")
    kernel.add_argument("--source", type=Path, help="a source package or tree of Linux")
    kernel.add_argument("--jobs", type=int, default=cores(), help="compilers at a time")
    points = commands.add_parser("points", help="make points anew")
    points.add_argument("points", nargs="*", metavar="POINT", help="points by name; none lists all")
    points.add_argument("--kernel", type=Path, help="the kernel; the one built last unless given")
    points.add_argument("--repeats", type=int, help="runs of each point; as recorded unless given")
    points.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="another setting"
    )
    points.add_argument("--simulate", action="store_true", help="compare with the simulator")
    points.add_argument("--csv", type=Path, help="write the points to this file")
    return parser.parse_args()


def last_kernel() -> Path:
    """The kernel that was built last."""
    found = sorted(TARGET.glob("build-*/linux"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise Refused("no kernel: run `python -m validation.uml build` first, or give --kernel")
    return found[-1]


def make_points(arguments: argparse.Namespace) -> None:
    points = chosen(arguments.points, arguments.set)
    if not points:
        for point in linux.points():
            settings = "; ".join(f"{key}={value}" for key, value in point.settings.items())
            print(f"{point.name:28} {settings}")
        return
    if arguments.repeats is not None and arguments.repeats < 1:
        raise Refused(f"--repeats {arguments.repeats}: expected at least 1")
    kernel = arguments.kernel or last_kernel()
    if not kernel.is_file():
        raise Refused(f"{kernel}: no such file")
    anew = []
    for point in points:
        anew.append(made(point, kernel, arguments.repeats))
        simulated = linux.measure(anew[-1:])[0] if arguments.simulate else None
        show(point, anew[-1], simulated)
    if arguments.csv:
        with arguments.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(rows(anew))


def main() -> int:
    arguments = of_arguments()
    try:
        if arguments.command == "build":
            print(build(arguments.source, TARGET, arguments.jobs))
        else:
            make_points(arguments)
    except Refused as refused:
        print(f"validation.uml: {refused}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
