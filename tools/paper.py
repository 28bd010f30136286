"""Writes docs/paper.md, the draft of a software paper, with the figures of the present pages."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from simoom import _core, studies
from simoom_studies import NAMES

ROOT = Path(__file__).resolve().parents[1]


def paper() -> str:
    """Return the text of the draft."""
    benches = text("benches/README.md")
    agree, comparisons = found(r"(\d+) of (\d+) comparisons agree", text("README.md"))
    judged = [row["verdict"] for row in claims() if row["kind"] == studies.Kind.PAPER]
    environment = Environment(
        loader=FileSystemLoader(ROOT / "tools"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("paper.md.j2").render(
        agree=agree,
        comparisons=comparisons,
        claims=len(judged),
        # One more way to choose a control is a class in Python.
        controllers=len(json.loads(_core.schema())["$defs"]["Control"]["oneOf"]) - 1,
        reproduced=judged.count(studies.Verdict.REPRODUCED),
        speed=found(r"(?s)(\| cell \| simulated s per CPU s.*?)\n\n", benches)[0],
        speed_note=found(r"(?s)(The table was measured on.*?)\n\n", benches)[0],
        studies=sum(bool(studies.STUDIES[name].originals) for name in NAMES),
    )


def text(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def claims() -> list[dict[str, str]]:
    """Return the claims of the stored runs of the studies of papers."""
    papers = (name for name in NAMES if studies.STUDIES[name].originals)
    stored = (text(f"docs/studies/claims/{name}.csv").splitlines() for name in papers)
    return [row for lines in stored for row in csv.DictReader(lines)]


def found(pattern: str, where: str) -> tuple[str, ...]:
    """Return the groups of the first match of a pattern."""
    match = re.search(pattern, where)
    if match is None:
        raise SystemExit(f"no page has {pattern!r}")
    return match.groups()


if __name__ == "__main__":
    (ROOT / "docs" / "paper.md").write_text(paper(), encoding="utf-8")
