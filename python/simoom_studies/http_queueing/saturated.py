"""A saturated cell: Figs 1 and 2 of the paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simoom.models import http_queueing as model
from simoom.runs.evidence import Check, Value
from simoom.scenario.scenario import Scenario
from simoom.studies import reference
from simoom.studies.claim import Claim, Claims, Reading
from simoom.studies.figure import Axis, Curve, Figure, Source, curve
from simoom.studies.lab import Lab, Sample, figure_function
from simoom_studies.http_queueing.paper import PAPER, measure

claim = Claims(__package__)

ORANGE = 1
NODES_AXIS = Axis("nodes", "backlogged nodes $n_b$", 0, 51)


def saturated(nodes: int, seconds: float) -> Scenario:
    """Return a cell with saturated stations that send to the access point."""
    flow = {
        "name": "station",
        "from": "sta*",
        "to": "server",
        "traffic": {"saturated": {"payload_bytes": 1000, "header_bytes": 40}},
    }
    scenario = PAPER.set("stations", nodes).set("flows", [flow])
    return scenario.set("warmup_s", 1.0).set("duration_s", 1.0 + seconds)


def _saturated(lab: Lab) -> tuple[tuple[int, ...], dict[int, Sample]]:
    nodes = lab.pick((2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50), (2, 3, 5, 10, 20, 50))
    seconds = lab.pick(200.0, 60.0)
    cases = {n: saturated(n, seconds) for n in nodes}
    return nodes, lab.sample(cases, measure, replications=lab.pick(8, 4))


@figure_function("figure 1")
def figure_1(lab: Lab) -> Figure:
    """Collision probability against the number of backlogged nodes."""
    nodes, runs = _saturated(lab)
    quantity = "collision_probability"
    solved = curve(
        "(1) and (2)",
        Source.ANALYSIS,
        range(1, 51),
        lambda n: float(model.collision_point(n).collision_probability),
        quantity,
    )
    simulated = curve(
        "saturated cell",
        Source.SIMULATION,
        nodes,
        lambda n: Value.mean(runs[int(n)][quantity]),
        quantity,
    )
    claims = (
        claim("two_nodes_collide", checks=[Check.near("(6)", solved.at(2), 0.060, within=0.0005)]),
        claim(
            "stage_independent",
            checks=[
                Check.agrees(f"n_b = {n}", simulated.at(n), solved.at(n), within=0.05)
                for n in nodes
            ],
        ),
    )
    return Figure(
        "figure 1",
        "collisions in a saturated cell",
        NODES_AXIS,
        (Axis(quantity, "collision probability $P_C$", 0, 0.6),),
        (
            solved,
            simulated,
            *reference.curves(__package__, "figure 1", {"saturated cell": ORANGE}),
        ),
        claims,
    )


@figure_function("figure 2")
def figure_2(lab: Lab) -> Figure:
    """Probability of a drop at the retry limit against the number of backlogged nodes."""
    nodes, runs = _saturated(lab)
    quantity = "drop_probability"
    often = [n for n in nodes if n >= 15]  # below, too few drops to be counted
    solved = curve(
        "P_C to the power of m",
        Source.ANALYSIS,
        range(2, 51),
        lambda n: float(model.collision_point(n).drop_probability),
        quantity,
    )
    simulated = curve(
        "saturated cell",
        Source.SIMULATION,
        often,
        lambda n: Value.mean(runs[int(n)][quantity]),
        quantity,
    )
    return Figure(
        "figure 2",
        "drops at the retry limit in a saturated cell",
        NODES_AXIS,
        (Axis(quantity, "drop probability", 1e-9, 0.1, log=True),),
        (solved, simulated),
        _claims_2(runs, often, solved),
    )


def _claims_2(runs: Mapping[int, Sample], often: Sequence[int], solved: Curve) -> tuple[Claim, ...]:
    """Check that drops are negligible with few nodes, and their formula with many."""
    quantity = solved.quantity
    few = [
        Check(f"n_b = {n}, {how}", value, high=1e-4)
        for n in (2, 3, 5)
        for how, value in (
            ("analysis", solved.at(n)),
            ("simulation", Value.mean(runs[n][quantity])),
        )
    ]
    return (
        claim("drops_negligible", checks=few),
        claim(
            "drop_formula",
            checks=[
                Check.near(
                    f"n_b = {n}, drops over P_C^7 of the same run",
                    Value.mean(runs[n][quantity] / runs[n]["collision_probability"] ** 7),
                    1.0,
                    within=0.1,
                )
                for n in often
            ],
            others=[
                Reading(
                    "P_C of (1) and (2)",
                    tuple(
                        Check.agrees(
                            f"n_b = {n}", Value.mean(runs[n][quantity]), solved.at(n), within=0.1
                        )
                        for n in often
                    ),
                )
            ],
        ),
    )
