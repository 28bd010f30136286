"""Data subcarriers of PPDUs by the width of their channel, and what of it they leave out."""

from __future__ import annotations

SUBCARRIERS = {  # data subcarriers: Tables 19-6, 21-5; Table 27-16 for one RU of the full band
    "ht": {20: 52, 40: 108},
    "vht": {20: 52, 40: 108, 80: 234, 160: 468},
    "he": {20: 234, 40: 468, 80: 980, 160: 1960},
    "eht": {20: 234, 40: 468, 80: 980, 160: 1960, 320: 3920},  # 802.11be-2024, 36.3.2
}
PUNCTURED = {  # the same of multiple resource units, by width and MHz without data: 36.3.2.3
    (80, 20): 702, (160, 20): 1682, (160, 40): 1448,
    (320, 40): 3408, (320, 80): 2940, (320, 120): 2428,
}  # fmt: skip


def data_subcarriers(name: str, family: str, width_mhz: int, punctured_mhz: int = 0) -> int:
    """Return N_SD in a channel, of which an EHT PPDU may leave out some MHz.

    Raises
    ------
    ValueError
        If a standard of this name has no such PPDUs.

    Examples
    --------
    >>> data_subcarriers("11be", "eht", 80), data_subcarriers("11be", "eht", 80, 20)
    (980, 702)
    """
    widths = SUBCARRIERS[family]
    if width_mhz not in widths:
        raise ValueError(f"width_mhz: must be one of {list(widths)}, is {width_mhz!r}")
    if not punctured_mhz:
        return widths[width_mhz]
    if family != "eht" or (width_mhz, punctured_mhz) not in PUNCTURED:
        raise ValueError(
            f"punctured_mhz: {punctured_mhz!r} of {width_mhz} MHz do not exist in {name}"
        )
    return PUNCTURED[width_mhz, punctured_mhz]
