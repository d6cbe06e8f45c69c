"""Live Elo against reference numbers, and what must hold for any ratings and results."""

import json
from pathlib import Path

import hypothesis.strategies as st
import pytest
from hypothesis import given

from server.core.elo import K_LAST, START, Entry, Result, adjusted, expected, k_factor, recompute, update
from server.core.outcome import by_utilities

VECTORS = json.loads(
    (Path(__file__).parents[2] / "data" / "vectors" / "elo_online.json").read_text(encoding="utf-8")
)
ELOS = st.floats(-500, 4000)
GAMES = st.integers(0, 500)
ENTRIES = st.builds(Entry, ELOS, GAMES)
SCORES = st.sampled_from([(1.0, 0.0), (0.5, 0.5), (0.0, 1.0)])


@pytest.mark.parametrize("case", VECTORS["expectation"], ids=lambda case: str(case["diff"]))
def test_expected_scores_equal_the_published_table(case):
    assert expected(1500 + case["diff"], 1500) == pytest.approx(case["expected"], abs=5e-7)
    assert expected(1500, 1500 + case["diff"]) == pytest.approx(1 - case["expected"], abs=5e-7)


@pytest.mark.parametrize("case", VECTORS["updates"], ids=lambda case: f"{case['white']}-{case['black']}")
def test_updates_equal_the_reference(case):
    white, black, k, score = (case[name] for name in ("white", "black", "k", "score"))
    assert adjusted(white, [black], [score], k) == pytest.approx(case["white_after"], abs=1e-9)
    assert adjusted(black, [white], [1 - score], k) == pytest.approx(case["black_after"], abs=1e-9)


@pytest.mark.parametrize(
    ("games", "k"), [(0, 160.0), (8, 80.0), (24, 40.0), (72, 16.0), (73, 16.0), (9999, 16.0)]
)
def test_the_stake_shrinks_with_the_games_played(games, k):
    assert k_factor(games) == k


def test_two_newcomers_stake_160_points():
    assert update([Entry(START, 0), Entry(START, 0)], [1.0, 0.0]) == (1580.0, 1420.0)


def test_each_seat_has_the_stake_of_its_own_games():
    newcomer, veteran = update([Entry(1500.0, 0), Entry(1500.0, 1000)], [0.5, 0.5])
    assert (newcomer, veteran) == (1500.0, 1500.0)
    assert update([Entry(1500.0, 0), Entry(1500.0, 1000)], [0.0, 1.0]) == (1420.0, 1508.0)


@given(ELOS, ELOS)
def test_expected_scores_of_both_sides_add_to_one(a, b):
    assert expected(a, b) + expected(b, a) == pytest.approx(1.0)
    assert 0.0 < expected(a, b) < 1.0 or abs(a - b) > 3000


@given(st.lists(ELOS, min_size=2, max_size=5), GAMES, st.data())
def test_with_equal_stakes_no_point_is_made_or_lost(elos, games, data):
    scores = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(elos), max_size=len(elos)))
    after = update([Entry(elo, games) for elo in elos], scores)
    assert sum(after) == pytest.approx(sum(elos), abs=1e-6)


@given(ENTRIES, ENTRIES, SCORES)
def test_the_order_of_the_seats_does_not_matter(one, other, scores):
    assert update([one, other], scores) == update([other, one], scores[::-1])[::-1]


@given(ENTRIES, ENTRIES)
def test_a_win_never_costs_and_a_loss_never_pays(one, other):
    won, lost = update([one, other], (1.0, 0.0))
    assert won >= one.elo
    assert lost <= other.elo
    assert won - one.elo <= k_factor(one.games)


def test_three_players_count_as_a_game_of_each_against_each():
    first, second, third = update([Entry(1500.0, 72)] * 3, [1.0, 0.5, 0.0])
    assert (first, second, third) == (1500 + K_LAST / 2, 1500.0, 1500 - K_LAST / 2)
    assert update([Entry(1500.0, 72)] * 3, [1.0, 0.0, 0.0]) == (1508.0, 1496.0, 1496.0)


@given(st.lists(ENTRIES, min_size=2, max_size=5), st.data())
def test_n_players_are_rated_as_by_one_game_of_each_two_at_a_share_of_the_stake(entries, data):
    utilities = data.draw(st.lists(st.integers(-2, 2), min_size=len(entries), max_size=len(entries)))
    after = update(entries, by_utilities(utilities).scores)
    for seat, (entry, new) in enumerate(zip(entries, after, strict=True)):
        gained = 0.0
        for other, opponent in enumerate(entries):
            if other != seat:
                score = by_utilities((utilities[seat], utilities[other])).scores[0]
                alone = update([entry, opponent], (score, 1 - score))[0]
                gained += (alone - entry.elo) / (len(entries) - 1)
        assert new - entry.elo == pytest.approx(gained, abs=1e-6)


@pytest.mark.parametrize(("seats", "scores"), [(2, [1.0]), (1, [1.0]), (2, [1.0, 0.0, 0.0]), (0, [])])
def test_a_score_for_each_of_two_or_more_seats_is_needed(seats, scores):
    with pytest.raises(ValueError, match="one score a seat"):
        update([Entry(START, 0)] * seats, scores)


def test_PB13_the_second_update_starts_from_the_rating_after_the_first():
    """One agent begins two matches at once against 1500s, loses the first, then wins the second."""
    lost, beaten = update([Entry(1500.0, 0), Entry(1500.0, 0)], [0.0, 1.0])
    won, other = update([Entry(lost, 1), Entry(1500.0, 0)], [1.0, 0.0])
    assert lost == 1420.0
    assert won == pytest.approx(1420.0 + 160 / 1.125 * (1 - expected(1420.0, 1500.0)))
    results = [Result((1, 2), (0.0, 1.0)), Result((1, 3), (1.0, 0.0))]
    assert recompute(results, {1: 1500.0, 2: 1500.0, 3: 1500.0}) == {
        1: Entry(won, 2),
        2: Entry(beaten, 1),
        3: Entry(other, 1),
    }


RESULTS = st.lists(
    st.builds(Result, st.permutations(range(5)).map(lambda order: tuple(order[:2])), SCORES), max_size=40
)
STARTS = st.lists(ELOS, min_size=5, max_size=5)


@given(RESULTS, STARTS)
def test_a_recomputation_equals_the_live_ratings(results, starts):
    live = {version: Entry(elo, 0) for version, elo in enumerate(starts)}
    for (one, other), scores in results:
        after = update([live[one], live[other]], scores)
        live[one], live[other] = (
            Entry(after[0], live[one].games + 1),
            Entry(after[1], live[other].games + 1),
        )
    assert recompute(results, dict(enumerate(starts))) == live


@given(RESULTS, STARTS, st.permutations(range(5)))
def test_the_order_of_the_versions_in_the_table_does_not_matter(results, starts, order):
    assert recompute(results, {version: starts[version] for version in order}) == recompute(
        results, dict(enumerate(starts))
    )


def test_a_version_without_a_match_keeps_its_start():
    assert recompute([], {7: 1613.5}) == {7: Entry(1613.5, 0)}
