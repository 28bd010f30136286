"""Runs on disk, so that none is simulated twice."""
