"""Games of Go written as SGF, and read back."""

import dataclasses
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import games
from games import InputError, Position
from games.go import GAME
from games.go_sgf import Record, read, record, replay, score, write

SHORT = Record(9, 7.5, ("e5", "c3", "a9", "j1", "pass", "pass"), "W+7.5", "ada [9d]", "bob\\")


def test_a_short_game_by_hand():
    """Columns from the left and rows from the top, with i; nothing stands for a pass."""
    assert write(SHORT) == (
        "(;FF[4]GM[1]CA[UTF-8]AP[Plyground]SZ[9]KM[7.5]RU[area, positional superko, no suicide]"
        "PB[ada [9d\\]]PW[bob\\\\]RE[W+7.5]\n;B[ee];W[cg];B[aa];W[ii];B[];W[])\n"
    )
    assert read(write(SHORT)) == SHORT


@pytest.mark.parametrize("variant", ["go", "go(size=5,komi=0)", "go(size=13,komi=7)"])
def test_random_games_come_back(variant):
    rng, position = random.Random(variant), Position.start(games.load(variant))
    while not position.is_terminal():
        if position.ply % 100 == 50:
            kept = record(position, "one", "two")
            assert kept.result == "?"
            assert read(write(kept)) == kept
        position = position.play(rng.choice(position.legal()))
    kept = record(position, "one", "two")
    assert read(write(kept)) == kept
    assert replay(read(write(kept))) == position
    assert kept.result == score(position.state)
    winner = {"B": 1.0, "W": -1.0, "0": 0.0}[kept.result[0]]
    assert position.utilities() == (winner, -winner)


def test_a_large_board_has_all_letters():
    moves = ("a1", "t19", "j10", "h9", "pass")
    kept = record(Position.start(games.load("go(size=19,komi=6.5)"), None, moves))
    assert write(kept).splitlines()[1] == ";B[as];W[sa];B[ij];W[hk];B[])"
    assert read(write(kept)) == kept


def test_results():
    def result(komi: float, *moves: str) -> str:
        return record(Position.start(GAME.with_options(size=5, komi=komi), None, moves)).result

    assert result(7.5, "pass", "pass") == "W+7.5"
    assert result(7.5, "c3", "pass", "pass") == "B+17.5"
    assert result(25, "c3", "pass", "pass") == "0"
    assert result(25, "c3", "pass") == "?"
    assert record(Position.start(GAME), result="B+T").result == "B+T"


def test_games_that_sgf_cannot_tell_are_refused():
    with pytest.raises(InputError, match="expected a game of go, got othello"):
        record(Position.start(games.load("othello")))
    elsewhere = Position.start(GAME.with_options(size=5), "..X../...../...../...../..... O 0 -")
    with pytest.raises(InputError, match="expected a game from the empty board"):
        record(elsewhere.play("a1"))


def test_properties_of_others_are_passed_over_and_defaults_hold():
    text = " (;GM[1]FF[4]\n ST[2] C[a; \\] b(] \n;B[cc]BL[3.2];W[];C[no move])  "
    assert read(text) == Record(9, 0, ("c7", "pass"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "(",
        "()x",
        "(SZ[9])",
        "(;SZ[9]",
        "(;SZ[9)",
        "(;SZ[9]](;B[aa]))",
        "(;SZ[9](;B[aa])(;B[bb]))",
        "(;SZ[9:9])",
        "(;SZ[20])",
        "(;SZ[9]KM[7.3])",
        "(;SZ[9]KM[-1])",
        "(;GM[2])",
        "(;AB[aa])",
        "(;HA[2])",
        "(;AB[aa][bb])",
        "()",
        "( )",
        "(;SZ[9]SZ[5];B[bb])",
        "(;SZ[9];B[aa]W[bb])",
        "(;SZ[9];B[aa]B[bb])",
        "(;GM[1]SZ[9]AE[aa];B[bb])",
        "(;GM[1]SZ[9];AB[aa];B[bb])",
        "(;GM[1]SZ[9];B[bb];AW[aa]AE[bb];W[cc])",
        "(;SZ[9];PL[W];B[aa])",
        "(;SZ[9];B[aa];HA[2];W[bb])",
        "(;W[aa])",
        "(;B[aa];B[bb])",
        "(;SZ[9];B[jj])",
        "(;SZ[9];B[a])",
        "(;SZ[9];B[aaa])",
        "(;SZ[9];B[AA])",
        None,
        7,
    ],
)
def test_what_is_no_such_game_is_refused(text):
    with pytest.raises(InputError) as refusal:
        read(text)
    assert refusal.value.code in ("bad_sgf", "bad_option")
    assert len(str(refusal.value)) < 600


def test_illegal_moves_are_found_when_a_game_is_replayed():
    with pytest.raises(InputError, match="expected a legal action, got 'e5'"):
        replay(dataclasses.replace(SHORT, moves=("e5", "e5")))


@given(
    st.text(max_size=60).map(lambda text: text.replace("\r", "")),
    st.text(alphabet="[]\\;():abB", max_size=20),
)
def test_names_of_any_kind_come_back(black, white):
    kept = dataclasses.replace(SHORT, black=black, white=white)
    assert read(write(kept)) == kept


@given(st.text(alphabet="(;)[]\\BWSZKMabc159 \n", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        kept = read(text)
    except InputError:
        return
    assert read(write(kept)) == kept
