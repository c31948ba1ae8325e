"""Which failure mode each failed rollout has, and which cause each task."""
