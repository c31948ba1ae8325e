"""What a team teaches about its benchmark: a small language of rules over fields and steps, and the book that holds them.

`parse` turns the text of a rule into a value, `match` looks for it in a rollout, `read_book` reads `blade.yaml`.
"""

from blade.teach.book import Book, Fix, Taught, book_named, read_book
from blade.teach.match import TooMuch, match
from blade.teach.parse import parse
from blade.teach.syntax import Rule, fields_named, needs_steps, reads, tools_named
from blade.teach.words import RuleError

__all__ = [
    "Book",
    "Fix",
    "Rule",
    "RuleError",
    "Taught",
    "TooMuch",
    "book_named",
    "fields_named",
    "match",
    "needs_steps",
    "parse",
    "read_book",
    "reads",
    "tools_named",
]
