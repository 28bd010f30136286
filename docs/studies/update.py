"""Run the studies and write their claims and pictures into these pages.

    python docs/studies/update.py [STUDY ...] [--figure KEY ...] [--quick | --once]
        [--costs] [--pictures]
    python docs/studies/update.py --pages

The claims of a run are in ``claims/STUDY.csv``, what runs cost in ``costs.csv``. The text between
the markers ``<!-- NAME -->`` and ``<!-- /NAME -->`` of the pages follows from these two files:
``--pages`` writes it without a run.

claims
    The counts, and a line for each claim of the paper; a page begins with them.
reasons
    What each verdict allows, other readings, reasons; then the findings of the study.
by_reading
    Which claims hold by which reading, where a page wants to show it.
counts, costs, originals
    In README.md: the counts of all studies, what runs cost, each figure and table of the papers.
table KEY
    A figure of one panel as a table, from a run only: a row for each curve, or for each x if these
    are words, and more than the curves.
"""

from __future__ import annotations

import argparse
import csv
import re
import resource
import textwrap
from collections.abc import Mapping
from pathlib import Path

from simoom import plots, studies
from simoom.runs.evidence import Verdict
from simoom.studies import Kind, Lab, Results, Study, headlines
from simoom.studies.figure import Figure
from simoom.studies.study import slug
from simoom_studies import NAMES

STUDIES = {name: studies.STUDIES[name] for name in NAMES}
HERE = Path(__file__).parent
COSTS = HERE / "costs.csv"
MARKED = re.compile(r"(<!-- ([\w. ]+) -->\n)(.*?)(<!-- /\2 -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- table ([\w ]+) -->\n).*?(<!-- /table \2 -->)", re.DOTALL)
IMAGE = re.compile(r"images/(\w+)\.png")

LABS = {
    "quick": "From a quick run, with fewer replications and points",
    "once": "From one look, without more replications for what is undecided",
    "fewer": "From fewer networks than a full run has",
}
"""Labs other than that of a full run, in words."""

Row = dict[str, str]


def rows(study: str) -> list[Row]:
    """Return the claims of the stored run of a study."""
    return _read(HERE / "claims" / f"{study}.csv")


def pages(study: str) -> list[Path]:
    """Return the page of a study, and that of its reasons if they have one of their own."""
    return [HERE / f"{study}.md", *HERE.glob(f"{study}_reasons.md")]


def page(study: Study, text: str) -> str:
    """Return the text of a page of a study with the blocks that follow from its claims."""
    found = rows(study.name)
    blocks = {
        "claims": _headline(found),
        "reasons": _reasons(found),
        "by_reading": headlines.by_reading(found),
    }
    return _filled(text, blocks)


def readme(text: str) -> str:
    """Return the text of README.md with the blocks that follow from all claims."""
    blocks = {"counts": _counts(), "costs": readme_costs()}
    blocks |= {f"originals {each.name}": _originals(each) for each in STUDIES.values()}
    return _filled(text, blocks)


def _filled(text: str, blocks: Mapping[str, str]) -> str:
    return MARKED.sub(
        lambda found: (
            f"{found[1]}\n{blocks[found[2]]}\n{found[4]}" if found[2] in blocks else found[0]
        ),
        text,
    )


def _headline(found: list[Row]) -> str:
    """Return the counts and a line for each claim of the paper."""
    how = ""
    for lab, what in LABS.items():
        figures = dict.fromkeys(row["figure"] for row in found if row["lab"] == lab)
        how += textwrap.fill(f"{what}: {', '.join(figures)}.", 100) + "\n\n" if figures else ""
    shown = [row for row in found if row["kind"] in (Kind.PAPER, Kind.LOOSE)]
    lines = f"\n\n{headlines.lines(found)}" if shown else "\n"
    counts = textwrap.fill(f"**{headlines.counts(found)}.**", 100)
    return f"{counts}{lines}{how and chr(10)}{how}".rstrip("\n") + "\n"


def _reasons(found: list[Row]) -> str:
    parts = [headlines.reasons(found)]
    if any(row["kind"] == Kind.FINDING for row in found):
        parts.append(f"### Findings of the study\n\n{headlines.findings(found)}")
    return "\n".join(parts)


def _counts() -> str:
    """Return the table of the counts of all studies."""
    words = [each.value for each in Verdict]
    heads = ["study", "claims", *words, "loosely worded", "findings that hold"]
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for name in STUDIES:
        found = rows(name)
        by = headlines.verdicts(found)
        ours = headlines.verdicts(found, Kind.FINDING)
        loose = sum(headlines.verdicts(found, Kind.LOOSE).values())
        counts = [sum(by.values()), *by.values(), loose]
        hold = f"{ours[Verdict.REPRODUCED]} of {sum(ours.values())}"
        lines.append(f"| [{name}]({name}.md) | {' | '.join(map(str, counts))} | {hold} |")
    return "\n".join(lines) + "\n"


def readme_costs() -> str:
    """Return the table of what runs cost; what was not measured is absent."""
    heads = ("study", "quick: runs", "CPU time, s", "full: runs", "CPU time, s")
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for study in STUDIES.values():
        cells = [cell for lab in ("quick", "full") for cell in _cost(study, lab)]
        lines.append(f"| {study.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _cost(study: Study, lab: str) -> tuple[str, str]:
    """Return the runs and the CPU time of all figures, which several runs may have made."""
    parts = [row for row in _read(COSTS) if (row["study"], row["lab"]) == (study.name, lab)]
    if set().union(*map(_figures, parts)) != set(study.keys):
        return "-", "-"
    runs, cpu_s = (sum(int(row[column]) for row in parts) for column in ("runs", "cpu_s"))
    return str(runs), str(cpu_s)


def _figures(row: Row) -> set[str]:
    return set(row["figures"].split("; "))


def _originals(study: Study) -> str:
    """Return a row for each figure and table of a paper."""
    found = rows(study.name)
    heads = ("in the paper", "what", "here", "method", "reading", "verdict")
    lines = [f"| {' | '.join(heads)} |", "| --- " * len(heads) + "|"]
    for each in study.originals:
        cells = (
            each.place, each.what, ", ".join(each.figures) or "-", each.method,
            each.reading or "-", headlines.outcome(found, each),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def table(figure: Figure) -> str:
    """Return a figure with one panel as a table: a row for each curve.

    There is a row for each x if these are words, and more than the curves. The source of the
    numbers is told where curves differ in it.
    """
    (panel,) = figure.panels
    columns = list(dict.fromkeys(x for each in figure.curves for x in each.x))
    same = len({each.source for each in figure.curves}) == 1
    names = [each.label if same else each.name for each in figure.curves]
    heads = [x if isinstance(x, str) else f"{x:g}" for x in columns]
    cells = [[str(each.at(x)) if x in each.x else "" for x in columns] for each in figure.curves]
    if len(columns) > len(names) and all(isinstance(x, str) for x in columns):
        heads, names, cells = names, heads, [list(row) for row in zip(*cells, strict=True)]
    lines = [f"| {panel.label} | {' | '.join(heads)} |", "| --- " * (len(heads) + 1) + "|"]
    lines += [f"| {name} | {' | '.join(row)} |" for name, row in zip(names, cells, strict=True)]
    return "\n" + "\n".join(lines) + "\n\n"


def store(results: Results, *, lab: str) -> None:
    """Store the claims of a run, beside those of figures that were not made now.

    A figure that one look decides is that of a full run.
    """
    study = results.study
    path = HERE / "claims" / f"{study.name}.csv"
    made = {figure.key for figure in results}
    undecided = {row["figure"] for row in results.rows if row["verdict"] == Verdict.UNDECIDED}
    labs = {key: "full" if lab == "once" and key not in undecided else lab for key in made}
    now = [{**row, "lab": labs[row["figure"]]} for row in results.rows]
    kept = [row for row in (_read(path) if path.exists() else []) if row["figure"] not in made]
    order = {key: place for place, key in enumerate(study.keys)}
    every = sorted((row for row in kept + now if row["figure"] in order),
                   key=lambda row: order[row["figure"]])  # fmt: skip
    _write(path, every)


def draw(results: Results) -> None:
    """Draw the pictures that some page shows, and fill the tables of the study's page."""
    shown = {name for page in HERE.parent.rglob("*.md")
             for name in IMAGE.findall(page.read_text(encoding="utf-8"))}  # fmt: skip
    for figure in results:
        name = f"{results.study.name}_{slug(figure.key)}"
        if name in shown:
            plots.save(figure.plot(), HERE / "images" / f"{name}.png")
    path = HERE / f"{results.study.name}.md"
    made = {figure.key: figure for figure in results}

    def filled(found: re.Match[str]) -> str:
        return found[1] + table(made[found[2]]) + found[3] if found[2] in made else found[0]

    path.write_text(TABLE.sub(filled, path.read_text(encoding="utf-8")), encoding="utf-8")


def write_pages() -> None:
    """Write all that follows from the stored claims and costs into the pages."""
    for study in STUDIES.values():
        for path in pages(study.name):
            path.write_text(page(study, path.read_text(encoding="utf-8")), encoding="utf-8")
    path = HERE / "README.md"
    path.write_text(readme(path.read_text(encoding="utf-8")), encoding="utf-8")


def record(results: Results, *, lab: str, runs: int, cpu_s: float) -> None:
    """Store what making figures cost, in place of what is known of any of them."""
    study = results.study.name
    now = {
        "study": study, "lab": lab, "figures": "; ".join(figure.key for figure in results),
        "runs": str(runs), "cpu_s": f"{cpu_s:.0f}",
    }  # fmt: skip
    kept = [
        row
        for row in _read(COSTS)
        if (row["study"], row["lab"]) != (study, lab) or _figures(row).isdisjoint(_figures(now))
    ]
    _write(COSTS, sorted([*kept, now], key=lambda row: (row["study"], row["lab"])))


def _read(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _write(path: Path, found: list[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(found[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(found)


def _cpu_s() -> float:
    """Return the CPU time of all threads so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def main() -> None:
    """Run the studies asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", nargs="*", choices=[[], *STUDIES], default=[])
    parser.add_argument("--figure", action="append", metavar="KEY", help="only this: 'figure 5'")
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    parser.add_argument("--once", action="store_true", help="no further looks at the undecided")
    parser.add_argument("--costs", action="store_true", help="store no claims, but costs")
    parser.add_argument("--pictures", action="store_true", help="store no claims, but pictures")
    parser.add_argument("--pages", action="store_true", help="no run: the pages only")
    parser.add_argument("--workers", type=int, help="threads; one for each core by default")
    chosen = parser.parse_args()
    for folder in ("images", "claims"):
        (HERE / folder).mkdir(exist_ok=True)
    lab_name = "quick" if chosen.quick else "once" if chosen.once else "full"
    for name in [] if chosen.pages else chosen.study or STUDIES:
        before_s = _cpu_s()
        looks = {"most_times": 1} if chosen.once else {}
        with Lab(quick=chosen.quick, workers=chosen.workers, **looks) as lab:
            results = STUDIES[name].run(chosen.figure, lab=lab)
            cost = {"runs": lab.runs, "cpu_s": _cpu_s() - before_s}
        all_of_it = not (chosen.costs or chosen.pictures)
        if all_of_it or chosen.costs:
            record(results, lab=lab_name, **cost)
        if all_of_it or chosen.pictures:
            draw(results)
        if all_of_it:
            store(results, lab=lab_name)
    write_pages()


if __name__ == "__main__":
    main()
