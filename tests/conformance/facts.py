"""What is true of public reference files, worked out with plain `json` and by reading them, never with our code.

The files are not in this repository; `DATA` says where they are looked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
"""Beside the repository."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What is true of one run of a file."""

    path: str
    model: str
    """What follows the last slash counts."""
    tasks: int
    rollouts: int
    passed: int
    known_by: str
    mean_reward: float | None
    failed: int | None = None
    """Rollouts that were judged and did not pass; the rest of the rollouts where it is not given."""
    unscored: int = 0
    missing: int = 0
    repeats: tuple[int, ...] = (1,)
    """Rows of a task: every number that occurs, ascending."""
    expected_from: str | None = None
    duplicates: int = 0


def _gym(folder: str, model: str, passed: int, known_by: str, mean: float, **more: object) -> Fact:
    """A file of five rollouts of five tasks, unless `more` says otherwise."""
    about: dict[str, object] = {
        "path": f"gym_examples/{folder}",
        "model": model,
        "passed": passed,
        "known_by": known_by,
        "mean_reward": mean,
        "tasks": 5,
        "rollouts": 5,
    }
    return Fact(**(about | more))  # type: ignore[arg-type]


GPT = "gpt-4.1-2025-04-14"
CODER = "Qwen/Qwen3-Coder-30B-A3B-Instruct"
ONE_TASK = {"tasks": 1, "repeats": (5,)}

FACTS: tuple[Fact, ...] = (
    # 50 customer-service tasks, four times each; the prompt is a simulated user's first words, and differs.
    Fact(
        path="tau_bench/airline__gpt-4o.jsonl",
        model="gpt-4o",
        tasks=50,
        rollouts=200,
        passed=84,
        known_by="id",
        mean_reward=0.42,
        repeats=(4,),
        expected_from="inferred",
    ),
    Fact(
        path="game24/gpt-4_tot_b5.jsonl",
        model="gpt-4",
        tasks=100,
        rollouts=500,
        passed=119,
        known_by="id",
        mean_reward=0.238,
        repeats=(5,),
        expected_from="inferred",
    ),
    Fact(
        path="tau2/airline__gpt-4o.jsonl",
        model="azure/gpt-4o-2024-11-20",
        tasks=50,
        rollouts=50,
        passed=23,
        known_by="id",
        mean_reward=0.46,
    ),
    Fact(
        path="tau2/airline__claude-sonnet-4-5.jsonl",
        model="claude-sonnet-4-5",
        tasks=50,
        rollouts=50,
        passed=36,
        known_by="id",
        mean_reward=0.72,
    ),
    Fact(
        path="tau2/retail__gpt-4.1.jsonl",
        model="gpt-4.1",
        tasks=40,
        rollouts=40,
        passed=34,
        known_by="id",
        mean_reward=0.85,
    ),
    Fact(
        path="tau2/retail__ft-gpt-4.1.jsonl",
        model="ft:gpt-4.1-2025-04-14:sierra:tau2-full-sft:BzrYdMNm",
        tasks=40,
        rollouts=40,
        passed=34,
        known_by="id",
        mean_reward=0.85,
    ),
    # Inspect logs. The first was cancelled after 3 of 100 samples, and its limit was 3.
    Fact(
        path="inspect/2025-05-12T20-28-13-04-00_popularity.json",
        model="openai/gpt-4o-mini",
        tasks=3,
        rollouts=3,
        passed=2,
        known_by="id",
        mean_reward=2 / 3,
        expected_from="inspect",
    ),
    Fact(
        path="inspect/log_formats.eval",
        model="ollama/llama3.1",
        tasks=1,
        rollouts=1,
        passed=0,
        known_by="id",
        mean_reward=0.0,
        expected_from="inspect",
    ),
    Fact(
        path="inspect/log_formats.json",
        model="ollama/llama3.1",
        tasks=1,
        rollouts=1,
        passed=0,
        known_by="id",
        mean_reward=0.0,
    ),
    # Only the fourth epoch of four is in the log, and no scorer ran.
    Fact(
        path="inspect/log_tool_call_error.json",
        model="...",
        tasks=1,
        rollouts=1,
        passed=0,
        failed=0,
        unscored=1,
        missing=3,
        known_by="id",
        mean_reward=None,
        expected_from="inspect",
    ),
    # Two questions, answered three times and twice; the id is `question_id`.
    _gym("aalcr", "model", 3, "id", 0.6, tasks=2, repeats=(2, 3)),
    # One SWE task; its id stands in the metadata of the request.
    _gym("anyswe_agent__example_rollouts_openclaw", CODER, 0, "id", 0.0, expected_from="inferred", **ONE_TASK),
    _gym("anyswe_agent__example_rollouts_pi", CODER, 4, "id", 0.8, expected_from="inferred", **ONE_TASK),
    _gym("asr_with_pc", "Qwen2-Audio-7B-Instruct", 0, "id", 0.0, expected_from="inputs"),
    _gym("bigcodebench", "nvidia/nemotron-3-nano-30b-a3b", 3, "id", 0.6),
    _gym("bird_sql", "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 2, "prompt", 0.4),
    # Rewards of -1 and 1, one task dealt five times.
    _gym("blackjack", "Qwen/Qwen3-4B-Instruct-2507", 3, "position", 0.2, expected_from="inputs", **ONE_TASK),
    _gym("circle_click", "Qwen/Qwen3-VL-2B-Instruct", 2, "position", 0.4, expected_from="inputs"),
    _gym("circle_count", "Qwen/Qwen3-VL-8B-Instruct", 3, "position", 0.6, expected_from="inputs"),
    _gym("code_gen", GPT, 1, "prompt", 0.2),
    _gym("cvdp", "Qwen/Qwen3-4B-Instruct-2507", 0, "id", 0.0, expected_from="inputs"),
    _gym("equivalence_rule", "super/super-v3-sft-quantum-apex", 1, "id", 0.2),
    _gym("evalplus", "NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 5, "position", 1.0),
    _gym("example_multi_step", GPT, 5, "prompt", 1.0),
    # Rewards above 1.
    _gym("example_tool_call_multireward", "nvidia/qwen/eccn-qwen3.6-35b-a3b", 5, "position", 2.0),
    # Partial credit.
    _gym("finance_agent_v2", "gpt-5.6-luna", 1, "position", 0.525),
    _gym("frontierscience_judge", "synthetic-example", 5, "id", 1.0),
    # One row is there twice.
    _gym("graphwalks", "hf", 4, "position", 1.0, tasks=4, rollouts=4, duplicates=1),
    _gym("gymnasium", "x", 0, "prompt", 0.0, expected_from="inferred", **ONE_TASK),
    _gym("instruction_following", GPT, 2, "key+prompt", 0.4),
    _gym("math_advanced_calculations", GPT, 5, "prompt", 1.0),
    _gym("math_proof_judgement", "synthetic-example", 2, "id", 0.4),
    _gym("math_with_judge", "gpt-5-2025-08-07", 3, "key+prompt", 0.6),
    _gym("mcqa", GPT, 3, "key+prompt", 0.6),
    # One reward is 0.9999999999999998 and counts as 1; three rows share a prompt.
    _gym("newton_bench", "nvdev/openai/gpt-oss-120b", 3, "prompt", 2.617908223359744 / 5, tasks=3, repeats=(1, 3)),
    _gym("openclaw_agent__example_rollout", "nvinf/nvidia/qwen/qwen3-next-80b-a3b-instruct", 5, "position", 1.0),
    _gym("openenv", "gpt-5-nano-2025-08-07", 0, "position", 0.0),
    _gym("osworld", "azure/anthropic/claude-opus-4-7", 4, "position", 0.8),
    _gym("proof_judge", "nvidia/openai/gpt-oss-120b", 3, "position", 0.6, expected_from="inputs"),
    # Two models in one file.
    _gym(
        "rolemrc",
        "nvidia/nvidia/Nemotron-3-Nano-30B-A3B",
        0,
        "position",
        (0.30769230769230765 + 0.5853658536585366) / 2,
        tasks=2,
        rollouts=2,
    ),
    _gym("rolemrc", "synthetic", 0, "position", (0.3243 + 0.48 + 0.4615) / 3, tasks=3, rollouts=3),
    _gym("simpleqa", "synthetic-example", 3, "id", 0.6),
    _gym("spider2_lite", "Qwen/Qwen3-30B-A3B-Thinking-2507", 3, "id", 0.6),
    _gym("structured_outputs", GPT, 1, "prompt", 0.2),
    _gym("swerl_llm_judge", "qwen3-32b", 4, "key+prompt", 0.8),
    _gym("text_to_sql", GPT, 3, "id", 0.6),
    _gym("vlm_eval_kit", "gpt-4o-mini-2024-07-18", 4, "position", 0.8),
    # The inputs beside it are of other tasks.
    _gym("workplace_assistant", GPT, 4, "prompt", 0.8),
    _gym("xstest", "model", 5, "position", 1.0),
)

REFUSED = {"gym_examples/tavily_search": "<PLACEHOLDER ROW>"}
"""Folders without a single row, and what their files begin with."""

JOINED = {
    ("tau2/airline__gpt-4o.jsonl", "tau2/airline__claude-sonnet-4-5.jsonl"): 50,
    ("tau2/retail__gpt-4.1.jsonl", "tau2/retail__ft-gpt-4.1.jsonl"): 40,
}
"""Pairs of runs of the same tasks, and how many they share."""

NOT_COMPARABLE = ("tau2/airline__gpt-4o.jsonl", "tau2/retail__gpt-4.1.jsonl")
"""Runs of different tasks whose ids are the same numbers."""
