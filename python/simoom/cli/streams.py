"""The streams of a command: characters that an output cannot show, and readers that leave early."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any

DESCRIPTORS = {"stdin": 0, "stdout": 1, "stderr": 2}


class _Output(io.RawIOBase):
    """A file descriptor for output. What is written after its reader has left is dropped.

    ``simoom run cafe.toml | head`` still writes its files, and is no failure. Another error is
    raised once, with the name of the stream.
    """

    def __init__(self, descriptor: int, name: str) -> None:
        self._descriptor = descriptor
        self._name = name
        self._is_failed = False

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._is_failed:
            return len(data)
        try:
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            return len(data)
        except OSError as error:
            self._is_failed = True
            raise OSError(error.errno, error.strerror, self._name) from None


def prepare() -> None:
    """Prepare the standard streams of the process."""
    _open_closed()
    for name, meaning in (("stdout", "standard output"), ("stderr", "standard error")):
        stream, descriptor = getattr(sys, name), DESCRIPTORS[name]
        if stream is None or isinstance(stream, io.TextIOWrapper):
            encoding = "utf-8"
            if stream is not None:
                stream.flush()
                descriptor, encoding = stream.fileno(), stream.encoding
            output = _Output(descriptor, meaning)
            # What the encoding lacks is shown as in Python: \u2192.
            text = io.TextIOWrapper(
                io.BufferedWriter(output),
                encoding=encoding,
                errors="backslashreplace",
                line_buffering=output.isatty() or name == "stderr",
            )
            setattr(sys, name, text)


def _open_closed() -> None:
    """Open descriptors that were closed (``>&-``), lest a file of the command gets their numbers.

    What is written to standard output then fails, as in every program, and messages are lost.
    """
    modes = {"stdin": os.O_RDONLY, "stdout": os.O_RDONLY, "stderr": os.O_WRONLY}
    for name, descriptor in DESCRIPTORS.items():
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is this one.
            os.open(os.devnull, modes[name])


def print_json(data: Any) -> None:
    """Print data as JSON, in ASCII where standard output lacks a character."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2, allow_nan=False)
    print(text)
