"""Many runs: replications, sweeps, comparisons, searches, and the statistics of them."""
