"""Agents: what stands between a model and an environment; a file each."""
