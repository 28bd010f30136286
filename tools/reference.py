"""Write the generated pages and blocks of the documentation: `make docs`.

    python tools/reference.py

``docs/scenario.md``, the index of the scenario's keys, is generated from the scenario's schema, and
``docs/results.md`` from the catalogue of observables. The site also has the pages of the keys
(tools/site.py). In README.md and docs/*.md the output under each ``$ command`` of a
console block is that of the command. Tests check that all of it is current.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONSOLE = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)

Schema = dict[str, Any]

KEYS_HEAD = """# The keys of a scenario

A scenario is a TOML file. The place of a value is its path, `flows[0].tcp.mss_bytes`; the same path
is used with `--set`, in messages and in `Scenario.set`. A choice is written by its name,
`traffic = "bulk"`, or with its settings, `traffic.bulk.size_bytes = 100000`.

Generated from the schema by `make docs`. This page lists all tables and choices with their keys. In
the site (`make site`) each leads to the value, default, range and meaning of its keys. The
[schema](../schema/scenario.schema.json) has the same, a key a line. Editors complete and check
scenarios by it: `simoom schema > scenario.schema.json` writes it, and a scenario whose first line
is `#:schema scenario.schema.json` names it. Taplo, which is also in the extension Even Better TOML
of VS Code, reads that line; `taplo lint FILE` checks on the command line.
"""
PARTS = (
    "Station", "Queue", "Wlan", "Mu", "Radio", "Routing", "Interferer", "Wire", "Flow", "Traffic",
    "Tcp", "Control",
)  # fmt: skip
"""The definitions that have a page of their own, with those that only they refer to."""


def main() -> None:
    """Write everything."""
    (ROOT / "docs" / "scenario.md").write_text(keys_index(), encoding="utf-8")
    (ROOT / "docs" / "results.md").write_text(results_page(), encoding="utf-8")
    for page in pages():
        text = page.read_text(encoding="utf-8")
        page.write_text(refreshed(text), encoding="utf-8")
    picture()


def pages() -> list[Path]:
    """Return the pages whose console blocks are generated."""
    folders = [ROOT / "docs" / name for name in (".", "tutorial", "guides", "background")]
    return [ROOT / "README.md", *(page for each in folders for page in sorted(each.glob("*.md")))]


def refreshed(text: str) -> str:
    """Return a page with the current output of the commands in its console blocks."""
    return CONSOLE.sub(lambda block: "".join(session(block[0])), text)


def session(block: str) -> Iterator[str]:
    """Run the commands of a console block; yield each with its output.

    A command goes on in the next line after a backslash, as in a shell.
    """
    lines = iter(block.splitlines())
    for line in lines:
        command = line
        while command.startswith("$ ") and command.endswith("\\"):
            command += f"\n{next(lines)}"
        if command.startswith("$ "):
            shell = command.removeprefix("$ ").replace("\\\n", " ")
            yield f"{command}\n{output(shell)}"


def output(command: str) -> str:
    """Return the output of a command on a terminal of 100 columns."""
    program, *arguments = shlex.split(command)
    if program != "simoom":
        raise SystemExit(f"console blocks run simoom only, not {program}")
    done = subprocess.run(
        [sys.executable, "-m", "simoom", *arguments],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.splitlines())


def picture() -> None:
    """Draw the picture of README.md, which is that of `make demo`."""
    import simoom as sm
    from simoom import plots
    from simoom.scenario.observables import default_probes

    scenario = sm.Scenario.load(ROOT / "scenarios" / "cafe.toml")
    run = sm.run(scenario, probes=default_probes(scenario))
    plots.save(plots.overview(run), ROOT / "docs" / "cafe.png")


# --- The scenario's keys ------------------------------------------------------------------------


def schema() -> Schema:
    """Return the schema of scenarios."""
    from simoom import _core

    return dict(json.loads(_core.schema()))


def keys_index(*, linked: bool = False) -> str:
    """Return the page that lists all tables and choices, with links to the pages of the site."""
    definitions = schema()["$defs"]
    head = KEYS_HEAD.replace("[schema](../schema/scenario.schema.json)", "schema")
    parts = [head if linked else KEYS_HEAD]
    for page, names in places(schema()).items():
        parts.append(f"\n## Page {page}\n\n| table | keys or choices | meaning |\n|---|---|---|\n")
        for name in names:
            definition = definitions.get(name, schema())
            shown = f"[{name}](scenario/{page}.md#{name.lower()})" if linked else name
            keys = ", ".join(f"`{key}`" for key in keys_of(definition))
            meaning = one_line(definition.get("description", ""))
            parts.append(f'| <a id="{name.lower()}"></a>{shown} | {keys} | {meaning} |\n')
    return "".join(parts)


def keys_of(definition: Schema) -> list[str]:
    """Return the keys of a table, or the names of a choice."""
    variants = definition.get("oneOf", [])
    names = [each.get("const") or next(iter(each.get("required", [""]))) for each in variants]
    return list(definition.get("properties", [])) or [name for name in names if name]


def keys_pages() -> dict[str, str]:
    """Return the pages of the keys by their names."""
    where = {name: page for page, names in places(schema()).items() for name in names}
    pages = dict.fromkeys(where.values(), "")
    for name, text in sections(schema()).items():
        page = where[name]

        def to(link: re.Match[str], page: str = page) -> str:
            (there,) = (p for name, p in where.items() if name.lower() == link[1])
            return link[0] if there == page else f"]({there}.md#{link[1]})"

        pages[page] += re.sub(r"\]\(#(\w+)\)", to, text)
    return {page: f"# Keys: {page}\n{text}" for page, text in pages.items()}


def places(schema: Schema) -> dict[str, list[str]]:
    """Return the definitions of each page, in the order in which a reader meets them."""
    definitions: dict[str, Schema] = schema["$defs"]
    found: dict[str, list[str]] = {"scenario": ["Scenario"]}

    def descend(item: Schema, page: str) -> None:
        for name in references(item):
            if not any(name in names for names in found.values()):
                own = name.lower() if name in PARTS else page
                found.setdefault(own, []).append(name)
                descend(definitions[name], own)

    descend(schema, "scenario")
    return found


def page_of(schema: Schema) -> str:
    """Return everything on a scenario's keys from its schema, as one page."""
    return "".join(sections(schema).values())


def sections(schema: Schema) -> dict[str, str]:
    """Return what is said of each definition, by its name."""
    definitions: dict[str, Schema] = schema["$defs"]
    found = {"Scenario": f"\n## Scenario\n\n{keys_table(schema, definitions)}"}
    for name in reachable(schema, definitions):
        definition = definitions[name]
        text = f"\n## {name}\n\n{wrapped(definition.get('description', ''))}\n"
        if "properties" in definition:
            text += f"\n{keys_table(definition, definitions)}"
        elif "oneOf" in definition:
            text += f"\n{choices(definition)}"
        else:
            text += f"\nWritten as {kind(definition)}.\n"
        found[name] = text
    return found


def reachable(schema: Schema, definitions: dict[str, Schema]) -> list[str]:
    """Return the definitions in the order in which a reader meets them."""
    found: list[str] = []
    waiting = references(schema)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting = references(definitions[name]) + waiting
    return found


def references(schema: Any) -> list[str]:
    """Return the names of the definitions that a schema refers to, definitions apart."""
    if isinstance(schema, list):
        return [name for item in schema for name in references(item)]
    if not isinstance(schema, dict):
        return []
    own = [schema["$ref"].rpartition("/")[2]] if "$ref" in schema else []
    return own + [n for key, item in schema.items() if key != "$defs" for n in references(item)]


def keys_table(schema: Schema, definitions: dict[str, Schema]) -> str:
    """Return the table of a structure's keys."""
    required = schema.get("required", [])
    rows = ["| key | value | default | range | meaning |", "|---|---|---|---|---|"]
    for key, value in schema["properties"].items():
        meaning = value.get("description") or reference_text(value, definitions)
        usual = "required" if key in required else default(value)
        cells = [f"`{key}`", kind(value), usual, bounds(value), one_line(meaning)]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def default(value: Schema) -> str:
    """Return the default of a key as in TOML; an empty text if it depends on other keys."""
    return f"`{toml_value(value['default'])}`" if "default" in value else ""


def bounds(value: Schema) -> str:
    """Return the range of a number, or of each number of a list."""
    number = value.get("items", value)
    low, above = number.get("minimum"), number.get("exclusiveMinimum")
    high, below = number.get("maximum"), number.get("exclusiveMaximum")
    parts = [
        f"from {low:g}" if low else "",
        f"above {above:g}" if above is not None else "",
        f"to {high:g}" if high is not None else "",
        f"below {below:g}" if below is not None else "",
    ]
    if low == 0 and (high is not None or below is not None):
        parts[0] = "from 0"
    return " ".join(part for part in parts if part)


def choices(definition: Schema) -> str:
    """Return the list of a choice's variants."""
    lines = []
    for variant in definition["oneOf"]:
        text = one_line(variant.get("description", ""))
        if "const" in variant:
            lines.append(wrapped(f'- `"{variant["const"]}"`: {text}'))
        elif "required" in variant:
            (name,) = variant["required"]
            lines.append(wrapped(f"- `{name}` ({kind(variant['properties'][name])}): {text}"))
    return "\n".join(lines) + "\n"


def reference_text(value: Schema, definitions: dict[str, Schema]) -> str:
    """Return the description of the definition that a key refers to."""
    names = references(value)
    return str(definitions[names[0]].get("description", "")) if names else ""


def kind(value: Schema) -> str:
    """Return the type of a value as a word or a link."""
    if "$ref" in value:
        name = value["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in value:
        return " or ".join(kind(item) for item in value["anyOf"] if item.get("type") != "null")
    if value.get("type") == "array":
        return f"array of {kind(value['items'])}"
    types = value.get("type", "")
    names = types if isinstance(types, list) else [types]
    return " or ".join(str(name) for name in names if name != "null")


def toml_value(value: Any) -> str:
    """Return a value in the syntax of a scenario file."""
    return json.dumps(value)


def wrapped(text: str) -> str:
    """Return a paragraph or an item of a list in lines of 100 columns."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(" ".join(text.split()), 100, subsequent_indent=indent)


def one_line(text: str) -> str:
    """Return a text without line breaks, for a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


# --- Results and probes -------------------------------------------------------------------------

RESULTS_HEAD = """# Results and probes

Generated from the simulator's catalogue by `make docs`; `simoom probes FILE` lists the probes of a
scenario.

Every result has a path. `simoom run FILE --json` prints all of them; `Run.summary` is a dictionary
of them, and `Run.frame()` has one column for each. What could not be measured, such as the delay of
a flow that delivered nothing, is null (`None`). Results are those of the measured time, after the
warm-up, unless the table says otherwise.

A probe is a time series from the start of the run, recorded where it is asked for: `--probe PATH`,
or `run(..., probes=[...])` and `Run.series(path)`. The probe of a count shows the count since the
start; that of a rate shows the rate since the last sample. `flows[*].srtt_s` is the probe of all
flows that have it.

In the tables `[i]` stands for a number from 0, and `{a,b}` for `a` and for `b`. The unit 1 is that
of a number without a unit. Of a distribution of delays there are `count`, how many; `mean`; `sd`,
the standard deviation; `p50`, `p90`, `p95` and `p99`, the quantiles; and `max`, the longest.
"""

SECTIONS = {
    "total": ("All flows together", ""),
    "airtime": (
        "Airtime",
        "In a cell where every node hears every other. With a radio each node has its own airtime.",
    ),
    "contending": (
        "Contending stations",
        "In a cell, with or without a radio. The access point does not count as a station.",
    ),
    "flows[i]": (
        "Flows",
        (
            "The single flows that the tables `[[flows]]` expand to. Gauges under `control` are "
            "those of the flow's congestion controller; one of your own may have "
            "[others](own-controller.md)."
        ),
    ),
    "stations[i]": (
        "Nodes of the cell",
        "`cells[0]` is the access point of the first table `[[cells]]`, a further one.",
    ),
    "wire.down": (
        "Wired links",
        (
            "`wire.down` leads to the access point, and `wire.up` to the server. `links[i]` is a "
            "table `[[links]]`, and `links[i].reverse` its reverse direction."
        ),
    ),
    "run": ("The run", ""),
}
"""Headings and introductions, each before the first observable of such a place."""


def results_page() -> str:
    """Return the page of results and probes."""
    from simoom.scenario.observables import declared

    parts = [RESULTS_HEAD]
    sections = dict(SECTIONS)
    for entry in declared():
        if section := sections.pop(entry["places"][0], None):
            title, text = section
            parts.append(f"\n## {title}\n\n")
            parts += [wrapped(text), "\n\n"] if text else []
            parts.append("| path | unit | | meaning |\n|---|---|---|---|\n")
        parts.append(observable_row(entry))
    return "".join(parts)


def observable_row(entry: dict[str, Any]) -> str:
    """Return the row of an observable."""
    path = f"{alternatives(entry['places'])}.{entry['name']}"
    if "parts" in entry:
        path += "." + alternatives(entry["parts"])
    outlets = ", ".join(outlet for outlet in ("result", "probe") if entry[outlet])
    meaning = [entry["meaning"]]
    meaning += [f"Only {entry['only']}."] if entry["only"] else []
    meaning += [f"A result only {entry['result_only']}."] if entry["result_only"] else []
    return f"| `{path}` | {entry['unit']} | {outlets} | {one_line(' '.join(meaning))} |\n"


def alternatives(names: list[str]) -> str:
    """Write names as one pattern."""
    return names[0] if len(names) == 1 else f"{{{','.join(names)}}}"


if __name__ == "__main__":
    main()
