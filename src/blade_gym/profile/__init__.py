"""NeMo Gym's statistics over files: its profile and aggregate, with its names, row shapes, keys and numbers."""
