"""Finding games and choosing options by name."""

import dataclasses

import pytest

import games
from games import InputError


def test_games_are_found_in_the_folder():
    assert games.names() == sorted(games.names())
    assert {"tic_tac_toe", "connect_four"} <= set(games.names())
    for name in games.names():
        assert games.load(name).name == name


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("connect_four", "connect_four"),
        ("connect_four()", "connect_four"),
        ("connect_four(rows=6,columns=7,k=4)", "connect_four"),
        ("connect_four(k=3)", "connect_four(rows=6,columns=7,k=3)"),
        ("connect_four(columns=6,rows=5)", "connect_four(rows=5,columns=6,k=4)"),
        (" connect_four ( rows = 5 , columns = 6 ) ", "connect_four(rows=5,columns=6,k=4)"),
    ],
)
def test_variant_is_written_one_way(text, variant):
    game = games.load(text)
    assert game.variant == variant
    assert games.load(variant).variant == variant


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "bad_game"),
        ("()", "bad_game"),
        ("connect_four(", "bad_game"),
        ("connect_four(k=4))", "bad_game"),
        ("connect four", "bad_game"),
        ("connect_four\n", "bad_game"),
        ("connect_f\u043eur", "bad_game"),
        (None, "bad_game"),
        (4, "bad_game"),
        ("Connect_Four", "unknown_game"),
        ("position", "unknown_game"),
        ("__init__", "unknown_game"),
        ("connect_four(4)", "bad_option"),
        ("connect_four(k=)", "bad_option"),
        ("connect_four(k=4,)", "bad_option"),
        ("connect_four(,)", "bad_option"),
        ("connect_four(k=4,k=4)", "bad_option"),
        ("connect_four(k==4)", "bad_option"),
        ("connect_four(k=4.0)", "bad_option"),
        ("connect_four(k=\u0664)", "bad_option"),
        ("connect_four(k=1e1)", "bad_option"),
        ("connect_four(k=9999999)", "bad_option"),
        ("connect_four(k=-4)", "bad_option"),
        ("connect_four(depth=4)", "unknown_option"),
        ("tic_tac_toe(k=3)", "unknown_option"),
    ],
)
def test_unusable_name_is_refused(text, code):
    with pytest.raises(InputError) as refusal:
        games.load(text)
    assert refusal.value.code == code


def test_unknown_game_names_the_known_ones():
    with pytest.raises(
        InputError, match=r"expected a game, got 'ludo'; available: backgammon, .*connect_four, .* more"
    ):
        games.load("ludo")


def test_unknown_option_names_the_known_ones():
    with pytest.raises(
        InputError, match="an option of connect_four, got 'depth'; available: rows, columns, k"
    ):
        games.load("connect_four(depth=3)")


def test_options_do_not_leak_into_the_game():
    games.load("connect_four(rows=5)")
    assert games.load("connect_four").initial_state().rows == 6


@pytest.mark.parametrize("lacking", ["action_texts", "format_seen", "board_seen"])
def test_a_hidden_game_that_would_show_everything_is_refused(lacking):
    with pytest.raises(TypeError, match="kuhn_poker is hidden"):
        dataclasses.replace(games.load("kuhn_poker"), **{lacking: None})
