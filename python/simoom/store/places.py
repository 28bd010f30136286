"""Where a store keeps its files: a folder, or what fsspec reaches (S3, GCS, SFTP, ...).

A file is written once, complete or not at all, and never changed. Names have forward slashes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

from simoom.base.files import complete, write_bytes
from simoom.base.needs import need

FEW_FILES = 10
"""So many remote files are asked for without a list of those that exist."""
DRAFT_S = 3600.0
"""A draft of a file that has not changed for so long was left by a process that was killed."""


class Place(Protocol):
    """Files by name, below one folder."""

    @property
    def name(self) -> str:
        """The folder as the user names it."""

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those of the files that exist."""

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which is complete or absent whatever happens."""

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""

    def names(self, folder: str = "") -> list[str]:
        """Return the names of all files below a folder, in order."""

    def local(self, name: str) -> Path:
        """Return a file of this machine with the content; FileNotFoundError if there is none."""


class Folder:
    """A folder of this machine."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    @property
    def name(self) -> str:
        """The folder as the user names it."""
        return str(self.path)

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those of the files that exist."""
        found = {}
        for name in names:
            # Most that a sweep asks for are absent, and an object for the path of each takes time.
            path = f"{self.path}/{name}"
            with contextlib.suppress(FileNotFoundError), open(path, "rb") as file:  # noqa: PTH123
                found[name] = file.read()
        return found

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which is complete or absent whatever happens."""
        path = f"{self.path}/{name}"
        try:
            write_bytes(path, data)
        except FileNotFoundError:
            Path(path).parent.mkdir(exist_ok=True)
            write_bytes(path, data)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        (self.path / name).unlink(missing_ok=True)

    def names(self, folder: str = "") -> list[str]:
        """Return the names of all files below a folder, in order."""
        found = []
        for parent, _, files in os.walk(self.path / folder):
            below = Path(parent).relative_to(self.path).as_posix()
            start = "" if below == "." else f"{below}/"
            found += [f"{start}{file}" for file in files if not file.startswith(".")]
        return sorted(found)

    def local(self, name: str) -> Path:
        """Return the path of a file."""
        path = self.path / name
        path.stat()
        return path

    def sync(self, name: str) -> None:
        """Wait until a file and its name are on the disk."""
        for path in (self.path / name, (self.path / name).parent):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def remove_drafts(self) -> None:
        """Remove the drafts of processes that were killed."""
        now = time.time()
        for draft in self.path.glob("*/.*.part*"):
            try:
                if now - draft.stat().st_mtime > DRAFT_S:
                    draft.unlink(missing_ok=True)
            except FileNotFoundError:
                continue


class Remote:
    """A folder that fsspec reaches.

    Parameters
    ----------
    url : str
        ``s3://bucket/folder``, or another URL of fsspec.

    Raises
    ------
    MissingPackageError
        fsspec, or its package for the protocol, is not installed.
    OSError
        There is no such bucket, or no permission.
    """

    def __init__(self, url: str) -> None:
        purpose = f"a store at {url}"
        core = need("fsspec.core", purpose)
        protocol = url.partition("://")[0]
        if protocol in ("s3", "s3a"):
            need("s3fs", purpose)
        self._url = url.rstrip("/")
        try:
            files, root = core.url_to_fs(self._url, use_listings_cache=False)
        except ImportError as error:
            raise OSError(None, f"fsspec needs another package: {error}", url) from None
        except ValueError as error:
            raise OSError(None, f"is no URL of fsspec: {error}", url) from None
        self._files: Any = files
        self._root = root.rstrip("/")
        # An object store has no folders; to make one would be to make a bucket.
        self._has_buckets = protocol in ("s3", "s3a", "gs", "gcs", "abfs", "az")
        self._copies: Path | None = None

    @property
    def name(self) -> str:
        """The URL."""
        return self._url

    def read(self, names: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those of the files that exist; they are read at the same time."""
        wanted = {f"{self._root}/{name}": name for name in names}
        if not wanted:
            return {}
        # A list of all names costs less than a request for each file that does not exist.
        there = (
            wanted if len(wanted) < 10 else wanted.keys() & {self._path(n) for n in self.names()}
        )
        found = self._files.cat(list(there), on_error="return") if there else {}
        done = {}
        for path, data in found.items():
            if isinstance(data, FileNotFoundError):
                continue
            if isinstance(data, Exception):
                with self._named():
                    raise data
            done[wanted[path]] = data
        return done

    def write(self, name: str, data: bytes) -> None:
        """Write a file; object stores show it when it is complete."""
        path = self._path(name)
        with self._named():
            if not self._has_buckets:
                self._files.makedirs(path.rpartition("/")[0], exist_ok=True)
            self._files.pipe_file(path, data)

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        with contextlib.suppress(FileNotFoundError), self._named():
            self._files.rm_file(self._path(name))

    def names(self, folder: str = "") -> list[str]:
        """Return the names of all files below a folder, in order."""
        self._files.invalidate_cache()
        try:
            with self._named():
                found = self._files.find(self._path(folder) if folder else self._root)
        except FileNotFoundError:
            return []
        names = (path.removeprefix(f"{self._root}/") for path in found)
        return sorted(name for name in names if not name.rpartition("/")[2].startswith("."))

    def local(self, name: str) -> Path:
        """Return a copy of a file, which is kept as long as this object."""
        if self._copies is None:
            self._copies = Path(tempfile.mkdtemp(prefix="simoom-"))
            weakref.finalize(self, shutil.rmtree, self._copies, ignore_errors=True)
        path = self._copies / name
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with self._named(), complete(path) as draft:
                draft.write_bytes(self._files.cat_file(self._path(name)))
        return path

    def sync(self, name: str) -> None:
        """Do nothing: an object store has a file when `write` returns."""

    def remove_drafts(self) -> None:
        """Do nothing: there are no drafts."""

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Turn the exceptions of any protocol into OSError with the URL."""
        try:
            yield
        except OSError as error:
            reason = error.strerror or str(error)
            raise type(error)(error.errno or errno.EIO, reason, self._url) from None
        except Exception as error:  # noqa: BLE001  each protocol has classes of its own
            raise OSError(errno.EIO, str(error), self._url) from None


def place_of(place: Path | str) -> Folder | Remote:
    """Return the folder or URL that a path names.

    Examples
    --------
    >>> place_of("memory://kept/runs").name
    'memory://kept/runs'
    """
    text = str(place)
    if "://" in text:
        if text.startswith("file://"):
            return Folder(Path(text.removeprefix("file://")))
        return Remote(text)
    return Folder(Path(place))
