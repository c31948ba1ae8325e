"""Rules over whole runs: each a reason to doubt the benchmark rather than the model."""
