"""Facts about one rollout that an attribution may rest on, seen while its row is read; one file per family."""
