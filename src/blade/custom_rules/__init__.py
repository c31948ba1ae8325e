"""Custom rules of a benchmark: a small language over fields and steps, and the rule book that holds them.

`parse` turns the text of a rule into a value, `match` looks for it in a rollout; `blade.custom_rules.read_rule_book` reads `blade.yaml`,
and is imported where that is done.
"""

from blade.custom_rules.match import TooMuch, match
from blade.custom_rules.parse import RuleError, parse
from blade.custom_rules.rule_book import CustomLabel, Fix, RuleBook
from blade.custom_rules.syntax import Rule, fields_named, needs_steps, reads, tools_named

__all__ = [
    "CustomLabel",
    "Fix",
    "Rule",
    "RuleBook",
    "RuleError",
    "TooMuch",
    "fields_named",
    "match",
    "needs_steps",
    "parse",
    "reads",
    "tools_named",
]
