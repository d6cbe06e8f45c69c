"""One sentence for people, a code for programs."""

from games.errors import InputError, shown


def test_sentence_says_expected_got_where_and_available():
    error = InputError("bad_thing", expected="a thing", got="'x'", where="the box", available=["a", "b"])
    assert str(error) == "expected a thing, got 'x' in the box; available: a, b"
    assert error.code == "bad_thing"
    assert isinstance(error, ValueError)


def test_sentence_leaves_out_what_is_not_known():
    assert str(InputError("bad_thing", expected="a thing", got="none")) == "expected a thing, got none"


def test_at_most_twelve_alternatives_are_listed():
    error = InputError("bad_thing", expected="a thing", got="none", available=[str(i) for i in range(20)])
    assert str(error).endswith("available: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more")
    assert len(error.available) == 20


def test_input_is_shown_short_and_printable():
    assert shown("abc") == "'abc'"
    assert shown("a" * 60) == repr("a" * 60)
    assert shown("a" * 61) == repr("a" * 60) + "... (61 characters)"
    assert shown("\ud800\u202e\n") == r"'\ud800\u202e\n'"
    assert shown(None) == "a value of type NoneType"
    assert shown([1] * 1000) == "a value of type list"
