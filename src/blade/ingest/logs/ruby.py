"""RSpec and minitest: numbered sections of failures and the closing line."""

from __future__ import annotations

from blade.ingest.logs.frame import frame_at
from blade.ingest.logs.reading import Draft, Gathered, PrintedText, number
from blade.model.log import Counts, EventKind
from blade.model.pattern import pattern_of

NAME = "ruby"
MARKS = (
    r"(?m)^\d+ examples?, \d+ failures?",
    r"(?m)^\d+ (?:runs|tests), \d+ assertions, \d+ failures",
    r"(?m)^ +Failure/Error: ",
    r"(?m)^ +\d+\) (?:Failure|Error):$",
    r"(?m)^rspec \./",
)

_RSPEC = pattern_of(
    r"(\d+) examples?, (\d+) failures?(?:, (\d+) pending)?(?:, (\d+) errors? occurred outside of examples)?"
)
_MINITEST = pattern_of(r"(\d+) (?:runs|tests), \d+ assertions, (\d+) failures, (\d+) errors(?:, (\d+) skips)?")
_TITLE = pattern_of(r" +\d{1,5}\) (\S.*)$")
_RERUN = pattern_of(r"rspec (\./\S+\.rb)(?::(\d+)|\[[\d:]+\]) # (.+)$")
_SIDE = pattern_of(r" *(expected|Expected|got|Actual): ?(\S.*)$")
_PLACE = pattern_of(r" +# ([^\s:]+\.rb):(\d+)(?::in [`'](.*)')?")
_METHOD = pattern_of(r"(\w[\w:]*#\w+) \[([^\]:]+):(\d+)\]:$|(\w[\w:]*#\w+):$")


def parse(text: PrintedText, found: Gathered) -> None:
    """One pass; a numbered title opens a section, a title or the closing line ends it."""
    sections: dict[str, Draft] = {}
    current: Draft | None = None
    mini: EventKind | None = None
    for place, line in enumerate(text.lines, start=1):
        if match := _TITLE.match(line):
            mini = {"Failure:": "test-failed", "Error:": "test-error"}.get(match[1])  # type: ignore[assignment]
            current = None if mini else Draft(subject=match[1], kind="test-failed", line=place)
        elif mini and (match := _METHOD.match(line)):
            current = Draft(subject=match[1] or match[4], kind=mini, line=place)
            current.frame = frame_at(match[2], match[3]) if match[2] else None
            sections[current.subject], mini = current, None
        elif match := _RSPEC.match(line) or _MINITEST.match(line):
            current = None
            _close(found, place, line, match.groups(), rspec="example" in line)
        elif line.startswith("rspec ./") and (match := _RERUN.match(line)):
            draft = sections.setdefault(match[3], Draft(subject=match[3], kind="test-failed", line=place, message=line))
            draft.frame = draft.frame or frame_at(match[1], match[2])
        elif current is not None and line.strip():
            _inside(current, sections, place, line)
    for draft in sections.values():
        found.add_test(NAME, draft)


def _inside(draft: Draft, sections: dict[str, Draft], place: int, line: str) -> None:
    if "Failure/Error: " in line[:40]:
        sections[draft.subject] = draft  # only now it is known to be a section of RSpec
    if match := _SIDE.match(line):
        if match[1].lower() == "expected":
            draft.expected = match[2].strip()
        else:
            draft.actual = match[2].strip()
    elif draft.frame is None and (match := _PLACE.match(line)):
        draft.frame = frame_at(match[1], match[2], match[3])
    if not draft.message or "Failure/Error: " in draft.message:
        draft.message, draft.line = line.strip(), place


def _close(found: Gathered, place: int, line: str, groups: tuple[str | None, ...], *, rspec: bool) -> None:
    ran, failed = number(groups[0]), number(groups[1])
    skipped, errors = (number(groups[2]), number(groups[3])) if rspec else (number(groups[3]), number(groups[2]))
    inside = 0 if rspec else errors
    passed = max(0, ran - failed - skipped - inside)
    found.summary(
        NAME, place, line, Counts(passed=passed, failed=failed, errors=errors, skipped=skipped, collected=ran)
    )
