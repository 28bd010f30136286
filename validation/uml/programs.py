"""What the script needs from the machine."""

from __future__ import annotations

import shutil
from collections.abc import Mapping


class Refused(Exception):  # noqa: N818 - what the script does
    """Why the script cannot do what it is asked for, in one sentence."""


def need(programs: Mapping[str, str]) -> None:
    """Refuse if one of these programs is missing; `programs` has the package of each."""
    missing = [name for name in programs if shutil.which(name) is None]
    if missing:
        packages = " ".join(dict.fromkeys(programs[name] for name in missing))
        raise Refused(f"missing: {', '.join(missing)} (Debian: apt-get install {packages})")
