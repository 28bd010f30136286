"""The text of a scenario: its keys as written, and controllers by file and class."""

from __future__ import annotations

import re
import tomllib
from pathlib import PurePath
from typing import Any

from simoom.base.issue import Issue, ScenarioError

_CLASS = re.compile(r"(?P<quote>[\"']?)(?P<module>[\w./\\-]+):(?P<name>[A-Za-z_][\w.]*)(?P=quote)")


def written(toml: str) -> dict[str, Any]:
    """Return the keys of a scenario as they are written in its TOML."""
    return tomllib.loads(toml)


def controller(path: str, text: str) -> str:
    """Return the value of a ``control`` key; a class by module or file becomes a table.

    Examples
    --------
    >>> controller("flows[*].control", "mylab/aimd.py:Aimd")
    '{python = {path = "mylab.aimd:Aimd"}}'
    >>> controller("flows[*].control", "cubic")
    'cubic'
    """
    match = _CLASS.fullmatch(text.strip())
    if match is None or path.rpartition(".")[2] != "control":
        return text
    module = match["module"]
    if module.endswith(".py"):
        file = PurePath(module)
        if file.is_absolute() or ".." in file.parts:
            message = (
                f"{module} must be below the current folder, or be named as Python imports it: "
                f"module:{match['name']}"
            )
            raise ScenarioError([Issue(path, message)])
        module = ".".join(file.with_suffix("").parts)
    return f'{{python = {{path = "{module}:{match["name"]}"}}}}'
