"""``python -m simoom`` is ``simoom``."""

from simoom.cli import entry

entry()
