"""Which foreign field becomes which of ours: one ordered table, the first path that holds a value wins.

A path is dotted; `response.usage.input_tokens` is a key inside a key. What no line here names is not read,
except small values, which may become slices. `blade schema` shows both.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache

from msgspec import Struct

from blade.model.roles import LOGS, Role, Roles


class Field(Struct, frozen=True):
    """One of our fields: its name, what it means, and the foreign paths it is taken from, best first."""

    name: str
    meaning: str
    paths: tuple[str, ...]


ID_NAMES = ("task_id", "instance_id", "problem_id", "question_id", "sample_id", "uuid", "id", "example_id", "qid")
_METADATA_KEYS = ("expected_answer", "ideal", "ground_truth", "reference_answer", "answer", "target", "label")
"""Names of a key inside the verifier's metadata."""

KEY_NAMES = (
    "question",
    "problem",
    "problem_statement",
    "task",
    "user_instruction",
    "instruction",
    "puzzle",
    "expected_answer",
    "expected_output",
    "expected_outputs",
    "expected_action",
    "expected_actions",
    "expected_tool_calls",
    "expected_judgement",
    "expected_count",
    "ground_truth",
    "reference",
    "reference_answer",
    "reference_calls",
    "evaluation_criteria",
    "gold",
    "gold_answer",
    "gold_sql",
    "sql",
    "sql_prompt",
    "label",
    "target",
    "canonical_solution",
    "solution",
    "test",
    "tests",
    "instruction_id_list",
    "circles",
    "target_color",
    "text",
    "verifier_metadata",
)

ANSWER_KEYS = (
    "expected_answer",
    "expected_output",
    "expected_outputs",
    "expected_judgement",
    "expected_count",
    "ground_truth",
    "reference",
    "reference_answer",
    "gold",
    "gold_answer",
    "label",
    "target",
)
"""Those of them that hold an answer: many tasks may have the same, so that by itself it does not name one."""

_ID = Field(
    "id",
    "stable name of the task, in the row or in the request's metadata",
    ID_NAMES + tuple(f"responses_create_params.metadata.{name}" for name in ID_NAMES),
)
_INDEX = Field("index", "position of the task in the inputs", ("_ng_task_index", "_task_index", "task_index"))
_REPEAT = Field(
    "repeat",
    "index of the rollout within its task",
    ("_ng_rollout_index", "_rollout_index", "rollout_index", "repeat", "repeat_index", "epoch", "trial"),
)
_ATTEMPT = Field("attempt", "retry by the runner", ("_ng_attempt_index",))
_REWARD = Field("reward", "number given by the verifier", ("reward", "score"))
_MODEL = Field(
    "model",
    "model that was asked",
    (
        "response.model",
        "model",
        "model_name",
        "model_name_or_path",
        "agent.model_info.name",
        "provider.id",
        "responses_create_params.model",
    ),
)
_AGENT = Field("agent", "agent or harness that ran the model", ("agent_ref.name", "agent", "agent_name", "harness"))
_SKILLS = Field("skills", "skills given to the agent", ("skills_ref.hash",))
_TRAJECTORY = Field(
    "trajectory",
    "what happened after the prompt",
    ("response.output", "trajectory", "messages", "output", "completion", "generation", "model_output"),
)
_PROMPT = Field("prompt", "what the agent was given", ("responses_create_params.input", "prompt", "input", "messages"))
_EXPECTED = Field(
    "expected",
    "the answer that the verifier wants",
    (
        "expected_answer",
        "expected_judgement",
        "expected_count",
        "reference_answer",
        "gold_letter",
        "correct_letter",
        "answer_letter",
        "gold_answer",
        "ground_truth",
        "expected_output",
        "target",
        "label",
        "gold_sql",
        "sql",
        "reference",
        "translation",
        "ideal",
        *(f"{holder}.{name}" for holder in ("verifier_metadata", "extra_info") for name in _METADATA_KEYS),
        "reward_model.ground_truth",
        "answer",
    ),
)
_ACTIONS = Field(
    "expected_actions",
    "the calls that the verifier wants",
    (
        "expected_actions",
        "expected_action",
        "expected_tool_calls",
        "ground_truth",
        "reference_calls",
        "evaluation_criteria.actions",
        "task.evaluation_criteria.actions",
        "verifier_metadata.ground_truth",
    ),
)
_STATEMENTS = Field(
    "expected_statements",
    "what the agent must tell the user",
    ("expected_outputs", "evaluation_criteria.communicate_info", "task.evaluation_criteria.communicate_info"),
)
_SCRIPT = Field(
    "script",
    "what the simulated user was told",
    (
        "user_instruction",
        "user_scenario",
        "task.user_scenario",
        "user_script",
        "scenario",
        "verifier_metadata.user_scenario",
    ),
)
_ANSWER = Field(
    "answer",
    "the answer that was extracted from the output",
    (
        "extracted_answer",
        "predicted_answer",
        "model_answer",
        "extracted_judgement",
        "predicted_count",
        "extracted_sql",
        "extracted_law",
        "extracted_model_code",
        "extracted",
        "parsed_answer",
        "final_answer",
        "predicted_output",
        "predicted_label",
        "predicted_nodes",
        "predicted_calls",
        "model_patch",
        "prediction",
        "pred",
        "pred_text",
        "metadata.model_patch",
        "answer",
        "stdout",
        "actual_output",
    ),
)
_ERROR = Field(
    "error",
    "an error that the harness recorded",
    (
        "_ng_failure_class",
        "response.error",
        "error",
        "error_class",
        "error_kind",
        "error_type",
        "exception",
        "exception_info",
        "_ng_failure_judge_error",
        "judge_error",
        "evaluation_error",
        "verifier_error",
    ),
)
_STOP = Field(
    "stop",
    "why the rollout ended",
    (
        "response.incomplete_details.reason",
        "stop_reason",
        "finish_reason",
        "termination_reason",
        "stop_condition",
        "termination.reason",
        "response.metadata.stop_reason",
        "response.stop_reason",
    ),
)
_INPUT_TOKENS = Field(
    "input_tokens",
    "prompt tokens of all model calls",
    (
        "response.usage.input_tokens",
        "response.usage.prompt_tokens",
        "usage.input_tokens",
        "usage.prompt_tokens",
        "agent_result.n_input_tokens",
    ),
)
_OUTPUT_TOKENS = Field(
    "output_tokens",
    "completion tokens of all model calls",
    (
        "response.usage.output_tokens",
        "response.usage.completion_tokens",
        "usage.output_tokens",
        "usage.completion_tokens",
        "agent_result.n_output_tokens",
    ),
)
_SECONDS = Field(
    "seconds",
    "how long the rollout took",
    (
        "duration",
        "seconds",
        "duration_seconds",
        "total_run_time",
        "agent_run_time",
        "total_time",
        "elapsed",
        "elapsed_seconds",
        "wall_time",
        "latency",
    ),
)
_COST = Field(
    "cost", "what the rollout cost", ("cost", "agent_cost", "total_cost", "cost_usd", "agent_result.cost_usd")
)
_KEY = Field("key", "the task's own fields; together they are its mark", KEY_NAMES)
_TOOLS = Field("tools", "tools that the agent was given", ("responses_create_params.tools", "tools"))
_SAMPLING = Field(
    "sampling",
    "settings of the run",
    (
        "responses_create_params.temperature",
        "responses_create_params.top_p",
        "responses_create_params.max_output_tokens",
        "response.temperature",
        "response.top_p",
        "response.max_output_tokens",
    ),
)

TABLE: tuple[Field, ...] = (
    _ID,
    _INDEX,
    _REPEAT,
    _ATTEMPT,
    _REWARD,
    _MODEL,
    _AGENT,
    _SKILLS,
    _TRAJECTORY,
    _PROMPT,
    _KEY,
    _EXPECTED,
    _ACTIONS,
    _STATEMENTS,
    _SCRIPT,
    _ANSWER,
    _ERROR,
    _STOP,
    _INPUT_TOKENS,
    _OUTPUT_TOKENS,
    _SECONDS,
    _COST,
    _TOOLS,
    _SAMPLING,
)

BY_NAME = {field.name: field for field in TABLE}

NESTED_REWARDS = ("reward_info.reward", "verifier_result.rewards.reward", "verifier_result.reward")
"""Where a harness keeps the reward of a row that has none of its own."""

VERDICTS = ("is_correct", "correct", "passed", "resolved", "is_resolved", "solved", "success", "acc")
"""What stands for the reward in a row that has none, and that holds what an agent handed in."""

METADATA_NAMES = ("metadata", "verifier_metadata", "extra_info", "task_metadata")
"""Objects whose small values may become slices."""

KNOWN_SLICES = (
    "category",
    "categories",
    "difficulty",
    "domain",
    "subject",
    "subdomain",
    "subfield",
    "topic",
    "language",
    "level",
    "type",
    "task_type",
    "problem_type",
    "prompt_type",
    "question_type",
    "split",
    "dimension",
    "source",
    "dataset",
    "sql_dialect",
    "document_category",
    "input_tokens_band",
    "context_length",
    "input_length",
    "prompt_length",
    "needle_depth",
    "depth",
    "hops",
    "num_hops",
    "system",
    "environment_name",
)
"""Names that speak of the task even where one repeat cannot show it."""

VERDICT_WORDS = (
    "accuracy",
    "correct",
    "error",
    "exit_code",
    "f1",
    "failed",
    "failure",
    "finished",
    "hit",
    "judge",
    "match",
    "passed",
    "outcome",
    "refusal",
    "resolved",
    "result",
    "reward",
    "score",
    "solved",
    "status",
    "success",
    "terminated",
    "timed_out",
    "truncated",
    "valid",
    "verdict",
)
"""A field whose name holds one of these is the verdict under another name, and never a slice."""

_OF_A_ROLLOUT = frozenset(
    (
        *("pass", "em", "rating", "fraction", "partial", "precision", "recall", "win", "won", "loss"),
        *("bleu", "rouge", "chrf", "wer", "cer", "mae", "rmse", "iou", "compiled", "safe", "security", "utility"),
        *("calls", "turns", "rounds", "attempts", "retries", "latency", "ms", "bytes", "used", "elapsed", "runtime"),
        *("mask", "refused", "abstain", "speedup"),
    )
)
"""Words that, whole, name a grade or an amount of one rollout: such a field is no slice either."""


_GYM, _TB, _HARBOR = "NeMo Gym", "Terminal-Bench", "Harbor"
DOCUMENTED: Mapping[str, tuple[Role | None, str, str]] = {
    "reward": ("reward", _GYM, ""),
    "_ng_task_index": ("task", _GYM, "index"),
    "_ng_rollout_index": ("repeat", _GYM, ""),
    "_ng_attempt_index": (None, _GYM, ""),
    "_ng_failure_class": ("error", _GYM, ""),
    "agent_ref": ("agent", _GYM, ""),
    "skills_ref": (None, _GYM, ""),
    "mask_sample": ("status", _GYM, ""),
    "failure_mode": ("status", _TB, ""),
    "test_log": ("grader-log", _TB, ""),
    "agent_log": ("agent-log", _TB, ""),
    "exception_info.exception_type": ("error", _HARBOR, ""),
    "test_stdout": ("grader-log", _HARBOR, ""),
    "test_stderr": ("grader-log", _HARBOR, ""),
    "exception_txt": ("agent-log", _HARBOR, ""),
    "trial_log": ("agent-log", _HARBOR, ""),
    "exit_status": ("status", "SWE-agent", ""),
    "test_output": ("grader-log", "SWE-bench", ""),
    "run_log": ("grader-log", "SWE-bench", ""),
    "termination_reason": ("status", "tau2-bench", ""),
}
"""The fields that a documented format defines, with their role and that format: no content changes what they are."""

_FIELD_OF: Mapping[tuple[Role, str], str] = {
    ("task", ""): "id",
    ("repeat", ""): "repeat",
    ("reward", ""): "reward",
    ("model", ""): "model",
    ("agent", ""): "agent",
    ("expected", ""): "expected",
    ("expected-actions", ""): "expected_actions",
    ("statements", ""): "expected_statements",
    ("script", ""): "script",
    ("produced", ""): "answer",
    ("error", ""): "error",
    ("stop", ""): "stop",
    ("status", "stop"): "stop",
    ("usage", "input"): "input_tokens",
    ("usage", "output"): "output_tokens",
    ("duration", "total"): "seconds",
    ("cost", ""): "cost",
}
"""Which of our fields is filled by the fields with a role."""


_OF_RESULTS: frozenset[Role] = frozenset(("score-part", "status", "produced", "trajectory", *LOGS))
"""Roles of what a rollout gave: a field with one of them is not the task's own, whatever its name says."""


class RunFields:
    """The table of fields of one run: what the names say, and before it what the values say."""

    def __init__(self, roles: Roles) -> None:
        self.roles = roles
        self.paths: dict[str, tuple[str, ...]] = {field.name: field.paths for field in TABLE}
        # Each that is told by content goes before those that are there, so that the first of them comes first.
        told = sorted(roles.fields, key=lambda field: field.decided_by != "content")
        contents = sum(field.decided_by == "content" for field in told)
        for field in (*reversed(told[:contents]), *told[contents:]):
            name = _FIELD_OF.get((field.role, field.part)) if field.role is not None else None
            if name is None or "[" in field.path:
                continue
            if field.decided_by == "content":
                self.paths[name] = (field.path, *(path for path in self.paths[name] if path != field.path))
            elif field.path not in self.paths[name]:
                self.paths[name] = (*self.paths[name], field.path)
        self.nothing = frozenset(filter(None, roles.breakdowns.values()))
        """What fields that name a breakdown hold where there is none."""
        results = {field.path for field in roles.fields if field.role in _OF_RESULTS and field.decided_by == "content"}
        results |= {shape.path for shape in roles.results}
        self.paths["key"] = tuple(
            path for path in self.paths["key"] if not any(f"{one}.".startswith(f"{path}.") for one in results)
        )
        lists = self._lists("trajectory")
        self.messages = lists[0] if lists and "messages" not in lists else "messages"
        """The chat in which prompt and trajectory stand together."""
        self.prompts = tuple(dict.fromkeys((*BY_NAME["prompt"].paths[1:], *self._lists("prompt"))))
        named = dict.fromkeys((*BY_NAME["trajectory"].paths[1:], *self._lists("trajectory")))
        # A field called `output` may hold what the tests printed.
        logs = {*self._of("grader-log"), *self._of("agent-log")}
        self.trajectories = tuple(path for path in named if path not in logs)
        self.evidence = frozenset(
            (
                *EVIDENCE_OF_A_ROLLOUT,
                *(path.partition(".")[0] for path in (*self._of("reward"), *self._of("trajectory"))),
            )
        )

    def _of(self, role: Role) -> list[str]:
        return [field.path for field in self.roles.fields if field.role == role and "[" not in field.path]

    def _lists(self, role: Role) -> list[str]:
        """Fields of the row itself; what stands in a request or a response is read with it."""
        inside = (self.roles.response or "response", self.roles.request or "responses_create_params")
        return [path for path in self._of(role) if path.partition(".")[0] not in inside and path not in inside]


_of_run: ContextVar[RunFields | None] = ContextVar("fields of the run", default=None)


def of_run() -> RunFields:
    """The table of the run that is being read; where none is, of names alone."""
    return _of_run.get() or _by_names()


@cache
def _by_names() -> RunFields:
    return RunFields(Roles())


@contextmanager
def using_roles(roles: Roles | None) -> Iterator[None]:
    """Within it rows are read by these roles."""
    token = _of_run.set(_run_fields(roles) if roles is not None else None)
    try:
        yield
    finally:
        _of_run.reset(token)


_known_fields: list[RunFields] = []
_MOST_KNOWN = 16


def _run_fields(roles: Roles) -> RunFields:
    """One table for equal roles: what is worked out for it is kept by the table."""
    for known in _known_fields:
        if known.roles == roles:
            return known
    _known_fields.append(RunFields(roles))
    del _known_fields[:-_MOST_KNOWN]
    return _known_fields[-1]


def applying(names: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """For rows with these keys: each of our fields with those of its paths that such a row can hold, best first.

    Rows of a file share a few sets of keys, so this is worked out once for each set and not for every row.
    """
    return _applying(names, of_run())


@lru_cache(maxsize=4096)
def _applying(names: tuple[str, ...], table: RunFields) -> dict[str, tuple[str, ...]]:
    have = frozenset(names)
    return {name: tuple(p for p in paths if p.partition(".")[0] in have) for name, paths in table.paths.items()}


SPEAKING_WORDS = (
    "reason",
    "message",
    "error",
    "stderr",
    "traceback",
    "verdict",
    "status",
    "failure",
    "failed",
    "feedback",
    "comment",
    "exit_code",
    "judge_output",
    "test_log",
    "test_output",
    "eval_log",
    "verifier_log",
    "run_log",
    "explanation",
    "outcome",
    "result",
    "invalid",
    "labels",
    "timed_out",
    "timeout",
    "exceeded",
    "truncated",
    "terminal_state",
    "refus",
    "exception",
    "returncode",
    "incomplete",
    "attempted",
    "hallucination",
    "abstain",
    "oom",
    "judge_text",
    "judge_reasoning",
    "judge_evaluation",
    "judgment",
    "build_output",
    "build_log",
    "compile_output",
)
"""A field whose name holds one of these may tell in the verifier's own words what went wrong."""

ACCOUNTS = (
    "reward_info",
    "info",
    "metadata",
    "result",
    "verifier_result",
    "verification_result",
    "evaluation_result",
    "execution_result",
    "compiler_output",
    "eval_report",
    "report",
    "judge_diagnostics",
)
"""Objects in which verifiers keep their account of a rollout."""

JUDGES = (
    "judge_output",
    "judge_evaluations",
    "judge_evaluation",
    "judge_diagnostics",
    "judge_text",
    "judge_reasoning",
    "explanation",
    "judge_response",
)
"""Fields in which a judge speaks in sentences of its own."""

_JUDGMENT = ("_judgment", "_judgement")

HARNESS_ERRORS = (
    *("error", "error_class", "error_kind", "exception", "exception_info", "exception_type"),
    *("agent_error", "infrastructure_error", "infra_error"),
)
"""Fields in which a harness records that it failed itself."""

REACHED = ("evaluation_completed", "verification_completed", "scored", "judge_parse_ok")
"""Flags that are false where the verifier came to no verdict."""

MASK = "mask_sample"
"""A flag with which a verifier says that its reward measures nothing: the environment failed, and not the agent."""

RUBRICS = ("rubric_judgements", "rubric_evaluations", "rubric_results")
"""Judgments of one criterion each."""

RECORDS = (
    *("reward_info", "verifier_result", "eval_report"),
    *("judge_output", "judge_evaluations", "judge_evaluation", "judge_response"),
    *RUBRICS,
)
"""Fields that only a verifier which reached the rollout fills."""


EVIDENCE_OF_A_ROLLOUT = ("reward", "score", "response", "messages", "output", "trajectory", "_ng_failure_class")


def is_rollout(row: Iterable[str]) -> bool:
    """Whether a row with these fields holds a verdict or anything that an agent said."""
    return not of_run().evidence.isdisjoint(row)


def table() -> list[tuple[str, tuple[str, ...], str]]:
    """Our name, the foreign paths in order, and the meaning: what the documentation prints."""
    return [(field.name, field.paths, field.meaning) for field in TABLE]


def taken_as(path: str) -> str:
    """The names of ours that read `path`, joined by commas; empty when nobody reads it."""
    return ", ".join(field.name for field in TABLE if path in field.paths)


def speaks(name: str) -> bool:
    """Whether a field's name says that it may tell what went wrong."""
    lowered = name.lower()
    return any(word in lowered for word in SPEAKING_WORDS)


_OF_OTHERS = re.compile(r"judge|grader|verif|simulat|(?:^|[._])user", re.IGNORECASE)


def is_of_others(path: str) -> bool:
    """Whether a path says that an amount is of a judge, a verifier or a simulated user, and not of the agent."""
    return _OF_OTHERS.search(path) is not None


def is_judge(path: str) -> bool:
    """Whether a judge speaks in a field, in sentences of its own."""
    top = path.partition(".")[0]
    return top in JUDGES or top.endswith(_JUDGMENT)


def is_verdict(name: str) -> bool:
    """Whether a field's name says that it holds a verdict, or an amount of one rollout."""
    lowered = name.lower()
    return any(word in lowered for word in VERDICT_WORDS) or not _OF_A_ROLLOUT.isdisjoint(lowered.split("_"))
