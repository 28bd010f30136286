"""Files that are complete or absent."""

from __future__ import annotations

import errno
import io
import math
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


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
    draft = path.with_name(f".{path.stem}-{secrets.token_hex(4)}.part{path.suffix}")
    try:
        with _named(path):
            yield draft
            draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


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
def _named(path: Path) -> Iterator[None]:
    """Give errors of writing the name of the file."""
    try:
        yield
    except OSError as error:
        number = error.errno or errno.EIO
        raise OSError(number, error.strerror or str(error), str(path)) from None


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
