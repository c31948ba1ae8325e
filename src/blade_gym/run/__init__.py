"""Running a benchmark: plan the rollouts, collect them, and leave files that a kill at any byte cannot spoil."""
