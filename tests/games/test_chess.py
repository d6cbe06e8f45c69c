"""Chess, rule by rule: castling, passing, promotion, ends of the game, options, looks, features."""

import pytest

import games
from games import InputError, Position
from games.chess import GAME as PLAIN_GAME
from games.chess_features import Features
from games.chess_state import Chess, variant_class
from games.kernel.jit import native, njit

GAME = games.load("chess")
FIDE = games.load("chess(claims=fide)")
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
KNIGHTS_OUT_AND_BACK = ["g1f3", "g8f6", "f3g1", "f6g8"]


def at(fen: str, *moves: str, game: games.Game = GAME) -> Position:
    return Position.start(game, fen, moves)


def moves_from(position: Position, square: str) -> set[str]:
    return {text[2:] for text in position.legal() if text.startswith(square)}


def test_start():
    position = Position.start(GAME)
    assert position.text() == START
    assert position.to_move() == 0
    assert len(position.legal()) == 20
    assert position.play("e2e4").text() == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    assert GAME.variant == "chess"
    assert PLAIN_GAME.title == "Chess"


# castling ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fen", "allowed"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", {"g1", "c1"}),
        ("r3k2r/8/8/8/8/8/8/R3K2R w Kkq - 0 1", {"g1"}),
        ("r3k2r/8/8/8/8/8/8/R3K2R w - - 0 1", set()),
        ("4k3/8/8/8/8/8/8/RN2K1NR w KQ - 0 1", set()),  # a piece between, if only next to the rook
        ("4k3/8/8/8/4r3/8/8/R3K2R w KQ - 0 1", set()),  # out of check
        ("4k3/8/8/8/5r2/8/8/R3K2R w KQ - 0 1", {"c1"}),  # through f1
        ("4k3/8/8/8/6r1/8/8/R3K2R w KQ - 0 1", {"c1"}),  # into check
        ("4k3/8/8/8/7r/8/8/R3K2R w KQ - 0 1", {"g1", "c1"}),  # the rook is attacked, not the king
        ("4k3/8/8/8/1r6/8/8/R3K2R w KQ - 0 1", {"g1", "c1"}),  # the rook passes b1, the king does not
        ("4k3/8/8/8/8/8/6p1/R3K2R w KQ - 0 1", {"c1"}),  # a pawn attacks f1
    ],
)
def test_where_the_king_may_castle(fen, allowed):
    assert moves_from(at(fen), "e1") & {"g1", "c1"} == allowed
    mirrored = at(mirror(fen))
    assert {square.replace("8", "1") for square in moves_from(mirrored, "e8") & {"g8", "c8"}} == allowed


def mirror(fen: str) -> str:
    """The same position with the colours exchanged and the board turned over."""
    board, side, castling, passing, clock, number = fen.split(" ")
    board = "/".join(reversed(board.split("/"))).swapcase()
    castling = "".join(sorted(castling.swapcase()))
    number = str(int(number) + 1)
    return f"{board} {'b' if side == 'w' else 'w'} {castling} {passing} {clock} {number}"


def test_castling_moves_the_rook_too():
    castled = "r4rk1/8/8/8/8/8/8/2KR3R w - - 2 2"
    assert at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "e8g8").text() == castled


@pytest.mark.parametrize(
    ("moves", "left"),
    [
        (["e1e2"], "kq"),
        (["a1a2"], "Kkq"),
        (["h1h8"], "Qq"),  # who takes a rook with a rook, and whose rook is taken
        (["a1a2", "e8e7"], "K"),
        (["e1g1"], "kq"),
        (["h1h2", "h8h7", "h2h1", "h7h8"], "Qq"),  # there and back again
    ],
)
def test_what_ends_the_right_to_castle(moves, left):
    assert at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", *moves).text().split(" ")[2] == left


def test_a_rook_that_comes_to_the_corner_later_castles_no_king():
    position = at("4k3/8/8/8/8/8/7R/R3K3 w Q - 0 1", "h2h1", "e8d8")
    assert moves_from(position, "e1") & {"g1", "c1"} == {"c1"}


# pawns ------------------------------------------------------------------------------------------------


def test_capture_in_passing_takes_the_pawn_that_passed_and_only_at_once():
    position = at("4k3/3p4/8/4P3/8/8/8/4K3 b - - 0 1", "d7d5")
    assert position.text() == "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
    assert position.play("e5d6").text() == "4k3/8/3P4/8/8/8/8/4K3 b - - 0 2"
    assert "e5d6" not in position.play("e1e2").play("e8e7").legal()


def test_two_pawns_may_capture_the_same_one_in_passing():
    position = at("4k3/3p4/8/2P1P3/8/8/8/4K3 b - - 0 1", "d7d5")
    assert {"c5d6", "e5d6"} <= set(position.legal())


def test_of_two_pawns_the_pinned_one_may_not():
    position = at("4k3/3p4/8/1KP1P2r/8/8/8/8 b - - 0 1", "d7d5")
    assert {"c5d6", "e5d6"} & set(position.legal()) == {"c5d6", "e5d6"}  # one of them stays between
    position = at("2r1k3/3p4/8/2P1P3/8/8/8/2K5 b - - 0 1", "d7d5")
    assert {"c5d6", "e5d6"} & set(position.legal()) == {"e5d6"}


def test_no_capture_in_passing_that_opens_the_rank_to_the_king():
    position = at("4k3/3p4/8/K3P2r/8/8/8/8 b - - 0 1", "d7d5")
    assert "e5d6" not in position.legal()
    assert position.text().split(" ")[3] == "-"


def test_capture_in_passing_may_end_a_check_by_the_pawn():
    position = at("8/3p4/8/4P3/2K5/8/8/6k1 b - - 0 1", "d7d5")
    assert "e5d6" in position.legal()


@pytest.mark.parametrize("piece", "qrbn")
def test_promotion(piece):
    position = at("3r4/4P2k/8/8/8/8/8/4K3 w - - 5 9")
    assert {f"e8{letter}" for letter in "qrbn"} | {f"d8{letter}" for letter in "qrbn"} == moves_from(
        position, "e7"
    )
    assert position.play(f"e7d8{piece}").text() == f"3{piece.upper()}4/7k/8/8/8/8/8/4K3 b - - 0 9"
    assert "e7e8" not in position.legal()


def test_pawns_move_two_squares_only_from_home_and_over_nothing():
    position = at("4k3/8/8/8/8/P1n5/1PP1P3/4K3 w - - 0 1")
    assert moves_from(position, "a3") == {"a4"}
    assert moves_from(position, "b2") == {"b3", "b4", "c3"}
    assert moves_from(position, "c2") == set()
    assert moves_from(position, "e2") == {"e3", "e4"}


# checks and pins --------------------------------------------------------------------------------------


def test_in_double_check_only_the_king_moves():
    position = at("4k3/8/8/8/8/5n2/3Q4/r3K3 w - - 0 1")
    assert {text[:2] for text in position.legal()} == {"e1"}


def test_a_check_is_answered_by_taking_standing_between_or_moving():
    position = at("4k3/8/8/8/4r3/2N5/3B4/4K3 w - - 0 1")
    assert sorted(position.legal()) == sorted(["c3e4", "c3e2", "d2e3", "e1d1", "e1f1", "e1f2"])


def test_pinned_pieces_stay_on_the_line():
    position = at("4r1k1/8/8/b7/4R3/2N5/8/4K3 w - - 0 1")
    assert moves_from(position, "c3") == set()
    assert moves_from(position, "e4") == {"e2", "e3", "e5", "e6", "e7", "e8"}


def test_the_king_does_not_step_back_in_the_line_of_a_check():
    assert "e2d2" not in at("4k3/8/8/8/8/8/r3K3/8 w - - 0 1").legal()
    assert "e2f2" not in at("4k3/8/8/8/8/8/r3K3/8 w - - 0 1").legal()


# ends -------------------------------------------------------------------------------------------------


def test_mate():
    position = Position.start(GAME, None, ["f2f3", "e7e5", "g2g4", "d8h4"])
    assert position.is_terminal()
    assert position.utilities() == (-1.0, 1.0)
    assert not position.rule_draw()
    assert position.board().line == ((7, 4), (4, 7))


def test_stalemate_is_a_draw_of_play():
    position = at("7k/8/6Q1/8/8/8/8/K7 w - - 0 1", "g6f7")
    assert position.is_terminal()
    assert position.utilities() == (0.0, 0.0)
    assert not position.rule_draw()
    assert position.board().line == ()


@pytest.mark.parametrize(
    ("men", "dead"),
    [
        ("8/8/8/8", True),
        ("8/8/2N5/8", True),
        ("8/8/2b5/8", True),
        ("8/2B5/8/2B5", True),  # on squares of one colour, however many
        ("1b6/2B5/1b6/2B5", True),
        ("8/2B5/2B5/8", False),
        ("8/2B5/2b5/8", False),
        ("8/8/2N5/2N5", False),
        ("8/8/2N5/2n5", False),
        ("8/8/2N5/2b5", False),
        ("8/8/8/2P5", False),
        ("8/8/8/2R5", False),
        ("8/8/8/2q5", False),
    ],
)
def test_dead_material(men, dead):
    for game in (GAME, FIDE):
        position = at(f"4k3/8/8/{men}/7K w - - 0 1", game=game)
        assert position.is_terminal() is position.rule_draw() is dead
        assert not dead or position.utilities() == (0.0, 0.0)


def test_the_third_or_the_fifth_time_a_position_comes_it_is_a_draw():
    for game, times in ((GAME, 3), (FIDE, 5)):
        position = Position.start(game, None, KNIGHTS_OUT_AND_BACK * (times - 2))
        assert not position.is_terminal()
        for move in KNIGHTS_OUT_AND_BACK:
            assert not position.is_terminal()
            position = position.play(move)
        assert position.is_terminal()
        assert position.rule_draw()
        assert position.utilities() == (0.0, 0.0)


@pytest.mark.parametrize(("game", "limit"), [(GAME, 100), (FIDE, 150)])
def test_the_clock_draws(game, limit):
    position = at(f"4k3/8/8/8/8/8/8/R3K3 w - - {limit - 1} 90", game=game)
    assert not position.is_terminal()
    over = position.play("a1a2")
    assert over.is_terminal()
    assert over.rule_draw()
    assert over.utilities() == (0.0, 0.0)
    assert over.legal() == []
    assert over.state.count_actions() == 0
    assert list(over.state.actions()) == []


def test_mate_and_stalemate_come_before_the_clock():
    mate = at("7k/8/6K1/8/8/8/8/R7 w - - 99 90", "a1a8")
    assert mate.utilities() == (1.0, -1.0)
    assert not mate.rule_draw()
    stalemate = at("7k/8/8/6Q1/8/8/8/K7 w - - 99 90", "g5g6")
    assert stalemate.utilities() == (0.0, 0.0)
    assert not stalemate.rule_draw()


def test_a_capture_and_a_pawn_wind_the_clock_up_again():
    assert at("4k3/8/8/8/8/8/r7/R3K3 w - - 40 90", "a1a2").state.clock == 0
    assert at("4k3/8/8/8/8/8/7P/R3K3 w - - 40 90", "h2h3").state.clock == 0
    assert at("4k3/8/8/8/8/8/7P/R3K3 w - - 40 90", "a1a3").state.clock == 41


# keys, classes, machine code --------------------------------------------------------------------------


def test_keys_tell_side_rights_and_passing_apart_and_no_clocks():
    texts = [
        "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq - 0 2",
        "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 2",
        "r3k2r/8/8/3pP3/8/8/8/R3K2R w KQk - 0 2",
        "r3k2r/8/8/3pP3/8/8/8/R3K2R w - - 0 2",
        "r3k2r/8/8/3pP3/8/8/8/R3K2R b KQkq - 0 2",
        "R3K2R/8/8/3pP3/8/8/8/r3k2r w - - 0 2",
    ]
    assert len({GAME.parse_position(text).key() for text in texts}) == len(texts)
    assert GAME.parse_position(texts[3].replace("0 2", "9 77")).key() == GAME.parse_position(texts[3]).key()


def test_options_choose_the_class():
    assert type(GAME.initial_state()) is Chess
    assert type(FIDE.initial_state()) is variant_class(150)
    assert FIDE.variant == "chess(claims=fide)"
    with pytest.raises(InputError, match="expected claims auto or fide"):
        games.load("chess(claims=never)")


def test_a_module_has_no_class_of_another_name():
    import games.chess_state as module  # noqa: PLC0415

    assert module.Chess_150 is variant_class(150)
    with pytest.raises(AttributeError, match="Chess_x"):
        _ = module.Chess_x


@njit
def replay(s, moves):
    for a in moves:
        s = s.result(a)
    return s.count_actions(), s.key(), s.is_terminal()


def test_machine_code_castles_passes_and_promotes():
    """A game with all that is special, by machine code move by move."""
    import numpy as np  # noqa: PLC0415

    state = GAME.initial_state()
    texts = "e2e4 a7a6 e4e5 d7d5 e5d6 g8f6 d6c7 g7g6 c7b8n f8g7 g1f3 e8g8 f1e2 b7b5 e1g1 b5b4 c2c4 b4c3"
    actions = []
    for text in texts.split():
        actions.append(GAME.parse_action(state, text))
        state = state.result(actions[-1])
        expected = (state.count_actions(), state.key(), state.is_terminal())
        assert replay(native(GAME.initial_state()), np.array(actions)) == expected


# looks and features -----------------------------------------------------------------------------------


def test_board():
    board = Position.start(GAME, moves=["e2e4"]).board()
    assert (board.style, board.rows, board.columns) == ("chequered", 8, 8)
    assert board.kinds[0, 4] == "king"
    assert board.pieces[0, 4] == 1
    assert board.kinds[7, 3] == "queen"
    assert board.pieces[7, 3] == 0
    assert board.kinds[4, 4] == "pawn"
    assert board.last == ((6, 4), (4, 4))
    assert board.targets["g8f6"] == (2, 5)
    assert board.column_labels == tuple("abcdefgh")
    assert board.row_labels == tuple("87654321")


@pytest.mark.parametrize(
    ("fen", "seen"),
    [
        # a bishop on b2 sees c1, c3 to h8, a1, a3: ten squares but the pawn's, a3
        ("4k3/8/8/8/8/P7/1B6/4K3 w - - 0 1", {"material": 4, "mobility": 9 - 1, "weak": 1, "passed": 1}),
        ("4k3/8/8/8/3P4/8/8/4K3 w - - 0 1", {"material": 1, "centre": 2, "passed": 1, "weak": 1}),
        ("4k3/8/3P4/3P4/8/8/8/4K3 w - - 0 1", {"passed": 2 + 3, "weak": 3, "centre": 3}),
        ("4k3/2p5/8/8/3P4/8/8/4K3 w - - 0 1", {"material": 0, "passed": 0, "weak": 0, "centre": 2}),
        ("3qk3/8/8/8/8/8/5PPP/6K1 w - - 0 1", {"material": 3 - 9, "shelter": 3, "weak": 0, "passed": 3}),
        ("7k/8/8/8/8/8/8/KR6 w - - 0 1", {"material": 5, "hunt": 6 + 0, "mobility": 7 + 6}),
        ("7k/R7/6K1/8/8/8/8/8 w - - 0 1", {"hunt": 6 + 5, "pressure": 2}),
    ],
)
def test_features_by_hand(fen, seen):
    white, black = (at(fen).state.features(player)._asdict() for player in range(2))
    assert {name: white[name] for name in seen} == seen
    assert all(black[name] == -value for name, value in seen.items())
    turned = at(mirror(fen)).state.features(1)
    assert turned == Features(**white)
