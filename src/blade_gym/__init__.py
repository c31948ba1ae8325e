"""The benchmark layer: which benchmarks there are, and how one is prepared, run and verified. It writes files alone."""
