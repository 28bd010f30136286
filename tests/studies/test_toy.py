"""A study is a folder, and in a package of its own a line: `simoom study` finds it there."""

import os
import subprocess
import sys
from pathlib import Path

PYTHON = Path(__file__).parents[2] / "python"

PAPER = '''
"""A toy paper."""

from simoom.runs.evidence import Value
from simoom.studies import Check, Figure, Study
from simoom.studies.claim import Claims
from simoom.studies.figure import Axis, Source, curve
from simoom.studies.lab import figure_function

CLAIMS = Claims(__package__)


@figure_function("figure 1")
def figure_1(lab):
    """The toys of a child."""
    axis = Axis("toys", "toys")
    line = curve("children", Source.ANALYSIS, (1, 2), [Value.exact(3.0)] * 2, "toys")
    held = CLAIMS("many", checks=[Check.near("toys", Value.exact(3.0), 3.0, within=0.1)])
    return Figure("figure 1", "toys", Axis("child", "child"), (axis,), (line,), (held,))


STUDY = Study(
    name="toy_paper", title="Toys", reference="A. Child, Toys", figure_functions=(figure_1,)
)
'''
CLAIMS = """name,kind,statement,paper,tolerance
many,claim,A child has three toys.,3,one in thirty
"""


def test_a_study_of_another_package_is_a_folder_and_a_line(tmp_path):
    package, told = tmp_path / "toys", tmp_path / "toys-1.0.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text(PAPER.lstrip(), encoding="utf-8")
    (package / "claims.csv").write_text(CLAIMS, encoding="utf-8")
    told.mkdir()
    (told / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n")
    line = "toy_paper = toys:STUDY\n"
    (told / "entry_points.txt").write_text(f"[simoom.studies]\n{line}wrong = toys:PAPER\n")
    found = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(PYTHON)])}

    def study(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "simoom", "study", *arguments],
            cwd=tmp_path, env=found, capture_output=True, text=True, check=False,
        )  # fmt: skip

    made = study("toy_paper", "--out", "made", "--report", "page.html")
    assert made.returncode == 0, made.stderr
    assert "A child has three toys." in made.stdout
    assert "1 reproduced" in made.stdout
    claims = (tmp_path / "made" / "toy_paper" / "claims.csv").read_text(encoding="utf-8")
    assert "many" in claims
    assert "A. Child, Toys" in (tmp_path / "page.html").read_text(encoding="utf-8")
    refused = study("list")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("wrong: toys:PAPER cannot be imported: ")
    (told / "entry_points.txt").write_text(f"[simoom.studies]\n{line}", encoding="utf-8")
    listed = study("list").stdout.splitlines()
    assert "toy_paper: Toys" in listed
    assert listed.index("toy_paper: Toys") > 0
