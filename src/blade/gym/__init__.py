"""The benchmark layer under NeMo Gym's names: its files, row shapes, keys and numbers, made from files alone."""
