"""The scenarios that come with Simoom, by name."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "scenarios"
DIRECTIVE = "#:schema ../schema/scenario.schema.json\n"
"""Leads editors to the schema; true only of the files in the repository."""


@dataclass(frozen=True)
class Shipped:
    """A scenario that comes with Simoom.

    Attributes
    ----------
    name : str
        The name, which stands for a file wherever a scenario is read.
    title : str
        The title of its reports.
    about : str
        What the scenario shows: the first sentence of its file.
    text : str
        The text of its file, without the line that names the schema for editors.
    """

    name: str
    title: str
    about: str
    text: str


def scenarios() -> Iterator[Shipped]:
    """Yield the scenarios by name."""
    for file in sorted(FOLDER.glob("*.toml")):
        text = file.read_text(encoding="utf-8").removeprefix(DIRECTIVE)
        title = tomllib.loads(text).get("title", file.stem)
        yield Shipped(file.stem, title, _first_sentence(text), text)


def names() -> list[str]:
    """Return the names of the scenarios."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the file of a scenario: that of a shipped one for its name, unless a file has it.

    Examples
    --------
    >>> resolved("hotspot_11b").name, resolved("mine.toml").name
    ('hotspot_11b.toml', 'mine.toml')
    """
    file = Path(path)
    own = FOLDER / f"{file}.toml"
    is_name = str(file) == file.name and not file.exists() and own.is_file()
    return own if is_name else file


def _first_sentence(text: str) -> str:
    """Return the first sentence of the comment with which a scenario begins."""
    paragraph = re.match(r"(#[^\n]+\n)*", text)
    lines = paragraph[0].splitlines() if paragraph else []
    return " ".join(line.lstrip("# ") for line in lines).split(". ")[0].rstrip(".")
