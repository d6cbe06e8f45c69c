"""Names of agents: what is allowed, what hostile ones get, and which count as the same."""

import unicodedata

import hypothesis.strategies as st
import pytest
from hypothesis import example, given

from games.errors import InputError
from server.core.names import MAX_CHARACTERS, MAX_MARKS, clean_name, name_key


def refused(text):
    with pytest.raises(InputError) as caught:
        clean_name(text)
    assert caught.value.code == "bad_name"
    return caught.value


@pytest.mark.parametrize(
    "name",
    [
        "a",
        "7",
        "ada",
        "Deep Thought 2.1",
        "ab-centre_v3",
        "x" * 32,
        "Tarrasch-Verteidigung äöü",
        "围棋",
        "Ёлка",
        "नमस्ते",
        "שָׁלוֹם",
        "Nguyễn",
        "٣",
        "a--b..c",
    ],
)
def test_names_of_any_script_stay_as_they_are(name):
    assert clean_name(name) == unicodedata.normalize("NFC", name)


HOSTILE = {
    "<svg/onload=alert(1)>": "svg-onload-alert-1",
    '"><img src=x onerror=1>': "img src-x onerror-1",
    "{{7*7}}": "7-7",
    "ada\u202egnp.exe": "ada-gnp.exe",
    "ada\u200b": "ada",
    "a\u2066b": "a-b",
    "ada\x00": "ada",
    "ada\x1b[31m": "ada-31m",
    "ada\nINFO forged": "ada-INFO forged",
    "a" + "\u0302" * 200: None,
    "\u0302": None,
    "😀": None,
    "\U000e0041": None,
    "\ud800": None,
    "\u3164": None,
    "a\ufe0f": "a",
    "a\u034fb": "a-b",
    "=cmd|' /C calc'!A0": "cmd- C calc-A0",
    "+1": "1",
    "-rf": "rf",
    "@ada": "ada",
    "../../etc/passwd": "etc-passwd",
    "a/b": "a-b",
    "a%2fb": "a-2fb",
    "a\\b": "a-b",
    "a\u00a0b": "a-b",
    " ada": "ada",
    "ada ": "ada",
    "ada  lovelace": "ada lovelace",
    "\tada": "ada",
    "'; DROP TABLE agents;": "DROP TABLE agents",
}


@pytest.mark.parametrize(("text", "suggestion"), HOSTILE.items(), ids=lambda text: ascii(text)[:20])
def test_PB29_hostile_names_are_refused_by_one_rule(text, suggestion):
    error = refused(text)
    if suggestion is not None:
        assert error.available == (suggestion,)
    assert len(str(error)) < 400
    assert all(c.isprintable() for c in str(error))


@pytest.mark.parametrize("length", [33, 64, 1_000_000])
def test_a_name_has_at_most_32_characters(length):
    error = refused("x" * length)
    assert error.where == "a name of more than 32 characters"
    assert error.available == ("x" * 32,)


def test_an_empty_name_is_refused_without_a_suggestion():
    error = refused("")
    assert error.available == ()
    assert str(error) == (
        "expected a name of 1 to 32 letters, digits, '-', '_', '.' or single spaces inside, "
        "starting with a letter or digit, got '' in a name"
    )


def test_the_error_points_at_the_character():
    assert refused("ab\u202ec").where == "character 3 (U+202E RIGHT-TO-LEFT OVERRIDE)"
    assert refused("\x07").where == "character 1 (U+0007 without a name)"
    assert refused("ada ").where == "the space at the end"


def test_two_marks_in_a_row_are_allowed_and_three_are_not():
    assert clean_name("q\u0323\u0307x") == "q\u0323\u0307x"
    assert refused("q\u0323\u0307\u0302x").where.startswith("character 4 (U+0302")


def test_a_mark_stands_on_a_letter():
    assert refused("a-\u0301").where.startswith("character 3")


def test_PB34_composed_and_decomposed_forms_are_one_name():
    composed, decomposed = "\u00e1", "a\u0301"
    assert composed != decomposed
    assert clean_name(composed) == clean_name(decomposed) == composed
    assert name_key(composed) == name_key(decomposed)


def test_32_decomposed_characters_are_no_more_than_32():
    assert clean_name("a\u0301" * 32) == "\u00e1" * 32
    assert clean_name("\u03b1\u0313\u0300\u0345" * 32) == "\u1f82" * 32
    refused("\u03b1\u0313\u0300\u0345" * 32 + "x")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada", "aDA"),
        ("STRASSE", "straße"),
        ("ΣΊΣΥΦΟΣ", "σίσυφος"),
        ("ａｄａ", "ada"),
        ("ﬁsh", "FISH"),
        ("𝐀da", "ada"),
    ],
)
def test_names_that_look_or_read_alike_have_one_key(one, other):
    assert name_key(clean_name(one)) == name_key(clean_name(other))


def test_different_names_have_different_keys():
    names = ["ada", "ada2", "ada-2", "ada_2", "ada 2", "adá", "ада", "围棋"]
    assert len({name_key(name) for name in names}) == len(names)


ANYTHING = st.text(st.characters(exclude_categories=[]), max_size=40)
NEARLY = st.text(st.sampled_from("aZ9é\u0301\u0323न\u094d-_. =<\u202e\u200d\ud800"), max_size=40)


@given(ANYTHING | NEARLY)
@example("\u0958")  # composes to nothing: its canonical form is two characters
def test_whatever_comes_in_is_a_clean_name_or_an_error_with_a_usable_suggestion(text):
    try:
        name = clean_name(text)
    except InputError as error:
        for suggestion in error.available:
            assert clean_name(suggestion) == suggestion
    else:
        assert 1 <= len(name) <= MAX_CHARACTERS
        assert clean_name(name) == name
        assert name == unicodedata.normalize("NFC", text)
        assert unicodedata.category(name[0])[0] in "LN"
        assert name == name.strip()
        assert "  " not in name
        assert name.isprintable()
        categories = "".join("m" if unicodedata.category(c)[0] == "M" else "." for c in name)
        assert "m" * (MAX_MARKS + 1) not in categories


@given(ANYTHING)
def test_a_key_is_its_own_key(text):
    assert name_key(name_key(text)) == name_key(text)


@given(NEARLY)
def test_the_key_ignores_case_and_form(text):
    key = name_key(text)
    assert name_key(unicodedata.normalize("NFD", text)) == key
    assert name_key(unicodedata.normalize("NFKC", text)) == key
    assert name_key(text.upper()) == key
