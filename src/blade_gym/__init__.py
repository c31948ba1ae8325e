"""The benchmark layer: which benchmarks there are, and how one is prepared, run and verified. It writes files alone.

An `app.py` is written with `environment`, `single_turn` and `answers`; a `prepare.py` with `hub` and `puzzles`.
"""
