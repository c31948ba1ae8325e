"""Failure modes of the group: agent."""
