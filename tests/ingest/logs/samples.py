"""Logs in the shape that each tool prints, short, and what they say of their tests."""

# ruff: noqa: RUF001 - the signs are those that the tools print
from __future__ import annotations

PYTEST = """\
============================= test session starts ==============================
platform linux -- Python 3.12.3, pytest-8.4.1, pluggy-1.5.0
rootdir: /tests
collecting ... collected 4 items

../tests/test_outputs.py::test_exists PASSED                             [ 25%]
../tests/test_outputs.py::test_value[a - b] FAILED                       [ 50%]
../tests/test_outputs.py::TestMore::test_file ERROR                      [ 75%]
../tests/test_outputs.py::test_gpu SKIPPED (no GPU here)                 [100%]

==================================== ERRORS ====================================
________________ ERROR at setup of TestMore.test_file __________________________

    @pytest.fixture
    def opened():
>       return open("/app/out.txt")
E       FileNotFoundError: [Errno 2] No such file or directory: '/app/out.txt'

/tests/test_outputs.py:9: FileNotFoundError
=================================== FAILURES ===================================
______________________________ test_value[a - b] _______________________________

name = 'a - b'

    def test_value(name):
>       assert compute(name) == 42
E       AssertionError: assert 41 == 42
E        +  where 41 = compute('a - b')

/tests/test_outputs.py:17: AssertionError
=========================== short test summary info ============================
FAILED ../tests/test_outputs.py::test_value[a - b] - AssertionError: assert 41 == 42
ERROR ../tests/test_outputs.py::TestMore::test_file - FileNotFoundError: [Errno 2] No...
============== 1 failed, 1 passed, 1 skipped, 1 error in 0.12s =================
"""
PYTEST_COLLECTION = """\
============================= test session starts ==============================
collected 0 items / 1 error

==================================== ERRORS ====================================
_____________________ ERROR collecting tests/test_outputs.py ____________________
tests/test_outputs.py:3: in <module>
    from app import main
E   ModuleNotFoundError: No module named 'app'
=========================== short test summary info ============================
ERROR tests/test_outputs.py - ModuleNotFoundError: No module named 'app'
!!!!!!!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!!!!!!!
=============================== 1 error in 0.05s ===============================
"""
PYTEST_XDIST = """\
============================= test session starts ==============================
created: 2/2 workers
2 workers [2 items]

[gw0] [ 50%] PASSED tests/test_a.py::test_one
[gw1] [100%] FAILED tests/test_a.py::test_two
========================= 1 failed, 1 passed in 1.02s ==========================
"""
PYTEST_COLORS = "\x1b[32mPASSED\x1b[0m tests/test_py.py::\x1b[1mtest_one\x1b[0m\n\x1b[31m=== \x1b[31m1 passed\x1b[0m in 1.9s ===\x1b[0m\n"
UNITTEST = """\
test_add (calc.tests.AddTests) ... ok
test_sub (calc.tests.AddTests)
Subtraction keeps the sign. ... FAIL
test_gpu (calc.tests.AddTests) ... skipped 'no GPU'
test_io (calc.tests.AddTests) ... Creating a file
ERROR

======================================================================
ERROR: test_io (calc.tests.AddTests)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/testbed/calc/io.py", line 4, in read
    return open(path)
FileNotFoundError: [Errno 2] No such file or directory: 'x'

======================================================================
FAIL: test_sub (calc.tests.AddTests)
Subtraction keeps the sign.
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/testbed/calc/tests.py", line 12, in test_sub
    self.assertEqual(sub(1, 3), -2)
AssertionError: 2 != -2

----------------------------------------------------------------------
Ran 4 tests in 0.008s

FAILED (failures=1, errors=1, skipped=1)
"""
SYMPY = """\
============================= test process starts ==============================
executable:         /usr/bin/python  (3.9.20-final-0)

sympy/core/tests/test_x.py[3]
test_one ok
test_two F
test_three E                                                              [FAIL]

________________________________________________________________________________
_____________________ sympy/core/tests/test_x.py:test_three ____________________
  File "/testbed/sympy/core/x.py", line 62, in f
    warn("old")
DeprecationWarning: old is old
________________________________________________________________________________
______________________ sympy/core/tests/test_x.py:test_two _____________________
  File "/testbed/sympy/core/tests/test_x.py", line 51, in test_two
    assert f(1) == 2
AssertionError

====== tests finished: 1 passed, 1 failed, 1 exceptions, in 0.32 seconds =======
"""
GO = """\
=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestSub
    calc_test.go:14: got 3, want 4
--- FAIL: TestSub (0.00s)
=== RUN   TestSlow
    calc_test.go:20: too slow here
--- SKIP: TestSlow (0.00s)
FAIL
FAIL\texample.com/calc\t0.003s
"""
GO_JSON = """\
{"Time":"2025-01-01T00:00:00Z","Action":"run","Package":"example.com/calc","Test":"TestSub"}
{"Time":"2025-01-01T00:00:00Z","Action":"output","Package":"example.com/calc","Test":"TestSub","Output":"    calc_test.go:14: got 3, want 4\\n"}
{"Time":"2025-01-01T00:00:00Z","Action":"fail","Package":"example.com/calc","Test":"TestSub","Elapsed":0}
{"Time":"2025-01-01T00:00:00Z","Action":"pass","Package":"example.com/calc","Test":"TestAdd","Elapsed":0}
{"Time":"2025-01-01T00:00:00Z","Action":"fail","Package":"example.com/calc","Elapsed":0.003}
"""
GO_BUILD = """\
# example.com/calc
./calc.go:3:2: undefined: foo
FAIL\texample.com/calc [build failed]
"""
GO_PANIC = """\
panic: runtime error: index out of range [5] with length 3

goroutine 1 [running]:
main.read(0x0)
\t/app/main.go:9 +0x1d
main.main()
\t/app/main.go:4 +0x20
exit status 2
"""
CARGO = """\
running 3 tests
test tests::adds ... ok
test tests::subtracts ... FAILED
test tests::slow ... ignored

failures:

---- tests::subtracts stdout ----

thread 'tests::subtracts' panicked at src/lib.rs:19:9:
assertion `left == right` failed
  left: 3
 right: 4

failures:
    tests::subtracts

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
"""
CARGO_BUILD = """\
error[E0425]: cannot find value `x` in this scope
 --> src/main.rs:3:5
  |
error: could not compile `calc` (bin "calc") due to 1 previous error
"""
JEST = """\
FAIL src/sum.test.js
  sum
    ✓ adds (2 ms)
    ✕ subtracts (3 ms)
    ○ skipped divides

  ● sum › subtracts

    expect(received).toBe(expected) // Object.is equality

    Expected: 4
    Received: 3

      at Object.<anonymous> (src/sum.test.js:9:20)

Tests:       1 failed, 1 skipped, 1 passed, 3 total
Time:        0.5 s
"""
VITEST = """\
 ❯ src/sum.test.ts (2 tests | 1 failed) 5ms
   × sum > subtracts 3ms

 FAIL  src/sum.test.ts > sum > subtracts
AssertionError: expected 3 to be 4 // Object.is equality

- Expected
+ Received

- 4
+ 3

 ❯ src/sum.test.ts:9:20

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed (2)
"""
MOCHA = """\
  sum
    ✔ adds
    1) subtracts


  1 passing (5ms)
  1 failing

  1) sum
       subtracts:

      AssertionError [ERR_ASSERTION]: 3 == 4
      + expected - actual

      -3
      +4

      at Context.<anonymous> (test/sum.js:9:14)
"""
TAP = """\
TAP version 13
1..3
ok 1 - adds
not ok 2 - subtracts
  ---
  message: values differ
  expected: 4
  actual: 3
  ...
ok 3 - divides # SKIP not yet
"""
CTEST = """\
Test project /app/build
    Start 1: adds
1/3 Test #1: adds .............................   Passed    0.01 sec
2/3 Test #2: subtracts ........................***Failed    0.01 sec
3/3 Test #3: hangs ............................***Timeout   5.00 sec

33% tests passed, 2 tests failed out of 3
"""
GTEST = """\
[==========] Running 2 tests from 1 test suite.
[ RUN      ] Sum.Adds
[       OK ] Sum.Adds (0 ms)
[ RUN      ] Sum.Subtracts
/app/tests/sum_test.cc:9: Failure
Expected equality of these values:
  sub(7, 4)
    Which is: 3
  4

[  FAILED  ] Sum.Subtracts (0 ms)
[==========] 2 tests from 1 test suite ran. (0 ms total)
[  PASSED  ] 1 test.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] Sum.Subtracts
"""
JUNIT_XML = """\
<?xml version="1.0"?><testsuites><testsuite name="s" tests="3" failures="1" skipped="1">
<testcase classname="calc.Sum" name="adds" time="0.1"/>
<testcase classname="calc.Sum" name="subtracts" time="0.1"><failure message="expected 4, got 3" type="X">at a > b
</failure></testcase>
<testcase classname="calc.Sum" name="slow"><skipped/></testcase>
</testsuite></testsuites>
"""
CTRF = """\
{"results": {"tool": {"name": "pytest"}, "summary": {"tests": 2, "passed": 1, "failed": 1, "skipped": 0, "pending": 0, "other": 0},
 "tests": [{"name": "test_a.py::test_adds", "status": "passed"},
           {"name": "test_a.py::test_subs", "status": "failed", "message": "assert 3 == 4"}]}}
"""
SUREFIRE = """\
[INFO] Running com.example.SumTest
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.SumTest
[ERROR] com.example.SumTest.subtracts -- Time elapsed: 0.01 s <<< FAILURE!
org.opentest4j.AssertionFailedError: expected: <4> but was: <3>
\tat org.junit.jupiter.api.AssertionUtils.fail(AssertionUtils.java:55)
\tat com.example.SumTest.subtracts(SumTest.java:17)
[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0
"""
GRADLE = "SumTest > adds() PASSED\nSumTest > subtracts() FAILED\n    org.opentest4j.AssertionFailedError: expected: <4> but was: <3>\n"
RSPEC = """\
F.

Failures:

  1) Sum subtracts
     Failure/Error: expect(sub(7, 4)).to eq(4)

       expected: 4
            got: 3

       (compared using ==)
     # ./spec/sum_spec.rb:9:in `block (2 levels) in <top (required)>'

Finished in 0.01 seconds
2 examples, 1 failure

rspec ./spec/sum_spec.rb:8 # Sum subtracts
"""
MINITEST = """\
  1) Failure:
SumTest#test_subtracts [test/sum_test.rb:9]:
Expected: 4
  Actual: 3

2 runs, 2 assertions, 1 failures, 0 errors, 0 skips
"""
TRACEBACK = """\
Traceback (most recent call last):
  File "/app/main.py", line 3, in load
    return json.loads(text)
           ^^^^^^^^^^^^^^^^
  File "/usr/lib/python3.12/json/decoder.py", line 355, in raw_decode
    raise JSONDecodeError("Expecting value", s, err.value) from None
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/main.py", line 9, in <module>
    main()
ValueError: no configuration
"""
SYNTAX = """\
  File "/app/tool.py", line 7
    def f(:
          ^
SyntaxError: invalid syntax
"""
NODE = """\
/app/server.js:3
    throw new TypeError("port must be a number");
    ^

TypeError: port must be a number
    at start (/app/server.js:3:11)
    at node:internal/main/run_main_module:28:49
"""
JAVA = """\
Exception in thread "main" java.lang.IllegalStateException: no rows
\tat java.base/java.util.Optional.orElseThrow(Optional.java:403)
\tat com.example.Main.main(Main.java:12)
"""
RUST_PANIC = "thread 'main' panicked at src/main.rs:4:5:\nindex out of bounds: the len is 3 but the index is 7\nnote: run with `RUST_BACKTRACE=1`\n"

ALL = {name.lower(): text for name, text in sorted(globals().items()) if name.isupper() and isinstance(text, str)}
