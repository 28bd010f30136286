"""What every room uses: optional packages, files, worker processes, messages, colours, Ctrl-C."""
