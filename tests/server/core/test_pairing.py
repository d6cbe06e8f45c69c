"""Pairing: what is preferred, that nobody waits for long, and that nobody always moves first."""

import random
from collections import Counter
from dataclasses import replace
from itertools import combinations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from server.core.pairing import (
    OVERDUE_S,
    UNIFORM_SHARE,
    WAIT_CAP_S,
    Candidate,
    choose_table,
    seatings,
    variance,
    weight,
)

ELOS = st.floats(0, 3500)
WAITS = st.floats(0, 600)
CANDIDATES = st.lists(
    st.builds(Candidate, st.integers(0, 50), ELOS, st.integers(0, 300), WAITS, st.booleans()),
    max_size=8,
    unique_by=lambda one: one.version,
)
DRAWS = st.lists(st.floats(0, 1, exclude_max=True), min_size=2, max_size=2)


def agent(version, *, elo=1500.0, games=10, waiting_s=0.0, house=False):
    return Candidate(version, elo, games, waiting_s, house)


def share(candidates, together, wanted, *, draws=4000, **more):
    """How often a pair is chosen."""
    chance = random.Random(7)
    chosen = Counter(
        frozenset(choose_table(candidates, together, chance.random, **more)) for _ in range(draws)
    )
    return chosen[frozenset(wanted)] / draws


@given(CANDIDATES, DRAWS, st.booleans())
def test_a_pair_is_two_different_candidates_or_there_is_none(candidates, draws, house_tables):
    pair = choose_table(candidates, {}, iter(draws).__next__, house_tables=house_tables)
    by_version = {one.version: one for one in candidates}
    possible = [
        (one, other)
        for one, other in combinations(candidates, 2)
        if house_tables or not (one.house and other.house)
    ]
    if not possible:
        assert pair is None
    else:
        one, other = pair
        assert one != other
        assert house_tables or not (by_version[one].house and by_version[other].house)


def test_a_version_never_meets_itself():
    assert choose_table([agent(3), agent(3)], {}, random.Random(1).random) is None
    assert choose_table([agent(3)], {}, random.Random(1).random) is None
    assert choose_table([], {}, random.Random(1).random) is None


def test_house_agents_meet_each_other_only_where_allowed():
    house = [agent(1, house=True), agent(2, house=True)]
    assert choose_table(house, {}, random.Random(1).random, house_tables=False) is None
    assert choose_table(house, {}, random.Random(1).random, house_tables=True) == (1, 2)
    assert share([*house, agent(3)], {}, (1, 2), house_tables=False, draws=200) == 0


@given(ELOS, ELOS, ELOS, st.integers(0, 100))
def test_closer_ratings_weigh_more(a, b, c, together):
    near, far = sorted((b, c), key=lambda elo: abs(elo - a))
    one = agent(1, elo=a)
    assert weight(one, agent(2, elo=near), together) >= weight(one, agent(2, elo=far), together) * (1 - 1e-9)


@given(ELOS, ELOS, st.integers(0, 300), st.integers(0, 300), st.integers(0, 100), WAITS, WAITS)
def test_weights_fall_with_games_and_rise_with_waiting(a, b, games, more_games, together, wait, more_wait):
    one, other = agent(1, elo=a, games=games, waiting_s=wait), agent(2, elo=b)
    base = weight(one, other, together)
    assert base == pytest.approx(weight(other, one, together))
    assert weight(replace(one, games=games + more_games), other, together) <= base
    assert weight(one, other, together + 1) <= base
    assert weight(replace(one, waiting_s=wait + more_wait), other, together) >= base


def test_a_rating_is_as_uncertain_as_the_prior_at_first_and_as_its_games_later():
    assert variance(0) == pytest.approx(350.0**2)
    # One game between equals tells (ln 10 / 400)^2 / 4 about the difference: a deviation of 347.4 Elo.
    assert variance(1_000_000) ** 0.5 == pytest.approx(0.3474, abs=1e-3)


def test_uncertain_agents_near_each_other_are_preferred():
    newcomer, settled, distant = agent(1, games=0), agent(2, games=300), agent(3, games=300, elo=2300.0)
    pairs = [newcomer, settled, distant]
    assert share(pairs, {}, (1, 2)) > 0.8
    assert share(pairs, {frozenset((1, 2)): 500}, (1, 2)) < 0.2


def test_one_pair_in_ten_is_drawn_uniformly():
    """The third agent is hopelessly far from the others: uniform draws alone give it a game."""
    agents = [agent(1), agent(2), agent(3, elo=6000.0)]
    hopeless = share(agents, {}, (1, 3)) + share(agents, {}, (2, 3))
    assert hopeless == pytest.approx(UNIFORM_SHARE * 2 / 3, abs=0.015)


def test_the_first_draw_decides_whether_the_choice_is_uniform():
    agents = [agent(1), agent(2), agent(3, elo=6000.0)]
    last = 1 - 1e-12
    assert choose_table(agents, {}, iter([UNIFORM_SHARE - 1e-9, last]).__next__) == (2, 3)
    assert choose_table(agents, {}, iter([UNIFORM_SHARE, 0.5]).__next__) == (1, 2)


def test_where_every_weight_is_zero_there_is_a_pair_all_the_same():
    assert choose_table([agent(1, elo=90_000.0), agent(2, elo=0.0)], {}, iter([0.5, 0.5]).__next__) == (1, 2)


@given(CANDIDATES, DRAWS)
def test_who_has_waited_too_long_is_in_the_next_pair(candidates, draws):
    waiting = agent(99, elo=3400.0, games=10_000, waiting_s=OVERDUE_S + 1000)
    pair = choose_table([*candidates, waiting], {}, iter(draws).__next__, house_tables=False)
    assert (pair is None) == (not candidates)
    assert pair is None or 99 in pair


def test_a_house_agent_that_waits_pushes_nobody_aside():
    agents = [agent(1, house=True, waiting_s=9000.0), agent(2), agent(3)]
    assert share(agents, {}, (2, 3)) > 0


def test_every_agent_plays_within_a_bounded_number_of_pairs():
    """One pair a second among twelve agents of very different ratings."""
    chance = random.Random(11)
    last_played = dict.fromkeys(range(12), 0.0)
    together = Counter()
    longest = 0.0
    for second in range(600):
        agents = [agent(v, elo=300.0 * v, waiting_s=second - last_played[v]) for v in last_played]
        longest = max(longest, *(one.waiting_s for one in agents))
        pair = choose_table(agents, together, chance.random)
        together[frozenset(pair)] += 1
        for version in pair:
            last_played[version] = second
    assert longest <= OVERDUE_S + len(last_played)
    assert WAIT_CAP_S > OVERDUE_S


TABLES = st.integers(2, 5)
MANY_DRAWS = st.lists(st.floats(0, 1, exclude_max=True), min_size=5, max_size=5)


@given(CANDIDATES, MANY_DRAWS, TABLES, st.booleans())
def test_a_table_is_as_many_different_candidates_as_the_game_has_players(
    candidates, draws, seats, house_tables
):
    draw = iter(draws)
    table = choose_table(candidates, {}, draw.__next__, seats=seats, house_tables=house_tables)
    by_version = {one.version: one for one in candidates}
    enough = len(candidates) >= seats
    if not enough or (not house_tables and all(one.house for one in candidates)):
        assert table is None
        return
    assert len(table) == len(set(table)) == seats
    assert set(table) <= set(by_version)
    assert house_tables or not all(by_version[version].house for version in table)
    assert len(list(draw)) == len(draws) - seats, "one draw for the table and one for each seat but the first"


@given(CANDIDATES, MANY_DRAWS, TABLES)
def test_the_first_two_of_a_table_are_the_pair_that_the_same_lots_give(candidates, draws, seats):
    table = choose_table(candidates, {}, iter(draws).__next__, seats=seats)
    assert table is None or table[:2] == choose_table(candidates, {}, iter(draws).__next__)


@given(CANDIDATES, MANY_DRAWS, TABLES)
def test_who_has_waited_too_long_is_at_the_next_table(candidates, draws, seats):
    waiting = agent(99, elo=3400.0, games=10_000, waiting_s=OVERDUE_S + 1000)
    table = choose_table([*candidates, waiting], {}, iter(draws).__next__, seats=seats, house_tables=False)
    assert (table is None) == (len(candidates) < seats - 1)
    assert table is None or 99 in table


def test_a_table_is_filled_by_the_same_preferences_as_pairs():
    """The third is near both of the first two, or far from them, or has met them often."""
    three = [agent(1), agent(2), agent(3), agent(4, elo=2600.0)]
    assert share(three, {}, (1, 2, 3), seats=3) > 0.85
    met = {frozenset((1, 2)): 500, frozenset((1, 3)): 500, frozenset((2, 3)): 500}
    assert share([agent(1), agent(2), agent(3), agent(4)], met, (1, 2, 3), seats=3) < 0.1


def test_everybody_has_every_seat_of_a_table_once():
    assert seatings((7, 8)) == [(7, 8), (8, 7)]
    assert seatings((7, 8, 9)) == [(7, 8, 9), (8, 9, 7), (9, 7, 8)]
    for seats in range(2, 6):
        games = seatings(tuple(range(seats)))
        assert all(sorted(by_seat) == list(range(seats)) for by_seat in (*games, *zip(*games, strict=True)))


def test_PB36_each_pair_is_played_from_both_sides():
    """200 games of a ladder: at no time has anybody moved first more than twice oftener than second."""
    chance = random.Random(36)
    agents = [agent(version, elo=chance.gauss(1500, 200)) for version in range(6)]
    first, second, together = Counter(), Counter(), Counter()
    for _ in range(100):
        pair = choose_table(agents, together, chance.random)
        for one, other in seatings(pair):
            first[one] += 1
            second[other] += 1
            together[frozenset(pair)] += 1
            assert max(abs(first[v] - second[v]) for v in range(6)) <= 2
    assert sum(first.values()) == 200
    assert first == second
    assert set(first) == set(range(6))
