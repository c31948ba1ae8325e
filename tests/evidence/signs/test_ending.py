"""How a rollout ends, and how its own checks go with what it claims."""

from __future__ import annotations

import json

import pytest

from attempts import attempt, call, ran, result, said, seen

WORK = ran("make", "ok")


def ends(text: str, *before: object, **more: object) -> dict[str, list[str]]:
    items = before or WORK
    return {kind: of for kind, of in seen(attempt(*items, said(text), **more)).items() if kind.startswith("ends:")}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("I found two files.\n\nWhich of them should I convert?", ""),
        ("All done: the tests pass.\n\nWould you like me to add a README?", "offer"),
        ("I cannot reach the host. Could you provide the credentials?", ""),
    ],
)
def test_a_question(text: str, subject: str) -> None:
    assert ends(text)["ends:question"] == [subject]


@pytest.mark.parametrize(
    "text", ["It answers at http://localhost:3000/fib?n=10 now.", "Is it slow? No.\n\n" + "It is fast. " * 40]
)
def test_what_is_no_question(text: str) -> None:
    assert "ends:question" not in ends(text)


def test_turns_of_a_talk_are_no_ends() -> None:
    assert ends("Which order is it?", *WORK, said("Hello", "user")) == {}


def test_a_refusal() -> None:
    assert "ends:refusal" in ends("I'm sorry, but I can't help with that.")
    assert "ends:refusal" in ends("I do not have the ability to watch videos.")
    assert "ends:refusal" not in ends('The game prints "I won\'t run as root!" before it starts.')
    assert "ends:refusal" not in ends("I can't say it was easy. Everything is done and all tests pass.")
    assert "ends:refusal" not in ends("I can't be fully certain without the report, but it is B.")


def test_giving_up() -> None:
    assert "ends:gave-up" in ends("I was unable to install the package.")
    assert "ends:gave-up" in ends("Once you provide the key I will go on.")
    assert "ends:gave-up" not in ends("I was able to install the package.")


@pytest.mark.parametrize(
    "text",
    [
        "I have implemented the server.",
        "Task completed successfully!",
        "Done.",
        "All tests pass.",
        "The service is now ready.",
    ],
)
def test_a_claim_of_success(text: str) -> None:
    assert "ends:success-claim" in ends(text)
    assert "ends:success-claim" in ends(text, passed=True)


@pytest.mark.parametrize(
    "text",
    [
        "The build is not complete.",
        "It was never successful.",
        "Here are three options.",
        "Once this is done, call me.",
    ],
)
def test_no_claim_of_success(text: str) -> None:
    assert "ends:success-claim" not in ends(text)


def test_a_call_without_a_result() -> None:
    assert seen(attempt(*WORK, call("bash", '{"command": "sleep 9"}', "c9")))["ends:call-without-result"] == ["bash"]
    assert "ends:call-without-result" not in seen(attempt(*WORK, call("submit_answer", "{}", "c9")))
    assert "ends:call-without-result" not in seen(attempt(*WORK))


def test_a_call_as_text() -> None:
    markup = 'Now the file.\n<function_calls>\n<invoke name="Write">'
    assert ends(markup)["ends:tool-call-as-text"] == ["<function_calls>"]
    assert "ends:tool-call-as-text" not in ends(markup, prompt="Answer with <function_calls> markup.")
    assert "ends:tool-call-as-text" not in ends("The list [a, b] is `sorted`.")


@pytest.mark.parametrize(
    "items",
    [
        {"todos": [{"content": "Read", "status": "completed"}, {"content": "Run the tests", "status": "pending"}]},
        {"plan": [{"step": "Read", "state": "done"}, {"step": "Run the tests", "state": "in_progress"}]},
        {"tasks": [{"title": "Read", "done": True}, {"title": "Run the tests", "done": False}]},
    ],
)
def test_open_items(items: object) -> None:
    listed = call("TodoWrite", json.dumps(items), "t1"), result("noted", "t1")
    assert seen(attempt(*listed, *WORK, said("That is it.")))["ends:open-todos"] == ["Run the tests"]
    closed = json.dumps(items).replace("pending", "completed").replace("in_progress", "done").replace("false", "true")
    later = call("TodoWrite", closed, "t2"), result("noted", "t2")
    assert "ends:open-todos" not in seen(attempt(*listed, *later, said("That is it.")))


@pytest.mark.parametrize(
    "output",
    [
        "2 passed, 1 failed",
        "Traceback (most recent call last):\nKeyError: 'x'",
        "FAIL: test_a",
        "md5 mismatch",
        "make: exited with code 2",
    ],
)
def test_success_over_a_failing_check(output: str) -> None:
    found = seen(attempt(*ran("make test", output), said("I have successfully completed everything.")))
    assert "own-check:failed-before-success-claim" in found


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("3 passed, 0 failed", "Task completed."),
        ("1 failed", "I have implemented it; however, one test fails."),
        ("1 failed\nfixed\n4 PASSED", "Task completed."),
        ("1 failed", "Here is what I saw."),
    ],
)
def test_success_after_a_good_check_or_an_honest_note(output: str, text: str) -> None:
    assert "own-check:failed-before-success-claim" not in seen(attempt(*ran("make test", output), said(text)))


def test_success_without_a_check() -> None:
    write = call("Write", '{"file_path": "/app/a.py", "content": "x"}', "w"), result("written", "w")
    assert "own-check:never" in seen(attempt(*WORK, *write, said("I have implemented it.")))
    assert "own-check:never" not in seen(attempt(*write, *WORK, said("I have implemented it.")))
    assert "own-check:never" not in seen(attempt(*WORK, *write, said("I have implemented it."), passed=True))
    booked = call("update_booking", '{"id": "B7"}', "w"), result("booked", "w")
    assert "own-check:never" not in seen(attempt(*WORK, *booked, said("I have updated it.")))


def test_an_end_without_a_word() -> None:
    assert "ends:without-a-word" in seen(attempt(*ran("make", "built"), said("")))
    assert "ends:without-a-word" not in seen(attempt(*ran("make", "built"), said("Built.")))
    assert "ends:without-a-word" not in seen(attempt(said("")))


def test_the_label_of_the_last_line() -> None:
    assert seen(attempt(said("4 * 6 = 24\n**Answer:** 4 * 6")))["closing:label"] == ["answer"]
    assert "closing:label" not in seen(attempt(said("Answer: later\n4 * 6 = 24")))
    assert "closing:label" not in seen(attempt(*ran("make", "ok"), said("Answer: 4")))


def test_a_long_talk_that_nobody_answers() -> None:
    rounds = [step for n in range(12) for step in ran(f"look {n}", "nothing")]
    assert seen(attempt(*rounds))["stopped:after-replies"] == ["12"]
    assert "stopped:after-replies" not in seen(attempt(*rounds, said("I am done.")))
    assert "stopped:after-replies" not in seen(attempt(*rounds[:8]))


def test_a_session_that_stops_after_a_result() -> None:
    assert "ends:after-result" in seen(attempt(*ran("ls", "a.txt")))
    assert "ends:after-result" in seen(attempt(*ran("ls", "a.txt"), passed=True))
    assert "ends:after-result" not in seen(attempt(*ran("ls", "a.txt"), said("Done.")))
    assert "ends:after-result" not in seen(attempt(*ran("ls", "a.txt"), session={"ended": True}))
    assert "ends:after-result" not in seen(attempt(*ran("answer.txt", "ok", tool="submit_answer")))
