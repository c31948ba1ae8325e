"""Rules over one rollout: one file a rule; they run while rows are read, so they stay light."""
