"""Complaints of shells, package managers and the system, and sentences that are none."""

from __future__ import annotations

import pytest

from blade.ingest.logs.parse import parse_log


@pytest.mark.parametrize(
    ("line", "kind", "subject"),
    [
        ("/tests/test.sh: line 19: uvx: command not found", "shell-error", "uvx"),
        ("bash: jq: command not found", "shell-error", "jq"),
        ("zsh: command not found: jq", "shell-error", "jq"),
        ("sh: 1: jq: not found", "shell-error", "jq"),
        ("bash: ./run.sh: Permission denied", "shell-error", "./run.sh"),
        ("cat: /app/out.txt: No such file or directory", "shell-error", "/app/out.txt"),
        ("ls: cannot access '/app/x': No such file or directory", "shell-error", "/app/x"),
        ("E: Unable to locate package foo", "install-failed", "foo"),
        ("ERROR: No matching distribution found for torch==9.9", "install-failed", "torch==9.9"),
        ("  × No solution found when resolving dependencies:", "install-failed", ""),  # noqa: RUF001
        ("npm ERR! code E404", "install-failed", "E404"),
        ("npm error code ERESOLVE", "install-failed", "ERESOLVE"),
        ("PackagesNotFoundError: The following packages are not available", "install-failed", ""),
        ("error: failed to get `serde` as a dependency of package `x`", "install-failed", "serde"),
        ("go: module example.com/x: not found", "install-failed", "example.com/x"),
        (
            "curl: (7) Failed to connect to github.com port 443 after 21 ms: Couldn't connect to server",
            "network",
            "github.com",
        ),
        ("curl: (6) Could not resolve host: example.com", "network", "example.com"),
        (
            "fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com",
            "network",
            "https://github.com/a/b/",
        ),
        ("ssh: connect to host db port 22: Connection refused", "network", "db port 22"),
        ("ConnectionRefusedError: [Errno 111] Connection refused", "network", ""),
        (
            "requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=8080): Max retries exceeded with url: /",
            "network",
            "localhost",
        ),
        ("Error: connect ECONNREFUSED 127.0.0.1:3000", "network", "127.0.0.1:3000"),
        ("Killed", "killed", ""),
        ("run.sh: line 3:   123 Killed                  python train.py", "killed", "python train.py"),
        ("MemoryError", "out-of-memory", ""),
        ("[ 12.34] Out of memory: Killed process 77 (python3)", "out-of-memory", "python3"),
        ("panic: test timed out after 10m0s", "timeout", "10m0s"),
        ("subprocess.TimeoutExpired: Command 'make' timed out after 60 seconds", "timeout", ""),
        ("cp: error writing 'x': No space left on device", "disk-full", ""),
        ("OSError: [Errno 28] No space left on device", "disk-full", ""),
        ("tool.py: error: unrecognized arguments: --fast", "usage-error", "tool.py"),
        ("tar: unrecognized option '--foo'", "usage-error", "tar"),
        ("grep: invalid option -- 'Q'", "usage-error", "grep"),
        ("error: unexpected argument '--foo' found", "usage-error", "--foo"),
    ],
)
def test_a_complaint(line: str, kind: str, subject: str) -> None:
    (event,) = parse_log(f"Reading package lists...\n{line}\ndone\n").events
    assert (event.kind, event.subject, event.message, event.line) == (kind, subject, line.strip(), 2)


@pytest.mark.parametrize(
    "sentence",
    [
        "I fixed the ModuleNotFoundError by installing requests.",
        "The tests FAILED because bash says jq: command not found, so I installed it.",
        "PASSED all tests, nothing FAILED in tests/test_a.py::test_one today",
        "FAILED tests are listed below, 2 failed in total.",
        "Killed the server and started it again.",
        "ok 1 thing is done, not ok 2 things are left",
        "- `curl: (7) Failed to connect` means that the port is closed: Connection refused",
        "If you see `No such file or directory`, create the folder first.",
        "The process ran out of memory: MemoryError was raised, and Killed was printed.",
        "I got a Traceback (most recent call last) with ValueError: bad value",
        "We should handle TimeoutError and ECONNREFUSED more gracefully.",
        "The disk had No space left on device earlier, which I cleaned up.",
        "✓ Created the file\n✕ Did not push\n1) Next step",
        "All 5 tests passed in 0.3 seconds, 2 failed before.",
        "The panic: it was caused by the test. thread 'main' panicked at some point.",
    ],
)
def test_prose_is_no_event(sentence: str) -> None:
    assert parse_log(f"{sentence}\nThen I went on.\n").events == ()
