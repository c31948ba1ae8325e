"""Rules over whole runs: one file a rule, each a reason to doubt the benchmark rather than the model.

Adding a rule is adding a file `<family>/<name>.py` that holds a function of that name under `@run_rule`; nothing is
registered anywhere else. Rules over single rollouts are in `blade.rules`.
"""

from blade.rules.run_rule import RunRule, doubts, run_rules

__all__ = ["RunRule", "doubts", "run_rules"]
