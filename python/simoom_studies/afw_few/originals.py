"""The figures and tables of the paper, and what the study makes of them."""

from simoom.studies.original import Original, drawing, inputs

ORIGINALS = (
    inputs("Table I", "link modelling", reading="scenarios/adhoc_50.toml"),
    inputs("Table II", "modelling of nodes", reading="1,000 m x 1,000 m, 1 to 10 m/s, 200 s"),
    drawing("Fig. 1", "network topology"),
    Original("Table III", "optimum of alpha and beta", method="simulation, a claim of table 4"),
    Original(
        "Table IV",
        "throughput of AFW and FeW",
        ("table 4", "figure readings", "figure queue", "figure pairs", "figure scenarios"),
        "simulation",
        "2 Mb/s as in Table I, RTS/CTS, 1,000 m x 1,000 m",
    ),
    Original(
        "Table V",
        "loss rate of AFW and FeW",
        ("table 5", "figure readings"),
        "simulation",
        "packets that queues discard",
    ),
    Original("Table VI", "optimum of alpha and beta by throughput", ("table 4",), "simulation"),
    Original("Table VII", "optimum of alpha and beta by loss", ("table 5",), "simulation"),
    Original(
        "Fig. 2",
        "throughput against time",
        ("figure 2",),
        "simulation",
        "50 flows, 200 s",
    ),
)
