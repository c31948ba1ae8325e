"""Failure modes of the group: limit."""
