"""An extension is one file and one line: the cargo feature `toy` adds one of each kind.

What the core declares as a line, a cause of losses, a kind of frame, a use of airtime and a frame
of the MAC, is added to a copy of the tree, and found wherever such things are shown.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def page():
    """Run the toys' own test, which writes their schema, and return the reference page of that."""
    command = ["cargo", "test", "--locked", "--quiet", "-p", "simoom-sim"]
    done = subprocess.run(
        [*command, "--features", "toy", "--test", "toy"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    target = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--no-deps", "--offline"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    folder = Path(json.loads(target.stdout)["target_directory"])
    schema = (folder / "tmp" / "toy.schema.json").read_text(encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        return importlib.import_module("reference").page_of(json.loads(schema))


@pytest.mark.parametrize(
    ("table", "key", "meaning"),
    [
        ("ToyControl", "window_segments", "The window in segments."),
        ("ToyQueue", "every", "Each packet whose number is a multiple of this is dropped."),
        ("ToyLoss", "after", "The number of packets before the first loss."),
        ("ToyRate", "every", "The number of frames in one mode."),
        ("ToySource", "packets", "The number of datagrams."),
        ("ToyInterference", "at_s", "When it begins, in seconds."),
    ],
)
def test_each_toy_is_in_the_reference(page, table, key, meaning):
    assert f"[{table}](#{table.lower()})" in page
    section = re.search(rf"^## {table}\n.*?(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert re.search(rf"^\| `{key}` .*{re.escape(meaning)}", section[0], re.MULTILINE)


LINES = {
    "crates/wire/src/cause.rs": (
        "    pub enum DropCause: DropFacts {",
        """
        /// A toy took them.
        Toy => {
            name: "toy cause", label: "by toys", result: "toy_drops", hint: "", group: Group::All,
        },""",
    ),
    "crates/wire/src/frame.rs": (
        "    pub enum FrameKind: FrameFacts {",
        """
        /// A toy.
        Toy => { name: "Toy Frame", control: 0xd0, group: Group::Beacon },""",
    ),
    "crates/sim/src/measure/ledger.rs": (
        "    pub enum AirtimeKind: AirtimeFacts {",
        """
        /// Toys.
        Toy => { name: "toy_fraction", label: "airtime of toys", group: Group::All },""",
    ),
    "crates/wire/src/management.rs": (
        "frames! {",
        """
    toy::Toy,""",
    ),
}
"""The lines that declare toys, behind these lines of the tree."""

MODULE = ("mod reassociation_response;", "\nmod toy;")

FILE = """//! Toys.

use super::{Capture, HEADER, MacFrame, Rates};
use crate::FrameKind;

/// A toy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Toy;

impl MacFrame for Toy {
    const KIND: FrameKind = FrameKind::Toy;

    fn length(&self, _: Rates) -> u64 {
        HEADER + 11
    }

    fn tell(&self, text: &mut String) {
        text.push_str("content of a toy");
    }

    fn fields(&self, _: &Capture, out: &mut Vec<u8>) {
        out.extend(b"bytes of it");
    }
}
"""
"""The file of a frame of the MAC."""

USES = {
    "crates/sim/src/world/wire.rs": ("DropCause::WireLoss", "DropCause::Toy"),
    "crates/wifi/src/station/beacon.rs": (
        "Body::Management(Management::Beacon(beacon))",
        "{ let _ = beacon; Body::Management(Management::Toy(wire::Toy)) }",
    ),
    "crates/sim/src/meter.rs": (
        "Some(_) => AirtimeKind::PowerSave",
        "Some(_) => AirtimeKind::Toy",
    ),
}
"""Where the copy lets toys happen, in place of what happens there."""

SCRIPT = """
import json, sys
from pathlib import Path
import simoom as sm
from simoom import _core, plots
from simoom.scenario import observables
from simoom.show import report
from simoom.plots.results import airtime
from simoom.show.timeline import about

folder = Path(sys.argv[1])
scenario = sm.Scenario(
    standard="11g",
    duration_s=0.5,
    warmup_s=0,
    stations=1,
    wlan={"beacons": {}},
    wire={"rate_mbps": 10.0, "loss": {"uniform": {"probability": 0.2}}},
    flows=[{"from": "server", "to": "sta0"}],
)
for extension in ("txt", "pcapng", "pftrace", "html", "air"):
    sm.run(scenario, trace=folder / f"toy.{extension}")
run = sm.run(scenario, trace=True)
(folder / "terminal.txt").write_text(report.text(run))
(folder / "report.html").write_text(report.page(run))
airtime(run).savefig(folder / "airtime.svg")
plots.air(run, 0.0, 0.2).savefig(folder / "air.svg")
(folder / "results.md").write_text("\\n".join(observables.catalogue()))
told = about(_core.AirFile(folder / "toy.air"))
(folder / "page.json").write_text(json.dumps([told["looks"], told["kind"]]))
(folder / "frames.json").write_text(json.dumps(run.trace.frames["kind"].unique().to_list()))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """Return the folder of all that a build with the lines shows of a run with toys."""
    tree = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / name)
    for name, (line, toy) in [*LINES.items(), ("crates/wire/src/management.rs", MODULE)]:
        change(tree / name, line, line + toy)
    (tree / "crates/wire/src/management/toy.rs").write_text(FILE, encoding="utf-8")
    for name, (use, toy) in USES.items():
        change(tree / name, use, toy)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    subprocess.run(
        ["cargo", "build", "--profile", "fast", "--locked", "--quiet", "--package", "simoom-py"],
        cwd=tree, check=True, env=os.environ | {"CARGO_TARGET_DIR": str(target)},
    )  # fmt: skip
    (library,) = (target / "fast").glob("lib_core.*[!d]")
    shutil.copy(library, tree / "python" / "simoom" / "_core.abi3.so")
    folder = tmp_path_factory.mktemp("shown")
    subprocess.run(
        [sys.executable, "-c", SCRIPT, folder],
        cwd=tree, check=True, env=os.environ | {"PYTHONPATH": str(tree / "python")},
    )  # fmt: skip
    return folder


def change(path, old, new):
    """Change the first occurrence of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text, (path, old)
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "toys"),
    [
        ("terminal.txt", ["by toys", "airtime of toys"]),
        ("report.html", ["by toys", "airtime of toys"]),
        ("airtime.svg", ["airtime of toys"]),
        ("air.svg", ["Toy Frame"]),
        ("results.md", ["flows[i].toy_drops", "airtime.toy_fraction"]),
        ("frames.json", ["Toy Frame"]),
        ("toy.txt", ["Toy Frame", "content of a toy", "drops (toy cause)"]),
        ("toy.html", ["Toy Frame"]),
        ("page.json", ["Toy Frame"]),
        ("toy.pftrace", ["Toy Frame to all", "toy cause"]),
        ("toy.monitor.pcapng", ["bytes of it"]),
    ],
)
def test_what_is_declared_as_a_line_is_shown_everywhere(shown, file, toys):
    found = (shown / file).read_bytes()
    for toy in toys:
        assert toy.encode() in found, toy
