"""The order and the columns of a ladder's table."""

from dataclasses import astuple

import hypothesis.strategies as st
import pytest
from hypothesis import given

from server.core.standings import COLUMNS, PROVISIONAL_GAMES, rank_rows, standing


def row(agent, elo, *, version=1, wins=0, draws=0, losses=0):
    return standing(agent=agent, version=version, owner=None, elo=elo, wins=wins, draws=draws, losses=losses)


def test_the_columns_and_their_order():
    assert COLUMNS == (
        "rank",
        "tier",
        "agent",
        "version",
        "owner",
        "rating",
        "rating_low",
        "rating_high",
        "elo",
        "provisional",
        "games",
        "wins",
        "draws",
        "losses",
        "los_next",
    )


def test_a_row_by_live_elo():
    ada = standing(agent="ada", version=2, owner="bob", elo=1612.5, wins=20, draws=3, losses=8)
    assert astuple(ada) == (
        *(0, None, "ada", 2, "bob", 1612.5, None, None, 1612.5),
        *(False, 31, 20, 3, 8, None),
    )


@pytest.mark.parametrize(("games", "provisional"), [(0, True), (29, True), (30, False), (31, False)])
def test_a_rating_is_provisional_until_thirty_games(games, provisional):
    assert row("ada", 1500.0, wins=games).provisional is provisional
    assert PROVISIONAL_GAMES == 30


def places(rows):
    return [(one.rank, one.agent) for one in rank_rows(rows)]


def test_the_best_rating_comes_first():
    assert places([row("b", 1400.0), row("a", 1300.0), row("c", 1600.0)]) == [(1, "c"), (2, "b"), (3, "a")]


def test_equal_ratings_share_a_rank_in_the_order_of_names_and_leave_a_gap():
    rows = [row("Zoe", 1500.02), row("ada", 1499.98), row("top", 1600.0), row("low", 1400.0)]
    assert places(rows) == [(1, "top"), (2, "ada"), (2, "Zoe"), (4, "low")]


def test_a_tenth_of_a_point_makes_a_rank():
    assert places([row("a", 1500.0), row("b", 1500.1)]) == [(1, "b"), (2, "a")]


def test_an_empty_ladder_has_an_empty_table():
    assert rank_rows([]) == []


ROWS = st.lists(
    st.builds(
        row, st.text("abcABC", min_size=1, max_size=3), st.floats(1499, 1501), version=st.integers(1, 5)
    ),
    max_size=12,
    unique_by=lambda one: (one.agent, one.version),
)


@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_is_one_whatever_order_the_rows_came_in(rows, chance):
    ranked = rank_rows(rows)
    shuffled = list(rows)
    chance.shuffle(shuffled)
    assert rank_rows(shuffled) == ranked
    shown = [round(one.rating, 1) for one in ranked]
    assert shown == sorted(shown, reverse=True)
    assert [one.rank for one in ranked] == [1 + sum(other > mine for other in shown) for mine in shown]
