"""Agreement of Simoom's results with theory, other simulators and published values.

``python -m validation`` runs every case on all cores, prints the table of agreement, writes it to
``docs/validation.md`` and its summary into ``README.md``. A case (`case`) is a scenario with the
expected values of its results. ``data/`` has the reference values and their provenance.
"""
