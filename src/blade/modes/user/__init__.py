"""Failure modes of the group: user."""
