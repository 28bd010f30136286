"""Results of models: frozen records with units in the names of their fields."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """Base of the records that models return.

    Every field is a float if all arguments were scalars, and otherwise an array of their common
    shape. A field whose metadata names an "axis" has this additional last axis.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
                object.__setattr__(self, field.name, value.item())

    def __repr__(self) -> str:
        parts = (f"{f.name}={_brief(getattr(self, f.name))}" for f in dataclasses.fields(self))
        return f"{type(self).__name__}({', '.join(parts)})"

    def columns(self) -> dict[str, NDArray[np.float64]]:
        """Return the fields as columns of equal length for a data frame.

        Fields with an axis of their own (distributions) are omitted.

        Returns
        -------
        dict of str to ndarray
            One flat column for each field, in C order for several axes.
        """
        plain = {
            field.name: np.asarray(getattr(self, field.name))
            for field in dataclasses.fields(self)
            if "axis" not in field.metadata
        }
        arrays = np.broadcast_arrays(*plain.values())
        return {name: array.ravel() for name, array in zip(plain, arrays, strict=True)}


def _brief(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"<{'x'.join(map(str, value.shape))}>"
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
