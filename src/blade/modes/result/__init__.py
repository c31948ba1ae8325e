"""Failure modes of the group: result."""
