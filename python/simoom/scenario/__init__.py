"""A scenario and what can be said of it without a run: keys, paths, durations, routes."""
