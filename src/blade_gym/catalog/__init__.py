"""What there is to run: benchmarks, environments, agents, models and skills under the search roots."""
