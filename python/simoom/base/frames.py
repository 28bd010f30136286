"""Polars and NumPy, each imported when it is first used: ``from simoom.base.frames import pl``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simoom.base.needs import Later

if TYPE_CHECKING:
    import numpy as np
    import polars as pl
else:
    np, pl = Later("numpy"), Later("polars", "a data frame")

__all__ = ["np", "pl"]
