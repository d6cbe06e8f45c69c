"""Texts of chess: which positions are read and which refused, algebraic notation, movetext."""

import chess as oracle
import pytest
from fuzz import nearly, read, texts_of
from hypothesis import HealthCheck, given, settings

import games
from games import InputError, Position
from games.chess_san import movetext, parse_san, san

GAME = games.load("chess")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LONE = "4k3/8/8/8/8/8/8/4K3 w - - 0 1"

UNUSABLE = [
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
    "8/8/8/r2Pp2K/8/8/4k3/8 w - e6 0 1",
    "8/5bk1/8/2Pp4/8/1K6/8/8 w - d6 0 1",
]
"""Positions after a pawn has passed a square where none may capture it."""


@pytest.mark.parametrize("text", UNUSABLE)
def test_a_square_where_no_pawn_may_capture_in_passing_is_forgotten(text):
    state = GAME.parse_position(text)
    fields = text.split(" ")
    assert GAME.format_position(state) == " ".join([*fields[:3], "-", *fields[4:]])
    assert state == GAME.parse_position(GAME.format_position(state))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected board, side to move, castling"),
        (START.removesuffix(" 1"), "expected board, side to move, castling"),
        (START.replace(" w ", " W "), "expected board, side to move, castling"),
        (START.replace("KQkq", ""), "expected board, side to move, castling"),
        (START.replace("KQkq", "kqKQ"), "expected board, side to move, castling"),
        (START.replace("KQkq", "KK"), "expected board, side to move, castling"),
        (START.replace("- 0", "e4 0"), "expected board, side to move, castling"),
        (START.replace(" 0 1", " 00 1"), "expected board, side to move, castling"),
        (START.replace(" 0 1", " 0 0"), "expected board, side to move, castling"),
        (START.replace("0 1", "\u0660 1"), "expected board, side to move, castling"),
        (START.replace("/8/8/", "/8/"), "expected 8 ranks, got 7"),
        (START.replace("/8/8/", "/8/44/"), "expected empty squares counted together, got 44"),
        (START.replace("pppppppp", "ppppppp"), "expected 8 squares on rank 7, got 7"),
        (START.replace("pppppppp", "ppppppp2"), "expected 8 squares on rank 7, got 9"),
        (LONE.replace("4K3", "8"), "expected one king of White, got 0"),
        (LONE.replace("/8 ", "/8 ").replace("4k3", "4k1k1"), "expected one king of Black, got 2"),
        (LONE.replace("4k3", "4k2P"), "expected no pawns on the first and last rank, got h8"),
        (LONE.replace("4K3", "p3K3"), "expected no pawns on the first and last rank, got a1"),
        (START.replace("PPPPPPPP/RNBQ", "PPPPPPPP/QNBQ").replace("KQkq", "-"), "at most 8 pawns of White"),
        (START.replace("/8/PPPPPPPP", "/P7/PPPPPPPP"), "9 pawns and 0 pieces more"),
        (START.replace("rnbqkbnr", "rbbqkbnr").replace("KQkq", "-"), "8 pawns and 1 pieces more"),
        (START.replace("BNR", "B1R").replace("/RNBQ", "/1NBQ"), "king and rook on e1 and a1 for castling Q"),
        (LONE.replace("w -", "w k"), "king and rook on e8 and h8 for castling k"),
        ("8/8/8/3kK3/8/8/8/8 w - - 0 1", "expected kings apart, got e5 and d5"),
        ("4k3/8/8/8/8/8/8/4RK2 w - - 0 1", "expected Black to move, who is in check, got White to move"),
        ("4k3/8/8/8/8/8/2n3n1/4K3 w - - 0 1", "White in check from c2, g2"),
        ("4k3/8/8/8/4r3/8/6n1/r3K3 w - - 0 1", "White in check from a1, g2, e4"),
        ("4k3/8/8/8/8/8/8/r3K2r w - - 0 1", "White in check from a1, h1"),
        ("4k3/8/8/4P3/8/8/8/4K3 w - d6 0 2", "a pawn of Black that has just passed d6, got none"),
        ("4k3/8/8/3pP3/8/8/8/4K3 b - d6 0 2", "a pawn of White that has just passed d6, got none"),
        ("4k3/3n4/8/3pP3/8/8/8/4K3 w - d6 0 2", "empty squares where a pawn has just passed d6"),
        ("4k3/8/3n4/3pP3/8/8/8/4K3 w - d6 0 2", "empty squares where a pawn has just passed d6"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 1 2", "half-move clock 0 after a pawn's move, got 1"),
        (
            "4k3/8/8/3pP3/8/5n2/8/4K3 w - d6 0 2",
            "no check before a pawn passed d6, got White in check from f3",
        ),
        (LONE.replace("0 1", "1 1"), "that the move number allows, got 1 at move 1"),
        (LONE.replace("0 1", "151 200"), "half-move clock of at most 150"),
    ],
)
def test_unusable_position_says_why(text, message):
    with pytest.raises(InputError) as refusal:
        GAME.parse_position(text)
    assert message in str(refusal.value)
    assert refusal.value.code == "bad_position"


@pytest.mark.parametrize(
    "text",
    [
        "4k3/8/8/8/8/5n2/8/r3K3 w - - 0 1",  # double check by a piece moved and one uncovered
        "rnb1kbnr/pppp1ppp/8/4p3/5PPq/8/PPPPP2P/RNBQKBNR w KQkq - 1 3",  # mate, to be looked at
        "QQQQQQQQ/Q7/8/7k/8/8/8/K7 b - - 0 60",
        "8/8/8/4k3/8/4K3/4R3/8 w - - 150 155",
        "4k3/8/8/8/8/8/8/R3K3 b - - 1 1",
        "4k3/8/8/8/8/8/8/R3K3 w Q - 0 9999",
    ],
)
def test_rare_positions_are_read(text):
    assert GAME.format_position(GAME.parse_position(text)) == text


WELL_KNOWN = [
    *UNUSABLE,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2",
    "4k3/8/8/8/8/5n2/8/r3K3 w - - 0 1",
]


@settings(max_examples=1_500, deadline=None, suppress_health_check=list(HealthCheck))
@given(nearly([*texts_of("chess"), *WELL_KNOWN]))
def test_nearly_valid_texts(text):
    """Refused with one InputError, or read; then an independent implementation finds it valid, too.

    The text is exact but for a square where no pawn may capture in passing.
    """
    state = read(GAME, text)
    if state is None:
        return
    board = oracle.Board(text)
    assert board.status() == oracle.STATUS_VALID
    assert board.fen(en_passant="fen") == text
    assert GAME.format_position(state) == board.fen(en_passant="legal")
    assert GAME.parse_position(GAME.format_position(state)) == state
    position = Position(GAME, state, keys=(state.key(),))
    legal = [] if board.is_insufficient_material() or board.halfmove_clock >= 100 else board.legal_moves
    assert sorted(position.legal()) == sorted(move.uci() for move in legal)
    assert position.is_terminal() is not bool(position.legal())
    assert len(position.utilities()) == 2
    assert state.features(0) == tuple(-value for value in state.features(1))


# algebraic notation -----------------------------------------------------------------------------------

NOTATION = [
    (START, "e2e4", "e4"),
    (START, "g1f3", "Nf3"),
    ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", "exd5"),
    ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2", "e5d6", "exd6"),
    ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1g1", "O-O"),
    ("3k4/8/8/8/8/8/8/R3K2R w KQ - 0 1", "e1c1", "O-O-O+"),
    ("4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1", "c3e4", "Nce4"),
    ("4k3/8/8/2N5/8/2N5/8/4K3 w - - 0 1", "c3e4", "N3e4"),
    ("4k3/8/8/2N5/8/2N3N1/8/4K3 w - - 0 1", "c3e4", "Nc3e4"),
    ("4k3/8/8/2N5/8/2N3N1/8/4K3 w - - 0 1", "g3e4", "Nge4"),
    ("4k3/4r3/8/8/8/2N5/4N3/4K3 w - - 0 1", "c3d5", "Nd5"),
    ("4k3/4r3/8/8/4N3/8/2N5/4K3 w - - 0 1", "c2d4", "Nd4"),
    ("2k5/4P3/8/8/8/8/8/4K3 w - - 0 1", "e7e8q", "e8=Q+"),
    ("3r4/4P2k/8/8/8/8/8/4K3 w - - 0 1", "e7d8n", "exd8=N"),
    ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", "a1a8", "Ra8#"),
    ("7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a8", "Ra8#"),
]


@pytest.mark.parametrize(("fen", "move", "text"), NOTATION)
def test_algebraic_notation(fen, move, text):
    state = GAME.parse_position(fen)
    action = GAME.parse_action(state, move)
    assert san(state, action) == text
    for spelling in (text, text.rstrip("+#")):
        assert parse_san(state, spelling) == action


@pytest.mark.parametrize(
    ("text", "shortest"), [("Nc3e4", "Ne4"), ("Nce4+", "Ne4"), ("N3e4", "Ne4"), ("h2h4", "h4"), ("hh4", "h4")]
)
def test_more_about_the_origin_than_needed_is_read(text, shortest):
    state = GAME.parse_position("4k3/8/8/8/8/2N5/7P/4K3 w - - 0 1")
    assert san(state, parse_san(state, text)) == shortest


@pytest.mark.parametrize(
    ("fen", "text"),
    [
        (START, "e5"),
        (START, "Ke2"),
        (START, "xe4"),
        (START, "Pe4"),
        (START, "e4 "),
        (START, "e4!"),
        (START, "e4=Q"),
        (START, "O-O"),
        (START, ""),
        (START, None),
        ("4k3/8/8/8/8/2N3N1/8/4K3 w - - 0 1", "Ne4"),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "xd5"),
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "ed5"),
        ("2k5/4P3/8/8/8/8/8/4K3 w - - 0 1", "e8"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "Kg1"),
        ("4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1", "0-0"),
    ],
)
def test_what_means_no_move_or_more_than_one_is_refused(fen, text):
    with pytest.raises(InputError, match="expected one legal move in algebraic notation") as refusal:
        parse_san(GAME.parse_position(fen), text)
    assert len(str(refusal.value)) < 600


def test_movetext():
    state = GAME.initial_state()
    assert movetext(state, ["e2e4", "e7e5", "g1f3"]) == "1. e4 e5 2. Nf3 *"
    assert movetext(state, ["f2f3", "e7e5", "g2g4", "d8h4"], "0-1") == "1. f3 e5 2. g4 Qh4# 0-1"
    later = state.result(GAME.parse_action(state, "e2e4"))
    assert movetext(later, ["e7e5", "g1f3"], "1/2-1/2") == "1... e5 2. Nf3 1/2-1/2"
    assert movetext(later, []) == "*"
    with pytest.raises(InputError):
        movetext(state, ["e2e5"])


def test_movetext_is_broken_into_lines():
    moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5a4", "g8f6", "e1g1", "f8e7", "f1e1", "b7b5"]
    lines = movetext(GAME.initial_state(), [*moves, "a4b3", "d7d6", "c2c3", "e8g8", "h2h3"]).splitlines()
    assert all(len(line) <= 79 for line in lines)
    assert len(lines) == 2
    assert " ".join(lines).split(" ")[-4:] == ["O-O", "9.", "h3", "*"]
