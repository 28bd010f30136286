"""The values of an axis of a sweep as a user writes them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any


def axis_values(text: str) -> list[Any]:
    """Read values with commas between them, each as ``--set`` reads it: TOML, or a bare word.

    Raises
    ------
    ValueError
        A value is missing, or there twice.

    Examples
    --------
    >>> axis_values("1, 5, cubic, {python={path='a:B'}}")
    [1, 5, 'cubic', {'python': {'path': 'a:B'}}]
    """
    parts = [part.strip() for part in split(text, ",")]
    if any(not part for part in parts):
        raise ValueError("a value between two commas is missing")
    read = [axis_value(part) for part in parts]
    for n, value in enumerate(read):
        if value in read[:n]:
            raise ValueError(f"has {parts[n]} twice")
    return read


def split(text: str, at: str) -> Iterator[str]:
    """Split at a character outside brackets, braces and quotes.

    Examples
    --------
    >>> list(split('flows["a,b"].control, {x = [1, 2]}', ","))
    ['flows["a,b"].control', ' {x = [1, 2]}']
    """
    depth, quote, begin = 0, "", 0
    for n, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "[{":
            depth += 1
        elif char in "]}":
            depth = max(0, depth - 1)
        elif char == at and depth == 0:
            yield text[begin:n]
            begin = n + 1
    yield text[begin:]


def axis_value(text: str) -> Any:
    """Read a value as ``--set`` does: TOML, or a bare word.

    Raises
    ------
    ValueError
        It is nested too deeply, or has a number of too many digits.
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text
    except RecursionError:
        raise ValueError(f"{text[:20]}... is nested too deeply") from None


def short(value: Any, most: int = 14) -> str:
    """Return a value of an axis as a short label: of a table its name and its first numbers.

    Examples
    --------
    >>> short("drop_tail(limit_packets=50)"), short("new_reno"), short(5.5)
    ('drop_tail 50', 'new_reno', '5.5')
    """
    text = str(value)
    if "{" in text or text.endswith(")"):
        name = re.search(r"[A-Za-z_]\w*", text)
        numbers = re.findall(r"= ?([\d.]+)", text)
        text = " ".join(([name[0]] if name else []) + numbers)
    return text if len(text) <= most else text[: most - 1] + "…"
