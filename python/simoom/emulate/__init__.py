"""Real programs in a simulated network, in real time: `simoom.emulate`."""
