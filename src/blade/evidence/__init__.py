"""What rollouts show before anybody says why they failed: actions, answers, quotes, alignment, contrast."""
