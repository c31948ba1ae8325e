"""Search finds what people mean, the best first."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from blade_gym.catalog.benchmarks import benchmarks
from blade_gym.catalog.entry import Benchmark
from blade_gym.catalog.search import search, slips
from gym_shelf import ROOT, overlay, shelf

SHIPPED = benchmarks([ROOT]).entries


def names(query: str) -> list[str]:
    return [entry.name for entry in search(query, SHIPPED)]


def of_domain(*domains: str) -> set[str]:
    return {entry.name for entry in SHIPPED if entry.domain in domains}


@pytest.mark.parametrize("query", ["math", "maths", "Mathematics", "arithmetic", "mathmatics", "mth", "mahts"])
def test_math_is_what_has_the_domain(query: str) -> None:
    assert of_domain("math") <= set(names(query))
    assert not set(names(query)) & of_domain("coding", "safety", "translation")


@pytest.mark.parametrize("query", ["coding", "code", "programming", "codign", "software"])
def test_coding_is_all_of_coding_and_no_speech(query: str) -> None:
    found = names(query)
    assert of_domain("coding") <= set(found)
    assert found[0] in of_domain("coding")
    assert "librispeech" not in found


@pytest.mark.parametrize("query", ["safety", "saftey", "safe", "refusal", "harmful"])
def test_safety_is_refusing_and_not_refusing(query: str) -> None:
    assert {"xstest", "harmbench"} <= set(names(query))
    assert "ifeval" not in names(query)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("aime24", "aime24"),
        ("AIME 2024", "aime24"),
        ("human eval", "humaneval"),
        ("HumanEval", "humaneval"),
        ("gpqa", "gpqa_diamond"),
        ("gqpa diamond", "gpqa_diamond"),
        ("sql", "shop_sql"),
        ("database", "shop_sql"),
        ("speech", "librispeech"),
        ("speech recognition", "librispeech"),
        ("asr", "librispeech"),
        ("transcription", "librispeech"),
        ("translation", "flores200"),
        ("tools", "bfcl"),
        ("function calling", "bfcl"),
        ("instruction following", "checkable_instructions"),
        ("over-refusal", "xstest"),
        ("json", "json_records"),
        ("arc", "arc_agi"),
        ("abstract reasoning", "arc_agi"),
        ("multilingual math", "mgsm"),
        ("physics", "gpqa_diamond"),
        ("mmlu", "mmlu"),
        ("mmlu pro", "mmlu_pro"),
        ("hotpot", "hotpotqa"),
        ("multi step tool", "workplace_assistant"),
        ("multiple choice", "gpqa_diamond"),
        ("judge", "hle"),
    ],
)
def test_what_people_type_finds_what_they_mean(query: str, first: str) -> None:
    assert names(query)[:1] == [first]


def test_words_that_no_entry_has_together_find_those_that_have_most() -> None:
    assert set(names("speech refusal")) == {"harmbench", "librispeech", "wmt24pp", "xstest"}
    assert names("speech recognition refusal") == ["librispeech"]
    assert names("speech zzzzz") == []


def test_a_category_is_found_by_its_name() -> None:
    for category in ("Math & Science", "instruction following & safety", "Other"):
        wanted = {entry.name for entry in SHIPPED if entry.category.lower() == category.lower()}
        assert wanted <= set(names(category))


@pytest.mark.parametrize("query", ["", " ", "!!", "zzzzz", "qwertyuiop", "xyzzy math"])
def test_nonsense_finds_nothing(query: str) -> None:
    assert names(query) == []


def test_a_word_that_exists_is_not_a_typo_of_another(tmp_path: Path) -> None:
    shelf(tmp_path, one=overlay("one", description="exact match"), two=overlay("two", description="math"))
    found = benchmarks([tmp_path]).entries
    assert [entry.name for entry in search("math", found)] == ["two"]
    assert [entry.name for entry in search("mathc", found)] == ["two", "one"]


def test_names_of_servers_and_agents_do_not_count(tmp_path: Path) -> None:
    shelf(tmp_path, one=overlay("one", description="words"))
    found = benchmarks([tmp_path]).entries
    assert search("quiz", found) == []
    assert search("agent", found) == []


@given(query=st.text(max_size=30))
def test_no_query_breaks_it_and_order_is_settled(query: str) -> None:
    found = search(query, SHIPPED)
    assert [entry.name for entry in search(query, list(reversed(SHIPPED)))] == [entry.name for entry in found]


@given(one=st.text("abcd", max_size=6), other=st.text("abcd", max_size=6))
def test_slips_are_a_distance(one: str, other: str) -> None:
    assert slips(one, other) == slips(other, one)
    assert (slips(one, other) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= slips(one, other) <= max(len(one), len(other))


def test_slips_by_hand() -> None:
    assert [slips("coding", word) for word in ("codign", "codin", "scoring", "coding")] == [1, 1, 2, 0]


def test_an_exact_name_beats_a_longer_one() -> None:
    first: Benchmark = SHIPPED[0]
    pair = [replace(first, name="alpha_beta", dataset="x"), replace(first, name="alpha", dataset="x")]
    assert [entry.name for entry in search("alpha", pair)] == ["alpha", "alpha_beta"]
