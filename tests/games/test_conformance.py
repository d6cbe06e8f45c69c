"""What every game must keep, whatever its rules: run on each game found and on variants of its options."""

import itertools
import json
import math
import random
from collections.abc import Callable

import corpus
import go_rules
import pytest
from corpus import neighbours, playable

import games
from games import CHANCE, PUBLIC, Game, InputError, Position
from games.perft import plies
from games.protocol import LISTED, mix, u64

FEW = 40
"""So many positions, for tests that look at every successor of each."""

JUNK = [
    "",
    " ",
    "\n",
    "\x00",
    "-1",
    "+1",
    "01",
    "1.0",
    "1e0",
    "0x1",
    "1_0",
    "99",
    "NaN",
    "true",
    "null",
    "\u0661",
    "\uff11",
    "\u00b2",
    "\ud800",
    "1" * 100_000,
    "x" * 100_000,
]


VARIANTS = [variant for name in games.names() for variant in (name, *neighbours(games.load(name)))] + [
    "connect_four(rows=5,columns=6,k=4)",
    "connect_four(rows=2,columns=2,k=2)",
    "connect_four(rows=9,columns=6,k=9)",
    "connect_four(rows=6,columns=9,k=9)",
    "othello(size=6)",
    "othello(size=4)",
]


KEYED: dict[str, Callable[[str], str]] = {"chess": lambda text: " ".join(text.split(" ")[:4])}
"""What of a position's text its key tells apart, where not all: in chess the clocks do not make another
position, neither for repetition nor for a table of positions."""

UNEVEN: dict[str, object] = {"go": go_rules.but_own_eyes}
"""Which of all actions a game draws in playouts, where not all: a function of the state and its actions."""

HIDDEN = [variant for variant in VARIANTS if games.load(variant).hidden]


@pytest.fixture(params=VARIANTS)
def game(request) -> Game:
    return games.load(request.param)


@pytest.fixture
def random_games(game) -> tuple[tuple[Position, ...], ...]:
    """Some random games, each as all its positions from the initial one to the end."""
    return corpus.random_games(game.variant)


@pytest.fixture
def positions(game) -> tuple[Position, ...]:
    """Positions of those games."""
    return corpus.sample(game.variant)


def test_variant_name_loads_the_same_game(game):
    again = games.load(game.variant)
    assert again.variant == game.variant
    assert again.initial_state() == game.initial_state()


def test_states_are_immutable_and_hashable(positions):
    for position in positions:
        state = position.state
        text, known = position.text(), hash(state)
        for ply in plies(state):
            state.result(ply)
        state.is_terminal()
        state.features(0)
        assert (position.text(), hash(state)) == (text, known)
        with pytest.raises(AttributeError):
            state.invented = 1
        for field in state._fields:
            with pytest.raises(AttributeError):
                setattr(state, field, 0)


def test_rules_are_told_and_a_typical_position_can_be_played(game):
    assert len(game.rules) > 100
    position = Position.start(game.with_options())
    for text in game.typical:
        position = position.play(text)
    assert position.ply > 0
    assert not position.is_terminal()


def test_players_and_turns(game, positions):
    assert game.players >= 1
    for position in positions:
        assert position.state.players() == game.players
        if not position.is_terminal():
            assert position.to_move() in (
                range(game.players) if not game.has_chance else range(CHANCE, game.players)
            )


def test_actions_are_small_numbers_in_a_fixed_order(positions):
    for position in positions:
        chance = not position.is_terminal() and position.to_move() == CHANCE
        actions = list(position.state.actions())
        assert actions == list(position.state.actions())
        assert len(set(actions)) == len(actions)
        assert all(type(action) is int and 0 <= action < 2**15 for action in actions)
        assert position.state.count_actions() == len(actions)
        assert bool(actions) is not (position.is_terminal() or chance)


def test_chance_has_outcomes_where_it_moves_and_nowhere_else(game, positions):
    for position in positions:
        outcomes = list(position.state.chance())
        chance = not position.is_terminal() and position.to_move() == CHANCE
        assert bool(outcomes) is chance
        assert game.has_chance or not chance
        assert position.outcomes() == [
            (game.format_action(position.state, outcome), probability) for outcome, probability in outcomes
        ]
        if chance:
            assert position.legal() == []
            assert outcomes == list(position.state.chance())
            assert len({outcome for outcome, _ in outcomes}) == len(outcomes)
            assert all(type(outcome) is int and 0 <= outcome < 2**15 for outcome, _ in outcomes)
            assert all(0 < probability <= 1 for _, probability in outcomes)
            assert math.fsum(probability for _, probability in outcomes) == pytest.approx(1)


def test_every_action_leads_to_another_state_that_can_be_read_back(game, positions):
    for position in positions[:FEW]:
        state = position.state
        for ply in plies(state):
            following = state.result(ply)
            assert type(following) is type(state)
            assert following != state
            assert game.parse_position(game.format_position(following)) == following


def test_equal_states_have_equal_keys_and_different_ones_different_keys(game, positions):
    texts_by_key: dict[int, str] = {}
    for position in positions:
        key = position.state.key()
        assert 0 <= key < 2**64
        assert game.parse_position(position.text()).key() == key
        text = KEYED.get(game.name, str)(position.text())
        assert texts_by_key.setdefault(key, text) == text
    assert len(set(texts_by_key.values())) == len(texts_by_key)


def test_a_turn_of_several_actions_is_one_players(random_games):
    for before, after in itertools.chain(*map(itertools.pairwise, random_games)):
        if after.state.mid_turn():
            assert not after.is_terminal()
            assert after.to_move() == before.to_move() != CHANCE


def test_a_random_action_of_a_playout_is_one_of_all(game, positions):
    """Where a game draws its playout actions itself: legal ones, each as likely as another.

    A game that draws them otherwise says how in its docstring of `playout_action`, and in UNEVEN here.
    """
    for position in positions[:FEW]:
        actions = list(position.state.actions())
        draws = [position.state.playout_action(mix(u64(seed))) for seed in range(40 * len(actions) or 1)]
        if LISTED in draws:
            assert set(draws) == {LISTED}
            continue
        allowed = UNEVEN.get(game.name, lambda _state, actions: actions)(position.state, actions)
        assert set(draws) == set(allowed)
        times, sides = [draws.count(action) for action in allowed], len(allowed)
        expected = len(draws) / sides
        chi_squared = sum((count - expected) ** 2 / expected for count in times)
        assert chi_squared < sides + 6 * math.sqrt(2 * sides) + 10


def test_utilities_are_known_at_the_end(game, random_games):
    for played in random_games:
        utilities = played[-1].utilities()
        assert len(utilities) == game.players
        assert all(math.isfinite(utility) for utility in utilities)
        if game.zero_sum:
            assert sum(utilities) == 0


def test_features_are_finite_named_and_seen_from_both_sides(game, positions):
    for position in positions:
        seen = [position.state.features(player) for player in range(game.players)]
        for features in seen:
            assert features._fields == game.feature_names
            assert all(math.isfinite(value) for value in features)
        if game.zero_sum and game.players == 2:
            assert [-value for value in seen[0]] == list(seen[1])


def test_evaluate_is_the_dot_product_of_features_and_weights(game, positions):
    rng = random.Random(1)
    weights = [rng.uniform(-1, 1) for _ in game.feature_names]
    for position in positions:
        for player in range(game.players):
            expected = sum(w * f for w, f in zip(weights, position.state.features(player), strict=True))
            assert position.state.evaluate(player, weights) == pytest.approx(expected)
    with pytest.raises(ValueError, match="argument"):
        game.initial_state().evaluate(0, [*weights, 1.0])


def test_texts_of_actions_and_outcomes_are_distinct_and_read_back(game, positions):
    for position in positions:
        actions, texts = list(plies(position.state)), playable(position)
        assert len(set(texts)) == len(actions)
        for action, text in zip(actions, texts, strict=True):
            assert game.parse_action(position.state, text) == action


def test_texts_of_positions_read_back_exactly(game, positions):
    for position in positions:
        again = game.parse_position(position.text())
        assert again == position.state
        assert hash(again) == hash(position.state)
        assert game.format_position(again) == position.text()


def test_boards_are_plain_data_inside_their_size(game, positions):
    for position in positions:
        board = position.board()
        assert json.loads(json.dumps(board.to_json(), allow_nan=False)) == board.to_json()
        assert set(board.kinds) <= set(board.pieces)
        cells = [
            *board.pieces,
            *board.cards,
            *board.counts,
            *board.last,
            *board.line,
            *board.targets.values(),
        ]
        assert all(0 <= row < board.rows and 0 <= column < board.columns for row, column in cells)
        assert all(0 <= seat < game.players for seat in board.pieces.values())
        assert list(board.targets) == [text for text in position.legal() if text in board.targets]
        assert position.ply > 0 or not board.last
        assert len(board.column_labels) in (0, board.columns)
        assert len(board.row_labels) in (0, board.rows)
        lines = [board.top_labels, board.column_labels, board.dice]
        assert len(board.to_text().splitlines()) == board.rows + sum(map(bool, lines))


def test_illegal_actions_are_refused_and_change_nothing(positions):
    for position in positions[:FEW]:
        before = (position.text(), position.actions, position.keys, position.state)
        legal = playable(position)
        padded = [variant for text in legal[:5] for variant in (f" {text}", f"{text} ", f"{text}\n")]
        for text in [*JUNK, *padded, None, 1, 1.0, True, b"1", ["1"], math.nan]:
            if text in legal:
                continue
            with pytest.raises(InputError) as refusal:
                position.play(text)
            assert len(str(refusal.value)) < 600
            assert set(refusal.value.available) == set(legal)
        assert (position.text(), position.actions, position.keys, position.state) == before


def test_odd_position_texts_are_refused(game):
    text = game.format_position(game.initial_state())
    odd = [
        "",
        " ",
        text[:-1],
        text[1:],
        f"{text} ",
        f" {text}",
        f"{text}\n",
        text * 2,
        text + "\x00",
        "?" * 100_000,
    ]
    for broken in [*odd, text.replace(" ", "\u00a0"), text.replace(" ", "  "), None, 7, b"x"]:
        with pytest.raises(InputError) as refusal:
            game.parse_position(broken)
        assert len(str(refusal.value)) < 600


def test_positions_remember_how_they_came_about(game, random_games):
    for played in random_games:
        end = played[-1]
        assert Position.start(game, None, end.actions) == end
        assert end.seen_actions() == end.actions
        assert end.keys == tuple(game.repeated(position.state) for position in played)
        assert end.ply == len(played) - 1
        assert end.legal() == []
        with pytest.raises(InputError, match="the game is over"):
            end.play(end.actions[-1])


def test_who_may_know_what_in_words(game, random_games):
    """Everything is told without a player; PUBLIC and a player are told what they may know, ply by ply."""
    for played in random_games:
        for before, after in itertools.pairwise(played):
            for p in range(PUBLIC, game.players):
                known = before.seen_actions(p)
                assert after.seen_actions(p)[:-1] == known
                assert after.ply == len(after.seen_actions(p))
                if not game.hidden:
                    assert after.seen_actions(p) == after.actions
                    assert (after.text(p), after.board(p)) == (after.text(), after.board())


@pytest.mark.parametrize("game", HIDDEN, indirect=True)
def test_a_player_knows_what_was_seen_and_nothing_else(game, random_games):
    """In games with hidden information, what is seen of the plies decides what is seen of the position."""
    for p in range(game.players):
        shown: dict[tuple[str, ...], set[object]] = {}
        informed: dict[int, set[object]] = {}
        for position in itertools.chain(*random_games):
            legal = tuple(position.legal()) if position.to_move() == p else ()
            view = (position.text(p), json.dumps(position.board(p).to_json()), legal)
            shown.setdefault(position.seen_actions(p), set()).add((view, position.state.information(p)))
            informed.setdefault(position.state.information(p), set()).add(position.text(p))
        assert all(len(views) == 1 for views in shown.values())
        assert all(len(texts) == 1 for texts in informed.values())
        assert len(set().union(*informed.values())) == len(informed)


@pytest.mark.parametrize("game", HIDDEN, indirect=True)
def test_an_observation_does_in_place_of_the_state(game, positions):
    for position in positions:
        if position.is_terminal() or position.to_move() == CHANCE:
            continue
        seen = position.observation()
        assert (seen.to_move(), seen.players()) == (position.to_move(), game.players)
        assert seen.text == position.text(position.to_move())
        assert list(seen.actions()) == list(position.state.actions())
        for action, text in zip(seen.actions(), seen.legal, strict=True):
            assert game.parse_action(seen, text) == action
            assert game.format_action(seen, action) == text
        with pytest.raises(InputError, match="expected a legal action"):
            game.parse_action(seen, "nothing")
