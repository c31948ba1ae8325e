"""The answer against the key: what is claimed, and what must not be."""

import json
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blade.evidence.answer_forms import AnswerMatch
from blade.evidence.answers import LONGEST, TAIL, compare_answer

SAME = (AnswerMatch.EQUAL, AnswerMatch.OTHER_FORM)
CLAIMS = (*SAME, AnswerMatch.NOT_EXTRACTED)


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("Paris", "paris"),
        (" New\n York ", "new york"),
        ("**Paris**", "Paris"),
        ("`Paris`", "Paris"),
        ('"Paris."', "Paris"),
        ("\u201cParis\u201d", "Paris"),
        ("Paris!", "Paris"),
        ("American Economic Liberties Project", "American Economic Liberties Project."),
        ("$5$", "5"),
        ("\\(5\\)", "5"),
        ("\\[ \\boxed{5} \\]", "5"),
        ("so \\boxed{5}.", "5"),
        ("\\text{Paris}", "paris"),
        ("\\dfrac{1}{2}", "\\(\\frac{1}{2}\\)"),
        ("\u22123", "-3"),
        ("B", "b"),
        ("**B**", "B"),
        ("<answer>B</answer>", "B"),
        ("Yes", "Judgement: Yes"),
        ("Judgement: yes", "JUDGEMENT:  Yes"),
        ("The final answer is: Paris", "Paris"),
        ("x = 5", "5"),
        ("CLOSE", '["CLOSE"]'),
        ("close", "['CLOSE']"),
        ("Holland", '["The Netherlands", "Holland"]'),
        ("['CLOSE']", "CLOSE"),
        ("[1, 2]", "[1,2]"),
        ('["a", "b"]', "['a', 'b']"),
        ("None", "none"),
    ],
)
def test_equal(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.EQUAL


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("0.5", "1/2"),
        ("\\frac{1}{2}", "0.5"),
        ("\\frac12", "1/2"),
        ("-\\frac{1}{2}", "-0.5"),
        ("50%", "0.5"),
        ("50\\%", "1/2"),
        ("1,000", "1000"),
        ("1{,}000", "1000"),
        ("1\\,000", "1000"),
        ("3.0", "3"),
        ("+3", "3"),
        (".5", "0.5"),
        ("1.5e-3", "0.0015"),
        ("1.5 \\times 10^{-3}", "0.0015"),
        ("10^3", "1000"),
        ("4/2", "2"),
        ("5.0 km", "5 km"),
        ("(B)", "B"),
        ("B.", "B"),
        ("B)", "B"),
        ("Answer: B", "B"),
        ("The answer is (B)", "B"),
        ("Option B", "B"),
        ("C: because it rains", "C"),
        ("(C) because it rains", "C"),
        ("A and C", "A, C"),
        ("[1.0, 2]", "[1, 2]"),
        ("a1, b2", '["a1", "b2"]'),
        ("sqrt(2)", "\\(\\sqrt{2}\\)"),
        ("x**2 + 1", "x^{2}+1"),
    ],
)
def test_other_form(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.OTHER_FORM


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("The award was given to Michio Sugeno.", "Michio Sugeno"),
        ("The Berlin Wall fell in 1989.", "1989"),
        ('The image displays the word "CLOSE."', '["CLOSE"]'),
        ("It takes 5 hours", "5"),
        ("5 km", "5"),
        ("$5", "5"),
        ("50%", "50"),
        ("Yes, it does", "Yes"),
    ],
)
def test_contained(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.CONTAINED


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("H", "I"),
        ("(H)", "I"),
        ("A, B", "C, D"),
        ("4", "3"),
        ("-3", "3"),
        ("83/499", "\\(\\frac{333}{1997}\\)"),
        ("0.333", "1/3"),
        ("6 km", "5 km"),
        ("10", "0.1"),
        ("No", "Judgement: Yes"),
        ("No, it does not", "Yes"),
        ("false", "True"),
        ("Paris", "London"),
        ("H2O", "CO2"),
        ("It fell in 1991.", "1989"),
        ("[1, 3]", "[1, 2]"),
        ('["a1"]', "[]"),
        ("[]", '["a1", "b2"]'),
    ],
)
def test_different(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.DIFFERENT


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("A or B", "A"),
        ("A and C", "D"),
        ("(A), (C)", "A"),
        ("(B) but maybe (C)", "B"),
        ("5 or 6", "5"),
        ("x=2 or x=3", "2"),
        ("1, 2 and 3", "3"),
        ("Paris or London", "Paris"),
        ("either Paris or London.", "London"),
        ("Yes and no", "Yes"),
        ("\\boxed{1} then \\boxed{2}", "2"),
    ],
)
def test_several(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.SEVERAL


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("SELECT a FROM b", "select a from b"),
        ('{"a": 1}', '{"a":1}'),
        ("def f(): pass", "def f():  pass"),
        ("```\n5\n```", "5"),
        ("x" * LONGEST, "X" * LONGEST),
        ("5", "A rubric. " * 100),
        ("5", " "),
        ("Yes", "True"),
        ("Obama", "Barack Obama"),
        ("US", "United States"),
        ("colour", "color"),
        ("It was not Paris.", "Paris"),
        ("I can't say 5", "5"),
        ("[2, 1]", "[1, 2]"),
        ("[1]", "[1, 2]"),
        ("1", "[1, 2]"),
        ("A", '["A", "C"]'),
        ("C, A", "A, C"),
        ("50", "50%"),
        ("5 million", "5"),
        ("5 km", "5000 m"),
        ("007", "7"),
        ("(1, 2)", "[1, 2]"),
        ("\\{1,2\\}", "(1,2)"),
        ("1+x", "x+1"),
        ("x = 5", "y = 5"),
        ("Mother: Anne", "Father: Anne"),
        ("B) is wrong", "B"),
    ],
)
def test_unknown(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") is AnswerMatch.UNKNOWN


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("5!", "5"),
        ("(5)", "5"),
        ("12:30", "12"),
        ("5-6", "5"),
        ("5x", "5"),
        ("0.333...", "0.333"),
        ("15", "5"),
        ("1.5", "5"),
        ("1,500", "500"),
        ("2\\frac{1}{2}", "21/2"),
        ("1/0", "0"),
        ("12/3", "1 2/3"),
        ("1\\, 2", "12"),
        ("A*", "A"),
        ("A cat", "A"),
        ("f'", "f"),
        ("C#", "C"),
        ("C++", "C"),
        ("\\Delta", "\\delta"),
        ("Obama's father", "Obama"),
        ("incorrect", "correct"),
        ("There is no proof", "No"),
        ("Not: Paris", "Paris"),
        ("1e999999999", "1e999999998"),
    ],
)
def test_neither_the_same_nor_contained(answer: str, key: str) -> None:
    assert compare_answer(answer, key, "") not in (*CLAIMS, AnswerMatch.CONTAINED)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Counting them.\n\\boxed{5}", "5"),
        ("\\[\n\\boxed{\nC: An individual decides.\n}\n\\]", "C"),
        ("\\boxed{5} again: \\boxed{5.0}", "5"),
        ("The answer is 5.", "5"),
        ("So the final count is 112.", "112"),
        ("The answer is 1/2. Have a nice day", "0.5"),
        ("The correct answer is:\nE: because", "E"),
        ("**Answer:** B", "B"),
        ("Thinking.\nAnswer: Paris", "Paris"),
        ("So the city is **Paris**.", "Paris"),
        ("<judgement>Judgement: Yes</judgement>", "Judgement: Yes"),
        ("Final Answer: [a1, b2]", '["a1", "b2"]'),
        ("Let me see.\n\nParis", "Paris"),
        ("<think>London?</think>Paris", "Paris"),
        ("word " * 100, "word " * 100),
    ],
)
@pytest.mark.parametrize("answer", [None, "", " ", "None"])
def test_not_extracted(answer: str | None, text: str, key: str) -> None:
    assert compare_answer(answer, key, text) is AnswerMatch.NOT_EXTRACTED


@pytest.mark.parametrize(
    ("text", "key", "verdict"),
    [
        ("", "5", AnswerMatch.NONE),
        ("", "A rubric. " * 100, AnswerMatch.NONE),
        ("I give up.", "5", AnswerMatch.NONE),
        ("Let me see.\nThanks", "Paris", AnswerMatch.NONE),
        ("The answer is 5</think> no idea", "5", AnswerMatch.NONE),
        ("I don't think the answer is 5.", "5", AnswerMatch.NONE),
        ("I am sure that it is not **Paris**", "Paris", AnswerMatch.NONE),
        ("If the answer is B then it rains", "B", AnswerMatch.NONE),
        ("\\boxed{5}" + " and so on" * TAIL, "5", AnswerMatch.NONE),
        ("The answer is 5. Wait, it may be more.", "5", AnswerMatch.NONE),
        ("\\boxed{4}", "5", AnswerMatch.DIFFERENT),
        ("Answer: B", "C", AnswerMatch.DIFFERENT),
        ("Let me see.\n7", "5", AnswerMatch.DIFFERENT),
        ("London", "Paris", AnswerMatch.DIFFERENT),
        ("\\boxed{4} or \\boxed{5}", "5", AnswerMatch.SEVERAL),
        ("The answer is A or B.", "A", AnswerMatch.SEVERAL),
        ("The capital of France is Paris.", "Paris", AnswerMatch.CONTAINED),
        ("The answer is not B", "B", AnswerMatch.UNKNOWN),
        ("\\boxed{1+x}", "x+1", AnswerMatch.UNKNOWN),
        ("A long essay.", "A rubric. " * 100, AnswerMatch.UNKNOWN),
    ],
)
def test_nothing_extracted(text: str, key: str, verdict: AnswerMatch) -> None:
    assert compare_answer(None, key, text) is verdict


def test_an_extracted_answer_is_compared_and_not_the_text() -> None:
    assert compare_answer("4", "5", "The answer is 5.") is AnswerMatch.DIFFERENT
    assert compare_answer("5", "5", "The answer is 4.") is AnswerMatch.EQUAL


@pytest.mark.parametrize("length", [LONGEST, LONGEST + 1, 10**6])
def test_a_long_text_is_only_tested_for_identity(length: int) -> None:
    assert compare_answer("7" * length, "7" * length, "") is AnswerMatch.EQUAL
    assert compare_answer("7" * length, "7" * length + ".0", "") is AnswerMatch.UNKNOWN
    assert compare_answer("7" * length, "7", "") is AnswerMatch.UNKNOWN


LATEX = (
    "\\boxed{",
    "}",
    "{",
    "$",
    "**",
    "\\(",
    "\\frac{1}{2}",
    "1e999",
    "1/0",
    "9" * 60,
    "%",
    "[",
    "]",
    '"',
    "'",
    ", ",
)
WORDS = ("answer is ", "Answer: ", " or ", "not ", "A", "(B)", "x = ", "</think>", "<a>", "</a>", "\n", ".", "-", "Yes")
SCRAPS = st.sampled_from(LATEX + WORDS)
TEXTS = st.one_of(st.text(max_size=60), st.lists(SCRAPS, max_size=12).map("".join))


@given(st.none() | TEXTS, TEXTS, TEXTS)
def test_no_text_raises(answer: str | None, key: str, text: str) -> None:
    assert compare_answer(answer, key, text) in AnswerMatch


@given(TEXTS)
def test_a_value_is_equal_to_itself(text: str) -> None:
    if text.strip():
        assert compare_answer(text, text, "") is AnswerMatch.EQUAL


@given(TEXTS, TEXTS)
def test_an_answer_is_never_reported_as_not_extracted(answer: str, key: str) -> None:
    if compare_answer(answer, key, "") in (AnswerMatch.NONE, AnswerMatch.NOT_EXTRACTED):
        assert answer.strip().lower() in ("", "none", "null", "nan", "n/a")


@st.composite
def written(draw: st.DrawFn, tenths: int) -> str:
    """The number of tenths, in one of its forms."""
    value = Fraction(tenths, 10)
    top, bottom = value.numerator, value.denominator
    sign = "-" if top < 0 else ""
    forms = [
        f"{tenths / 10:.1f}",
        f"{tenths / 10:.3f}",
        f"{tenths / 10:,.1f}",
        f"{top}/{bottom}",
        f"{tenths}/10",
        f"{tenths}e-1",
        f"{tenths} \\times 10^{{-1}}",
        f"{sign}\\frac{{{abs(top)}}}{{{bottom}}}",
        f"{tenths * 10}%",
        f"{tenths * 10}\\%",
    ]
    wrapper = draw(
        st.sampled_from(["%s", "$%s$", "\\(%s\\)", "\\boxed{%s}", "**%s**", " %s. ", "Answer: %s", "x = %s"])
    )
    return wrapper.replace("%s", draw(st.sampled_from(forms)))


@given(st.data(), st.integers(-(10**7), 10**7), st.integers(-(10**7), 10**7))
def test_forms_of_one_number_are_the_same_and_of_two_are_not(data: st.DataObject, one: int, other: int) -> None:
    key = data.draw(written(one))
    assert compare_answer(data.draw(written(one)), key, "") in SAME
    if Fraction(one) not in (other, Fraction(other, 100), other * 100):
        assert compare_answer(data.draw(written(other)), key, "") is AnswerMatch.DIFFERENT


@given(st.lists(st.text("abcdefgh012", min_size=2, max_size=6), min_size=2, max_size=5))
def test_order_in_a_list_is_not_decided(items: list[str]) -> None:
    key = json.dumps(items)
    assert compare_answer(str(items), key, "") is AnswerMatch.EQUAL
    if items != items[::-1]:
        assert compare_answer(json.dumps(items[::-1]), key, "") in (AnswerMatch.UNKNOWN, AnswerMatch.OTHER_FORM)


HOSTILE = (
    "1e999999999",
    "9" * 10**6,
    "1/" + "9" * 150,
    "\\boxed{" * 10**5,
    "{" * 10**6,
    "\\boxed{" * 20 + "1" + "}" * 20,
    "[" * 190,
    "(" * 190,
    "*" * 199,
    "$" * 199,
    "answer is " * 10**5,
    "a " * 99,
    "1," * 99,
    "1 or " * 39,
    "a, " * 66,
    "**" + "x" * 10**6,
    "<a>" * 10**5,
    "select " + "from" * 40,
    "x = " * 49,
    "\x00" * 150,
    "\ud800",
    "\u0661\u0662",
    "\u00b2",
)


@pytest.mark.parametrize("one", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts_are_compared_in_bounded_work(one: str) -> None:
    """Nothing longer than LONGEST reaches a pattern, and no more than TAIL of a final text: a hang would show here."""
    for other in ("5", "A", "Paris", "[1, 2]", "x^2", *(text[:199] for text in HOSTILE)):
        for answer, key in ((one, other), (other, one), (one[:199], other), (other, one[:199])):
            assert compare_answer(answer, key, "") in AnswerMatch
        assert compare_answer(None, other, one) in AnswerMatch


def test_a_huge_exponent_is_no_number() -> None:
    assert compare_answer("1e999999999", "1e999999999", "") is AnswerMatch.EQUAL
    assert compare_answer("1e999999999", "5", "") is AnswerMatch.UNKNOWN
    assert compare_answer("10e998", "1e999", "") is AnswerMatch.OTHER_FORM
