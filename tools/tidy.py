"""The project's own lint: sizes, permitted imports, forbidden words.

    python tools/tidy.py [ROOT]

Prints a line for each fault, `path:line: rule: message`, and fails if there is one. The exceptions
are in ``tools/tidy.toml``, each with its reason; an exception without a fault is a fault too.
"""

from __future__ import annotations

import ast
import fnmatch
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

FILE_LINES = 500
FUNCTION_LINES = 70
COLUMNS = 100

CRATES = {
    "kernel": set(),
    "settings_derive": set(),
    "settings": {"kernel", "settings_derive"},
    "wire": {"kernel", "settings"},
    "tcp": {"kernel", "settings", "wire"},
    "net": {"kernel", "settings", "wire"},
    "wifi": {"kernel", "settings", "wire"},
    "trace": {"kernel", "settings", "wire"},
    "sim": {"kernel", "settings", "wire", "tcp", "net", "wifi", "trace"},
    "live": {"kernel", "wire", "sim", "trace"},
    "py": {"kernel", "sim", "trace", "live"},
    "wasm": {"kernel", "sim", "trace"},
}
"""The crates that each crate may use."""

FLOORS = (  # noqa: SIM905
    "_core,base models,scenario trace,results gallery,store emulate gym,runs,plots twin,show why,"
    "serve studies,cli,__main__"
).split(",")
"""Rooms of the Python package, lowest floor first: each may import the rooms of the floors below,
for type checkers too; ``models`` imports none (`check_floors`)."""
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}

MODELS_MAY_IMPORT = {"numpy", "scipy"}
"""Imports of models besides the standard library: agreement with the simulator is evidence."""

FORBIDDEN = {
    r"\b(TODO|FIXME|XXX|HACK)\b": "a promise; do it or leave it out",
    r"(?<![\w.])/(work|tmp|home|root)/": "the path of some machine",
    r"\b(pypi\.org|files\.pythonhosted\.org|static\.crates\.io|index\.crates\.io"
    r"|registry\.npmjs\.org|proxy\.golang\.org)\b": "the host of a registry",
    r"\b[Ii]ssue #?\d+\b": "the project speaks of itself alone",
}

FEATURE = re.compile(r"(?i)beacon|roam|power_?save|sleep|aodv|dsr|\barp\b|duplex|interferer")
"""Functions of nodes and radios: the world names none, they are files of their crates."""

WORDS: dict[str, str] = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf-8"))
WORD = re.compile(
    rf"((?<![A-Za-z])(?:{'|'.join(WORDS)})|{'|'.join(map(str.title, WORDS))})(?:s|ed|ing)?(?![a-z])"
)
"""Words that are no terms of 802.11 or TCP, with the terms that names and pages use instead."""

BAD_NAME = re.compile(r"(?i)(manager|helper|handler|utils?(?![a-z])|data2)")
"""Names without meaning."""

TEXT = {".rs", ".py", ".pyi", ".toml", ".md", ".sh", ".js", ".ts", ".css", ".html", ".yml", ""}
GENERATED = {"Cargo.lock", "requirements.lock", "demo.lock", "LICENSE-APACHE", "LICENSE-MIT"}

BUILT = PurePosixPath("python/simoom/serve/static")
"""The page of ``simoom serve`` as `make web` builds it from ``web``."""


@dataclass(frozen=True, order=True)
class Fault:
    """One breach of one rule."""

    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.rule}: {self.message}"


def main(arguments: list[str]) -> int:
    """Check the tree below the given root, or this repository."""
    root = Path(arguments[0] if arguments else Path(__file__).parents[1]).resolve()
    faults = sorted(check(root))
    for fault in faults:
        print(fault)
    return 1 if faults else 0


def check(root: Path) -> list[Fault]:
    """Return the faults of a tree that are not excepted."""
    found = [fault for path in files(root) for fault in check_file(root, path)]
    found += check_manifests(root)
    found += check_circles(root)
    return list(apply_exceptions(root, found))


def files(root: Path) -> list[PurePosixPath]:
    """Return the files of the tree that are committed or not ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    git = subprocess.run(command, cwd=root, capture_output=True, check=False)
    if git.returncode == 0:
        names = git.stdout.decode().split("\0")
    else:
        names = [str(path.relative_to(root).as_posix()) for path in root.rglob("*")]
    return [PurePosixPath(name) for name in names if name and (root / name).is_file()]


def check_file(root: Path, path: PurePosixPath) -> Iterator[Fault]:
    """Check a file by all rules for its kind."""
    if path.suffix not in TEXT or path.name in GENERATED or path.is_relative_to(BUILT):
        return
    try:
        text = (root / path).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield Fault(str(path), 1, "text", "is not UTF-8")
        return
    yield from check_lines(path, text)
    yield from check_name(path)
    if path.suffix == ".rs":
        yield from check_rust(path, text)
    if path.suffix == ".py":
        yield from check_python(path, text)


def check_lines(path: PurePosixPath, text: str) -> Iterator[Fault]:
    """Check width, ends of lines and words."""
    here = str(path)
    for number, line in enumerate(text.split("\n"), start=1):
        unbreakable = "://" in line or (path.suffix == ".md" and line.startswith(("|", "![")))
        if len(line) > COLUMNS and not unbreakable:
            yield Fault(here, number, "columns", f"{len(line)} columns, more than {COLUMNS}")
        if line != line.rstrip():
            yield Fault(here, number, "space", "white space at the end of the line")
        for pattern, why in FORBIDDEN.items():
            if match := re.search(pattern, line):
                yield Fault(here, number, "word", f"{match[0]!r} is {why}")
        if match := WORD.search(line):
            better = WORDS[match[1].lower()]
            yield Fault(here, number, "word", f"{match[0]!r}; the glossary has: {better}")
    if text and not text.endswith("\n"):
        yield Fault(here, text.count("\n") + 1, "space", "no newline at the end")


def check_name(path: PurePosixPath) -> Iterator[Fault]:
    """Check that a file's name has a meaning."""
    if match := BAD_NAME.search(path.stem):
        yield Fault(str(path), 1, "name", f"{match[0]!r} says nothing")


# --- Rust ---------------------------------------------------------------------------------------


def check_rust(path: PurePosixPath, text: str) -> Iterator[Fault]:
    """Check sizes, names and imports of a Rust file; the length of its tests is not limited."""
    here = str(path)
    code = without_tests(blank_rust(text))
    lines = code.count("\n")
    if lines > FILE_LINES and not in_tests(path):
        yield Fault(here, 1, "file", f"{lines} lines before its tests, more than {FILE_LINES}")
    for name, line, length, signature in rust_functions(code):
        if length > FUNCTION_LINES:
            yield Fault(here, line, "function", f"`{name}` has {length} lines")
        if TUPLE.search(signature) and not in_tests(path):
            yield Fault(here, line, "tuple", f"`{name}` takes one; name its parts or the whole")
    for match in re.finditer(r"\b(?:fn|struct|enum|trait|mod|type)\s+(\w+)", code):
        if bad := BAD_NAME.search(match[1]):
            line = code.count("\n", 0, match.start()) + 1
            yield Fault(here, line, "name", f"`{match[1]}`: {bad[0]!r} says nothing")
    crate = path.parts[1] if len(path.parts) > 2 and path.parts[0] == "crates" else None
    if crate in CRATES:
        yield from check_uses(here, crate, code)
    if here.startswith("crates/sim/src/world") and (named := FEATURE.search(code)):
        yield Fault(here, code[: named.end()].count("\n") + 1, "feature", f"names {named[0]!r}")


def without_tests(code: str) -> str:
    """Return the code of a Rust file before its tests."""
    tests = re.search(
        r"^\s*#\[cfg\(test\)\]\s*\n(\s*#\[.*\]\s*\n)*\s*(pub(\(\w+\))? )?mod \w+",
        code,
        re.MULTILINE,
    )
    return code[: tests.start()] if tests else code


def check_uses(here: str, crate: str, code: str) -> Iterator[Fault]:
    """Check that a crate names only the crates that it may."""
    for match in re.finditer(r"(?<![\w:.])(\w+)::", code):
        other = match[1]
        # `crate::tcp::…` and modules of the same name do not match: they follow `::` or `self::`.
        if other in CRATES and other not in CRATES[crate] | {crate}:
            line = code.count("\n", 0, match.start()) + 1
            if not re.search(rf"^\s*(pub )?mod {other}\b", code, re.MULTILINE):
                yield Fault(here, line, "import", f"`{crate}` may not use `{other}`")


TUPLE = re.compile(r":\s*&?\s*(?:'\w+\s+)?(?:mut\s+)?\((?!\s*\))")
"""A parameter that is a tuple, or a reference to one."""


def rust_functions(code: str) -> Iterator[tuple[str, int, int, str]]:
    """Find functions: name, line, length and signature, in code without comments and strings."""
    for match in re.finditer(r"\bfn\s+(\w+)", code):
        depth = 0
        for end in range(match.end(), len(code)):
            depth += (code[end] in "([") - (code[end] in ")]")
            if depth == 0 and code[end] in "{;":
                break
        else:
            continue
        depth = 0
        for close in range(end, len(code)):
            depth += (code[close] == "{") - (code[close] == "}")
            if depth == 0:
                break
        first = code.count("\n", 0, match.start()) + 1
        length = code.count("\n", match.start(), close) + 1
        yield match[1], first, length, code[match.end() : end]


RUST_TOKEN = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | b?r(?P<hashes>\#*)".*?"(?P=hashes)
      | b?"(?:\\.|[^"\\])*"
      | b?'(?:\\(?:u\{[^}]*\}|x..|.)|[^'\\\n])'""",
    re.VERBOSE | re.DOTALL,
)


def blank_rust(text: str) -> str:
    """Replace comments and literals by blanks, so that their braces and words are ignored."""

    def blank(match: re.Match[str]) -> str:
        return re.sub(r"[^\n]", " ", match[0])

    return RUST_TOKEN.sub(blank, text)


def check_manifests(root: Path) -> Iterator[Fault]:
    """Check that no crate depends on one that it may not use."""
    for crate, allowed in CRATES.items():
        manifest = root / "crates" / crate / "Cargo.toml"
        if not manifest.exists():
            continue
        table = tomllib.loads(manifest.read_text(encoding="utf-8"))
        sections = ("dependencies", "dev-dependencies", "build-dependencies")
        for name in (name for section in sections for name in table.get(section, {})):
            other = name.removeprefix("simoom-")
            if other in CRATES and other not in allowed:
                here = str(manifest.relative_to(root))
                yield Fault(here, 1, "import", f"`{crate}` may not depend on `{other}`")


# --- Circles of imports -------------------------------------------------------------------------

ACYCLIC = ("crates/sim/src",)
"""Crates between whose files no imports go round in a circle."""

USE = re.compile(r"^[ \t]*(?:pub(?:\([\w ]+\))? +)?use\s+([^;]+);", re.MULTILINE)
NAME = re.compile(r"(?<![\w:$])(?:\w+::)+\w+")

Steps = tuple[str, ...]
"""A module's place in its crate, ("check", "space"); or the steps of a path in the code."""


def check_circles(root: Path) -> Iterator[Fault]:
    """Check that each file may be read before those that import it."""
    for source in ACYCLIC:
        modules = rust_modules(root, PurePosixPath(source))
        arrows = rust_imports({module: code for module, (_, code) in modules.items()})
        for circle in circles(arrows):
            chain = " -> ".join("::".join(module) or "crate" for module in [*circle, circle[0]])
            yield Fault(modules[circle[0]][0], 1, "circle", chain)


def rust_modules(root: Path, source: PurePosixPath) -> dict[Steps, tuple[str, str]]:
    """Return path and code of every module of a crate, tests and literals left out."""
    modules = {}
    for path in files(root):
        if path.suffix != ".rs" or source not in path.parents or in_tests(path):
            continue
        module = path.relative_to(source).with_suffix("").parts
        code = without_tests(blank_rust((root / path).read_text(encoding="utf-8")))
        modules[() if module == ("lib",) else module] = (str(path), code)
    return modules


def rust_imports(code: dict[Steps, str]) -> dict[Steps, set[Steps]]:
    """Return the modules that each module names: those that define what it uses."""
    uses = {
        module: dict(leaf for use in USE.findall(text) for leaf in use_leaves(use))
        for module, text in code.items()
    }

    def definer(seen_from: Steps, path: Steps, depth: int = 0) -> Steps | None:
        at = seen_from
        for number, step in enumerate(path):
            rest = path[number + 1 :]
            if step in ("crate", "self", "super"):
                at = {"crate": (), "self": at, "super": at[:-1]}[step]
            elif (*at, step) in code:
                at = (*at, step)
            elif at in uses and uses[at].get(step, path[number:]) != path[number:] and depth < 20:
                return definer(at, uses[at][step] + rest, depth + 1)
            else:
                return at if number else None  # `::wire` is a crate and no module.
        return at

    arrows = {}
    for module, text in code.items():
        names = [tuple(name.split("::")) for name in NAME.findall(USE.sub("", text))]
        found = {definer(module, path) for path in [*uses[module].values(), *names]}
        arrows[module] = {other for other in found if other in code and other != module}
    return arrows


def use_leaves(tree: str, before: Steps = ()) -> Iterator[tuple[str, Steps]]:
    """Return the names that a `use` brings, each with its path: `a::{b, c as d}` brings b and d."""
    head, brace, rest = tree.partition("{")
    if brace:
        inner = rest[: rest.rindex("}")]
        steps = tuple(step.strip() for step in head.split("::")[:-1])
        depth, start = 0, 0
        for end, char in enumerate([*inner, ","]):
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                yield from use_leaves(inner[start:end], before + steps)
                start = end + 1
    elif tree.strip():
        path, _, name = tree.partition(" as ")
        steps = before + tuple(step.strip() for step in path.split("::"))
        steps = steps[:-1] if steps[-1] == "self" else steps
        yield name.strip() or steps[-1], steps


def circles(arrows: dict[Steps, set[Steps]]) -> Iterator[list[Steps]]:
    """Return the circles; of circles that share modules, one."""
    done: set[Steps] = set()

    def walk(module: Steps, path: list[Steps]) -> list[Steps] | None:
        if module in path:
            return path[path.index(module) :]
        if module in done:
            return None
        found = (walk(other, [*path, module]) for other in sorted(arrows[module]))
        circle = next(filter(None, found), None)
        done.add(module)
        return circle

    for module in sorted(arrows):
        if circle := walk(module, []):
            yield circle


# --- Python -------------------------------------------------------------------------------------

FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)


def check_python(path: PurePosixPath, text: str) -> Iterator[Fault]:
    """Check sizes, names and imports of a Python file."""
    here = str(path)
    lines = text.count("\n")
    if lines > FILE_LINES and not in_tests(path):
        yield Fault(here, 1, "file", f"{lines} lines, more than {FILE_LINES}")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        yield Fault(here, error.lineno or 1, "text", f"is not Python: {error.msg}")
        return
    for node in ast.walk(tree):
        if not isinstance(node, (*FUNCTION, ast.ClassDef)):
            continue
        if bad := BAD_NAME.search(node.name):
            yield Fault(here, node.lineno, "name", f"`{node.name}`: {bad[0]!r} says nothing")
        length = function_length(node)
        if length > FUNCTION_LINES:
            yield Fault(here, node.lineno, "function", f"`{node.name}` has {length} lines")
    module = simoom_module(path)
    if module is not None:
        yield from check_floors(here, module, tree)


def function_length(node: ast.AST) -> int:
    """Return a function's lines without its docstring."""
    if not isinstance(node, FUNCTION):
        return 0
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node, clean=False) is not None:
        length -= (first.end_lineno or first.lineno) - first.lineno + 1
    return length


def simoom_module(path: PurePosixPath) -> tuple[str, ...] | None:
    """Return the module's place: ("models", "bianchi"); () for the package simoom."""
    if path.parts[:2] not in (("python", "simoom"), ("python", "simoom_studies")):
        return None
    parts = [*path.parts[1].split("_")[1:], *path.parts[2:-1], path.stem]
    return tuple(parts[:-1] if parts[-1] == "__init__" else parts)


def check_floors(here: str, module: tuple[str, ...], tree: ast.Module) -> Iterator[Fault]:
    """Check that a module imports only its room and lower floors, and nothing in functions."""
    if not module:  # the package's own __init__ shows what is on every floor
        return
    own = module[0]
    functions = (each for each in ast.walk(tree) if isinstance(each, FUNCTION))
    late = {node.lineno for each in functions for node, _ in imports(each, ())}
    for line in sorted(late) if own != "models" else ():  # it has no `Later`
        yield Fault(here, line, "import", "in a function; see `Later` in simoom.base.needs")
    for node, name in imports(tree, ("simoom", *module)):
        parts = name.split(".")
        if own == "models":
            standard = parts[0] in sys.stdlib_module_names or parts[0] in MODELS_MAY_IMPORT
            if not standard and parts[:2] != ["simoom", "models"]:
                yield Fault(here, node.lineno, "import", f"models may not import {name}")
        elif parts[0] == "simoom":
            other = parts[1] if len(parts) > 1 else None
            if own not in FLOOR:
                yield Fault(here, 1, "import", f"`{own}` has no floor in tools/tidy.py")
                return
            if other != own and FLOOR.get(other or "", len(FLOORS)) >= FLOOR[own]:
                yield Fault(here, node.lineno, "import", f"`{own}` may not import {name}")


def imports(tree: ast.AST, module: tuple[str, ...]) -> Iterator[tuple[ast.stmt | ast.Call, str]]:
    """Return every module that `module` imports anywhere, also when it is first used (`Later`)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "Later":
            yield from ((node, str(a.value)) for a in node.args[:1] if isinstance(a, ast.Constant))
        elif isinstance(node, ast.ImportFrom):
            above = module[: -node.level] if node.level else ()
            source = ".".join([*above, *filter(None, [node.module])])
            if source == "simoom":
                yield from ((node, f"simoom.{alias.name}") for alias in node.names)
            else:
                yield node, source


def in_tests(path: PurePosixPath) -> bool:
    """Whether a file holds tests only."""
    return "tests" in path.parts or path.stem == "tests" or path.stem.endswith("_tests")


# --- Exceptions ---------------------------------------------------------------------------------


def apply_exceptions(root: Path, found: Iterable[Fault]) -> Iterator[Fault]:
    """Remove the faults that ``tools/tidy.toml`` excepts; add exceptions without a fault."""
    table = root / "tools" / "tidy.toml"
    entries = tomllib.loads(table.read_text("utf-8"))["allow"] if table.exists() else []
    used: set[int] = set()
    for fault in found:
        number = next((n for n, entry in enumerate(entries) if is_excepted(entry, fault)), None)
        if number is None:
            yield fault
        else:
            used.add(number)
    for number, entry in enumerate(entries):
        if number not in used:
            message = f"lets off {entry['rule']} in {entry['path']} in vain"
            yield Fault("tools/tidy.toml", 1, "allow", message)
        if not entry.get("reason"):
            yield Fault("tools/tidy.toml", 1, "allow", f"no reason for {entry['path']}")


def is_excepted(entry: dict[str, str], fault: Fault) -> bool:
    """Return whether an entry applies to this fault."""
    return (
        fault.rule == entry["rule"]
        and fnmatch.fnmatch(fault.path, entry["path"])
        and entry.get("what", "") in fault.message
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
