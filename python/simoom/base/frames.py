"""Polars, with a message where it is missing: ``from simoom.base.frames import pl``."""

from __future__ import annotations

from simoom.base.needs import needed

with needed("a data frame"):
    import polars as pl

__all__ = ["pl"]
