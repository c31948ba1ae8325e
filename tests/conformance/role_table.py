"""What each field of the public reference files is, written down by reading their rows.

Fields of a request and a response that their interface defines are left out, and verdicts that never change in a file, which
say nothing. Every other field that is not here has no role.
"""

from __future__ import annotations

from collections.abc import Mapping

_SESSION = (
    *(f"session.usage.{name}" for name in ("input_tokens", "output_tokens", "cache_read_input_tokens")),
    "session.usage.cache_creation_input_tokens",
    *(f"session.usage.cache_creation.ephemeral_{span}_input_tokens" for span in ("1h", "5m")),
)
_JUDGE = "judge_response.usage"
_MODEL_CODE = ("extracted_model_code", "extracted_model_output")
_ANSWER: Mapping[str, tuple[str, ...]] = {"expected": ("expected_answer",), "produced": ("extracted_answer",)}
_PATCH: Mapping[str, tuple[str, ...]] = {
    "duration": ("agent_run_time",),
    "produced": ("model_patch",),
    "status": ("mask_sample", "agent_error_kind"),
}

TRUTH: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "terminal_bench/*": {
        "agent": ("agent_name",),
        "agent-log": ("agent_log",),
        "checks": ("parser_results",),
        "cost": ("session.total_cost_usd",),
        "duration": ("session.duration_api_ms", "session.duration_ms"),
        "grader-log": ("test_log",),
        "model": ("model",),
        "produced": ("session.result",),
        "repeat": ("repeat",),
        "score-part": ("is_resolved",),
        "status": ("failure_mode", "session.subtype"),
        "task": ("task_id",),
        "time": tuple(f"{what}_{when}_at" for what in ("agent", "test", "trial") for when in ("started", "ended")),
        "usage": ("total_input_tokens", "total_output_tokens", *_SESSION),
    },
    "harbor": {
        "agent": ("agent_name",),
        "agent-log": ("exception_info.exception_traceback", "exception_txt"),
        "checks": ("ctrf.results.tests",),
        "cost": ("session.total_cost_usd",),
        "duration": ("seconds", "session.duration_api_ms", "session.duration_ms"),
        "error": ("error", "exception_info", "exception_info.exception_type"),
        "grader-log": ("test_stdout",),
        "model": ("model",),
        "produced": ("session.result",),
        "score-part": ("verifier_result.rewards.reward",),
        "status": ("session.last_error", "session.subtype"),
        "task": ("task_id",),
        "time": (
            *("started_at", "finished_at", "exception_info.occurred_at"),
            *("ctrf.results.summary.start", "ctrf.results.summary.stop"),
            *(
                f"{part}.{when}_at"
                for part in ("environment_setup", "agent_setup", "agent_execution", "verifier")
                for when in ("started", "finished")
            ),
        ),
        "usage": (
            *("usage.input_tokens", "usage.output_tokens"),
            *(f"agent_result.n_{kind}_tokens" for kind in ("cache", "input", "output")),
            *_SESSION,
        ),
    },
    "swebench": {
        "agent": ("agent",),
        "checks": ("tests_status.FAIL_TO_PASS", "tests_status.PASS_TO_PASS"),
        "cost": ("costUsd",),
        "duration": ("durationMs",),
        "grader-log": ("run_log", "test_output"),
        "model": ("model",),
        "produced": ("model_patch",),
        "score-part": ("resolved",),
        "task": ("task_id",),
        "time": ("timestamp",),
        "usage": ("cacheCreationTokens", "cacheReadTokens", "inputTokens", "outputTokens"),
    },
    "tau2/*.jsonl": {
        "checks": tuple(f"reward_info.{name}" for name in ("action_checks", "communicate_checks", "reward_breakdown")),
        "cost": ("agent_cost", "user_cost"),
        "duration": ("duration",),
        "expected-actions": ("expected_actions", "task.evaluation_criteria.actions"),
        "score-part": tuple(f"reward_info.{name}" for name in ("db_check.db_match", "db_check.db_reward", "reward")),
        "script": ("task.user_scenario",),
        "statements": ("task.evaluation_criteria.communicate_info",),
        "status": ("termination_reason",),
        "task": ("task_id",),
    },
    "tau_bench/*.jsonl": {
        "checks": ("reward_info.info.outputs",),
        "cost": ("user_cost",),
        "expected-actions": ("expected_actions", "reward_info.actions"),
        "score-part": ("reward_info.info.r_actions", "reward_info.info.r_outputs", "reward_info.reward"),
        "script": ("user_instruction",),
        "statements": ("expected_outputs",),
        "task": ("task_id",),
        "task-field": ("reward_info.info.gt_data_hash",),
    },
    "game24/*.jsonl": {"task": ("task_id",), "task-field": ("human_solved_rate", "puzzle")},
    "bigbench_mistake/*.jsonl": {**_ANSWER, "task": ("task_id",)},
    "inspect/2025*.json": {
        "duration": ("duration",),
        "expected": ("target",),
        "produced": ("extracted_answer",),
        "prompt": ("input",),
        "repeat": ("repeat",),
        "status": ("stop_reason",),
        "task": ("task_id",),
        "trajectory": ("messages",),
        "usage": ("usage.input_tokens", "usage.output_tokens"),
    },
    "inspect/log_tool_call_error.json": {
        "expected": ("target",),
        "prompt": ("input", "messages"),
        "repeat": ("repeat",),
        "task": ("task_id",),
    },
    "who_and_when": {
        "annotation": ("mistake_agent", "mistake_reason", "mistake_step"),
        "expected": ("ground_truth",),
        "prompt": ("question",),
        "task": ("task_id",),
        "trajectory": ("messages",),
    },
    "gym_examples/aalcr": {
        "expected": ("answer",),
        "score-part": ("reward_100k_110k",),
        "task": ("question_id",),
        "time": ("judge_response.created_at",),
        "usage": (
            *(f"{_JUDGE}.{name}_tokens" for name in ("input", "output", "total")),
            f"{_JUDGE}.input_tokens_details.cached_tokens",
            f"{_JUDGE}.output_tokens_details.reasoning_tokens",
        ),
    },
    "gym_examples/anyswe_agent__example_rollouts_openclaw": _PATCH,
    "gym_examples/anyswe_agent__example_rollouts_pi": {**_PATCH, "score-part": ("patch_exists", "resolved")},
    "gym_examples/asr_with_pc": {"produced": ("pred_text",), "expected": ("text",)},
    "gym_examples/bigcodebench": {
        "checks": ("details",),
        "produced": _MODEL_CODE,
        "status": ("status",),
        "task": ("task_id",),
    },
    "gym_examples/bird_sql": {},
    "gym_examples/blackjack": {"status": ("info.result",)},
    "gym_examples/circle_click": {"score-part": ("hit",)},
    "gym_examples/circle_count": {
        "expected": ("expected_count",),
        "produced": ("predicted_count",),
        "score-part": ("correct",),
    },
    "gym_examples/code_gen": {
        "checks": ("result",),
        "duration": ("metadata.execution time",),
        "produced": _MODEL_CODE,
        "status": ("metadata.error_message",),
    },
    "gym_examples/cvdp": {
        "duration": ("execution_time",),
        "grader-log": ("container_stderr",),
        "produced": ("extracted_rtl",),
        "task": ("task_id",),
    },
    "gym_examples/equivalence_rule": {
        "expected": ("expected_answer",),
        "score-part": ("equivalence_score",),
        "task": ("hashid",),
    },
    "gym_examples/evalplus": {
        "checks": ("metadata.base_details", "metadata.plus_details"),
        "produced": _MODEL_CODE,
        "status": ("base_status", "plus_status"),
        "task": ("verifier_metadata.task_id",),
    },
    "gym_examples/example_multi_step": {},
    "gym_examples/example_tool_call_multireward": {"produced": ("predicted_calls",)},
    "gym_examples/finance_agent_v2": {
        "checks": ("rubric_judgements",),
        "expected": ("expected_answer",),
        "score-part": tuple(
            f"rubric_{name}"
            for name in ("all_pass", "dealbreakers_failed", "fraction", "partial_credit", "weighted_fraction")
        ),
    },
    "gym_examples/frontierscience_judge": {**_ANSWER, "task": ("id",)},
    "gym_examples/graphwalks": {"expected": ("expected_answer",), "produced": ("predicted_nodes",)},
    "gym_examples/gymnasium": {},
    "gym_examples/instruction_following": {
        "checks": ("follow_instruction_list", "instruction_id_list"),
        "prompt": ("prompt",),
        "score-part": ("follow_all_instructions",),
    },
    "gym_examples/math_advanced_calculations": {},
    "gym_examples/math_proof_judgement": {
        "expected": ("expected_judgement",),
        "produced": ("extracted_judgement",),
        "score-part": ("fn", "fp", "tn", "tp"),
        "task": ("problem_id",),
    },
    "gym_examples/math_with_judge": {**_ANSWER, "score-part": ("library_reward",)},
    "gym_examples/mcqa": _ANSWER,
    "gym_examples/newton_bench": {
        "produced": ("extracted_law",),
        "score-part": ("exact_accuracy", "symbolic_equivalent"),
    },
    "gym_examples/openclaw_agent__example_rollout": _ANSWER,
    "gym_examples/openenv": {},
    "gym_examples/osworld": {"score-part": ("verifier_metadata.osworld_score",), "status": ("mask_sample",)},
    "gym_examples/proof_judge": {},
    "gym_examples/rolemrc": {
        "expected": ("reference",),
        "score-part": ("bleu", "meteor", "rouge1", "rouge2", "rougeL", "rougeLsum"),
        "trajectory": ("generation",),
    },
    "gym_examples/simpleqa": {
        **_ANSWER,
        "score-part": ("is_correct", "is_incorrect", "is_not_attempted"),
        "status": ("verdict",),
        "task": ("id",),
    },
    "gym_examples/spider2_lite": {
        "expected": ("gold_sql",),
        "produced": ("extracted_sql", "model_output"),
        "score-part": ("execution_match",),
        "status": ("failure_reason",),
        "task": ("instance_id",),
    },
    "gym_examples/structured_outputs": {},
    "gym_examples/swerl_llm_judge": _ANSWER,
    "gym_examples/text_to_sql": {
        "expected": ("sql",),
        "produced": ("extracted_sql", "model_output"),
        "score-part": ("judge_passed",),
        "status": ("failure_reason",),
        "task": ("uuid",),
    },
    "gym_examples/vlm_eval_kit": {
        "expected": ("answer",),
        "score-part": ("OCRBench", "OCRBench/Regular Text Recognition"),
    },
    "gym_examples/workplace_assistant": {},
    "gym_examples/xstest": {"expected": ("label",), "produced": ("cleaned_response",)},
}
"""By runs: the fields of each role."""
