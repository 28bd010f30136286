"""The project's own lint finds each kind of fault."""

import importlib.util
import re
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("tidy", ROOT / "tools" / "tidy.py")
tidy = importlib.util.module_from_spec(SPEC)
sys.modules["tidy"] = tidy
SPEC.loader.exec_module(tidy)


@pytest.fixture
def found(tmp_path):
    """Check a tree of one file and return (line, rule) of its faults."""

    def check(path, text):
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        return [(fault.line, fault.rule) for fault in sorted(tidy.check(tmp_path))]

    return check


@pytest.mark.parametrize("columns", [100, 101])
def test_lines_have_100_columns(found, columns):
    assert found("a.toml", "#" * columns + "\n") == [(1, "columns")] * (columns > 100)


def test_tables_and_addresses_cannot_be_broken(found):
    assert found("a.md", "| " + "x" * 120 + " |\n<https://example.org/" + "x" * 120 + ">\n") == []


def test_space_at_the_end(found):
    assert found("a.md", "a \nb\n\tc") == [(1, "space"), (3, "space")]


@pytest.mark.parametrize(
    "word",
    [
        *("TODO", "FIXME: x", "/work/main", "see /tmp/x", "/home/me", "pypi.org", "issue 2"),
        *("Issue #7", "the agenda", "self.agenda_of", "AgendaEntry", "tallying", "supplying"),
    ],
)
def test_forbidden_words(found, word):
    assert found("a.md", f"fine\n{word}\n") == [(2, "word")]


def test_words_that_only_resemble_forbidden_ones(found):
    assert found("a.md", "TODOS a/work/b https://x.org/tmp/ an issue of 2\nMethod\n") == []


def test_text_is_utf_8(found):
    assert found("a.md", b"caf\xe9\n") == [(1, "text")]


def test_names_without_meaning(found):
    assert found("crates/tcp/src/queue_manager.rs", "") == [(1, "name")]
    assert found("crates/tcp/src/queue_manager.rs", "struct PacketHandler;\nfn utilise() {}\n") == [
        (1, "name"),
        (1, "name"),
    ]


@pytest.mark.parametrize("name", ["Beacon", "roams", "power_save", "PowerSave", "Aodv", "arp"])
def test_the_world_names_no_function_of_nodes_and_radios(found, name):
    code = f"// A {name}.\nfn f() {{}}\n"
    assert found("crates/sim/src/world/air.rs", code) == []
    code += f"fn g(of: {name}) {{}}\n"
    assert found("crates/sim/src/worm.rs", code) == []
    assert found("crates/sim/src/world/air.rs", code) == [(3, "feature")]


def test_long_rust_functions_and_files(found):
    body = "    let x = \"}\";  // }\n    let c = '{';\n"
    assert found("a.rs", f"fn f(a: [u8; 2]) {{\n{body * 34}}}\nfn g();\n") == []
    assert found("a.rs", f"\nfn f<T: Into<u8>>() {{\n{body * 35}}}\n") == [(2, "function")]
    assert found("a.rs", "// x\n" * 501) == [(1, "file")]
    assert (
        found("a.rs", "// x\n" * 499 + "#[cfg(test)]\nmod tests {\n" + "// x\n" * 99 + "}\n") == []
    )


@pytest.mark.parametrize(
    ("parameters", "is_fault"),
    [
        ("(start, end): (Instant, Instant)", True),
        ("&self, now: Instant, ends: &(u32, u32)", True),
        ("&self, &(a, b): &'a (u32, u32)", True),
        ("Received { power, .. }: Received", False),
        ("spans: &[(u64, u64)], done: impl Fn((u32, u8)) -> (u8, u8), none: ()", False),
        ("span: Option<(Instant, Instant)>, (a, b): Pair", False),
    ],
)
@pytest.mark.parametrize("generics", ["", "<'a, T: Fn((u8, u8)) -> u8>"])
def test_no_parameter_is_a_tuple(found, parameters, is_fault, generics):
    function = (
        f"pub fn f{generics}(\n    {parameters}\n) -> (u32, u32) {{\n  let x: (u8, u8);\n}}\n"
    )
    assert found("crates/tcp/src/a/tests.rs", function) == []
    assert found("crates/tcp/src/a.rs", function) == [(1, "tuple")] * is_fault
    assert found("crates/tcp/src/a.rs", f"fn f({parameters});\n") == [(1, "tuple")] * is_fault


@pytest.mark.parametrize(
    ("crate", "use", "faults"),
    [
        ("wire", "use kernel::Instant;", 0),
        ("kernel", "use wire::Packet;", 1),
        ("tcp", "use net::Queue;", 1),
        ("tcp", "fn f() { wifi::run() }", 1),
        ("tcp", "use crate::net::Queue;", 0),
        ("tcp", "mod net;\nuse net::Queue;", 0),
        ("tcp", "// use net::Queue;", 0),
        ("sim", "use net::Queue;\nuse wifi::Cell;", 0),
        ("py", "use tcp::Sender;", 1),
    ],
)
def test_crates_use_what_is_below_them(found, crate, use, faults):
    rules = [rule for _, rule in found(f"crates/{crate}/src/lib.rs", f"{use}\n")]
    assert rules == ["import"] * faults


@pytest.mark.parametrize(
    ("world", "check", "circle"),
    [
        ("use crate::check::Checker;", "use crate::world::World;", True),
        ("use crate::check::{self, Checker};", "fn f(world: &crate::world::World) {}", True),
        ("use crate::check;\nfn f() { check::on() }", "use super::world::{A, B as C};", True),
        ("use crate::check::Order;", "pub use order::Order;\nuse crate::world::World;", False),
        ("use crate::check::Checker;", "// use crate::world::World;", False),
        ("use crate::check::Checker;", "#[cfg(test)]\nmod tests { use crate::world; }", False),
        ("use tcp::world::World;", "use crate::world::World;", False),
    ],
)
def test_imports_of_the_simulator_go_round_in_no_circle(tmp_path, world, check, circle):
    source = tmp_path / "crates/sim/src"
    (source / "check").mkdir(parents=True)
    (source / "lib.rs").write_text("mod check;\nmod world;\n", encoding="utf-8")
    (source / "world.rs").write_text(f"{world}\n", encoding="utf-8")
    (source / "check.rs").write_text(f"mod order;\n{check}\n", encoding="utf-8")
    (source / "check/order.rs").write_text("pub struct Order;\n", encoding="utf-8")
    faults = [str(fault) for fault in tidy.check(tmp_path)]
    chain = "crates/sim/src/check.rs:1: circle: check -> world -> check"
    assert faults == ([chain] if circle else [])


def test_a_file_and_its_parent_are_a_circle_too(tmp_path):
    source = tmp_path / "crates/sim/src"
    (source / "world").mkdir(parents=True)
    (source / "world.rs").write_text("mod air;\nuse air::Air;\nstruct World;\n", encoding="utf-8")
    (source / "world/air.rs").write_text("use super::World;\n", encoding="utf-8")
    assert [fault.rule for fault in tidy.check(tmp_path)] == ["circle"]
    (source / "world.rs").write_text("mod air;\nstruct World;\n", encoding="utf-8")
    assert tidy.check(tmp_path) == []


def test_manifests_name_what_is_below_them(found):
    assert found("crates/tcp/Cargo.toml", "[dev-dependencies]\nnet.workspace = true\n") == [
        (1, "import")
    ]


@pytest.mark.parametrize("crate", ["sim", "tcp"])
def test_every_file_of_tests_is_part_of_a_program(crate):
    # Cargo would otherwise leave a file that nobody names out without a word.
    folder = ROOT / "crates" / crate
    programs = tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))["test"]
    text = (folder / "tests/all.rs").read_text("utf-8")
    modules = re.findall(r"^mod (\w+);$", text, re.MULTILINE)
    built = {*modules, *(program["name"] for program in programs)}
    assert {file.stem for file in (folder / "tests").glob("*.rs")} <= built


@pytest.mark.parametrize(
    ("module", "line", "faults"),
    [
        ("models/a", "import numpy as np", 0),
        ("models/a", "import math, scipy.special", 0),
        ("models/a", "from simoom.models._check import real", 0),
        ("models/a", "from ._check import real", 0),
        ("models/a", "from ..results.run import run", 1),
        ("models/a", "from simoom import run", 1),
        ("models/a", "import polars", 1),
        ("models/a", "def f():\n    from simoom.results.run import run", 1),
        ("models/a", "def f():\n    import scipy.special", 0),
        ("scenario/a", "from simoom import _core", 0),
        ("scenario/a", "from simoom.results.run import run", 1),
        ("scenario/a", "if TYPE_CHECKING:\n    from simoom.results.run import Run", 1),
        ("scenario/a", "run = Later('simoom.results.run')", 1),
        ("scenario/a", "from simoom.scenario.b import c", 0),
        ("scenario/a", "from simoom.trace.trace import Trace", 1),
        ("results/a", "class A:\n    async def f(self):\n        import math", 1),
        ("results/a", "from simoom import designs", 1),
        ("runs/a", "from simoom.results.run import Run", 0),
        ("results/a", "from simoom.plots import airtime", 1),
        ("studies/x", "from simoom.plots import airtime", 0),
        ("plots", "from simoom.studies.x import y", 1),
        ("plots", "import simoom", 1),
        ("cli/run", "from simoom.studies import x", 0),
        ("nowhere", "from simoom.results.run import run", 1),
        ("__init__", "from simoom.results.run import run", 0),
    ],
)
def test_modules_import_what_is_below_them(found, module, line, faults):
    rules = [rule for _, rule in found(f"python/simoom/{module}.py", f"{line}\n")]
    assert rules == ["import"] * faults


def test_a_paper_imports_what_studies_may(found):
    paper = "python/simoom_studies/a/b.py"
    assert found(paper, "from simoom.studies import draw\n") == []
    assert found(paper, "from simoom.cli import main\n") == [(1, "import")]


def test_long_python_functions_without_their_docstring(found):
    doc = '    """Say.\n' + "    more\n" * 60 + '    """\n'
    assert found("a.py", "def f():\n" + doc + "    x = 1\n" * 69) == []
    assert found("a.py", "def f():\n" + doc + "    x = 1\n" * 70) == [(1, "function")]


def test_what_is_no_python(found):
    assert found("a.py", "def f(:\n") == [(1, "text")]


def test_an_exception_needs_a_reason_and_a_fault(found):
    entry = '[[allow]]\npath = "*.md"\nrule = "space"\n'
    assert found("tools/tidy.toml", f'{entry}reason = "r"\n') == [(1, "allow")]
    assert found("a.md", "a \n") == []
    assert found("tools/tidy.toml", entry) == [(1, "allow")]


def test_the_lint_fails_loudly(tmp_path, capsys):
    (tmp_path / "a.md").write_text("a \n", encoding="utf-8")
    assert tidy.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == "a.md:1: space: white space at the end of the line\n"


def test_every_file_of_the_index_of_decisions_begins_with_a_text():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    index = page.split("## Index of decisions")[1].split("\n## ")[0]
    files = re.findall(r"(?m)^\| [^|]+ \| `([^`]+)` \|$", index)
    assert len(files) > 50
    assert [file for file in files if not (ROOT / file).is_file()] == []
    tops = {file: (ROOT / file).read_text(encoding="utf-8")[:3] for file in files}
    assert [file for file, top in tops.items() if top not in ("//!", '"""')] == []


def test_the_page_of_the_architecture_has_the_floors_of_the_lint():
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = re.findall(r"(?m)^\| (\d+) \| `(\w+)/` \|", page)
    assert {room: int(floor) for floor, room in rooms} == {
        room: floor for room, floor in tidy.FLOOR.items() if room not in ("_core", "__main__")
    }
