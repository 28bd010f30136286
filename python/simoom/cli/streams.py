"""The streams of a command: characters that an output cannot show, and readers that leave early."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import Any


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
    for name, meaning in (("stdout", "standard output"), ("stderr", "standard error")):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.flush()
            output = _Output(stream.fileno(), meaning)
            # What the encoding lacks is shown as in Python: \u2192.
            text = io.TextIOWrapper(
                io.BufferedWriter(output),
                encoding=stream.encoding,
                errors="backslashreplace",
                line_buffering=output.isatty() or name == "stderr",
            )
            setattr(sys, name, text)


def print_json(data: Any) -> None:
    """Print data as JSON, in ASCII where standard output lacks a character."""
    text = json.dumps(data, indent=2, allow_nan=False, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, indent=2, allow_nan=False)
    print(text)
