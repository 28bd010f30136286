"""The figures and tables of the paper, and what the study makes of them."""

from simoom.studies.original import Original, drawing, inputs

ORIGINALS = (
    Original(
        "Fig. 1",
        "LT-TCP and SACK with bursty losses",
        ("figure 1",),
        "simulation",
        "a Gilbert model with periods of 10 ms, 80 ms of round-trip time",
    ),
    Original("Fig. 2", "SACK with uniform losses", ("figure 2",), "simulation, PFTK, ns-2.35"),
    Original("Fig. 3", "LT-TCP with uniform losses", ("figure 3", "figure parts"), "simulation"),
    inputs("Table I", "symbols, and p, N and K of Bluetooth"),
    Original(
        "section IV-A",
        "corruption by Bluetooth, and residual loss, in formulas",
        ("figure corruption", "figure residual", "figure goodput", "figure retries"),
        "analysis, simulation",
        "whole slots, p as printed",
    ),
    Original(
        "Table II",
        "one upload near HV3",
        ("table 2", "figure voice", "figure rates", "figure adaptation"),
        "simulation",
        "whole slots, K = 3, 200 ms",
    ),
    Original(
        "Table III",
        "one upload near HV1",
        ("table 3", "figure voice"),
        "simulation",
        "whole slots, K = 3, 200 ms",
    ),
    Original(
        "section I",
        "overheads of 802.11b, in words",
        ("figure readings", "figure overheads"),
        "analysis, simulation",
    ),
    drawing("Fig. 4", "two cells with a hidden node"),
    Original("Table IV", "one upload without interference", ("table 4",), "simulation", "K = 3"),
    Original(
        "Table V",
        "one upload shut out for 250 ms every 2 s, K = 3",
        ("table 5",),
        "simulation",
        "beside the hidden cell of Fig. 4; a source in its place, and a rule for both directions",
    ),
    Original(
        "Table VI",
        "one upload shut out for 250 ms every 2 s, K = 7",
        ("table 6",),
        "simulation",
        "beside the hidden cell of Fig. 4; a source in its place, and a rule for both directions",
    ),
    Original(
        "section IV-D",
        "the hidden cell, buffers and captures, in words",
        ("figure shutouts", "figure hidden", "figure buffers", "figure captures", "figure timer"),
        "simulation",
    ),
)
