"""Writes docs/paper.md, the draft of a software paper, with the figures of the present pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from simoom import _core, studies

ROOT = Path(__file__).resolve().parents[1]


def paper() -> str:
    """Return the text of the draft."""
    benches = text("benches/README.md")
    agree, comparisons = found(r"(\d+) of (\d+) comparisons agree", text("README.md"))
    claims = [found(r"(\d+) claims: (\d+) reproduced", page(name)) for name in studies.STUDIES]
    environment = Environment(
        loader=FileSystemLoader(ROOT / "tools"),
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("paper.md.j2").render(
        agree=agree,
        comparisons=comparisons,
        claims=sum(int(all_) for all_, _ in claims),
        # One more way to choose a control is a class in Python.
        controllers=len(json.loads(_core.schema())["$defs"]["Control"]["oneOf"]) - 1,
        reproduced=sum(int(number) for _, number in claims),
        speed=found(r"(?s)(\| cell \| simulated s per CPU s.*?)\n\n", benches)[0],
        speed_note=found(r"(?s)(The table was measured on.*?)\n\n", benches)[0],
        studies=len(studies.STUDIES),
    )


def text(name: str) -> str:
    """Return the text of a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def page(study: str) -> str:
    """Return the page of a study."""
    return text(f"docs/studies/{study}.md")


def found(pattern: str, where: str) -> tuple[str, ...]:
    """Return the groups of the first match of a pattern."""
    match = re.search(pattern, where)
    if match is None:
        raise SystemExit(f"no page has {pattern!r}")
    return match.groups()


if __name__ == "__main__":
    (ROOT / "docs" / "paper.md").write_text(paper(), encoding="utf-8")
