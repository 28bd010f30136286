"""What a run records of each frame, and the files that hold it."""
