"""Sentences of a finding as Markdown: names are code, and what a rollout wrote is shown to the letter."""

from __future__ import annotations

import pytest

from blade.report.diagnosis import prose
from blade.report.text import safe


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("calls `cancel_order` (:3)", "calls `cancel_order` (:3)"),
        ('the judge: "per `station`, `email_domain` (so', 'the judge: "per `station`, `email_domain` (so'),
        ('says "drift_date)` per `station`, not `x".', 'says "drift_date)\\` per \\`station\\`, not \\`x".'),
        ('`get` says (:2) "```python x = 1```".', '`get` says (:2) "\\`\\`\\`python x = 1\\`\\`\\`".'),
        ('says ("a "b" c"), then `d`', 'says ("a "b" c"), then `d`'),
        ("`Uses `sum` once` is not met", "``Uses `sum` once`` is not met"),
        ("`Uses `sum`` is not met", "`` Uses `sum` `` is not met"),
        ("calls `cancel_ord...", "calls `cancel_ord...`"),
        ("a lone ` stays", "a lone \\` stays"),
    ],
)
def test_backticks_make_names_outside_of_quotations_only(text: str, shown: str) -> None:
    assert prose(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.7", "0.7"),
        ("1. first", "1\\. first"),
        ("2) second", "2\\) second"),
        ("# x", "\\# x"),
        ("0#3, 15#0", "0#3, 15#0"),
        ("- x", "\\- x"),
        ("3", "3"),
    ],
)
def test_only_what_would_begin_a_list_or_a_heading_is_escaped(text: str, shown: str) -> None:
    assert safe(text) == shown
