"""A hook of MkDocs: pages of the site that are not in docs/.

The gallery of scenarios, the keys of scenarios, the pages of the project, each case of the
validation if `make validate` has left it in build/, and the reference of the Python package, whose
public names are those of ``simoom.__all__``.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from mkdocs.structure.files import File, Files

import simoom as sm
from simoom.scenario import shipped
from simoom.serve.start import alone

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import reference  # noqa: E402

CASES = ROOT / "build" / "validation.md"
"""Of `make validate`."""
PROJECT = {
    "CONTRIBUTING.md": "project/contributing.md",
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "benches/README.md": "project/benches.md",
}
"""Pages of the project, by the file that each is made of."""
MADE_FROM = {
    "README.md": "index.md",
    "scenarios": "scenarios.md",
    "python/simoom/__init__.py": "python.md",
    "web": "playground/index.html",
}
"""Pages that have for readers of the site what these files have for readers of the repository."""
SIMULATOR = ROOT / "target" / "wasm32-unknown-unknown" / "web" / "simoom.wasm"
"""Of `make playground`."""
CASES_PAGE = "validation-cases.md"
KEY_PLACES = reference.places(reference.schema())
KEYS = re.compile(r"\bscenario\.md#(\w+)")
LINK = re.compile(r"(?<=\]\()[^)#:\s]+")
"""The target of a link to a file."""


def on_config(config: Any, **_: Any) -> None:
    """Name the generated pages in the navigation, each behind the page that it belongs to."""
    further = {"scenario.md": [f"scenario/{page}.md" for page in reference.keys_pages()]}
    if CASES.exists():
        further["validation.md"] = [CASES_PAGE]
    put_behind(config.nav, further)


def put_behind(pages: list[Any], further: dict[str, list[str]]) -> None:
    """Put further pages behind those that they belong to, in all sections of a navigation."""
    for section in (each for each in pages if isinstance(each, dict)):
        for inner in section.values():
            if isinstance(inner, list):
                put_behind(inner, further)
    pages[:] = [each for page in pages for each in
                (page, *(further.get(page, ()) if isinstance(page, str) else ()))]  # fmt: skip


def on_files(files: Files, config: Any, **_: Any) -> Files:
    """Add the generated pages."""
    for path, text in generated():
        files.append(File.generated(config, path, content=text))
    if SIMULATOR.exists():
        name = f"playground/{SIMULATOR.name}"
        files.append(File.generated(config, name, abs_src_path=str(SIMULATOR)))
    return files


def generated() -> Iterator[tuple[str, str]]:
    """Yield path and text of each generated page."""
    for source, path in PROJECT.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        yield path, relinked(text, source, path)
    for page, text in reference.keys_pages().items():
        yield f"scenario/{page}.md", text
    if CASES.exists():
        yield CASES_PAGE, CASES.read_text(encoding="utf-8")
    yield "scenarios.md", gallery()
    yield "python.md", python()
    for name, text in alone().items():
        yield f"playground/{name}", text


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Lead links to files outside docs/ to their pages."""
    if page.file.generated_by is not None:
        return markdown
    if page.file.src_uri == "scenario.md":
        markdown = reference.keys_index(linked=True)
    where = {name.lower(): there for there, names in KEY_PLACES.items() for name in names}
    markdown = KEYS.sub(lambda link: f"scenario/{where[link[1]]}.md#{link[1]}", markdown)
    return relinked(markdown, f"docs/{page.file.src_uri}", page.file.src_uri)


def relinked(text: str, source: str, path: str) -> str:
    """Return a page with its links to files, relative to `source`, relative to its `path`."""

    def to(match: re.Match[str]) -> str:
        file = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[0]))
        target = target_of(file)
        return (target and posixpath.relpath(target, posixpath.dirname(path) or ".")) or match[0]

    return LINK.sub(to, text)


def target_of(file: str) -> str | None:
    """Return the path in the site, or the address within it, of a file of the repository."""
    if file in PROJECT:
        return PROJECT[file]
    if file in MADE_FROM:
        return MADE_FROM[file]
    if file.startswith("scenarios/"):
        return f"scenarios.md#{Path(file).stem}"
    return file.removeprefix("docs/") if file.startswith("docs/") else None


def gallery() -> str:
    """Return the page of the scenarios that come with Simoom."""
    parts = [
        "# Scenarios\n\nEach runs by its name, `simoom run NAME`. `simoom new NAME` copies one.\n"
    ]
    for each in shipped.scenarios():
        # Headings have the names as they are, so that links by name find them.
        parts.append(f"\n## {each.title} {{ #{each.name} }}\n\n`simoom run {each.name}`, or ")
        there = f"playground/index.html#/scenario?entry={each.name}"
        parts.append(f"[run it in this browser]({there})\n")
        parts.append(f"\n```toml\n{each.text.rstrip()}\n```\n")
    return "".join(parts)


def python() -> str:
    """Return the page of the public functions and classes."""
    parts = ["# Python\n\nWhat `import simoom as sm` gives. Units are in the names of values.\n"]
    for name in sm.__all__:
        public = getattr(sm, name)
        # Functions have the names of modules: only the defining module is unambiguous.
        module = getattr(public, "__module__", None)
        path = f"{module}.{name}" if module and not isinstance(public, ModuleType) else None
        parts.append(f"\n::: {path or public.__name__}\n")
    return "".join(parts)
