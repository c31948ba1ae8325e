"""Failure modes of the group: machinery."""
