"""Code: an agent reads files, edits them and runs tests in a sandbox; the verifier reports its own tests by name."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from proof.simulate.draft import Draft, Item, Row, Task, called, said

TOOLS = [
    {
        "type": "function",
        "name": name,
        "parameters": {"type": "object", "properties": {one: {"type": "string"} for one in given}},
    }
    for name, given in {"bash": ("command",), "edit_file": ("path", "old", "new"), "read_file": ("path",)}.items()
]
LIBRARY = (
    (
        "durations",
        "parse_duration",
        "turns text such as `1h30m` into seconds",
        ("hours", "minutes", "empty", "negative"),
    ),
    ("slugs", "slugify", "makes a title fit for an address", ("spaces", "accents", "length", "symbols")),
    ("intervals", "merge", "joins intervals that overlap", ("touching", "nested", "order", "single")),
    (
        "limiter",
        "RateLimiter.allow",
        "refuses a call when too many came in a window",
        ("burst", "window", "reset", "clock"),
    ),
    ("retry", "retry", "calls again when a server answers 503", ("attempts", "backoff", "giveup", "result")),
    ("roman", "to_roman", "writes a number in Roman numerals", ("small", "subtractive", "large", "zero")),
    ("ledger", "balance", "sums entries by account", ("rounding", "currency", "refunds", "empty")),
    ("paths", "relative", "gives one path as seen from another", ("parents", "same", "windows", "root")),
)
VERSIONS = ("after the last release", "since the refactoring", "on Windows too", "for long inputs", "in version {}")


@dataclass(frozen=True, kw_only=True)
class Issue(Task):
    """An issue: the module it is about, and the tests that must hold."""

    module: str
    function: str
    aspects: tuple[str, ...]
    nonce: int

    @property
    def tests(self) -> tuple[str, ...]:
        """The verifier's tests."""
        return tuple(f"tests/test_{self.module}.py::test_{one}_{self.nonce}" for one in self.aspects)

    @property
    def path(self) -> str:
        """The file to mend."""
        return f"src/{self.module}.py"

    @property
    def fields(self) -> Row:
        """What each row holds of the task."""
        return {"instance_id": self.task_id, "problem_statement": self.prompt}


class Code:
    """The world of issues."""

    name = "code"
    models: tuple[str, ...] = ("merlin-coder",)

    def task(self, index: int, rng: Random) -> Issue:
        """One issue about one function."""
        module, function, what, aspects = LIBRARY[index % len(LIBRARY)]
        when = rng.choice(VERSIONS).format(f"{rng.randint(1, 9)}.{rng.randint(0, 20)}")
        chosen = ", ".join(aspects)
        prompt = (
            f"Issue {index + 101}: `{function}` in src/{module}.py, which {what}, is wrong {when}. It must get these right: "
            f"{chosen}. Mend it; the tests are run afterwards."
        )
        return Issue(
            index=index,
            task_id=f"{module}__{index + 101}",
            prompt=prompt,
            module=module,
            function=function,
            aspects=aspects,
            nonce=index + 101,
        )

    def solve(self, task: Issue, rng: Random) -> Draft:
        """A patch with which every test holds."""
        return handed_in(task, rng, work(task, rng, ()), ())

    def slip(self, task: Issue, rng: Random, variant: int) -> Draft:
        """A patch that leaves one or two tests failing; another variant fails others."""
        many = len(task.aspects)
        failing = {
            task.aspects[variant % many],
            task.aspects[(variant * 3 + 1) % many if variant % 2 else variant % many],
        }
        left = tuple(one for one in task.aspects if one in failing)
        return handed_in(task, rng, work(task, rng, left), left)

    def request(self, task: Issue) -> Row:
        """The issue, and the tools of the sandbox."""
        system = {"role": "system", "content": "You work in a checkout at /repo. Edit files, run tests, then sum up."}
        return {"input": [system, {"role": "user", "content": task.prompt}], "tools": TOOLS}


def handed_in(task: Issue, rng: Random, items: list[Item], failing: tuple[str, ...]) -> Draft:
    """A rollout whose patch was tested; the failing aspects leave their assertions."""
    results = [
        {"name": test, "status": "failed", "message": complaint(task, rng, one)}
        if one in failing
        else {"name": test, "status": "passed"}
        for one, test in zip(task.aspects, task.tests, strict=True)
    ]
    fields = {"resolved": not failing, "model_patch": patch(task, rng, failing), "test_results": results}
    return Draft(items=items, reward=float(not failing), fields=fields, mode=failed(len(failing), len(task.aspects)))


def failed(failing: int, of: int) -> str:
    """The mode of a verdict by how many checks fail."""
    return "all-checks-failed" if failing == of else "one-check-failed" if failing == 1 else "some-checks-failed"


def complaint(task: Issue, rng: Random, aspect: str) -> str:
    """What a failed assertion says."""
    got, wanted = rng.randint(2, 99), rng.randint(100, 999)
    return (
        f"AssertionError: assert {got} == {wanted}\n +  where {got} = {task.function}('{aspect}-{rng.randint(1, 99)}')"
    )


def patch(task: Issue, rng: Random, failing: tuple[str, ...]) -> str:
    """A small diff of the file."""
    body = "\n".join(f"+    # handles {one}" for one in task.aspects if one not in failing)
    return (
        f"diff --git a/{task.path} b/{task.path}\n--- a/{task.path}\n+++ b/{task.path}\n@@ -{rng.randint(3, 40)},2 +1,6 @@\n"
        f"-    return None\n{body}\n+    return value_{rng.randint(1, 999)}\n"
    )


def work(task: Issue, rng: Random, failing: tuple[str, ...]) -> list[Item]:
    """Read, edit, run the public tests, sum up."""
    return [
        *explored(task, rng),
        *read(task, rng),
        *edited(task, rng, failing),
        *tested(task, rng),
        said(summary(task, rng)),
    ]


def explored(task: Issue, rng: Random) -> list[Item]:
    """Some agents look around first, and search for what is not there."""
    looks = (
        ("ls", "README.md\nsrc\ntests"),
        (f"grep -rn {task.module} docs", ""),
        ("git log --oneline -3", "4f1c2aa tidy\n90be1d0 release\n1b22c07 first"),
    )
    return [
        item
        for look in rng.sample(looks, rng.randint(0, 2))
        for item in called(rng, "bash", {"command": look[0]}, look[1])
    ]


def read(task: Issue, rng: Random) -> list[Item]:
    """The agent looks at the file."""
    name = task.function.rsplit(".", maxsplit=1)[-1]
    text = f"def {name}(value):\n    # version {rng.randint(1, 9)}\n    return None\n"
    if rng.random() < 0.5:
        return called(rng, "bash", {"command": f"cat {task.path}"}, text)
    return called(rng, "read_file", {"path": task.path}, text)


def edited(task: Issue, rng: Random, failing: tuple[str, ...]) -> list[Item]:
    """The agent changes the file."""
    new = (
        "    "
        + "; ".join(f"handle_{one}()" for one in task.aspects if one not in failing)
        + f"  # {rng.randint(1, 999)}"
    )
    return called(rng, "edit_file", {"path": task.path, "old": "    return None", "new": new}, "edited 1 place")


def tested(task: Issue, rng: Random) -> list[Item]:
    """The public tests hold; those of the verifier are others."""
    output = f"===== test session starts =====\ncollected 2 items\n\ntests/test_public.py ..   [100%]\n\n===== 2 passed in 0.{rng.randint(10, 99)}s ====="
    return called(rng, "bash", {"command": "python -m pytest -q tests/test_public.py"}, output)


def summary(task: Issue, rng: Random) -> str:
    """The agent's last words."""
    return rng.choice(
        (
            f"I changed `{task.function}` so that it follows the issue.",
            f"`{task.function}` in {task.path} is mended; the public tests hold.",
            "The function now treats the cases of the issue. No other file was touched.",
        )
    )
