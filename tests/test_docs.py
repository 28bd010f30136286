"""The documentation is correct: examples run, and generated pages are current."""

import doctest
import importlib.util
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import simoom as sm
from simoom.scenario import shipped

ROOT = Path(__file__).parents[1]
PYTHON = re.compile(r"(?<=^```python\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def tool(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


reference = tool("reference")
paper = tool("paper")
manual = tool("manual")


@pytest.mark.parametrize("page", reference.pages(), ids=lambda page: page.name)
def test_python_examples_run(page, tmp_path, monkeypatch):
    code = "\n".join(PYTHON.findall(page.read_text(encoding="utf-8")))
    monkeypatch.chdir(tmp_path)
    # Two pages have a module mylab of their own, and other tests have another.
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "mylab", raising=False)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    example = doctest.DocTestParser().get_doctest(code, {}, page.name, str(page), 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    result = doctest.DocTestRunner(optionflags=flags).run(example)
    sys.modules.pop("mylab", None)
    assert result.failed == 0
    if page == ROOT / "README.md":
        assert result.attempted > 10
        assert (tmp_path / "air.png").exists()


@pytest.mark.parametrize("page", reference.pages(), ids=lambda page: page.name)
def test_outputs_of_commands_are_current(page):
    text = page.read_text(encoding="utf-8")
    assert text == reference.refreshed(text), "make docs"


def test_the_draft_of_a_paper_is_current():
    assert (ROOT / "docs" / "paper.md").read_text("utf-8") == paper.paper(), "make docs"


def test_every_command_has_a_manual_page():
    from simoom.cli import COMMANDS

    pages = manual.pages()
    assert set(pages) == {"simoom.1", *(f"simoom-{name}.1" for name in COMMANDS)}
    sweep = pages["simoom-sweep.1"]
    assert "\\fB\\-\\-over PATH=V1,V2,...\\fR" in sweep
    for name, text in pages.items():
        # A line that begins with a dot is a request of troff.
        requests = re.findall(r"^\.(\w*)", text, re.MULTILINE)
        assert set(requests) <= {"TH", "SH", "TP"}, name


def test_the_index_of_keys_is_current():
    current = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    assert current == reference.keys_index(), "make docs"


def test_each_definition_is_on_one_page_of_keys_and_no_page_is_long():
    pages = reference.keys_pages()
    headings = [name for text in pages.values() for name in re.findall(r"(?m)^## (\w+)", text)]
    definitions = reference.schema()["$defs"]
    # A choice without settings is only an item of the list of choices.
    tables = [name for name, each in definitions.items() if each.get("properties") != {}]
    assert len(headings) == len(set(headings))
    assert set(tables) <= set(headings) <= {"Scenario", *definitions}
    lengths = {page: len(text.splitlines()) for page, text in pages.items()}
    assert {page: length for page, length in lengths.items() if length > 400} == {}
    assert "[Queue](queue.md#queue)" in pages["station"]
    assert "[Roaming](#roaming)" in pages["station"]


def test_a_link_to_a_table_of_keys_leads_to_its_line():
    lines = (ROOT / "docs" / "scenario.md").read_text(encoding="utf-8")
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    links = {name for text in texts for name in re.findall(r"scenario\.md#(\w+)", text)}
    assert links >= {"control", "queue", "tcp"}
    assert [name for name in links if f'<a id="{name}"></a>' not in lines] == []


def test_every_link_leads_somewhere():
    for page in [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"]:
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"
        headings = {line.lstrip("# ").lower() for line in text.splitlines() if line[:1] == "#"}
        for anchor in re.findall(r"\]\(#([^)]+)\)", text):
            assert anchor.replace("-", " ") in headings, f"{page.name}: #{anchor}"


def test_each_page_is_in_one_of_five_groups_and_none_is_long():
    nav = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8").split("\nnav:\n")[1])
    groups = {name: leaves(pages) for each in nav[1:] for name, pages in each.items()}
    assert len(groups) == 5
    named = [page for pages in groups.values() for page in pages]
    assert len(named) == len(set(named))
    written = {str(page.relative_to(ROOT / "docs")) for page in PAGES[1:]}
    assert written - set(named) == {"index.md"}
    lengths = {page.name: len(page.read_text("utf-8").splitlines()) for page in PAGES}
    assert {page: lines for page, lines in lengths.items() if lines > 400} == {}
    # The index has the same groups.
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for name, pages in groups.items():
        part = index.split(f"\n## {name}\n")[1].split("\n## ")[0]
        links = [link for link in re.findall(r"\]\(([^)]+\.md)\)", part) if link[0] != "."]
        assert links != []
        assert set(links) <= set(pages), name


def leaves(pages):
    """Return the pages of a part of the navigation and of its parts."""
    if isinstance(pages, str):
        return [pages]
    inner = pages.values() if isinstance(pages, dict) else pages
    return [leaf for each in inner for leaf in leaves(each)]


def test_the_page_of_results_is_current():
    current = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    assert current == reference.results_page(), "make docs"


def documented(outlet):
    """Return the patterns of docs/results.md, results or probes, each alternative apart."""
    text = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for pattern, outlets in re.findall(r"^\| `([^`]+)` \|[^|]*\|([^|]*)\|", text, re.MULTILINE):
        if outlet not in outlets:
            continue
        parts = re.split(r"\{([^}]*)\}", pattern)
        choices = [part.split(",") if n % 2 else [part] for n, part in enumerate(parts)]
        yield from map("".join, itertools.product(*choices))


def scenarios():
    """Yield scenarios that have every place of a result: short runs of all files."""
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        yield sm.Scenario.load(file).set("duration_s", 8).set("warmup_s", 0.1)
    # Nodes that resolve addresses.
    chain = sm.Scenario.load(ROOT / "scenarios" / "chain.toml").set("routing.arp", "rfc826")
    yield chain.set("duration_s", 8).set("warmup_s", 0.1)
    # Beacons, and DualPI2 at each place of a queue.
    dual = sm.Scenario.load(ROOT / "scenarios" / "l4s_wifi.toml").set("wlan.beacons", {})
    for place in ("wire.queue", "stations.queue"):
        dual = dual.set(place, "dualpi2")
    dual = dual.set("wire.driver", {})
    yield dual.set("duration_s", 8).set("warmup_s", 0.1)
    yield (
        dual.set("duration_s", 8)
        .set("warmup_s", 0.1)
        .set("radio", {})
        .set("ap.position_m", [0, 0])
        .set("stations", {"count": 1, "ring_m": 5})
    )
    # Drivers of links.
    rings = sm.Scenario.load(ROOT / "scenarios" / "dumbbell.toml").set("links[*].driver", {})
    yield rings.set("duration_s", 8).set("warmup_s", 0.1)
    # Stations with a name that sleep.
    polls = {"legacy": {"retrieval": "ps_poll"}}
    sleeps = sm.Scenario.load(ROOT / "scenarios" / "cafe.toml").set("wlan.beacons", {})
    sleeps = sleeps.set("stations.power_save", polls).set("stations.name", "guests")
    yield sleeps.set("duration_s", 8).set("warmup_s", 0.1)
    # A station that runs past its access point.
    runs = sm.Scenario.load(ROOT / "scenarios" / "roaming.toml").set("warmup_s", 0.1)
    yield runs.set("duration_s", 8).set("stations.waypoints[1].at_s", 7.0)
    # Several cells with A-MPDUs beside an interferer, which no scenario file has.
    several = sm.Scenario.load(ROOT / "benches" / "ten_cells.toml").set("wlan.beacons", {})
    several = several.set("cells[0].queue", "dualpi2")
    oven = {"source": "microwave", "position_m": [0.0, 0.0], "tx_power_dbm": 10.0}
    yield several.set("warmup_s", 0.1).set("duration_s", 0.2).set("interferers", [oven])
    uplink = sm.Scenario.load(ROOT / "scenarios" / "ofdma.toml").set("wlan.mu.uplink", {})
    yield uplink.set("warmup_s", 0.1).set("duration_s", 0.3)
    reuse = sm.Scenario.load(ROOT / "scenarios" / "spatial_reuse.toml").set("duration_s", 0.3)
    group = {"bss_colors": [1, 2], "obss_pd_dbm": -72}
    yield reuse.set("warmup_s", 0.1).set("wlan.spatial_reuse.srg", [group])
    beside = sm.Scenario.load(ROOT / "scenarios" / "punctured.toml").set("duration_s", 0.3)
    beside = beside.set("warmup_s", 0.1).set("ap.punctured", [])
    yield beside.set("wlan.bandwidth_operation", "punctured")
    sleeping = several.set("stations[*].power_save", "legacy")
    yield sleeping.set("warmup_s", 0.1).set("duration_s", 0.3)


def test_every_result_is_documented_and_no_other():
    found = set()
    measured = sm.Scenario.load(ROOT / "scenarios" / "cafe.toml").set("measure.hops", True)
    hops = measured.set("duration_s", 8).set("warmup_s", 1)
    for scenario in (*scenarios(), hops):
        found |= {re.sub(r"\[\d+\]", "[i]", path) for path in sm.run(scenario).summary}
    assert found == set(documented("result"))


def test_every_probe_is_documented():
    found = {
        probe.path.replace("[*]", "[i]") for scenario in scenarios() for probe in scenario.probes()
    }
    known = set(documented("probe"))
    assert found <= known
    # Some controllers have no scenario file.
    assert all(path.startswith("flows[i].control.") for path in known - found)


def test_the_schema_is_valid_and_takes_every_scenario():
    import tomllib

    import jsonschema

    schema = json.loads((ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8"))
    checker = jsonschema.Draft202012Validator
    checker.check_schema(schema)
    for file in sorted((ROOT / "scenarios").glob("*.toml")):
        checker(schema).validate(tomllib.loads(file.read_text(encoding="utf-8")))


def taplo(*files):
    """Check files as an editor with Taplo does; return its exit code and the places of errors."""
    program = Path(sys.executable).with_name("taplo")
    done = subprocess.run([program, "lint", *files], capture_output=True, text=True, check=False)
    return done.returncode, re.findall(r"([\w.]+\.toml:\d+):", done.stderr)


def test_an_editor_finds_the_schema_and_no_error_in_the_scenarios():
    files = sorted((ROOT / "scenarios").glob("*.toml"))
    assert all(file.read_text("utf-8").startswith(shipped.DIRECTIVE) for file in files)
    assert taplo(*files) == (0, [])


def test_an_editor_shows_each_fault_once(tmp_path):
    schema = (ROOT / "schema" / "scenario.schema.json").as_uri()
    flow = '[[flows]]\nfrom = "server"\nto = "sta0"\ntcp.mss_byte = 3\n'
    text = f'#:schema {schema}\nstandard = "11z"\nstations = 2\nnonsense = 1\n{flow}'
    (tmp_path / "wrong.toml").write_text(text, encoding="utf-8")
    assert taplo(tmp_path / "wrong.toml") == (1, [f"wrong.toml:{line}" for line in (2, 4, 8)])


def test_the_schema_gives_one_error_at_the_path_of_each_fault():
    """An editor shows it there; an error of a whole table would mark each line of it."""
    import jsonschema

    schema = json.loads((ROOT / "schema" / "scenario.schema.json").read_text(encoding="utf-8"))
    flow = {"from": "server", "to": "sta0", "control": "reno", "tcp": {"mss_byte": 3}}
    wrong = {"standard": "11z", "duration_s": -1, "stations": 2, "nonsense": 1, "flows": [flow]}
    errors = jsonschema.Draft202012Validator(schema).iter_errors(wrong)
    assert sorted(error.json_path for error in errors) == [
        "$.duration_s",
        "$.flows[0].control",
        "$.flows[0].tcp.mss_byte",
        "$.nonsense",
        "$.standard",
    ]
