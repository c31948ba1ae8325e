"""Rules about the machinery around an agent."""
