"""One file a rule; `look` lets every rule see a rollout, and `find` brings the words back that a rule saw.

Adding a rule is adding a file `<family>/<name>.py` that holds a function of that name under `@detector`; nothing is
registered anywhere else. `_engine.py` is the whole mechanism.
"""

from blade.detectors._engine import Rule, Status, detector, find, hit_of, look, look_at_all, rule_files, rules
from blade.detectors._page import catalogue, page
from blade.detectors._phrases import any_of, search_for

__all__ = [
    "Rule",
    "Status",
    "any_of",
    "catalogue",
    "detector",
    "find",
    "hit_of",
    "look",
    "look_at_all",
    "page",
    "rule_files",
    "rules",
    "search_for",
]
