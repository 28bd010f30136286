"""Run the studies and write their claims and pictures into these pages.

    python docs/studies/update.py [STUDY ...] [--quick]

Replaces the text between the markers ``<!-- claims -->`` and ``<!-- /claims -->`` of each page, and
the tables between ``<!-- table NAME -->`` and ``<!-- /table -->``.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from simoom import plots
from simoom.studies import STUDIES, Lab, Results
from simoom.studies.figure import Figure, Source
from simoom.studies.report import markdown, summary
from simoom.studies.study import slug

HERE = Path(__file__).parent
SOURCES = {Source.PAPER: "the paper", Source.SIMULATION: ""}
"""What tables show."""
BLOCK = re.compile(r"(<!-- claims -->\n).*?(<!-- /claims -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- (table [\w ]+) -->\n).*?(<!-- /table -->)", re.DOTALL)
PICTURES = {
    "afw_few": (
        "table 4",
        "table 5",
        "figure 2",
        "figure pairs",
        "figure scenarios",
        "figure area",
        "figure chain",
    ),
    "full_duplex": (
        "figure 4",
        "figure 5",
        "figure 6",
        "figure loss",
        "figure acks",
        "figure queue",
        "figure worth",
        "figure places",
        "figure cancellation",
        "figure bidirectional",
        "figure aggregates",
    ),
    "http_queueing": ("figure 8", "figure elephants"),
    "l4s_wifi": (
        "figure fibre",
        "figure bursty",
        "figure step",
        "figure rules",
        "figure place",
        "figure echo",
    ),
    "lt_tcp": (
        "figure 1",
        "figure 3",
        "figure corruption",
        "figure timer",
        "figure captures",
        "figure hidden",
        "figure choices",
        "figure controllers",
    ),
    "mcs_cubic": ("figure 2b", "figure 3a", "figure 3b", "figure walking", "figure pace"),
}


def block(results: Results, *, quick: bool) -> str:
    """Return the text between the markers."""
    how = "From a quick run, with fewer and shorter replications.\n\n" if quick else ""
    return f"\n{summary(results).partition(': ')[2]}.\n\n{how}{markdown(results)}\n"


def table(figure: Figure) -> str:
    """Return a figure with one panel as a table: a row for each value of the axis."""
    (panel,) = figure.panels
    shown = [each for each in figure.curves if each.source in SOURCES]
    heads = [f"{each.label}, {SOURCES[each.source]}".removesuffix(", ") for each in shown]
    lines = [f"| {panel.label} | {' | '.join(heads)} |", "| --- " * (len(shown) + 1) + "|"]
    for x in shown[0].x:
        cells = [f"{each.at(x).value:.3g}" for each in shown]
        lines.append(f"| {x if isinstance(x, str) else f'{x:g}'} | {' | '.join(cells)} |")
    return "\n" + "\n".join(lines) + "\n\n"


def update(results: Results, *, quick: bool) -> None:
    """Write the claims of a study into its page, and its pictures beside it."""
    name = results.study.name
    page = HERE / f"{name}.md"
    text, count = BLOCK.subn(
        lambda found: found[1] + block(results, quick=quick) + found[2],
        page.read_text(encoding="utf-8"),
    )
    if count != 1:
        raise SystemExit(f"{page.name}: needs one pair of markers, has {count}")
    text = TABLE.sub(lambda found: found[1] + table(results[found[2]]) + found[3], text)
    page.write_text(text, encoding="utf-8")
    for key in PICTURES[name]:
        plots.save(results[key].plot(), HERE / "images" / f"{name}_{slug(key)}.png")


def main() -> None:
    """Run the studies asked for, all by default."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("study", nargs="*", choices=[[], *STUDIES], default=[])
    parser.add_argument("--quick", action="store_true", help="fewer and shorter runs")
    chosen = parser.parse_args()
    (HERE / "images").mkdir(exist_ok=True)
    with Lab(quick=chosen.quick) as lab:
        for name in chosen.study or STUDIES:
            update(STUDIES[name].run(lab=lab), quick=chosen.quick)


if __name__ == "__main__":
    main()
