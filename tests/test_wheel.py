"""The wheel: the page of ``simoom serve`` opens from it, without Node and without the sources, and
with NumPy, Rich and Typer alone all works that needs no other package."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from importlib import metadata
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[1]
WAIT_S = 1800
"""A build of the simulator, where none is current, on a slow machine."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The environment of a Python that imports Simoom from the installed wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    # The profile of `make demo`, whose build is current.
    made = [sys.executable, "-m", "maturin", "build", "--profile", "dev", "--quiet"]
    made += ["--out", folder]
    subprocess.run(made, cwd=ROOT, check=True, timeout=WAIT_S, stderr=subprocess.DEVNULL)
    (wheel,) = folder.glob("simoom-*.whl")
    place = folder / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--target", place, wheel], check=True, timeout=WAIT_S)
    return {**os.environ, "PYTHONPATH": str(place)}


def required(name, found):
    """Collect the packages that a package needs without extras."""
    for requirement in metadata.requires(name) or ():
        needed = re.match(r"[\w.-]+", requirement)[0]
        if ";" not in requirement and needed not in found:
            found.add(needed)
            required(needed, found)
    return found


@pytest.fixture(scope="module")
def slim(installed, tmp_path_factory):
    """Run the installed command line where only the packages are that it requires."""
    folder = tmp_path_factory.mktemp("slim")
    for name in required("simoom", set()):
        package = metadata.distribution(name)
        for part in {Path(file).parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
            (folder / part).symlink_to(package.locate_file(part))
    path = os.pathsep.join([installed["PYTHONPATH"], str(folder)])
    # -S: site-packages, which has all packages of the tests, is not searched.
    command = [sys.executable, "-S", "-m", "simoom"]

    def call(*arguments):
        return subprocess.run(
            [*command, *arguments], cwd=folder, env={**installed, "PYTHONPATH": path},
            capture_output=True, encoding="utf-8", check=False,
        )  # fmt: skip

    return call


@pytest.mark.parametrize(
    "arguments",
    [
        "check cafe",
        "run one_station --set duration_s=2",
        "run delayed_ack --set duration_s=6",
        "run one_station --set duration_s=2 --json",
        "run one_station --set duration_s=2 --trace run.pcapng",
        "run one_station --set duration_s=2 --until 10%",
        "airtime --standard 11g --bytes 1500",
        "sweep one_station --set duration_s=2 -n 2 --over stations=1,2 --store runs",
        "compare one_station --set duration_s=2 -n 2 --change stations=2",
        "why one_station --set duration_s=2 -n 2",
        "hearing hidden_nodes",
        "scenarios",
    ],
)
def test_what_needs_no_extra_works_without(slim, arguments):
    done = slim(*arguments.split())
    assert (done.returncode, "pip install" in done.stderr) == (0, False), done.stderr
    assert done.stdout


@pytest.mark.parametrize(
    ("arguments", "package", "extra"),
    [
        ("run one_station --set duration_s=2 --out out", "matplotlib", "plot"),
        ("run one_station --set duration_s=2 --trace run.parquet", "polars", "frames"),
        ("sweep one_station --set duration_s=2 -n 2 --over stations=1,2 --out out", "polars",
         "frames"),
        ("routes chain", "scipy", "models"),
        ("model delayed_ack", "scipy", "models"),
        ("serve", "starlette", "serve"),
        ("study list", "scipy", "models"),
    ],
)  # fmt: skip
def test_an_extra_that_is_missing_is_named_with_its_command(slim, arguments, package, extra):
    done = slim(*arguments.split())
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 2
    assert last.endswith(f"needs {package}, which is missing: pip install 'simoom[{extra}]'")
    assert "Traceback" not in done.stderr


def test_the_twin_of_a_report_says_what_it_needs(slim):
    assert "analytic twin  needs scipy" in slim("run", "delayed_ack").stdout


def test_the_wheel_is_small(installed):
    files = Path(installed["PYTHONPATH"]).glob("simoom/_core*")
    (core,) = (file for file in files if file.suffix != ".pyi")
    assert core.stat().st_size < 12_000_000


def test_the_wheel_has_the_studies(installed):
    package = ROOT / "python" / "simoom_studies"
    sources = [*package.glob("[a-z]*/*.py"), *package.glob("[a-z]*/*.csv")]
    assert len(sources) > 60
    for source in sources:
        found = Path(installed["PYTHONPATH"], *source.parts[-3:])
        assert found.read_bytes() == source.read_bytes()


def test_the_page_of_the_installed_wheel_runs_a_scenario(installed, browser, serve, tmp_path):
    where = subprocess.run(
        [sys.executable, "-c", "import simoom; print(simoom.__file__)"], cwd=tmp_path,
        env=installed, check=True, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert where.stdout.startswith(installed["PYTHONPATH"])
    with serve(tmp_path, env=installed) as link:
        page = browser.new_page()
        faults = []
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("requestfailed", lambda request: faults.append(request.url))
        page.goto(link)
        expect(page.locator(".cm-content")).to_contain_text("standard")
        page.get_by_role("tab", name="Form").click()
        page.get_by_label(re.compile("^Simulated time")).fill("4")
        page.get_by_label(re.compile("^Simulated time")).press("Tab")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_role("link", name="Open the air").click()
        expect(page.locator("#air[aria-busy=false]")).to_be_visible()
        expect(page.locator(".air .heading")).to_contain_text("frames")
        page.close()
    assert faults == []


def test_the_source_distribution_has_what_the_wheel_is_built_from(tmp_path):
    command = [sys.executable, "-m", "maturin", "sdist", "--out", tmp_path]
    subprocess.run(command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL)
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as files:
        names = {name.partition("/")[2] for name in files.getnames()}
    needed = ("python/simoom/scenarios/cafe.toml", "python/simoom/serve/static/app.js",
              "crates/sim/src/lib.rs", "Cargo.lock", "pyproject.toml", "README.md")  # fmt: skip
    assert set(needed) - names == set()


def pinned(name):
    lines = (ROOT / name).read_text("utf-8").splitlines()
    return {line for line in lines if line and not line.lstrip().startswith("#")}


@pytest.mark.parametrize("name", ["requirements.lock", "demo.lock"])
def test_a_lock_file_has_versions_and_no_paths(name):
    assert all(re.fullmatch(r"[\w.\[\]-]+==\S+", line) for line in pinned(name))


def test_a_demo_installs_what_the_tests_have_and_nothing_of_their_own():
    demo = pinned("demo.lock")
    assert demo < pinned("requirements.lock")
    assert not {line.partition("==")[0] for line in demo} & {"polars", "pytest", "mypy"}
