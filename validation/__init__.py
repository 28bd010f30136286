"""Agreement: what Simoom measures, beside theory, other simulators and published values.

``python -m validation`` runs every case on all cores, prints the table of agreement, writes it to
``docs/validation.md`` and its summary into ``README.md``. A case (`case`) is a scenario and what
it should give; the reference values stand in ``data/``, with their provenance.
"""
