"""What documentation tells a reader to type works: in pages, in --help, and behind "Try"."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from functools import cache
from pathlib import Path

import pytest

import simoom as sm
from simoom import _core, cli
from simoom.emulate.ports import Port, comment_of

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(?:sh|bash)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SCENARIOS = sorted((ROOT / "scenarios").glob("*.toml"))
CHANGE = re.compile(r"""--set +("[^"]*"|'[^']*'|\S+)""")
TRIED = re.compile(r"^Try .*?(?=\n\n)", re.MULTILINE | re.DOTALL)
ALL_SAME = {
    "full_duplex_ac wlan.full_duplex.busy_tone=false",
    "lt_tcp flows[0].tcp.fec.verify=true",
}
"""Changes of which the scenario says that nothing follows."""


class Reached(Exception):  # noqa: N818  it is no failure
    """Stands for a run: all that comes before it was right."""


def commands(text):
    """Yield the commands of Simoom in the blocks of a page for a shell."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            if words[:1] == ["simoom"]:
                yield words[1:]


def in_lines(text):
    """Yield the commands of Simoom that the "Try" paragraphs of a lesson have."""
    for paragraph in TRIED.findall(text):
        for code in re.findall(r"`simoom ([^`]*)`", paragraph):
            yield shlex.split(code)


TOLD = [
    pytest.param(words, id=f"{page.name}: {' '.join(words)}")
    for page in PAGES
    for text in [page.read_text(encoding="utf-8")]
    for words in [*commands(text), *in_lines(text)]
    if words[0] != "serve"
]


def examples():
    for name, module in cli.COMMANDS.items():
        for line in getattr(importlib.import_module(f"simoom.cli.{module}"), "EXAMPLES", ()):
            yield pytest.param(name, shlex.split(line), id=line)


def at_work(tmp_path, monkeypatch):
    """Go to a directory with the files that readers of the pages have."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    for name in ("cafe.toml", "mine.toml"):
        shutil.copy(ROOT / "scenarios" / "cafe.toml", tmp_path / name)
    shutil.copy(ROOT / "docs" / "tutorial" / "mylab.py", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mylab", raising=False)


def test_the_controller_of_a_lesson_is_the_one_whose_commands_run():
    page, lab = (ROOT / "docs/tutorial" / name for name in ("8-own-controller.md", "mylab.py"))
    shown = re.search(
        r"^(\.\.\. class Aimd.*?)^\.\.\. \'", page.read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    written = re.sub(r"^\.\.\. ?", "", shown[1], flags=re.MULTILINE)
    assert written in lab.read_text("utf-8")


@pytest.mark.parametrize("words", TOLD)
def test_a_command_of_a_page_reaches_the_simulator_or_ends_well(
    words, tmp_path, monkeypatch, capsys, empty_tape
):
    at_work(tmp_path, monkeypatch)
    if words == ["new", "cafe", "mine.toml"]:
        (tmp_path / "mine.toml").unlink()

    def reached(*_):
        raise Reached

    monkeypatch.setattr(_core, "run", reached)
    if hasattr(_core, "PortGate"):
        monkeypatch.setattr(_core, "PortGate", reached)
    if "--tape" in words:
        ports = [Port("sta1", "sta1"), Port("server", "server")]
        comment = comment_of(sm.Scenario.load(words[1]), ports, 1, 0)
        (tmp_path / "call.pcapng").write_bytes(empty_tape(comment, 2, 20.0))
    try:
        code = cli.main(words)
    except Reached:
        code = 0
    assert code == 0, capsys.readouterr().err


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "words"), list(examples()))
def test_an_example_of_the_help_runs(name, words, tmp_path, monkeypatch, capsys, request):
    if name == "emulate":
        request.getfixturevalue("namespaces")
    at_work(tmp_path, monkeypatch)
    assert words[:2] == ["simoom", name]
    assert cli.main(words[1:]) == 0, capsys.readouterr().err
    assert capsys.readouterr().out


def test_a_help_ends_with_its_examples(capsys):
    for name in ("run", "sweep", "compare", "study", "why"):
        assert cli.main([name, "--help"]) == 0
        told = capsys.readouterr().out.partition("Examples:\n")[2].splitlines()
        assert [line[:11] for line in told if line] == [f"    simoom {name}"[:11]] * 3


def tries():
    """Yield what the comment of each scenario invites to try: the file, and the settings."""
    for file in SCENARIOS:
        lines = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
        begin = next((at for at, line in enumerate(lines) if line.startswith("# Try:")), None)
        for line in lines[begin:] if begin is not None else ():
            start = line.removeprefix("# Try:").removeprefix("#").lstrip()
            changes = re.match(rf"(?:{CHANGE.pattern} *)*", start)[0]
            if changes:
                told = [shlex.split(each)[0] for each in CHANGE.findall(changes)]
                yield pytest.param(file, told, id=f"{file.stem} {' '.join(told)}")


@cache
def digest(file, *changes):
    """Return the digest of a scenario with settings."""
    scenario = sm.Scenario.load(file)
    for change in changes:
        path, _, value = cli.terminal.split_setting(change)
        scenario = scenario.set_text(path, value)
    return sm.run(scenario).digest


@pytest.mark.thorough
@pytest.mark.parametrize(("file", "changes"), list(tries()))
def test_what_a_scenario_invites_to_try_changes_the_run(file, changes, request):
    is_same = digest(file, *changes) == digest(file)
    assert is_same == (request.node.callspec.id in ALL_SAME)
