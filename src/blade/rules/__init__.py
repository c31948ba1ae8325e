"""One file a rule; `look` lets every rule see a rollout, and `find` brings the words back that a rule saw.

Adding a rule is adding a file `<family>/<name>.py` that holds a function of that name under `@detector`; nothing is
registered anywhere else. `_rule.py` is what a rule declares, `_engine.py` the mechanism that runs it.
"""

from blade.rules.declaration import Rule, Status, detector
from blade.rules.engine import detect, detect_all, rules
from blade.rules.hits import find, hit_of
from blade.rules.loader import rule_files
from blade.rules.phrases import any_of, search_for
from blade.rules.rule_page import catalogue, page

__all__ = [
    "Rule",
    "Status",
    "any_of",
    "catalogue",
    "detect",
    "detect_all",
    "detector",
    "find",
    "hit_of",
    "page",
    "rule_files",
    "rules",
    "search_for",
]
