"""Run the studies and write their claims and pictures into these pages.

    python docs/studies/update.py [STUDY ...] [--quick]

Replaces the text between the markers ``<!-- claims -->`` and ``<!-- /claims -->`` of each page.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from simoom import plots
from simoom.studies import STUDIES, Lab, Results
from simoom.studies.report import markdown, summary
from simoom.studies.study import slug

HERE = Path(__file__).parent
BLOCK = re.compile(r"(<!-- claims -->\n).*?(<!-- /claims -->)", re.DOTALL)
PICTURES = {
    "full_duplex": (
        "figure 4",
        "figure 5",
        "figure 6",
        "figure loss",
        "figure acks",
        "figure queue",
        "figure worth",
    ),
    "http_queueing": ("figure 8", "figure elephants"),
    "lt_tcp": ("figure 1", "figure 3", "figure corruption", "figure hidden"),
    "mcs_cubic": ("figure 2b", "figure 3a", "figure 3b", "figure walking", "figure pace"),
}


def block(results: Results, *, quick: bool) -> str:
    """Return the text between the markers."""
    how = "From a quick run, with fewer and shorter replications.\n\n" if quick else ""
    return f"\n{summary(results).partition(': ')[2]}.\n\n{how}{markdown(results)}\n"


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
