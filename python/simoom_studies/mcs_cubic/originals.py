"""The figures and tables of the paper, and what the study makes of them."""

from simoom.studies.original import Original, drawing

ORIGINALS = (
    drawing("Fig. 1", "experimental environment"),
    Original(
        "Fig. 2a",
        "congestion window, MCS 0 to 5",
        ("figure 2a",),
        "simulation",
        "10 frames below FQ-CoDel",
    ),
    Original(
        "Fig. 2b",
        "congestion window, MCS 0 to 8",
        ("figure 2b",),
        "simulation",
        "10 frames below FQ-CoDel",
    ),
    Original(
        "Fig. 3a",
        "throughput against time, MCS 0 to 8",
        ("figure 3a", "figure readings", "figure occupancy", "figure rules"),
        "simulation",
        "10 frames below FQ-CoDel",
    ),
    Original(
        "Fig. 3b",
        "throughput of the 3 s after the change against x",
        ("figure 3b",),
        "simulation",
        "10 frames below FQ-CoDel",
    ),
)
