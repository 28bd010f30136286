"""One run: its results, tables of them, what misleads, and the record that the store keeps."""
