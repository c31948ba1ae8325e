"""Telling lines, masks and groups of small look-alikes of real verifier messages, and of text written to break them."""

import random
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.evidence.templates import LONGEST_LINE, LONGEST_TEMPLATE, cluster, mask, telling

PIECES = (
    *("E   ", "\n", "\r\n", " ", "\t", "Traceback (most recent call last):\n", '  File "a.py", line 3\n', "===", "---"),
    *(
        "Error",
        ": ",
        "error:",
        "ERROR ",
        "FAILED a.py::t - ",
        "SystemExit",
        "%Error",
        "no such column: ",
        "undefined: ",
    ),
    *("'", '"', "`", "“", "\\", "/", ".", ",", "-", "_", "<", ">", "<n>", "<text>", "[", "]", "b'", "\x1b[31m", "\x00"),
    *(
        "word",
        "a.py",
        ":12",
        "HAT136",
        "0x1f",
        "3.5e-7",
        "2024-01-02",
        "10:11:12",
        "me@x.org",
        "http://x/y",
        "é",
        "٣",
        "İ",
    ),
)
messages = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))
tokens = st.lists(st.sampled_from(["ValueError:", "x.ValueError:", "a", "b", "c", "<n>", "<*>"]), max_size=6)
counts = st.dictionaries(st.one_of(tokens.map(" ".join), st.text(max_size=8)), st.integers(0, 3), max_size=25)

UNITTEST = """\
Traceback (most recent call last):
  File "/usr/lib/python3.10/unittest/mock.py", line 1379, in patched
    return func(*newargs, **newkeywargs)
AssertionError: 'Started.' != 'Restarted.'
- Started.
+ Restarted.
? ++

"""
CHAINED = """\
Traceback (most recent call last):
  File "a.py", line 1, in <module>
KeyError: 'x'

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 3, in <module>
    raise my.pkg.LookupFailed("x") from None
my.pkg.LookupFailed: x
"""
NUMPY = """\
Traceback (most recent call last):
  File "t.py", line 9, in test
AssertionError:\x20
Arrays are not equal

Mismatched elements: 1 / 3 (33.3%)
"""
PYTEST = """\
============================= test session starts ==============================
collected 2 items
_________________________________ test_total ___________________________________
    def test_total():
>       assert total([1]) == 2
E       assert 1 == 2
E        +  where 1 = total([1])

tests/test_a.py:3: AssertionError
=========================== short test summary info ============================
FAILED tests/test_a.py::test_total - assert 1 == 2
========================= 1 failed, 1 passed in 0.12s ==========================
"""
PYTEST_SYNTAX = """\
____________ ERROR collecting test_b.py ____________
E     File "/src/b.py", line 3
E       def f(
E            ^
E   SyntaxError: '(' was never closed
=============== 1 error in 0.05s ===============
"""
PYTEST_NUMPY = "    def test():\nE       AssertionError: \nE       Not equal to tolerance rtol=1e-07\nE       x: 1\n"
PYTEST_BRIEF = """\
..F                                                                      [100%]
=========================== short test summary info ============================
FAILED tests/test_a.py::test_total - ValueError: bad total
1 failed, 2 passed in 0.01s
"""
COCOTB = """\
     0.00ns INFO     cocotb.regression         running test_gray (1/1)
    41.00ns INFO     cocotb.regression         test_gray failed
                                               Traceback (most recent call last):
                                                 File "/src/test_gray.py", line 33, in test_gray
                                                   assert got == want
                                               AssertionError: mismatch at step 1: expected 1, got 000
    41.00ns INFO     cocotb.regression         ** TESTS=1 PASS=0 FAIL=1 SKIP=0 **
FAILED
>       runner.test(hdl_toplevel=toplevel)
E       SystemExit: ERROR: Failed 1 of 1 tests.

/src/test_runner.py:26: SystemExit
FAILED ../../src/test_runner.py::test_runner - SystemExit: ERROR: Failed 1 of...
============================== 1 failed in 0.42s ===============================
"""
BUILD = """\
            if check and retcode:
>               raise CalledProcessError(retcode, process.args)
E               subprocess.CalledProcessError: Command '['iverilog', '-o', 'sim.vvp']' returned non-zero exit status 2.

/usr/lib/python3.9/subprocess.py:528: CalledProcessError
FAILED test_runner.py::test_a - subprocess.CalledProcessError:...
"""
BUILD_SAYS = "rtl/a.v:3: warning: implicit\nrtl/a.v:7: error: Unable to bind wire `q'\n1 error(s) during elaboration.\n"
GROUPED = """\
  + Exception Group Traceback (most recent call last):
  |   File "a.py", line 1, in <module>
  | ExceptionGroup: two (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "a.py", line 2, in f
    | ValueError: inner
    +------------------------------------
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("execution_error", "execution_error"),
        ("  Wrong answer at line 0: -1 != 1 \n", "Wrong answer at line 0: -1 != 1"),
        ("E   assert 1 == 2", "assert 1 == 2"),
        (UNITTEST, "AssertionError: 'Started.' != 'Restarted.'"),
        (CHAINED, "my.pkg.LookupFailed: x"),
        (NUMPY, "AssertionError: \nArrays are not equal"),
        (GROUPED, "ValueError: inner"),
        (PYTEST, "assert 1 == 2"),
        (PYTEST.replace("\n", "\r\n"), "assert 1 == 2"),
        (PYTEST.replace("E  ", "\x1b[1m\x1b[31mE  ").replace(" 2\nE", " 2\x1b[0m\nE"), "assert 1 == 2"),
        (PYTEST_SYNTAX, "SyntaxError: '(' was never closed"),
        (PYTEST_NUMPY, "AssertionError: \nE       Not equal to tolerance rtol=1e-07"),
        (PYTEST_BRIEF, "FAILED tests/test_a.py::test_total - ValueError: bad total"),
        ("collecting\nERROR tests/test_a.py - ImportError: no x\n1 error", "ERROR tests/test_a.py - ImportError: no x"),
        (COCOTB, "AssertionError: mismatch at step 1: expected 1, got 000"),
        (BUILD_SAYS + BUILD, "rtl/a.v:7: error: Unable to bind wire `q'"),
        ("%Warning: a.sv:1: x\n%Error: a.sv:2:5: syntax error\n%Error: Exiting", "%Error: a.sv:2:5: syntax error"),
        (
            "   Compiling a\nerror[E0425]: cannot find `x`\n --> a.rs:1\nerror: aborting",
            "error[E0425]: cannot find `x`",
        ),
        ("a.js:1\n\nTypeError: f is not a function\n    at g (a.js:1:2)\n", "TypeError: f is not a function"),
        ("SELECT nam FROM t\n^\nno such column: nam\nexit code 1\n", "no such column: nam"),
        ("10:11:12 INFO start\n10:11:13 ERROR worker: lost\n10:11:14 INFO end", "10:11:13 ERROR worker: lost"),
        ("    except TimeoutError:\nERROR=0 0 errors\nall is quiet\n-----\n", "all is quiet"),
        ("It is close.\nJudgement: NO\n\n", "Judgement: NO"),
        ("wrong total\n-----\nRan 3 tests in 0.1s\n\nFAILED (failures=1)\n", "wrong total"),
        ("killed\n\nProcess finished with exit code 137\n", "killed"),
        ("====\n----\n", "----"),
        ("10%\r50%\rlost the link", "lost the link"),
    ],
)
def test_the_telling_line_of(text: str, line: str) -> None:
    start, end = telling(text)
    assert text[start:end] == line


def test_a_failed_command_is_told_where_nothing_says_more() -> None:
    start, end = telling(BUILD)
    assert BUILD[start:end].startswith("subprocess.CalledProcessError: Command '['iverilog'")


def test_a_blank_text_tells_nothing() -> None:
    assert telling("") == telling(" \n\t\r\n") == (0, 0)


def test_a_long_line_is_cut_and_an_error_far_to_the_right_is_kept() -> None:
    assert telling("x" * 900) == (0, LONGEST_LINE)
    text = f"first\n{'path/' * 60}a.c:3: error: expected ';'\nlast"
    start, end = telling(text)
    assert text[start:end] == "error: expected ';'"


@pytest.mark.parametrize("middle", [22_000, 22_528 - 600, 60_000])
def test_the_end_of_a_long_log_is_read_at_its_place(middle: int) -> None:
    text = f"start\n{'noise ' * (middle // 6)}\n{UNITTEST}"
    start, end = telling(text)
    assert text[start:end] == "AssertionError: 'Started.' != 'Restarted.'"


def test_the_opening_of_a_long_log_is_read_too() -> None:
    text = "  a.c:3: error: expected ';'\n" + "noise\n" * 9_000 + "done"
    start, end = telling(text)
    assert text[start:end] == "a.c:3: error: expected ';'"


def test_a_traceback_without_its_end_is_not_told() -> None:
    cut = UNITTEST[: UNITTEST.index("AssertionError")]
    text = cut + "    more()\n" * 4_000 + "2 workers were lost\n"
    start, end = telling(text)
    assert text[start:end] == "2 workers were lost"


@given(messages, st.integers(0, 3))
def test_the_telling_line_is_a_slice_of_the_text(text: str, noise: int) -> None:
    text += " \n=\n" * (noise * 4_000) + text
    start, end = telling(text)
    said = text[start:end]
    assert 0 <= start <= end <= len(text)
    assert len(said) <= LONGEST_LINE
    assert said == said.strip()
    assert bool(said) == bool(text.strip())


@pytest.mark.parametrize(
    "message",
    ["execution_error", "wrong_answer", "max_steps", "none", "A", "Judgement: NO", "[[A!=B]]", "and/or", "N/A"],
)
def test_words_stay(message: str) -> None:
    assert mask(message) == message


@pytest.mark.parametrize(
    ("message", "template"),
    [
        ("  two\n\tlines ", "two lines"),
        ("AssertionError: 'a' != \"b\"", "AssertionError: <text> != <text>"),
        ("AssertionError: 'it\\'s' != 'don't'", "AssertionError: <text> != <text>"),
        ("AssertionError: b'a' not found in 'cut off he", "AssertionError: <text> not found in <text>"),
        (
            "AssertionError: \nE       Not equal to tolerance rtol=1e-07",
            "AssertionError: Not equal to tolerance rtol=<n>",
        ),
        ("can't read users' file", "can't read users' file"),
        ("x.CalledProcessError: Command '['a', '-o']' failed", "x.CalledProcessError: Command <text> failed"),
        ("Wrong answer at output_line_idx=0: -1 != 1.5e-3", "Wrong answer at output_line_idx=<n>: <n> != <n>"),
        ("Lists differ: [1, 2, 3] != [1, 2]", "Lists differ: [<n>] != [<n>]"),
        ("{'a': 1, 'b': 2} != {}", "{<text>: <n>} != {}"),
        ("timed out after 30.5s (75%)", "timed out after <n>s (<n>%)"),
        ("credit_card_123 was declined on HAT136", "<id> was declined on <id>"),
        ("http_500", "http_<n>"),
        ("resp_f5f9858f355844589cca", "<id>"),
        ("row 123e4567-e89b-12d3-a456-426614174000", "row <uuid>"),
        ("<Foo object at 0x7f3a>", "<Foo object at <hex>>"),
        ("expected 4'b0101, got 8'hFF", "expected <hex>, got <hex>"),
        ("2024-01-02T10:11:12.5Z lost; 10:11:12 back; 01/02/2024", "<time> lost; <time> back; <time>"),
        ("see https://a.b/c?d=1 or ask me@x.org", "see <url> or ask <email>"),
        ("/src/a.v:12: error: Unknown module type: fifo", "<path>: error: Unknown module type: <id>"),
        ("%Error: rtl/x.sv:12:5: syntax error", "%Error: <path>: syntax error"),
        ("C:\\Users\\x\\y.txt and ./run.sh and a.py.", "<path> and <path> and <path>."),
        ("FAILED tests/a.py::test_x[4] - KeyError: 'x'", "FAILED <path> - KeyError: <text>"),
        ("a.ts(12,5): error TS2304: Cannot find name 'y'.", "<path>(<n>): error <id>: Cannot find name <text>."),
        ("undefined reference to `foo'", "undefined reference to <text>"),
        ("no such column: t1.name", "no such column: <id>"),
        ('near "FROM": syntax error', "near <text>: syntax error"),
        ("self.log resp.json() np.array 7/10", "self.log resp.json() np.array <n>/<n>"),
        ("\x1b[31mred\x1b[0m alert", "red alert"),
    ],
)
def test_the_mask_of(message: str, template: str) -> None:
    assert mask(message) == template


def test_a_template_is_short_and_ends_in_no_half_placeholder() -> None:
    template = mask("ab 'x' " * 100)
    assert len(template) <= LONGEST_TEMPLATE
    assert template.endswith(("ab", "<text>"))


@given(messages)
def test_the_mask_of_a_mask_is_itself(message: str) -> None:
    template = mask(message)
    assert mask(template) == template
    assert len(template) <= LONGEST_TEMPLATE
    assert template == " ".join(template.split())


def test_templates_that_differ_in_a_word_are_one_group() -> None:
    found = cluster(
        {
            "ValueError: bad column alpha": 3,
            "ValueError: bad column beta": 1,
            "TypeError: bad column beta": 1,
            "ValueError: bad columns": 1,
            "ValueError: total was not <n>": 9,
        }
    )
    assert found == {
        "ValueError: bad column alpha": "ValueError: bad column <*>",
        "ValueError: bad column beta": "ValueError: bad column <*>",
        "TypeError: bad column beta": "TypeError: bad column beta",
        "ValueError: bad columns": "ValueError: bad columns",
        "ValueError: total was not <n>": "ValueError: total was not <n>",
    }


def test_the_module_of_an_exception_does_not_part_a_group() -> None:
    found = cluster({"subprocess.TimeoutExpired: no answer": 1, "TimeoutExpired: no answer": 1, "json.x: no answer": 1})
    assert set(found.values()) == {"TimeoutExpired: no answer", "json.x: no answer"}


def test_codes_are_never_joined() -> None:
    codes = {"execution_error": 5, "wrong_answer": 4, "none": 3, "": 1}
    assert cluster(codes) == {code: code for code in codes}


def test_a_group_keeps_most_of_its_words() -> None:
    # The second takes one of five words away, the third another; the fourth would leave two of five.
    found = cluster({"a b c d e": 4, "a b c d x": 3, "a b c x x": 2, "a b x x x": 1})
    assert found["a b c d e"] == found["a b c d x"] == found["a b c x x"] == "a b c <*> <*>"
    assert found["a b x x x"] == "a b x x x"


def test_a_template_joins_the_group_it_shares_most_with() -> None:
    found = cluster({"a b c d e": 9, "a b x y z": 8, "a b c y z": 1})
    assert found == {"a b c d e": "a b c d e", "a b x y z": "a b <*> y z", "a b c y z": "a b <*> y z"}


@given(counts, st.randoms(use_true_random=False))
def test_every_template_has_a_group_whatever_their_order(templates: dict[str, int], rng: random.Random) -> None:
    shuffled = list(templates.items())
    rng.shuffle(shuffled)
    found = cluster(templates)
    assert found == cluster(dict(shuffled))
    assert found.keys() == templates.keys()
    for text, name in found.items():
        assert name == text or len(name.split()) == len(text.split())


HOSTILE = {
    "one letter": "a" * 1_000_000,
    "NUL": "\x00" * 1_000_000,
    "quotes": "'" * 1_000_000,
    "nested quotes": "'\"`" * 300_000,
    "escapes": "'\\" * 500_000,
    "blank lines": "x" + "\n" * 1_000_000 + "y",
    "blanks": "x\n" + " " * 1_000_000 + "y",
    "only tracebacks": "Traceback (most recent call last)\n  " * 30_000,
    "errors": "error\n" * 150_000,
    "one line of errors": "a\n" + "Error " * 150_000,
    "marks": "E   \n" * 200_000,
    "decoration": "=== ===\n" * 100_000,
    "colours": "\x1b[31m" * 150_000 + "\nx",
    "half colours": "\x1b[" * 300_000,
    "dots": "a." * 400_000,
    "slashes": "a/" * 400_000,
    "numbers": "1,e-" * 200_000,
    "summary": "FAILED " + "a:" * 400_000 + "\nx",
    "placeholders": "<n>, <id>: " * 90_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_in_no_time(text: str) -> None:
    begun = perf_counter()
    start, end = telling(text)
    template = mask(text)
    spent = perf_counter() - begun
    assert 0 < end - start <= LONGEST_LINE
    assert mask(template) == template
    # Milliseconds where it was measured; anything that grows with the square of the text takes minutes.
    assert spent < 0.5


def test_many_templates_are_grouped_in_no_time() -> None:
    rng = random.Random(7)
    templates = {"same " + " ".join(rng.choices("abcdefghij", k=12)): 1 for _ in range(3_000)}
    begun = perf_counter()
    assert cluster(templates).keys() == templates.keys()
    assert perf_counter() - begun < 2
