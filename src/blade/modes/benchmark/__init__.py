"""Failure modes of the group: benchmark."""
