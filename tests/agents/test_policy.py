"""Fixed mixed strategies: drawn as their table says, and the textbook's is an equilibrium."""

from collections import Counter
from itertools import product

import pytest

import games
from agents import roster
from agents.clock import Clock
from agents.policy import Policy
from games import CHANCE, InputError, Observation, Position

KUHN = games.load("kuhn_poker")
VALUE = -1 / 18
"""What Kuhn poker is worth to player 0 when both play as Kuhn showed (1950)."""


def table(name: str) -> dict[str, dict[str, float]]:
    agent = next(agent for agent in roster.load() if agent.name == name)
    return agent.settings_for(KUHN).table


def seen(text: str) -> Observation:
    return Observation(KUHN, "xo".index(text[-1]), text, ["p", "b"])


def payoff(position: Position, strategies) -> float:
    """Chips that player 0 wins on average."""
    if position.is_terminal():
        return position.utilities()[0]
    if position.to_move() == CHANCE:
        return sum(chance * payoff(position.play(text), strategies) for text, chance in position.outcomes())
    row = strategies[position.to_move()][position.text(position.to_move())]
    total = sum(row.values())
    return sum(
        often / total * payoff(position.play(text), strategies) for text, often in row.items() if often
    )


def pure_strategies(player: int):
    """All 64 ways to choose one action in each of a player's six information sets."""
    texts = [text for text in table("timid") if text.endswith("xo"[player])]
    assert len(texts) == 6
    for actions in product("pb", repeat=6):
        yield {text: {action: 1.0} for text, action in zip(texts, actions, strict=True)}


def test_actions_are_drawn_by_their_numbers():
    agent = Policy(KUHN, {"0?/ x": {"p": 3, "b": 1}}, seed=1)
    drawn = Counter(agent.choose(seen("0?/ x"), Clock(1_000)) for _ in range(4_000))
    assert set(drawn) == {"p", "b"}
    assert 2_850 < drawn["p"] < 3_150


def test_a_seed_repeats_the_draws():
    draws = [
        [
            Policy(KUHN, {"0?/ x": {"p": 1, "b": 1}}, seed=seed).choose(seen("0?/ x"), Clock(1_000))
            for seed in s
        ]
        for s in (range(50), range(50))
    ]
    assert draws[0] == draws[1]
    assert set(draws[0]) == {"p", "b"}


def test_a_state_that_is_open_is_looked_up_by_its_position():
    game = games.load("tic_tac_toe")
    agent = Policy(game, {"......... x": {"4": 1}})
    assert agent.choose(game.initial_state(), Clock(1_000)) == "4"


@pytest.mark.parametrize("row", [None, {}, {"p": 0, "b": 0}, {"f": 1}])
def test_a_position_without_an_answer_is_told(row):
    agent = Policy(KUHN, {} if row is None else {"0?/ x": row})
    with pytest.raises(InputError, match="expected a row of the policy that allows one of p, b") as refused:
        agent.choose(seen("0?/ x"), Clock(1_000))
    assert refused.value.where == "0?/ x"


@pytest.mark.parametrize("often", [-1.0, float("nan"), float("inf")])
def test_numbers_that_are_none_are_refused(often):
    with pytest.raises(InputError, match="expected numbers of 0 or more"):
        Policy(KUHN, {"0?/ x": {"p": often}})


@pytest.mark.parametrize("name", ["equilibrium", "timid"])
def test_the_tables_have_a_row_for_every_information_set(name):
    assert len(table(name)) == 12
    assert table(name).keys() == table("timid").keys()


def test_the_textbook_strategy_is_an_equilibrium():
    start, own = Position.start(KUHN), table("equilibrium")
    assert payoff(start, (own, own)) == pytest.approx(VALUE)
    assert min(payoff(start, (own, other)) for other in pure_strategies(1)) == pytest.approx(VALUE)
    assert max(payoff(start, (other, own)) for other in pure_strategies(0)) == pytest.approx(VALUE)


def test_timid_play_is_easily_read():
    start, own = Position.start(KUHN), table("timid")
    assert min(payoff(start, (own, other)) for other in pure_strategies(1)) < VALUE - 0.1
    assert max(payoff(start, (other, own)) for other in pure_strategies(0)) > VALUE + 0.1


def test_a_row_for_many_texts_counts_where_no_exact_one_does():
    table = {"2?/ x": {"b": 1}, "[12]?/*": {"p": 1}, "*": {"b": 1}}
    game = games.load("kuhn_poker")
    chosen = {
        moves: Policy(game, table).choose(
            Position.start(game, moves=moves.split()).observation(), Clock(1000)
        )
        for moves in ("d2 d0", "d1 d0", "d0 d1", "d1 d2 p b")
    }
    assert chosen == {"d2 d0": "b", "d1 d0": "p", "d0 d1": "b", "d1 d2 p b": "p"}


def test_signs_of_a_text_stand_for_themselves():
    """A question mark is a card that is hidden, and no sign for any character."""
    game = games.load("kuhn_poker")
    with pytest.raises(InputError, match="a row of the policy"):
        Policy(game, {"??/*": {"p": 1}}).choose(
            Position.start(game, moves=["d2", "d0"]).observation(), Clock(1000)
        )
