"""``python -m simoom`` runs the command line, as ``simoom`` does."""

from simoom.cli import entry

entry()
