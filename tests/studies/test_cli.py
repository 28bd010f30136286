import subprocess
import sys

import polars as pl
import pytest

from simoom.studies import STUDIES


def refused(done):
    """Assert that a command failed with one message, and return it."""
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    return done.stderr.strip()


def test_list_shows_all_studies_and_their_figures(simoom):
    done = simoom("study", "list")
    assert (done.returncode, done.stderr) == (0, "")
    for study in STUDIES.values():
        assert f"{study.name}: {study.title}" in done.stdout
        for key in study.keys:
            assert f"    {key} " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["http_queuing"], "there is no study http_queuing; did you mean http_queueing?"),
        (["zebra"], "there is no study zebra; there are afw_few, full_duplex, http_queueing"),
        (["full_duplex", "--figure", "9"], "full_duplex has no figure 9; its figures are 4, 5"),
        (["full_duplex", "--figure", "-1"], "full_duplex has no figure -1; "),
        (["full_duplex", "--figure", ""], "full_duplex has no figure ; "),
        (["mcs_cubic", "--table", "1"], "mcs_cubic has no table 1; it has no tables"),
        (["http_queueing", "--table", "5"], "its tables are 2, 3"),
        (["all", "--figure", "5"], "name one study with --figure or --table"),
        (["list", "--quick"], "study list: takes no options"),
    ],
)
def test_an_unknown_name_is_reported_with_the_known_ones(arguments, message, simoom):
    assert message in refused(simoom("study", *arguments))


def test_a_directory_is_refused_as_a_file_of_the_page(simoom, tmp_path):
    (tmp_path / "taken").write_text("x", encoding="utf-8")
    assert "is a file" in refused(simoom("study", "lt_tcp", "--out", "taken"))
    assert "is a directory" in refused(simoom("study", "lt_tcp", "--report", "."))
    assert "taken" in refused(simoom("study", "lt_tcp", "--report", "taken/page.html"))
    assert (tmp_path / "taken").read_text(encoding="utf-8") == "x"


@pytest.mark.parametrize("key", ["corruption", " Corruption "])
def test_one_figure_is_made_printed_and_written(key, simoom, tmp_path):
    arguments = ("--figure", key, "--quick", "--out", "new/out", "--report", "new/page.html")
    done = simoom("study", "lt_tcp", *arguments)
    assert done.returncode == 0
    assert done.stdout.startswith("Figure corruption: packets corrupted by Bluetooth voice")
    for part in ("analysis", "✓ reproduced", "slower_is_worse", "2 not reproduced; 1 loosely"):
        assert part in done.stdout
    folder = tmp_path / "new" / "out" / "lt_tcp"
    assert {path.name for path in folder.iterdir()} == {
        "claims.csv", "claims.parquet",
        *(f"figure_corruption.{ending}" for ending in ("csv", "parquet", "png", "svg")),
    }  # fmt: skip
    assert pl.read_csv(folder / "figure_corruption.csv")["series"].n_unique() == 6
    assert "<svg" not in (page := (tmp_path / "new" / "page.html").read_text(encoding="utf-8"))
    assert page.count("data:image/svg+xml") == 1


def test_without_a_place_for_files_a_study_says_that_it_writes_none(simoom, tmp_path):
    done = simoom("study", "lt_tcp", "--figure", "residual")
    assert done.stderr == (
        "wrote no file; --out DIR writes figures and tables, --report FILE one page of both\n"
    )
    assert list(tmp_path.iterdir()) == []


def test_a_figure_keeps_the_claims_of_the_figures_written_before(simoom, tmp_path):
    for key in ("residual", "corruption", "residual"):
        assert simoom("study", "lt_tcp", "--figure", key, "--out", "out").returncode == 0
    folder = tmp_path / "out" / "lt_tcp"
    written = pl.read_csv(folder / "claims.csv")
    assert written["figure"].unique(maintain_order=True).to_list() == [
        "figure corruption", "figure residual",
    ]  # fmt: skip
    assert written["claim"].is_unique().all()
    assert pl.read_parquet(folder / "claims.parquet").height == written.height


def test_figures_are_made_in_the_order_of_the_study_and_once(simoom):
    keys = ("--figure", "residual", "--figure", "Corruption", "--figure", "residual")
    done = simoom("study", "lt_tcp", *keys)
    heads = [line for line in done.stdout.splitlines() if line.startswith(("Figure", "Table"))]
    assert [head.partition(":")[0] for head in heads] == ["Figure corruption", "Figure residual"]


def test_quiet_prints_nothing(simoom):
    done = simoom("study", "lt_tcp", "--figure", "Readings", "--quiet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_simulated_figure_has_confidence_intervals(simoom):
    done = simoom("study", "http_queueing", "--figure", "3", "--quick")
    assert done.returncode == 0
    for part in ("(8) (analysis)", "W* = d (simulation)", "± 95 %", "W* = 1000 (ns-2.35)"):
        assert part in done.stdout


def test_ctrl_c_ends_all_runs_with_one_line():
    script = (
        "import os, signal, sys, threading\n"
        "from simoom.cli import main\n"
        "threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "sys.exit(main(['study', 'http_queueing', '--figure', '8']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")
