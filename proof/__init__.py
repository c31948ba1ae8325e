"""Planted faults, and how much of them the diagnosis finds: for developers, not in the wheel."""
