"""An extension is one file and one line: the cargo feature `toy` adds one of each kind."""

import importlib
import json
import re
import subprocess
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
