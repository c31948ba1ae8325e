"""Output that the tests cannot read in the format that the prompt asks for.

`test:unreadable` has the format as its subject and quotes the parser of the tests. It is made where most failing tests
say so, in their own code, and the prompt names the format: a format that nobody asked for is the tests' own affair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from blade.evidence.signs.view import RolloutView, line_of, sign
from blade.model.finding import Sign
from blade.model.log import LogFrame

_JSON = (
    r"JSONDecodeError\b|Expecting (?:value|property name|',' delimiter)[^\n]{0,40}: line \d+ column|\bis not valid JSON\b|in JSON at position \d"
    r"|Unexpected (?:token|end of JSON)[^\n]{0,60}JSON|invalid character '.{1,4}' (?:looking for beginning of|after)|Json(?:Parse|Syntax|Mapping)Exception"
    r"|MalformedJsonException|Error\(\"(?:expected|invalid|EOF|trailing|key must)[^\"\n]{0,60}\", line: \d+|parse error: Invalid (?:numeric )?literal"
)
_YAML = r"yaml\.\w+\.(?:Scanner|Parser|Composer)Error|YAMLException|yaml: (?:line \d+|unmarshal)|\b(?:Scanner|Parser)Error: (?:while|mapping)"
_TOML = r"TOMLDecodeError|toml: (?:line \d+|expected)|TOML parse error"
_XML = r"\bParseError: (?:not well-formed|syntax error|no element)|ExpatError|XMLSyntaxError|SAXParseException|XML syntax error"
_CSV = r"_csv\.Error|csv\.Error|ParserError: Error tokenizing|parse error on line \d+, column \d+"
_parsers = tuple(
    (name, re.compile(words))
    for name, words in (("json", _JSON), ("yaml", _YAML), ("toml", _TOML), ("xml", _XML), ("csv", _CSV))
)
"""What the parsers of common languages say of a text in another format, by format."""
LEAST = 0.5
"""Of the failing tests: where fewer say so, more is wrong than how the output is written."""


def unreadable(view: RolloutView) -> Iterator[Sign]:
    """The format that most failing tests expected and did not find."""
    failures = view.failures
    for name, words in _parsers:
        said = [(log, event) for log, event in failures if _of_test(event.frame) and words.search(event.message)]
        if said and len(said) >= LEAST * len(failures) and name in view.prompt.lower():
            log, event = said[0]
            yield sign("test:unreadable", name, line_of(log, event), log.field)
            return


def _of_test(frame: LogFrame | None) -> bool:
    """Whether the test itself parsed: the agent's own program may parse something else."""
    return frame is None or frame.where in ("test", "library")
