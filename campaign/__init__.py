"""The campaign: random and mutated input, laws, interrupted commands; `docs/reliability.md`."""
