"""Is the benchmark itself sound: suspicion of each task, noise, floor, and what it takes to see an effect."""
