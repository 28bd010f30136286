"""Builds a kernel for User-Mode Linux in virtual time from the source package of a distribution."""

from __future__ import annotations

import subprocess
from pathlib import Path

from validation.uml.programs import Refused, need

HERE = Path(__file__).parent
CONFIG = HERE / "kernel.config"
SOURCES = Path("/usr/src")
PROGRAMS = {
    "make": "make",
    "gcc": "gcc",
    "flex": "flex",
    "bison": "bison",
    "bc": "bc",
    "tar": "tar",
    "xz": "xz-utils",
}
"""What a build calls, and the package of Debian that has it."""


def newest_source() -> Path:
    """The newest source package of a kernel that is installed."""

    def version(path: Path) -> list[int]:
        return [int(part) for part in path.name.split("-")[2].split(".")[:2]]

    found = sorted(SOURCES.glob("linux-source-*.tar.xz"), key=version)
    if not found:
        raise Refused(
            f"no source of a kernel in {SOURCES}: install one (Debian: apt-get install "
            "linux-source-6.1), or name it by --source"
        )
    return found[-1]


def build(source: Path | None, directory: Path, jobs: int) -> Path:
    """Build the kernel of a source package or tree below `directory`; return the program."""
    source = source or newest_source()
    need(PROGRAMS)
    if not source.exists():
        raise Refused(f"{source}: no such file or directory")
    tree = source if source.is_dir() else unpacked(source, directory)
    if not (tree / "arch" / "um" / "Kconfig").is_file():
        raise Refused(f"{tree}: not the source of a kernel: it has no arch/um/Kconfig")
    out = directory / f"build-{tree.name}"
    out.mkdir(parents=True, exist_ok=True)
    make = ["make", "-s", "-C", str(tree), f"O={out.resolve()}", "ARCH=um", f"-j{jobs}"]
    call([*make, f"KCONFIG_ALLCONFIG={CONFIG}", "allnoconfig"])
    wanted = {line for line in CONFIG.read_text().splitlines() if line.startswith("CONFIG_")}
    missing = wanted - set((out / ".config").read_text().splitlines())
    if missing:
        raise Refused(f"{tree}: this kernel cannot have {', '.join(sorted(missing))}")
    call([*make, "linux"])
    return out / "linux"


def unpacked(package: Path, directory: Path) -> Path:
    """The tree of a source package, unpacked below `directory` if it is not there yet."""
    tree = directory / package.name.removesuffix(".tar.xz")
    if not (tree / "Makefile").exists():
        directory.mkdir(parents=True, exist_ok=True)
        call(["tar", "-C", str(directory), "-xf", str(package)])
    if not tree.is_dir():
        raise Refused(f"{package}: its files are not below {tree.name}/")
    return tree


def call(command: list[str]) -> None:
    """Run a step of the build."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(command)}: exit code {done.returncode}; see above")
