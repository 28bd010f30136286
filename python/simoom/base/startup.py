"""Ctrl-C while the command line is being loaded, which takes seconds on a busy machine.

The package imports this module first. It changes nothing where the package is a library.
"""

from __future__ import annotations

import itertools
import os
import signal
import sys
import threading
from pathlib import Path
from types import FrameType

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 plus the number of SIGINT, as in shells."""


def is_command() -> bool:
    """Return whether the process is ``simoom`` or ``python -m simoom``."""
    words = sys.orig_argv
    by_module = ("-m", "simoom") in itertools.pairwise(words)
    return by_module or Path(sys.argv[0] if sys.argv else "").name in ("simoom", "simoom.exe")


def _leave(_: int, __: FrameType | None) -> None:
    os.write(2, b"interrupted\n")
    os._exit(INTERRUPTED)


def guard() -> None:
    """End the process by one line at Ctrl-C, if it is the command line, until `loaded`."""
    is_main = threading.current_thread() is threading.main_thread()
    if is_main and is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def loaded() -> None:
    """From now on, Ctrl-C raises KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


guard()
