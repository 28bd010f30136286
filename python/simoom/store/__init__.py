"""Runs on disk, so that none is simulated twice.

A run is named by its key, a checked run by another name. A file never changes, and only a process
that has written and read back another one with all its runs removes it. Any number of processes may
therefore write, read and compact a store without locks, on file systems and in object stores, and
be killed at any moment. A run in two files counts once.

A record keeps its text; the columns of a segment are for queries. Results as columns alone were
given up: whether a result is absent or null, and whole numbers, would be lost.
"""
