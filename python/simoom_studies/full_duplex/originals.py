"""The figures and tables of the paper, and what the study makes of them."""

from simoom.studies.original import Original, drawing, inputs

ORIGINALS = (
    drawing("Fig. 1", "system model"),
    drawing("Fig. 2", "a full-duplex exchange that a station begins"),
    Original(
        "Fig. 3",
        "the chain of the access point's back-off, and Result 1 on it, (6) to (8)",
        ("table fixed_point",),
        "analysis, checked by simulation with the chain's assumptions and with TCP",
        "(6) with z_0(s) as the first term of its denominator",
    ),
    inputs(
        "Table I",
        "simulation parameters",
        reading="L_d = 16000 bits; an ACK of TCP carries its header twice, as printed",
    ),
    Original(
        "Fig. 4",
        "histograms of the number of contending stations, N = 50, f = 1/4",
        ("figure 4",),
        "simulation; half duplex also by a Markov chain",
        "0 to 45 s",
    ),
    Original(
        "Fig. 5",
        "total throughput against N",
        ("figure 5", "figure gains"),
        "simulation and (9) to (11)",
        "0 to 45 s",
    ),
    Original(
        "Fig. 6",
        "total throughput against f",
        ("figure 6", "table gains"),
        "simulation and (9) to (11)",
        "0 to 45 s",
    ),
    Original(
        "section IV",
        "the times after which all windows are full",
        ("table windows",),
        "simulation",
        "initial ssthresh of 32 KB, N = 80, f = 1/4",
    ),
)
