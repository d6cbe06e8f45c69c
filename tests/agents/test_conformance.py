"""What every house agent owes in every game."""

import random

import msgspec
import pytest

import games
from agents import roster
from agents.agent import info_json, read_choice
from agents.clock import Clock
from agents.local import play_match
from agents.protocol import MAX_INFO_BYTES, TimeControl
from games import InputError

VARIANTS = [*games.names(), "connect_four(rows=5,columns=6,k=4)", "connect_four(rows=4,columns=4,k=3)"]
PAIRS = [(name, variant) for variant in dict.fromkeys(VARIANTS) for name in roster.names(games.load(variant))]
POSITIONS = 20


def positions(game, seed):
    """Positions that are not over, by random play from the start."""
    rng = random.Random(seed)
    found = []
    while len(found) < POSITIONS:
        state = game.initial_state()
        while not state.is_terminal() and len(found) < POSITIONS:
            found.append(state)
            state = state.result(rng.choice(list(state.actions())))
    return found


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_every_answer_is_legal_and_its_info_small(name, variant):
    game = games.load(variant)
    agent = roster.make(name, game, seed=1)
    for state in positions(game, seed=5):
        choice = read_choice(game, state, agent.choose(state, Clock(60_000)))
        assert choice.problem is None
        assert choice.action in state.actions()
        info = info_json(agent, game, state)
        assert info is None or len(msgspec.json.encode(info)) <= MAX_INFO_BYTES
        if name != "random":
            assert info is not None, "a search tells what it did"
            assert info["pv"][:1], "a search tells what it expects"


@pytest.mark.parametrize(("name", "variant"), [pair for pair in PAIRS if pair[1] != "connect_four"])
def test_a_seed_repeats_a_game_exactly(name, variant):
    game = games.load(variant)

    def play():
        return play_match(game, [roster.make(name, game, seed=seat) for seat in (0, 1)]).position.actions

    assert play() == play()


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_an_answer_comes_even_when_no_time_is_left(name, variant, timer):
    game = games.load(variant)
    clock = Clock(50, timer=timer)
    timer.advance(1_000)
    state = game.initial_state()
    assert roster.make(name, game, seed=1).choose(state, clock) in state.actions()


def test_house_agents_finish_timed_matches_among_themselves():
    game = games.load("connect_four(rows=4,columns=4,k=3)")
    control = TimeControl(5_000, margin_ms=200, ready_ms=10_000)
    names = [agent.name for agent in roster.load()]
    for first, second in zip(names, names[1:] + names[:1], strict=True):
        agents = [roster.make(first, game, 1), roster.make(second, game, 2)]
        result = play_match(game, agents, control)
        assert result.causes == ("normal", "normal"), result.detail


# the roster -----------------------------------------------------------------------------------------


def test_the_roster_has_the_agents_of_the_ladders():
    names = [agent.name for agent in roster.load()]
    assert names == ["random", "minimax", "ab-centre", "ab-lines", "ab-edge", "mcts"]
    for game in ("tic_tac_toe", "connect_four", "connect_four(rows=5,columns=6,k=4)"):
        assert all(agent.plays(games.load(game)) for agent in roster.load())


def test_three_alphabetas_differ_in_their_weights_alone():
    variants = [agent for agent in roster.load() if agent.algorithm == "alphabeta"]
    assert len(variants) == 3
    for game in ("tic_tac_toe", "connect_four"):
        settings = [agent.settings_for(games.load(game)) for agent in variants]
        bare = {msgspec.json.encode(msgspec.structs.replace(s, weights=None)) for s in settings}
        assert len(bare) == 1
        assert len({msgspec.json.encode(s.weights) for s in settings}) == 3


def test_house_agents_are_not_limited_by_time():
    for agent in roster.load():
        assert all(settings.time_ms is None for settings in agent.settings.values())


@pytest.mark.parametrize("name", ["random", "minimax", "alphabeta", "mcts"])
def test_the_bare_algorithms_can_be_made(name):
    game = games.load("connect_four")
    assert name in roster.names(game)
    assert roster.make(name, game, seed=1).choose(game.initial_state(), Clock(60_000)) in range(7)


def test_an_unknown_name_is_refused_with_what_there_is():
    with pytest.raises(InputError) as refused:
        roster.make("alphazero", games.load("connect_four"))
    assert refused.value.code == "unknown_agent"
    assert "mcts" in refused.value.available


def test_a_changed_entry_has_another_fingerprint():
    first, *others = roster.load()
    assert first.fingerprint() == roster.load()[0].fingerprint()
    changed = msgspec.structs.replace(first, settings={"any": roster.Settings(depth=1)})
    prints = {agent.fingerprint() for agent in (first, changed, *others)}
    assert len(prints) == len(others) + 2
    assert msgspec.structs.replace(first, about="other words").fingerprint() == first.fingerprint()


BROKEN = {
    "no TOML": ("[[agent", "TOML"),
    "no name": ('[[agent]]\nalgorithm = "random"\nabout = ""', "name"),
    "unknown algorithm": ('[[agent]]\nname = "a"\nalgorithm = "magic"\nabout = ""', "minimax"),
    "unknown field": ('[[agent]]\nname = "a"\nalgorithm = "random"\nabout = ""\nelo = 3', "elo"),
    "unknown setting": (
        '[[agent]]\nname = "a"\nalgorithm = "random"\nabout = ""\n[agent.any]\nluck = 1',
        "luck",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_roster_is_refused_with_the_place(case, tmp_path):
    text, named = BROKEN[case]
    path = tmp_path / "own.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=r"own\.toml") as refused:
        roster.load(path)
    assert refused.value.code == "bad_roster"
    assert named in str(refused.value)


def test_a_missing_roster_is_refused(tmp_path):
    with pytest.raises(InputError, match="No such file"):
        roster.load(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("settings", "named"), [({"playouts": 3}, "playouts"), ({"weights": {"luck": 1.0}}, "luck")]
)
def test_a_setting_that_does_not_fit_the_algorithm_or_game_is_refused(settings, named):
    agent = roster.HouseAgent("a", "alphabeta", "", {"any": roster.Settings(**settings)})
    with pytest.raises(InputError, match=named):
        roster.build(agent, games.load("connect_four"))
