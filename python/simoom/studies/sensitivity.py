"""Whether the claims of a study can fail: its numbers are changed by 10 %.

A claim whose checks hold for numbers 10 % off checks less than it says. `Claim.coarse` has the
reason where the paper allows more. The numbers that Simoom makes must each decide some verdict.
"""

from simoom.runs.evidence import Quantity
from simoom.studies.claim import PERTURBATIONS
from simoom.studies.study import Results


def weak_claims(results: Results) -> list[str]:
    """Return what is wrong with claims that cannot fail as they should; empty for a study."""
    silent = [f"{name} holds for {', '.join(each)} 10 % off, without a reason"
              for name, each in silent_claims(results).items()]  # fmt: skip
    needless = [f"{name} has a needless reason" for name in needless_reasons(results)]
    foreign = [f"{name} rests on no number of its own" for name in foreign_claims(results)]
    return [*silent, *needless, *foreign]


def silent_claims(results: Results) -> dict[str, list[str]]:
    """Return the claims that hold for numbers 10 % off, without a reason, with these numbers."""
    found = {claim.name: claim.insensitive_to() for _, claim in results.claims if not claim.coarse}
    return {name: silent for name, silent in found.items() if silent}


def needless_reasons(results: Results) -> list[str]:
    """Return the claims with a reason to be coarse that all depend on their numbers."""
    return [
        claim.name
        for _, claim in results.claims
        if claim.coarse and claim.quantities and not claim.insensitive_to()
    ]


def silent_subjects(results: Results) -> set[str]:
    """Return what no verdict of the study depends on by 10 %, for example the goodput of SACK."""
    claims = [claim for _, claim in results.claims]
    subjects: set[Quantity] = {name[:1] for claim in claims for name in claim.quantities if name}

    def decides(subject: Quantity) -> bool:
        return any(
            claim.scaled(subject, factor).verdict is not claim.verdict
            for claim in claims
            for factor in PERTURBATIONS
        )

    return {subject[0] for subject in subjects if not decides(subject)}


def foreign_claims(results: Results) -> list[str]:
    """Return the claims with a check that rests on no number of Simoom's own."""
    return [
        claim.name
        for _, claim in results.claims
        if any(not check.value.quantities for check in claim.checks)
    ]
