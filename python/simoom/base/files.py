"""Files that are complete or absent."""

from __future__ import annotations

import errno
import io
import json
import math
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simoom.base.frames import pl

_READ_LIMIT = 64 << 20
"""Limit of the bytes read from a file, far more than a scenario has: a device may be endless."""
DEEPEST = 100
"""Limit of the nesting of values."""
LARGEST = 1e300
"""The largest number that is read from JSON."""


@contextmanager
def complete(path: Path) -> Iterator[Path]:
    """Give the path of a draft, which gets its name when it is complete.

    Any number of processes may write a file at once, and an interrupted process leaves none. The
    mode follows the umask.

    Raises
    ------
    OSError
        The file cannot be written; the exception names it.

    Examples
    --------
    >>> import tempfile
    >>> there = Path(tempfile.mkdtemp()) / "run.txt"
    >>> with complete(there) as draft:
    ...     _ = draft.write_text("all of it")
    >>> there.read_text()
    'all of it'
    """
    # Programs recognise formats by the suffix.
    draft = path.with_name(_draft_of(path.stem, path.suffix))
    try:
        with _named(path):
            yield draft
            draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def write_bytes(path: str, data: bytes) -> None:
    """Write a file that is complete or absent, as `complete` does, but sooner: stores have many."""
    folder, name = os.path.split(path)
    draft = os.path.join(folder, _draft_of(*os.path.splitext(name)))  # noqa: PTH118, PTH122
    try:
        with _named(path):
            with open(draft, "xb") as file:  # noqa: PTH123
                file.write(data)
            os.replace(draft, path)  # noqa: PTH105
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise


def _draft_of(stem: str, suffix: str) -> str:
    return f".{stem}-{_mark}{secrets.token_hex(4)}.part{suffix}"


_mark = ""
"""What the names of the drafts of this process have."""


def mark_drafts(mark: str) -> None:
    """Give the drafts of this process a mark, by which `discard_drafts` finds them."""
    global _mark  # noqa: PLW0603  a property of the process
    _mark = f"{mark}-"


def discard_drafts(folder: Path, mark: str) -> None:
    """Remove the drafts that a process with this mark has left below a folder."""
    for draft in folder.rglob(f".*-{mark}-*.part*"):
        draft.unlink(missing_ok=True)


def read(path: str | os.PathLike[str]) -> bytes:
    """Read a file; raise if it is longer than scenarios and scripts are."""
    with Path(path).open("rb") as file:
        data = file.read(_READ_LIMIT + 1)
    if len(data) > _READ_LIMIT:
        reason = f"has more than {_READ_LIMIT >> 20} MiB, and is no scenario or script"
        raise OSError(errno.EFBIG, reason, os.fspath(path))
    return data


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8 into a file that is complete or absent."""
    with complete(path) as draft:
        draft.write_text(text, encoding="utf-8")


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a data frame as CSV or Parquet into a file that is complete or absent."""
    data = io.BytesIO()
    if path.suffix == ".parquet":
        frame.write_parquet(data)
    else:
        frame.write_csv(data)
    # Polars does not tell a full disk from a defect.
    with complete(path) as draft:
        draft.write_bytes(data.getbuffer())


@contextmanager
def _named(path: Path | str) -> Iterator[None]:
    """Give errors of writing the name of the file."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, error.strerror or str(error), str(path)) from None


def read_json(data: bytes | str) -> Any:
    r"""Read JSON whose texts are Unicode, whose numbers are finite, and that is not nested deeply.

    Raises
    ------
    ValueError
        It is not such JSON; the message says why.

    Examples
    --------
    >>> read_json('{"name": "\\ud800"}')
    Traceback (most recent call last):
    ValueError: has half of a surrogate pair, which is no character
    """
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        if fault := next(filter(None, map(_fault, level)), None):
            raise ValueError(fault)
        level = [part for value in level for part in _parts(value)]
        if not level:
            return found
    raise ValueError(f"is nested more than {DEEPEST} deep")


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return [*value, *value.values()]
    return value if isinstance(value, list) else ()


def _fault(value: Any) -> str | None:
    if isinstance(value, str) and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return "has half of a surrogate pair, which is no character"
    is_number = isinstance(value, (int, float))
    if is_number and not -LARGEST <= value <= LARGEST:
        return f"has a number that is not from -{LARGEST:g} to {LARGEST:g}"
    return None


def finite(value: Any) -> Any:
    """Return plain data in which numbers that are not finite are None, as JSON needs it.

    Examples
    --------
    >>> finite({"mean": float("nan"), "values": [1.0, float("inf")]})
    {'mean': None, 'values': [1.0, None]}
    """
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
