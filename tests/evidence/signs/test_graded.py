"""What the grader's log tells: events, what is missing, literals, services, patches and skipped tests."""

from __future__ import annotations

import msgspec
import pytest

from attempts import attempt, ran, result, said, seen
from builders import call

HEAD = """============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.4.2, pluggy-1.6.0
rootdir: /tests
collected {count} items

../tests/test_outputs.py {marks}                                            [100%]

=================================== FAILURES ===================================
"""
DONE = said("I wrote it.")


def pytest_log(
    source: str,
    *errors: str,
    test: str = "test_it",
    raised: str = "AssertionError",
    at: str = "/tests/test_outputs.py:9",
) -> str:
    """The log of one failing test: the line that failed, its errors, the exception and its place."""
    shown = "".join(f"E       {error}\n" for error in errors)
    return (
        HEAD.format(count=1, marks="F")
        + f"____________________________________ {test} ____________________________________\n\n"
        + f"    def {test}():\n>       {source}\n{shown}\n{at}: {raised}\n"
        + "=========================== short test summary info ============================\n"
        + f"FAILED ../tests/test_outputs.py::{test} - {errors[0]}\n"
        + "============================== 1 failed in 0.10s ===============================\n"
    )


GO = """=== RUN   TestAdd
    add_test.go:9: got 3, want 4
--- FAIL: TestAdd (0.00s)
FAIL
FAIL\texample.com/add\t0.002s
"""
CARGO = """running 1 test
test tests::adds ... FAILED

failures:

---- tests::adds stdout ----
thread 'tests::adds' panicked at src/lib.rs:9:9:
assertion `left == right` failed
  left: 3
 right: 4

failures:
    tests::adds

test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""


@pytest.mark.parametrize(
    ("log", "test"),
    [
        (pytest_log("assert 3 == 4", "assert 3 == 4"), "../tests/test_outputs.py::test_it"),
        (GO, "TestAdd"),
        (CARGO, "tests::adds"),
    ],
    ids=["pytest", "go", "cargo"],
)
def test_failing_tests(log: str, test: str) -> None:
    found = seen(attempt(DONE, grader=log))
    assert found["log:test-failed"] == [test]
    assert not {"log:not-started", "log:not-finished", "log:collected-none"} & found.keys()
    assert not any(kind.startswith("log:") for kind in seen(attempt(DONE, grader=log, passed=True)))


def test_failing_tests_come_first_and_few_are_kept() -> None:
    noise = "".join(f"bash: line {n}: tool{n}: command not found\n" for n in range(40))
    found = seen(attempt(DONE, grader=noise + pytest_log("assert 3 == 4", "assert 3 == 4")))
    kept = [kind for kind in found for _ in found[kind] if kind.startswith("log:")]
    assert kept[0] == "log:test-failed"
    assert len(kept) <= 6


@pytest.mark.parametrize(
    "log",
    [
        "curl: (7) Failed to connect to github.com port 443: Couldn't connect to server\n/tests/test.sh: line 19: uvx: command not found\n",
        "/tests/run.sh: line 3: pytest: command not found\n",
        "+ npm test\nnpm error code ENOSPC\n",
    ],
)
def test_tests_that_never_started(log: str) -> None:
    assert "log:not-started" in seen(attempt(DONE, grader=log))


def test_a_log_without_tests_is_no_evidence() -> None:
    assert "log:not-started" not in seen(attempt(DONE, grader="score: 0.5\njudge says no\n"))
    assert "log:not-started" not in seen(attempt(DONE, terminal="bash: foo: command not found\n"))


def test_tests_that_hang_or_find_nothing() -> None:
    started = "=== test session starts ===\nplatform linux\nrootdir: /tests\ncollecting ... "
    assert "log:not-finished" in seen(
        attempt(DONE, grader="=" * 20 + " test session starts " + "=" * 20 + "\ncollecting ... ")
    )
    assert "log:collected-none" not in seen(attempt(DONE, grader=started))
    none = (
        "=" * 20
        + " test session starts "
        + "=" * 20
        + "\ncollected 0 items\n\n"
        + "=" * 20
        + " no tests ran in 0.01s "
        + "=" * 20
        + "\n"
    )
    assert "log:collected-none" in seen(attempt(DONE, grader=none))


@pytest.mark.parametrize(
    ("at", "kind"),
    [
        ("/tests/test_outputs.py:3", "frame:test"),
        ("/usr/lib/python3.12/pathlib.py:1013", "frame:library"),
        ("/app/solve.py:4", "frame:solution"),
    ],
)
def test_whose_code_raised(at: str, kind: str) -> None:
    log = pytest_log("value = +'a'", "TypeError: bad operand type for unary +: 'str'", raised="TypeError", at=at)
    assert seen(attempt(DONE, grader=log))[kind] == ["TypeError"]


def test_a_failed_assertion_is_no_broken_test() -> None:
    assert "frame:test" not in seen(attempt(DONE, grader=pytest_log("assert 3 == 4", "AssertionError: no")))


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)", "JSONDecodeError"),
        ("SyntaxError: Unexpected token 'r', \"region,tot\"... is not valid JSON", "SyntaxError"),
        ("com.fasterxml.jackson.core.JsonParseException: Unrecognized token 'region'", "JsonParseException"),
    ],
)
def test_output_that_the_tests_cannot_parse(error: str, raised: str) -> None:
    log = pytest_log("load()", error, raised=raised)
    assert seen(attempt(DONE, grader=log, prompt="Write JSON to /app/out."))["test:unreadable"] == ["json"]
    assert "test:unreadable" not in seen(attempt(DONE, grader=log, prompt="Write the table to /app/out."))
    mine = pytest_log("load()", error, raised=raised, at="/app/solve.py:4")
    assert "test:unreadable" not in seen(attempt(DONE, grader=mine, prompt="Write JSON to /app/out."))


def test_an_error_of_the_grader_in_every_test() -> None:
    error = "NameError: name 'expected_rows' is not defined"
    log = pytest_log("load()", error, raised="NameError")
    assert seen(attempt(DONE, grader=log))["grader:own-error"] == [error]
    told = attempt(DONE, grader=log, prompt="Write a function expected_rows.")
    assert "grader:own-error" not in seen(told)
    other = log.replace("collected 1 items", "collected 2 items").replace("1 failed", "1 failed, 1 passed")
    held = other.replace("=== short", "=== PASSES ===\nPASSED ../tests/test_outputs.py::test_b\n=== short")
    assert "grader:own-error" not in seen(attempt(DONE, grader=held))
    mine = pytest_log("load()", error, raised="NameError", at="/app/solve.py:4")
    assert "grader:own-error" not in seen(attempt(DONE, grader=mine))
    around = pytest_log("load()", "KeyError: 'suite'", raised="KeyError", at="/grader/run.py:4")
    assert seen(attempt(DONE, grader=around))["grader:own-error"] == ["KeyError: 'suite'"]
    assert "grader:own-error" not in seen(attempt(DONE, grader=around, prompt="Write the suite to /app/a.json."))
    numbered = pytest_log("load()", "KeyError: '118'", raised="KeyError", at="/grader/run.py:4")
    assert "grader:own-error" in seen(attempt(DONE, grader=numbered, prompt="Issue 118: lists lose an item."))
    assert "grader:own-error" not in seen(attempt(DONE, grader=numbered, prompt="Write it under the key `118`."))
    reads = pytest_log("load()", "IndexError: list index out of range", raised="IndexError", at="/grader/run.py:4")
    assert "grader:own-error" not in seen(attempt(DONE, grader=reads))


def test_what_the_agent_wrote_into_the_file_of_the_tests_is_its_own() -> None:
    log = pytest_log("```python", "SyntaxError: invalid syntax", raised="SyntaxError")
    assert "grader:own-error" in seen(attempt(DONE, grader=log))
    assert "grader:own-error" not in seen(attempt(said("```python\nx = 1\n```"), grader=log))
    undefined = pytest_log("load()", "NameError: name 'total' is not defined", raised="NameError")
    assert "grader:own-error" in seen(attempt(DONE, grader=undefined))
    assert "grader:own-error" not in seen(attempt(said("I wrote total() for you."), grader=undefined))


def test_a_summary_that_names_ignored_tests() -> None:
    log = "running 3 tests\ntest a ... ok\ntest b ... ignored\ntest c ... ignored\n\ntest result: ok. 1 passed; 0 failed; 2 ignored; 0 measured\n"
    assert seen(attempt(DONE, grader=log, passed=True))["skipped-as-passed"] == ["2 of 3"]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("ModuleNotFoundError: No module named 'hypothesis'", "hypothesis"),
        ("error: package `hypothesis` is not installed in this environment", "hypothesis"),
        ("Error in library(jsonlite) : there is no package called \u2018jsonlite\u2019", "jsonlite"),
        ("Can't locate JSON/XS.pm in @INC (you may need to install it)", "JSON/XS"),
    ],
)
def test_a_package_that_nobody_names(error: str, name: str) -> None:
    log = pytest_log("load()", error, raised="Error")
    assert seen(attempt(DONE, grader=log))["missing:library"] == [name]
    brought = attempt(*ran(f"install {name}", "ok"), DONE, grader=log)
    assert "missing:library" not in seen(brought)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: '/app/answer.txt'", "/app/answer.txt"),
        ("AssertionError: File /app/answer.txt does not exist", "/app/answer.txt"),
        ("AssertionError: answer.txt was not created", "answer.txt"),
        ("Error: ENOENT: no such file or directory, open '/app/answer.txt'", "/app/answer.txt"),
        ("open /app/answer.txt: no such file or directory", "/app/answer.txt"),
        ("AssertionError: Could not find answer.txt anywhere", "answer.txt"),
        ("cat: /app/answer.txt: No such file or directory", "/app/answer.txt"),
    ],
)
def test_what_is_missing(error: str, name: str) -> None:
    log = pytest_log("check()", error)
    assert seen(attempt(DONE, grader=log))["missing:named-in-prompt"] == [name]
    assert seen(attempt(DONE, grader=log, prompt="Solve it."))["missing:not-in-prompt"] == [name]
    assert "missing:not-in-prompt" not in seen(attempt(DONE, grader=log, prompt=""))
    assert "missing:named-in-prompt" not in seen(attempt(DONE, grader=log, passed=True))


def test_source_of_a_test_is_not_missing_and_its_own_files_are_the_graders() -> None:
    log = pytest_log('assert ok, "/app/other.txt does not exist"', "AssertionError: wrong")
    assert not any(kind.startswith("missing:") for kind in seen(attempt(DONE, grader=log)))
    log = pytest_log("load()", "FileNotFoundError: [Errno 2] No such file or directory: '/tests/expected.json'")
    assert seen(attempt(DONE, grader=log))["missing:of-the-grader"] == ["/tests/expected.json"]
    named = seen(attempt(DONE, grader=log, prompt="Keep /tests/expected.json in place."))
    assert not any(kind.startswith("missing:") for kind in named)


@pytest.mark.parametrize(
    ("source", "error", "prompt", "subject"),
    [
        (
            "run()",
            "python3: can't open file '/app/main.py.c': [Errno 2]",
            "Write /app/main.c.py.",
            "/app/main.py.c|/app/main.c.py",
        ),
        (
            "run()",
            "FileNotFoundError: No such file or directory: '/app/result.txt'",
            "Save to result.json.",
            "/app/result.txt|result.json",
        ),
        ("g['A']", "KeyError: 'A'", 'Write {"x0": 1, "amplitude": 2}.', "A|amplitude"),
        (
            'assert "sha256" in text',
            "assert 'sha256' in 'the sha-256 is'",
            "State the SHA-256 of it.",
            "sha256|SHA-256",
        ),
        (
            'assert "user_name" in text',
            "assert 'user_name' in 'user-name: x'",
            "Print the user-name first.",
            "user_name|user-name",
        ),
    ],
)
def test_literals_that_the_prompt_spells_otherwise(source: str, error: str, prompt: str, subject: str) -> None:
    assert seen(attempt(DONE, grader=pytest_log(source, error), prompt=prompt))["literal:near-miss"] == [subject]


@pytest.mark.parametrize(
    ("source", "error", "prompt"),
    [
        ('assert "sha256" in text', "assert 'sha256' in 'nothing of it'", "State the SHA-256 of it."),
        ('assert "sha256" in text', "assert 'sha256' in 'none'", "State the sha256 of it."),
        ("check()", "assert 'Hello, world!' == 'Hello, world!\\n'", 'Write "Hello, world!" and a newline.'),
        ("g['A']", "KeyError: 'A'", "Write 'A' and 'B' as keys."),
        ("run()", "FileNotFoundError: No such file or directory: '/app/a.out'", "Compile main.c."),
    ],
    ids=["not in the output", "as the prompt has it", "a newline", "the prompt's key", "another file"],
)
def test_literals_that_are_no_near_miss(source: str, error: str, prompt: str) -> None:
    assert "literal:near-miss" not in seen(attempt(DONE, grader=pytest_log(source, error), prompt=prompt))


def test_literals_and_keys_that_nothing_names() -> None:
    log = pytest_log('assert "c.App.password" in text', "assert 'c.App.password' in 'c.Server.password'")
    assert seen(attempt(DONE, grader=log))["literal:not-in-prompt"] == ["c.App.password"]
    log = pytest_log('assert "c.App.password" not in text', "assert 'c.App.password' not in 'c.App.password'")
    assert "literal:not-in-prompt" not in seen(attempt(DONE, grader=log))
    log = pytest_log("data['scores']", "KeyError: 'scores'")
    assert seen(attempt(DONE, grader=log))["key:not-in-prompt"] == ["scores"]


def test_a_port_that_nobody_listens_on_at_grading() -> None:
    refused = (
        "ConnectionError: HTTPConnectionPool(host='localhost', port=3000): Max retries exceeded (Connection refused)"
    )
    assert seen(attempt(DONE, grader=pytest_log("get()", refused)))["service:down-at-grading"] == ["localhost:3000"]
    words = "AssertionError: Server is not running on port 3000"
    assert seen(attempt(DONE, grader=pytest_log("get()", words)))["service:down-at-grading"] == ["localhost:3000"]
    assert "service:down-at-grading" not in seen(attempt(DONE, grader=pytest_log("get()", refused), passed=True))


REFUSED = "ConnectionError: HTTPConnectionPool(host='localhost', port=3000): Max retries exceeded (Connection refused)"


def test_what_the_agents_own_requests_say_of_a_port_that_is_down() -> None:
    log = pytest_log("get()", REFUSED)
    served = seen(attempt(*ran("curl -s localhost:3000/fib?n=1", '{"result": 1}'), DONE, grader=log))
    assert served["service:answered"] == ["localhost:3000"]
    other = seen(attempt(*ran("curl -s localhost:3001/fib?n=1", '{"result": 1}'), DONE, grader=log))
    assert other["service:elsewhere"] == ["3000|3001"]
    failed = "curl: (7) Failed to connect to localhost port 3000: Connection refused"
    refused = seen(attempt(*ran("curl -s localhost:3000/fib?n=1", failed), DONE, grader=log))
    assert refused["service:unanswered"] == ["localhost:3000"]
    assert not {"service:answered", "service:elsewhere"} & refused.keys()
    named = attempt(*ran("curl -s localhost:3001/fib", "ok"), DONE, grader=log, prompt="Proxy port 3001 to port 3000.")
    assert "service:elsewhere" not in seen(named)


def test_a_port_that_breaks_the_connection_off() -> None:
    found = seen(attempt(DONE, grader=pytest_log("clone()", "AssertionError: Connection reset by ::1 port 22")))
    assert found["service:reset"] == ["::1:22"]
    assert "service:down-at-grading" not in found


def test_wrong_values_that_are_no_accident() -> None:
    def value(got: str, wanted: str) -> list[str] | None:
        log = pytest_log("assert out == want", "AssertionError: wrong", f"assert '{got}' == '{wanted}'")
        return seen(attempt(DONE, grader=log)).get("test:wrong-value")

    one = value("83a57206238e7f9b073e", "628cccbc5a175e3055cd")
    assert one == value("83a57206238e7f9b073e", "628cccbc5a175e3055cd")
    assert one != value("93a57206238e7f9b073e", "628cccbc5a175e3055cd")
    assert one is not None
    assert value("", "628cccbc5a175e3055cd") is None
    assert value("11.43", "11.429") is None


def test_a_literal_that_fills_a_template_of_the_prompt() -> None:
    log = pytest_log("assert f() == want", "assert 'no' == 'Process found. Restarting nano.'")
    kinds = seen(attempt(DONE, grader=log, prompt='Say "Process found. Restarting <process_name>." then.'))
    assert "literal:not-in-prompt" not in kinds
    assert "literal:not-in-prompt" in seen(attempt(DONE, grader=log, prompt="Say what was done."))


def test_what_all_failing_tests_got() -> None:
    def values(*errors: str) -> list[str] | None:
        return seen(attempt(DONE, grader=pytest_log("assert out == 14", *errors))).get("test:values")

    assert values("assert 3 == 14") == values("assert 3 == 14", " +  where 3 = f(1)") != values("assert 4 == 14")
    assert values("KeyError: 'a'") is None


def test_the_one_literal_of_a_list_that_nothing_names() -> None:
    def wanted(prompt: str, *shown: str) -> list[str] | None:
        log = pytest_log("assert ok, text", f"AssertionError: lacking {shown[0]}", *shown[1:]).replace(
            "    def test_it():\n",
            '    def test_it():\n        for word in ["log_format", "detailed", "$status", "$request"]:\n',
        )
        return seen(attempt(DONE, grader=log, prompt=prompt)).get("literal:not-in-prompt")

    prompt = "Write detailed logs with $status and $request to the file."
    assert wanted(prompt, "log_format mine", "$status $request") == ["detailed"]
    assert wanted("Name it `detailed`, with $status and $request.", "log_format mine", "$status $request") is None
    assert wanted(prompt, "nothing of it", "$status") is None


def test_what_the_tests_own_script_prints_is_no_requirement() -> None:
    def wanted(script: str) -> list[str] | None:
        log = pytest_log('assert "TEST PASSED" in result', "AssertionError: assert 'TEST PASSED' in 'reset'").replace(
            "    def test_it():\n", f"    def test_it():\n        script = {script!r}\n"
        )
        return seen(attempt(DONE, grader=log, prompt="Deploy the branches.")).get("literal:not-in-prompt")

    assert wanted("curl -s localhost") == ["TEST PASSED"]
    assert wanted('[ "$MAIN" = "main" ] && echo "TEST PASSED"') is None


@pytest.mark.parametrize(
    ("output", "host"),
    [
        ("curl: (6) Could not resolve host: api.example.org", "api.example.org"),
        ("502 Server Error: Bad Gateway for url: http://server:8000/books", "server:8000"),
        ("Error: getaddrinfo ENOTFOUND db.internal", "db.internal"),
        ("wget: can't connect to remote host (10.0.0.5): Connection timed out", "10.0.0.5"),
        ("wget: bad address 'db.internal'", "db.internal"),
        ("dial tcp 10.0.0.5:5432: connect: connection refused", "10.0.0.5:5432"),
        ("curl: (7) Failed to connect to node1 port 9000: Connection refused", "node1:9000"),
    ],
)
def test_a_host_that_does_not_answer(output: str, host: str) -> None:
    assert seen(attempt(*ran("fetch", output), DONE))["service:unreachable"] == [host]
    assert "service:unreachable" not in seen(attempt(*ran("fetch", output), DONE, passed=True))
    talk = said(f"I saw this: {output}")
    assert "service:unreachable" not in seen(attempt(*ran("fetch", "200 OK"), talk))


def test_the_answer_of_a_proxy_is_about_the_host_that_was_asked() -> None:
    asked = *ran("curl -i http://sheets:8000/docs", "HTTP/1.1 502 Bad Gateway"), DONE
    assert seen(attempt(*asked, prompt="Use http://sheets:8000 for it."))["service:unreachable"] == ["sheets:8000"]
    assert "service:unreachable" not in seen(attempt(*asked))
    curl = *ran("curl -fsS http://sheets:8000/docs", "curl: (22) The requested URL returned error: 502"), DONE
    assert seen(attempt(*curl, prompt="Use http://sheets:8000 for it."))["service:unreachable"] == ["sheets:8000"]
    gone = *ran("curl -fsS http://sheets:8000/docs", "curl: (22) The requested URL returned error: 404"), DONE
    assert "service:unreachable" not in seen(attempt(*gone, prompt="Use http://sheets:8000 for it."))


def test_patches() -> None:
    tests = "diff --git a/pkg/tests/test_a.py b/pkg/tests/test_a.py\n+x\n"
    code = tests + "diff --git a/pkg/a.py b/pkg/a.py\n+y\n"
    assert seen(attempt(DONE, model_patch=""))["patch:empty"] == ["model_patch"]
    assert seen(attempt(DONE, model_patch=tests))["patch:only-tests"] == ["pkg/tests/test_a.py"]
    assert not any(kind.startswith("patch:") for kind in seen(attempt(DONE, model_patch=code)))
    assert not any(kind.startswith("patch:") for kind in seen(attempt(DONE, test_patch=tests, gold_patch="")))
    assert "patch:empty" not in seen(attempt(DONE, model_patch="", passed=True))
    # An answer that nobody gave is no patch, and the changes of a database may be none.
    assert "patch:empty" not in seen(attempt(DONE, submission=""))
    assert "patch:empty" not in seen(attempt(DONE, state_diff=""))


def test_a_patch_that_does_not_apply() -> None:
    assert "patch:not-applied" in seen(
        attempt(DONE, grader="INFO >>>>> Patch Apply Failed:\nerror: corrupt patch at line 9\n")
    )
    again = "Failed to apply patch to container: git apply\n>>>>> Applied Patch:\n"
    assert "patch:not-applied" not in seen(attempt(DONE, grader=again))


def test_skipped_tests_of_a_pass() -> None:
    def log(words: str) -> str:
        return "=" * 20 + " test session starts " + "=" * 20 + f"\ncollected 5 items\n\n===== {words} in 0.1s =====\n"

    assert seen(attempt(DONE, grader=log("1 passed, 4 skipped"), passed=True))["skipped-as-passed"] == ["4 of 5"]
    assert "skipped-as-passed" not in seen(attempt(DONE, grader=log("9 passed, 1 skipped"), passed=True))
    assert "skipped-as-passed" not in seen(attempt(DONE, grader=log("5 passed"), passed=True))


def test_what_the_agent_prints_is_not_the_graders_log() -> None:
    log = pytest_log("check()", "FileNotFoundError: [Errno 2] No such file or directory: '/app/answer.txt'")
    found = seen(attempt(*ran("pytest", log), DONE))
    assert not any(kind.startswith(("log:", "missing:", "frame:")) for kind in found)


def test_opening_and_changing_the_graders_tests() -> None:
    log = pytest_log("assert 3 == 4", "assert 3 == 4")
    reading = *ran("cat /tests/test_outputs.py", "def test_it(): ..."), DONE
    assert seen(attempt(*reading, grader=log))["read-grader-tests"] == ["/tests/test_outputs.py"]
    assert "read-grader-tests" in seen(attempt(*reading, grader=log, passed=True))
    assert "read-grader-tests" not in seen(attempt(*reading))
    absent = *ran("cat /tests/test_outputs.py", "cat: /tests/test_outputs.py: No such file or directory"), DONE
    assert "read-grader-tests" not in seen(attempt(*absent, grader=log))
    own = *ran("cat /app/tests/test_outputs.py", "def test_mine(): ..."), DONE
    assert "read-grader-tests" not in seen(attempt(*own, grader=log))
    asked = attempt(*reading, grader=log, prompt="Make test_outputs.py pass.")
    assert "read-grader-tests" not in seen(asked)
    edit = call("Edit", '{"file_path": "/tests/test_outputs.py", "new_string": "x"}', "e"), result("edited", "e")
    assert seen(attempt(*edit, DONE, grader=log))["edited-grader-tests"] == ["/tests/test_outputs.py"]


def test_invented_data() -> None:
    write = (
        call("Write", '{"file_path": "/app/get.py", "content": "# Mock data for now\\nx = 1"}', "w"),
        result("ok", "w"),
    )
    assert seen(attempt(*write, DONE))["stand-in"] == ["Mock data"]
    assert "stand-in" not in seen(attempt(*write, DONE, prompt="Create mock data for the shop."))
    assert "stand-in" not in seen(attempt(*write, DONE, passed=True))
    assert seen(attempt(*ran("python simulate_scores.py", "0.9"), DONE))["stand-in"] == ["simulate_scores"]
    assert "stand-in" not in seen(attempt(*ran("python -c 'import mock'", "ok"), DONE))
    test = call("Write", '{"file_path": "/app/test_get.py", "content": "mock data"}', "w"), result("ok", "w")
    assert "stand-in" not in seen(attempt(*test, DONE))


def test_a_program_that_invents_and_was_run() -> None:
    text = "cat > /app/mock_rows.py <<EOF\\n# placeholder values\\nEOF"
    wrote = call("bash", f'{{"command": "{text}"}}', "w"), result("", "w")
    run = ran("python3 /app/mock_rows.py", "ok")
    assert seen(attempt(*wrote, *run, DONE))["stand-in:ran"] == ["mock_rows.py"]
    assert "stand-in:ran" not in seen(attempt(*wrote, DONE))
    assert "stand-in:ran" not in seen(attempt(*wrote, *run, said("It is written, with placeholder values.")))
    assert seen(attempt(*ran("python simulate_scores.py", "0.9"), DONE))["stand-in:ran"] == ["simulate_scores.py"]
    tried = ran("node mock_server.js", "listening")
    assert "stand-in:ran" not in seen(attempt(*tried, DONE))


def test_loops() -> None:
    again = [item for n in range(7) for item in ran(f"python solve.py --seed {n}", "no", f"c{n}")]
    assert seen(attempt(*again, DONE))["loop"] == ["bash"]
    others = [item for n in range(7) for item in ran(f"edit part {'abcdefg'[n]}", "no", f"c{n}")]
    assert "loop" not in seen(attempt(*others, DONE))
    orders = [item for n in range(7) for item in ran(f"order {n}", "no", f"c{n}", tool="get_order")]
    assert "loop" not in seen(attempt(*orders, DONE))
    waiting = [item for n in range(7) for item in ran(f"sleep {n}", "", f"c{n}")]
    assert "loop" not in seen(attempt(*waiting, DONE))
    assert "loop" not in seen(attempt(*again, DONE, passed=True))


RUST = """   Compiling ring v0.1.0 (/w/ring)
error[E0502]: cannot borrow `*self` as mutable because it is also borrowed as immutable
  --> {file}:41:9
   |
error: could not compile `ring` (lib) due to 1 previous error
"""
BABEL = """FAIL test/cart.test.js
  ● Test suite failed to run

    SyntaxError: /w/{file}: Unexpected token (31:4)

      at instantiate (node_modules/@babel/parser/lib/index.js:63:32)

Test Suites: 1 failed, 1 total
Tests:       0 total
"""
GO_BUILD = (
    "# example.com/wal\n./{file}:88:17: declared and not used: kept\nFAIL\texample.com/wal [build failed]\nFAIL\n"
)


@pytest.mark.parametrize(
    ("log", "mine", "tests"),
    [
        (RUST, "src/lib.rs", "tests/it.rs"),
        (BABEL, "src/cart.js", "test/cart.test.js"),
        (GO_BUILD, "wal.go", "wal_test.go"),
    ],
    ids=["cargo", "jest", "go"],
)
def test_code_that_does_not_build_keeps_its_tests_from_running(log: str, mine: str, tests: str) -> None:
    assert seen(attempt(DONE, grader=log.format(file=mine)))["log:not-built"][0].startswith(mine.rpartition("/")[2])
    assert "log:not-built" not in seen(attempt(DONE, grader=log.format(file=tests)))


def test_a_fixture_that_the_tests_lack_is_the_graders() -> None:
    log = (
        HEAD.format(count=1, marks="E").replace("FAILURES", "ERRORS")
        + "_______ ERROR at setup of test_ttl _______\nfile /w/tests/test_ttl.py, line 22\n  def test_ttl(freezer):\n"
        + "E       fixture 'freezer' not found\n\n/w/tests/test_ttl.py:22\n=========== short test summary info ============\n"
        + "ERROR tests/test_ttl.py::test_ttl - fixture 'freezer' not found\n=========== 1 error in 0.10s ============\n"
    )
    found = seen(attempt(DONE, grader=log))
    assert found["missing:of-the-grader"] == ["freezer"]
    assert "missing:not-in-prompt" not in found


def test_a_recorded_error_says_that_a_patch_does_not_apply() -> None:
    words = "error: patch failed: a.py:10\nerror: a.py: patch does not apply"
    recorded = msgspec.structs.replace(attempt(DONE, error=words), error=words)
    assert "patch:not-applied" in seen(recorded)


@pytest.mark.parametrize(
    ("page", "host"),
    [
        ("This site can\u2019t be reached. shop.example refused to connect. ERR_CONNECTION_REFUSED", "shop.example"),
        ("page.goto: net::ERR_NAME_NOT_RESOLVED at http://wiki.example/", "wiki.example"),
        ("Verify you are human by completing the action below.", "cal.example"),
    ],
)
def test_a_site_that_a_browser_does_not_get(page: str, host: str) -> None:
    visit = (call("goto", f'{{"url": "http://{host}/"}}', "c1"), result(page, "c1"))
    assert seen(attempt(*visit, DONE, prompt=f"Look at http://{host}/"))["service:unreachable"] == [host]


def test_how_many_tests_passed_by_the_runners_totals() -> None:
    none = pytest_log("assert 1 == 2", "assert 1 == 2")
    assert seen(attempt(DONE, grader=none))["log:none-passed"] == ["1"]
    some = none.replace("1 failed in", "1 failed, 4 passed in")
    found = seen(attempt(DONE, grader=some))
    assert found["log:test-passed"] == ["4"]
    assert "log:none-passed" not in found
    assert "log:none-passed" not in seen(attempt(DONE, grader=none.rpartition("====== 1 failed")[0]))
