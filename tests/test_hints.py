"""A message that names a command leads somewhere: the command takes the same file."""

import re
from pathlib import Path

import pytest

from simoom.cli import main

ROOT = Path(__file__).resolve().parent.parent

APART = """
standard = "11b"
radio = {{ preset = "ns2", ad_hoc = true }}
routing.protocol = "aodv"
[[stations]]
position_m = [0, 0]
[[stations]]
{place}
[[flows]]
from = "sta0"
to = "sta1"
"""
FAR = "position_m = [9000, 0]"
FAR_AND_MOVING = (
    "waypoints = [{ at_s = 0.0, position_m = [9000, 0] }, { at_s = 9.0, position_m = [9000, 9] }]"
)
REFUSED = {
    "hearing": APART.format(place=FAR),
    "routes": APART.format(place=FAR_AND_MOVING),
}
"""Scenarios that are refused with a message that names this command."""

WITHOUT_FILE = {"scenarios"}
"""Commands that take no scenario."""
OF_RESULTS = {"model", "rerun", "serve"}
"""Commands that are named where a scenario has run, or that stand in documentation."""


def hints():
    """Return the commands that messages in the sources name."""
    found = set()
    for path in [*ROOT.glob("crates/*/src/**/*.rs"), *ROOT.glob("python/simoom/**/*.py")]:
        for line in path.read_text(encoding="utf-8").splitlines():
            if not line.strip().startswith(("//", "#")):
                found.update(re.findall(r"`?simoom ([a-z-]+)`? (?:shows|lists|says)", line))
    return found


def test_every_hint_is_tried():
    assert hints() == REFUSED.keys() | WITHOUT_FILE | (OF_RESULTS & hints())


@pytest.mark.parametrize("command", REFUSED)
def test_a_hint_takes_the_file_that_was_refused(command, tmp_path, capsys):
    file = tmp_path / "refused.toml"
    file.write_text(REFUSED[command])
    assert main(["run", str(file)]) == 2
    assert f"`simoom {command}` shows" in capsys.readouterr().err
    assert main([command, str(file)]) == 0, capsys.readouterr().err


@pytest.mark.parametrize("command", sorted(WITHOUT_FILE))
def test_a_hint_without_a_file_runs(command):
    assert main([command]) == 0
