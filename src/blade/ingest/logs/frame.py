"""Whose code a place in a trace is, told by its path alone."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from blade.ingest.logs.reading import number
from blade.model.log import LogFrame, Where
from blade.model.pattern import pattern_of

_HARNESS = pattern_of(
    r"(?:^|/)(?:_pytest|pluggy|pytest|unittest|jest-[\w-]+|@jest|mocha|vitest|@vitest|tap)(?:/|$)"
    r"|^/(?:eval(?:uat\w+)?|grad(?:er|ing)|verifier|judge|harness)/"
    r"|^node:internal/test_runner|^(?:org\.junit|junit\.|org\.testng|org\.apache\.maven)"
    r"|(?:^|/)(?:run[-_]?tests?|tests?)\.(?:sh|bash)$|^/rustc/.*/library/test/|/src/testing/testing\.go$"
)
"""The code of test runners, the scripts that start them, and a folder of the grader at the root of its container."""
_LIBRARY = pattern_of(
    r"(?:^|/)(?:site-packages|dist-packages|node_modules|vendor/bundle|gems)/"
    r"|/lib(?:64)?/python\d|/pkg/mod/|/go/src/|^/usr/(?:lib|include|share)/|^/rustc/|/\.cargo/registry/|^<frozen |^<__array"
    r"|^node:|^internal/|^(?:java|javax|jdk|sun|kotlin|scala)\."
    r"|/rustlib/|^library/(?:std|core|alloc)/|\\lib\\"
)
_TEST = pattern_of(
    r"(?:^|/)(?:tests?|testing|__tests__|specs?|e2e)/|(?:^|/)(?:test_[^/]*|conftest|tests)\.py$|_tests?\.(?:py|go|rs|cc|cpp|c)$"
    r"|[._-](?:test|spec)\.[cm]?[jt]sx?$|_spec\.rb$|_test\.rb$|(?:^|/)test_[^/]*\.(?:rb|c|cc|cpp)$|Tests?\.(?:java|kt|scala)$"
)


@lru_cache(maxsize=4096)  # a log names few files, each many times
def where_is(path: str) -> Where:
    """A runner's code comes first, then installed code, then tests; what is left is the solution under test."""
    plain = path.replace("\\", "/")[-500:]  # the end of a path tells, and no real path is longer
    if _HARNESS.search(plain):
        return "harness"
    if _LIBRARY.search(plain):
        return "library"
    return "test" if _TEST.search(plain) else "solution"


def frame_at(file: str, line: str | None = None, function: str | None = None) -> LogFrame:
    """A frame of the pieces that a trace prints."""
    return LogFrame(file=file, line=number(line) or None, function=function or None, where=where_is(file))


_JAVA = pattern_of(r"\s+at (?:[\w.@]+/)?([\w.$]+)\.([\w$<>]+)\(([\w$]+\.(?:java|kt|scala)):(\d+)\)")
_RUNNERS = ("org.junit.", "org.opentest4j.", "junit.", "org.hamcrest.", "org.assertj.", "org.testng.")


def java_frame(line: str) -> LogFrame | None:
    """A line of a stack trace of Java, Kotlin or Scala."""
    match = _JAVA.match(line)
    if match is None:
        return None
    group, method, file, number_of_line = match.groups()
    frame = frame_at(file, number_of_line, f"{group}.{method}")
    if group.startswith(_RUNNERS):
        return LogFrame(file=frame.file, line=frame.line, function=frame.function, where="harness")
    if where_is(group) == "library":
        return LogFrame(file=frame.file, line=frame.line, function=frame.function, where="library")
    return frame


def first_own_frame(stack: Iterable[str]) -> LogFrame | None:
    """The first frame that is neither of a runner nor of an assertion library nor of the language itself."""
    frames = (frame for line in stack if (frame := java_frame(line)) is not None)
    return next((frame for frame in frames if frame.where in ("test", "solution")), None)
