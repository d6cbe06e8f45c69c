"""Leduc poker: every position looked at, others' games and OpenSpiel's rules, and the value of the game."""

import itertools
import json
import random
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from agreement import agrees
from fuzz import check_text, nearly, texts_of
from hypothesis import given, settings

import games
from games import CHANCE, PUBLIC, InputError, Position
from games.perft import layers, merged_perft, perft, plies

GAME = games.load("leduc_poker")
DATA = Path(__file__).parents[1] / "data" / "truth"
CLOSED = ("cc", "rc", "crc", "rrc", "crrc")
"""First rounds after which the game goes on."""


def rows(name: str) -> list[dict[str, object]]:
    lines = (DATA / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [row for row in map(json.loads, lines) if row.get("game", "leduc_poker") == "leduc_poker"]


def after(cards: str, before: str = "", rest: str = "") -> Position:
    """Position after a betting: cards as digits, the third one is laid open."""
    dealt = [f"d{card}" for card in cards]
    return Position.start(GAME, moves=[*dealt[:2], *before, *dealt[2:], *rest])


@pytest.fixture(scope="module")
def everything() -> list[Position]:
    """Each position that can be reached."""
    found = [Position.start(GAME)]
    for position in found:
        choices = [text for text, _ in position.outcomes()] or position.legal()
        found.extend(position.play(text) for text in choices)
    return found


@pytest.mark.parametrize("row", rows("games_leduc_poker"), ids=lambda row: row["id"])
def test_others_games(row):
    position = Position.start(GAME)
    weights = np.linspace(-0.7, 1.1, len(GAME.feature_names))
    numbers = []
    for move in row["moves"].split():
        numbers.append(len(position.legal()))
        agrees(position, weights)
        position = position.play(move)
    agrees(position, weights)
    assert numbers == row["legal"]
    assert position.is_terminal()
    assert list(position.utilities()) == row["returns"]


def test_machine_code_agrees_on_all_bettings():
    weights = np.array([0.5, -1.0, 2.0])
    for layer in layers(after("02").state):
        for state in layer:
            agrees(Position(GAME, state), weights)


@pytest.mark.parametrize(
    ("cards", "better"),
    [
        ("401", -1),  # the pair of jacks beats the king
        ("240", -1),
        ("023", -1),
        ("032", -1),
        ("013", 0),
        ("542", 0),
        ("201", -1),
        ("214", 1),
        ("345", -1),
        ("534", 1),
    ],
)
def test_a_pair_wins_then_the_higher_rank_then_nobody(cards, better):
    for before, first in (("cc", 1), ("rc", 3), ("crc", 3), ("rrc", 5), ("crrc", 5)):
        for rest, second in (("cc", 0), ("rc", 4), ("crc", 4), ("rrc", 8), ("crrc", 8)):
            chips = float(first + second) * better
            assert after(cards, before, rest).utilities() == (chips, -chips)


@pytest.mark.parametrize(
    ("before", "rest", "won"),
    [
        ("rf", "", 1),
        ("crf", "", -1),
        ("rrf", "", -3),
        ("crrf", "", 3),
        ("cc", "rf", 1),
        ("rc", "crf", -3),
        ("rrc", "rrf", -9),
        ("crrc", "crrf", 9),
    ],
)
def test_who_folds_loses_the_own_stake(before, rest, won):
    for cards in ("041", "401") if rest else ("04", "40"):
        assert after(cards, before, rest).utilities() == (won, -won)


@pytest.mark.parametrize(
    ("betting", "legal"),
    [("", "cr"), ("c", "cr"), ("r", "fcr"), ("cr", "fcr"), ("rr", "fc"), ("crr", "fc")],
)
def test_folding_answers_a_raise_and_a_round_has_two(betting, legal):
    """In both rounds alike; player 0 begins each."""
    for position in (after("03", betting), *(after("031", before, betting) for before in CLOSED)):
        assert position.legal() == list(legal)
        assert position.to_move() == len(betting) % 2


def test_cards_left_are_equally_likely():
    chances: Counter[tuple[int, ...]] = Counter()
    for first, p in GAME.initial_state().chance():
        state = GAME.initial_state().result(first)
        for second, q in state.chance():
            dealt = state.result(second).result(1).result(1)
            assert dealt.to_move() == CHANCE
            for public, r in dealt.chance():
                chances[first, second, public] += p * q * r
    assert chances == pytest.approx(dict.fromkeys(itertools.permutations(range(6), 3), 1 / 120))


def test_number_of_positions(everything):
    """A round has 15 bettings: 6 to go on, 4 folds, 5 calls; 30 deals, and four cards to be laid open."""
    assert len(everything) == 1 + 6 + 30 * 15 + 30 * 5 * 4 * 15 == 9_457
    assert sum(position.is_terminal() for position in everything) == 30 * (4 + 5 * 4 * 9)
    assert len({position.state.key() for position in everything}) == len(everything)
    assert [perft(GAME.initial_state(), depth) for depth in (1, 2, 3, 8, 12)] == [
        merged_perft(GAME.initial_state(), depth) for depth in (1, 2, 3, 8, 12)
    ]


def test_information_sets(everything):
    """288 for each player if cards of a rank were one (Southey et al. count 936 for both, cards apart)."""
    sets: tuple[set[int], set[int]] = (set(), set())
    for position in everything:
        if not position.is_terminal() and position.to_move() != CHANCE:
            sets[position.to_move()].add(position.state.information(position.to_move()))
    assert [len(found) for found in sets] == [6 * 3 + 6 * 5 * 5 * 3] * 2
    assert sum(map(len, sets)) == 936


def test_nothing_that_a_player_sees_tells_the_hidden_card(everything):
    """States that a player cannot tell apart look alike in all there is; the others do not."""
    for p in (PUBLIC, 0, 1):
        looks = defaultdict(set)
        knows = defaultdict(set)
        for position in everything:
            first, second, *_ = position.state
            dealt = tuple(card if p == player else card > 0 for player, card in enumerate((first, second)))
            known = (dealt, position.state[2:])
            legal = tuple(position.legal()) if position.to_move() == p else ()
            board = json.dumps(position.board(p).to_json())
            text = position.text(p)
            looks[known].add((text, board, position.seen_actions(p), legal, position.where()))
            knows[text].add((known, position.state.information(p) if p != PUBLIC else 0))
        assert {len(views) for views in looks.values()} == {1}
        assert {len(views) for views in knows.values()} == {1}
        assert len(looks) == len(knows)


def test_exactly_what_can_be_reached_is_read(everything):
    known = {position.text(): position.state for position in everything}
    assert {"---// *", "5--// *", "52-/r/ o", "52-/rc/ *", "521/rc/c o", "521/crrc/crrc x"} <= set(known)
    for text, state in known.items():
        assert GAME.parse_position(text) == state
    for cards, before, rest in itertools.product(
        ("---", "3--", "30-", "304", "33-", "303", "-3-", "3-0", "30?", "306"),
        ("", "c", "r", "cc", "rc", "rf", "crrc", "rrr", "f", "rcr"),
        ("", "c", "rf", "rrc", "rrr", "x"),
    ):
        for side in "xo*":
            text = f"{cards}/{before}/{rest} {side}"
            assert check_text(GAME, text) is (text in known)
    with pytest.raises(InputError, match="three different cards of 0 to 5"):
        GAME.parse_position("11-// x")


@settings(deadline=None)
@given(nearly(texts_of("leduc_poker")))
def test_nearly_valid_texts(text):
    check_text(GAME, text)


def test_board_shows_cards_chips_and_the_last_move():
    """Player 0 sits below, the open card lies between; nobody owns it."""
    raised = after("520", "rc", "r").board()
    assert raised.pieces == {(2, 0): 0, (2, 1): 0, (0, 0): 1, (0, 1): 1}
    assert raised.cards == {(2, 0): "K♥", (0, 0): "Q♠", (1, 0): "J♠"}
    assert raised.counts == {(2, 1): 7, (0, 1): 3}
    assert raised.last == ((2, 1),)
    assert after("520", "rc").board().last == ((1, 0),)
    assert after("52", "rc").board().last == ((0, 1),)
    assert after("52", "crr").board().last == ((2, 1),)
    assert after("52", "crrf").board().last == ()
    assert after("520", "rc", "c").board().last == ()
    assert after("52", "c").board().last == ()
    assert after("52").board().last == ((0, 0),)
    assert after("5").board().last == ((2, 0),)
    assert after("").board().last == ()
    for p, seen in ((0, ["o?", "J♠", "xK♥"]), (1, ["oQ♠", "J♠", "x?"]), (PUBLIC, ["o?", "J♠", "x?"])):
        lines = after("520", "rc", "r").board(p).to_text().splitlines()
        assert [line.split()[0] for line in lines] == [*seen, "card"]


def test_plays_as_openspiel_does():
    """1,000 random games: the same legal actions, players, chances and returns at every ply."""
    rules, rng = pyspiel.load_game("leduc_poker"), random.Random("leduc")
    for _ in range(1_000):
        state, position = rules.new_initial_state(), Position.start(GAME)
        while not state.is_terminal():
            assert not position.is_terminal()
            choices = list(plies(position.state))
            assert choices == state.legal_actions()
            assert position.to_move() == (CHANCE if state.is_chance_node() else state.current_player())
            if state.is_chance_node():
                assert dict(position.state.chance()) == pytest.approx(dict(state.chance_outcomes()))
            action = rng.choice(choices)
            state.apply_action(action)
            position = position.play(GAME.format_action(position.state, action))
        assert position.is_terminal()
        assert list(position.utilities()) == state.returns()


# the value of the game --------------------------------------------------------------------------------


class Tree:
    """All states as arrays in the order of plies, for CFR+ (Tammelin 2014) and best responses.

    `edges` are, ply by ply, the states that are not the root; `slot` is the place of the action or outcome
    that led there among those of its parent, `chance` the product of the outcomes' probabilities on the way.
    """

    def __init__(self, everything: list[Position]) -> None:
        number = {position.actions: i for i, position in enumerate(everything)}
        movers = [CHANCE if p.is_terminal() else p.to_move() for p in everything]
        sets: dict[tuple[int, int], int] = {}
        self.info = np.array(
            [
                sets.setdefault((mover, p.state.information(mover)), len(sets)) if mover != CHANCE else -1
                for mover, p in zip(movers, everything, strict=True)
            ]
        )
        self.mover = np.array(movers)
        self.parent = np.array([number.get(p.actions[:-1], 0) for p in everything])
        self.value = np.array([p.utilities()[0] if p.is_terminal() else 0.0 for p in everything])
        self.chance, self.slot = np.ones(len(everything)), np.zeros(len(everything), int)
        for i, position in enumerate(everything[1:], start=1):
            above = everything[self.parent[i]]
            texts = dict(above.outcomes()) or dict.fromkeys(above.legal(), 1.0)
            if above.to_move() != CHANCE:
                self.slot[i] = list(texts).index(position.actions[-1])
            self.chance[i] = self.chance[self.parent[i]] * texts[position.actions[-1]]
        plies_made = np.array([p.ply for p in everything])
        self.edges = [np.flatnonzero(plies_made == ply) for ply in range(1, plies_made.max() + 1)]
        self.legal = np.zeros((len(sets), 3), bool)
        decided = np.flatnonzero(self.mover[self.parent] != CHANCE)
        self.legal[self.info[self.parent[decided]], self.slot[decided]] = True

    def reach(self, strategy: np.ndarray, p: int) -> np.ndarray:
        """How likely each state is as far as `p` decides."""
        reach = np.ones(len(self.parent))
        for edge in self.edges:
            above = self.parent[edge]
            chosen = np.where(self.mover[above] == p, strategy[self.info[above], self.slot[edge]], 1.0)
            reach[edge] = reach[above] * chosen
        return reach

    def counterfactual(self, strategy: np.ndarray, p: int, best: bool = False) -> tuple[float, np.ndarray]:
        """Value of the game for `p`, and by information set and action the sum over what may be hidden.

        With `best`, `p` plays the action of the greatest sum in each of its sets.
        """
        sums = np.zeros(self.legal.shape)
        others = self.reach(strategy, 1 - p) * self.chance
        values = others * (self.value if p == 0 else -self.value)
        for edge in reversed(self.edges):
            above = self.parent[edge]
            own = self.mover[above] == p
            info, slot = self.info[above], self.slot[edge]
            np.add.at(sums, (info[own], slot[own]), values[edge[own]])
            favourite = np.where(self.legal, sums, -np.inf).argmax(1)
            share = (favourite[info] == slot) if best else strategy[info, slot]
            np.add.at(values, above, values[edge] * np.where(own, share, 1.0))
        return float(values[0]), sums


def matched(weights: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """Play in proportion to `weights`, evenly where there are none."""
    weights = np.where(weights.sum(1, keepdims=True) > 0, weights, 1.0) * legal
    return weights / weights.sum(1, keepdims=True)


def test_fact_14_value_of_the_game(everything):
    """CFR+ finds a strategy that no best response gains more than 0.004 against: both bounds on the value."""
    [fact] = rows("facts")
    tree = Tree(everything)
    regrets, average = np.zeros(tree.legal.shape), np.zeros(tree.legal.shape)
    for iteration in range(1, 501):
        for p in (0, 1):
            strategy = matched(regrets, tree.legal)
            _, sums = tree.counterfactual(strategy, p)
            own = np.zeros(len(average), bool)
            own[tree.info[tree.mover == p]] = True
            gained = sums - (strategy * sums).sum(1, keepdims=True)
            regrets[own] = np.maximum(regrets + gained, 0.0)[own] * tree.legal[own]
            decisions = tree.mover == p
            reach = np.zeros(len(average))
            reach[tree.info[decisions]] = tree.reach(strategy, p)[decisions]  # equal within a set
            average += iteration * reach[:, None] * strategy
    final = matched(average, tree.legal)
    high, low = tree.counterfactual(final, 0, best=True)[0], -tree.counterfactual(final, 1, best=True)[0]
    value = tree.counterfactual(final, 0)[0]
    assert low <= value <= high < low + 0.004
    assert low <= fact["value"] <= high
    assert value == pytest.approx(fact["value"], abs=1e-3)
