"""The figures and tables of the paper, and what the study makes of them."""

from simoom.studies.original import Original, drawing, inputs

ORIGINALS = (
    inputs("Table 1", "parameters of 802.11b", reading="an RTS has 160 bits, as in the standard"),
    Original(
        "Fig. 1",
        "collision probability against the number of backlogged nodes",
        ("figure 1",),
        "(1) to (6), simulation",
    ),
    Original(
        "Fig. 2",
        "packet drop probability against the number of backlogged nodes",
        ("figure 2",),
        "(1) to (6), simulation",
    ),
    Original(
        "Fig. 3",
        "throughput of one download against d",
        ("figure 3",),
        "(7) and (8), simulation",
        "(8) with the T_slot that it lacks",
    ),
    Original(
        "Fig. 4",
        "collision probability against the number of downloads",
        ("figure 4",),
        "simulation",
    ),
    Original(
        "Fig. 5",
        "aggregate throughput against the number of downloads",
        ("figure 5",),
        "(10), simulation",
    ),
    Original(
        "Fig. 6",
        "throughput against d, ten downloads",
        ("figure 6",),
        "(12), simulation",
    ),
    Original(
        "Table 2",
        "session delay of one station",
        ("table 2",),
        "(14) and (15), simulation",
        "30 kB are 30000 bytes",
    ),
    drawing("Fig. 7", "transition diagram of the chain J(t)"),
    Original(
        "Fig. 8",
        "mean session delay against the number of stations",
        ("figure 8",),
        "(16) and (17), simulation",
        "arrival rate and C_1 corrected",
    ),
    Original(
        "Fig. 9",
        "mean session delay against the think time",
        ("figure 9",),
        "(16) and (17), simulation",
        "arrival rate and C_1 corrected",
    ),
    Original(
        "Fig. 10",
        "mean session delay against W*, B = 30",
        ("figure 10",),
        "simulation",
    ),
    Original(
        "Table 3",
        "session delay with delayed ACKs",
        ("table 3",),
        "simulation",
        "a timer of 40 ms",
    ),
    Original(
        "Fig. 11",
        "session delay with delayed ACKs against the number of stations",
        ("figure 11", "figure window_d"),
        "simulation",
    ),
    drawing("Fig. A.1", "structure of the embedded chain, W* = 4"),
    Original(
        "Fig. A.2",
        "time spent on contention against W*",
        ("figure A.2",),
        "analysis, simulation",
    ),
    Original("Fig. A.3", "throughput against W*", ("figure A.3",), "(A.3), simulation"),
    Original(
        "sections 4 and 5",
        "elephants and mice, uploads, fair queueing and RED, in words",
        ("figure fair_queue", "figure elephants", "figure mice", "figure uplink"),
        "simulation",
    ),
)
