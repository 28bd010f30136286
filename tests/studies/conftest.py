"""The quick run of a study that a test file checks: the file says which, and what it expects.

A test file of a study defines ``STUDY``, and perhaps ``EXPECTED``: the names of claims by verdict.
"""

import pytest

from simoom.studies import Lab


def pytest_generate_tests(metafunc):
    """Give tests with the argument ``expected`` each claim with its verdict."""
    if "expected" in metafunc.fixturenames:
        cases = [
            (name, verdict)
            for verdict, names in metafunc.module.EXPECTED.items()
            for name in names.split()
        ]
        metafunc.parametrize("expected", cases, ids=[name for name, _ in cases])


@pytest.fixture(scope="module")
def results(request):
    """Return the results of the study of the test file."""
    with Lab(quick=True) as lab:
        return request.module.STUDY.run(lab=lab)


@pytest.fixture(scope="module")
def claims(results, request):
    """Return the claims of the study by their names, which are all expected."""
    found = {claim.name: claim for _, claim in results.claims}
    assert len(found) == len(results.claims), "two claims have the same name"
    expected = [name for names in request.module.EXPECTED.values() for name in names.split()]
    assert sorted(found) == sorted(expected)
    return found
