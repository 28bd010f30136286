"""Where the values of a scenario stand in its text: for messages in an editor, and for edits.

The scanner knows of TOML 1.0 what it needs to find keys and the ends of values; the simulator's own
reader says whether a text is TOML.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

SPACE = re.compile(r"[ \t]*")
BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
KEY = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\\n])*"|'[^'\n]*'""")
TEXT = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'', re.DOTALL
)
PLAIN = re.compile(r"[^\s,\]}#]+(?: [^\s,\]}#]+)?")
LINE = re.compile(r"\(?\bline (\d+)(?:,? column (\d+))?\)?")


class Place(NamedTuple):
    """Offsets into a text: where a key or header begins, and where its value begins and ends."""

    key: int
    start: int
    end: int


class _NoTomlError(ValueError):
    """The text cannot be scanned any further."""


@dataclass
class Scanner:
    """Finds the places of a text by path."""

    text: str
    at: int = 0

    def __post_init__(self) -> None:
        self.places: dict[str, Place] = {}
        self.tables: dict[str, int] = {}
        self._counts: dict[str, int] = {}
        self._prefix = ""
        with suppress(_NoTomlError):
            self._document()

    def _document(self) -> None:
        while True:
            self._skip(BLANK)
            if self.at >= len(self.text):
                return
            if self.text[self.at] == "[":
                self._header()
            else:
                self._pair(self._prefix)

    def _header(self) -> None:
        begin = self.at
        is_list = self.text.startswith("[[", begin)
        self.at += 2 if is_list else 1
        names = self._names()
        self._expect("]]" if is_list else "]")
        path = ""
        for name in names[:-1]:
            path = self._last(_join(path, name))
        path = _join(path, names[-1])
        if is_list:
            number = self._counts.get(path, 0)
            self._counts[path] = number + 1
            self.places.setdefault(path, Place(begin, begin, self.at))
            path = f"{path}[{number}]"
        self._prefix = path
        self.places.setdefault(path, Place(begin, begin, self.at))
        self.tables.setdefault(path, self.at)

    def _last(self, path: str) -> str:
        """Return the path of the last element if this is a list of tables."""
        count = self._counts.get(path)
        return path if count is None else f"{path}[{count - 1}]"

    def _pair(self, prefix: str) -> None:
        begin = self.at
        path = prefix
        for name in self._names():
            path = _join(path, name)
        self._expect("=")
        self._skip(SPACE)
        self._value(path, begin)

    def _value(self, path: str, key: int) -> None:
        start = self.at
        char = self.text[start : start + 1]
        if char in ("'", '"') and char:
            self._skip(TEXT, needed=True)
        elif char == "[":
            self._elements(path, "]")
        elif char == "{":
            self._elements(path, "}")
        else:
            self._skip(PLAIN, needed=True)
        self.places[path] = Place(key, start, self.at)

    def _elements(self, path: str, close: str) -> None:
        self.at += 1
        number = 0
        while True:
            self._skip(BLANK)
            if self.text.startswith(close, self.at):
                self.at += 1
                return
            if close == "]":
                self._value(f"{path}[{number}]", self.at)
            else:
                self._pair(path)
            number += 1
            self._skip(BLANK)
            if not self.text.startswith(close, self.at):
                self._expect(",")

    def _names(self) -> list[str]:
        names = []
        while True:
            self._skip(SPACE)
            names.append(self._skip(KEY, needed=True).strip("\"'"))
            self._skip(SPACE)
            if not self.text.startswith(".", self.at):
                return names
            self.at += 1

    def _expect(self, text: str) -> None:
        if not self.text.startswith(text, self.at):
            raise _NoTomlError
        self.at += len(text)

    def _skip(self, pattern: re.Pattern[str], *, needed: bool = False) -> str:
        found = pattern.match(self.text, self.at)
        if found is None or (needed and not found[0]):
            raise _NoTomlError
        self.at = found.end()
        return found[0]


def place_of(text: str, path: str, message: str) -> tuple[int, int]:
    r"""Return the offsets at which a message about a path is shown.

    Examples
    --------
    >>> text = 'stations = 3\n[wlan]\ncw_min = 30\n'
    >>> start, end = place_of(text, "wlan.cw_min", "30 is not of the form 2^k - 1")
    >>> text[start:end]
    'cw_min = 30'
    """
    if found := LINE.search(message):
        lines = text.splitlines(keepends=True)
        number = min(int(found[1]), max(len(lines), 1)) - 1
        start = sum(map(len, lines[:number]))
        return start, start + (len(lines[number].rstrip()) if lines else 0)
    places = Scanner(text).places
    while path:
        if path in places:
            return places[path].key, places[path].end
        path = path[: max(path.rfind("."), path.rfind("["), 0)]
    return 0, len(text.split("\n", 1)[0])


def edit(text: str, path: str, value: str) -> str:
    r"""Return a text in which the value at a path, written as TOML, is another one.

    Comments and order stay. The result may be no scenario: the caller checks it.

    Examples
    --------
    >>> edit("stations = 3  # laptops\n", "stations", "5")
    'stations = 5  # laptops\n'
    """
    found = Scanner(text)
    if place := found.places.get(path):
        return text[: place.start] + value + text[place.end :]
    parent, dot, name = path.rpartition(".")
    if dot and parent in found.tables:
        at = text.find("\n", found.tables[parent])
        at = len(text) if at < 0 else at
        return f"{text[:at]}\n{name} = {value}{text[at:]}"
    first = min(found.tables.values(), default=len(text))
    at = text.rfind("\n[", 0, first) + 1 if found.tables else len(text)
    before = text[:at]
    gap = "" if not before or before.endswith("\n") else "\n"
    return f"{before}{gap}{path} = {value}\n{text[at:]}"


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
