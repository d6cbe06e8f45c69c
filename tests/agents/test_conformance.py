"""What every house agent owes in every game."""

import random
from dataclasses import replace

import msgspec
import pytest

import games
from agents import roster, view
from agents.agent import info_json, read_choice
from agents.clock import Clock
from agents.local import play_match
from agents.protocol import MAX_INFO_BYTES, TimeControl
from games import CHANCE, InputError, Position

VARIANTS = [
    *games.names(),
    "connect_four(rows=5,columns=6,k=4)",
    "connect_four(rows=4,columns=4,k=3)",
    "othello(size=4)",
]
PAIRS = [(name, variant) for variant in dict.fromkeys(VARIANTS) for name in roster.names(games.load(variant))]
POSITIONS = 20
ENTRIES = roster.entries()


def played(game, seed):
    """Positions in which a player is to move, by random play from the start."""
    rng = random.Random(seed)
    found = []
    while len(found) < POSITIONS:
        position = Position.start(game)
        while not position.is_terminal() and len(found) < POSITIONS:
            outcomes = [text for text, _ in position.outcomes()]
            if not outcomes:
                found.append(position)
            position = position.play(rng.choice(outcomes or position.legal()))
    return found


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_every_answer_is_legal_and_its_info_small(name, variant):
    game = games.load(variant)
    agent = roster.make(name, game, seed=1)
    searches = any(entry.name == name and roster.ALGORITHMS[entry.algorithm].searches for entry in ENTRIES)
    for position in played(game, seed=5):
        shown = view.of_position(position)
        choice = read_choice(game, shown, agent.choose(shown, Clock(60_000)))
        assert choice.problem is None
        assert choice.text in position.legal()
        info = info_json(agent, game, shown)
        assert info is None or len(msgspec.json.encode(info)) <= MAX_INFO_BYTES
        if searches:
            assert info is not None, "a search tells what it did"
            assert info["pv"][:1], "a search tells what it expects"


@pytest.mark.parametrize(("name", "variant"), [pair for pair in PAIRS if pair[1] != "connect_four"])
def test_a_seed_repeats_a_game_exactly(name, variant):
    game = games.load(variant)

    def play():
        seats = [roster.make(name, game, seed=seat) for seat in range(game.players)]
        return play_match(game, seats).position.actions

    assert play() == play()


@pytest.mark.parametrize(("name", "variant"), PAIRS)
def test_an_answer_comes_even_when_no_time_is_left(name, variant, timer):
    game = games.load(variant)
    clock = Clock(50, timer=timer)
    timer.advance(1_000)
    position = played(game, seed=1)[0]
    agent = roster.make(name, game, seed=1)
    shown = view.of_position(position)
    assert read_choice(game, shown, agent.choose(shown, clock)).text in position.legal()


@pytest.mark.parametrize("variant", ["connect_four(rows=4,columns=4,k=3)", "othello(size=4)", "kuhn_poker"])
def test_house_agents_finish_timed_matches_among_themselves(variant):
    control = TimeControl(5_000, margin_ms=200, ready_ms=10_000)
    game = games.load(variant)
    names = [agent.name for agent in roster.load() if agent.plays(game)]
    for turn in range(len(names)):
        seated = [names[(turn + seat) % len(names)] for seat in range(game.players)]
        agents = [roster.make(name, game, seat) for seat, name in enumerate(seated)]
        result = play_match(game, agents, control)
        assert set(result.causes) <= {"normal", "rule_draw"}, result.detail


# the roster -----------------------------------------------------------------------------------------


SMALL = ["random", "minimax", "ab-centre", "ab-lines", "ab-edge", "mcts"]
ALPHABETAS = {
    "tic_tac_toe": ["ab-centre", "ab-lines", "ab-edge"],
    "connect_four": ["ab-centre", "ab-lines", "ab-edge"],
    "othello": ["ab-edge", "ab-corners", "ab-mobility", "ab-discs"],
}


@pytest.mark.parametrize(
    ("variant", "names"),
    [
        ("tic_tac_toe", SMALL),
        ("connect_four", SMALL),
        ("connect_four(rows=5,columns=6,k=4)", SMALL),
        ("othello", ["random", "minimax", *ALPHABETAS["othello"], "mcts"]),
        ("kuhn_poker", ["random", "equilibrium", "timid"]),
    ],
)
def test_the_roster_has_the_agents_of_the_ladders(variant, names):
    assert [agent.name for agent in roster.load() if agent.plays(games.load(variant))] == names


@pytest.mark.parametrize("game", ALPHABETAS)
def test_alphabetas_differ_in_their_weights_alone(game):
    variants = [agent for agent in roster.load() if agent.name in ALPHABETAS[game]]
    settings = [agent.settings_for(games.load(game)) for agent in variants]
    assert len({msgspec.json.encode(msgspec.structs.replace(s, weights=None)) for s in settings}) == 1
    assert len({msgspec.json.encode(s.weights) for s in settings}) == len(ALPHABETAS[game])
    assert len({agent.about for agent in variants}) == len(variants)


def test_the_alphabetas_of_othello_each_have_an_idea_of_their_own():
    othello = games.load("othello")
    strongest = {}
    for agent in roster.load():
        weights = agent.settings_for(othello).weights if agent.name in ALPHABETAS["othello"] else None
        if weights is not None:
            strongest[agent.name] = max(weights, key=lambda feature: abs(weights[feature]))
    assert strongest == {
        "ab-edge": "edges",
        "ab-corners": "corners",
        "ab-mobility": "mobility",
        "ab-discs": "discs",
    }


@pytest.mark.parametrize("name", ["minimax", "alphabeta", "mcts"])
def test_a_search_that_reads_the_state_is_never_offered_where_it_is_hidden(name):
    kuhn = games.load("kuhn_poker")
    assert name not in roster.names(kuhn)
    with pytest.raises(
        InputError, match=f"expected a game that {name} plays: one .* got kuhn_poker"
    ) as refused:
        roster.make(name, kuhn)
    assert refused.value.code == "not_played"
    assert refused.value.available == ("random", "equilibrium", "timid")


@pytest.mark.parametrize(
    ("trait", "refusing"),
    [
        ({"hidden": False, "has_chance": True}, {"minimax", "alphabeta"}),
        ({"hidden": True, "has_chance": False}, {"minimax", "alphabeta", "mcts"}),
        ({"hidden": False, "has_chance": False, "players": 3}, {"minimax", "alphabeta"}),
        ({"hidden": False, "has_chance": False, "zero_sum": False}, {"minimax", "alphabeta"}),
        ({"hidden": False, "has_chance": False}, set()),
    ],
)
def test_which_algorithms_can_play_what(trait, refusing):
    game = replace(games.load("kuhn_poker"), **trait)
    assert {name for name, kind in roster.ALGORITHMS.items() if not kind.plays(game)} == refusing


def test_a_view_of_hidden_cards_is_all_that_an_agent_gets():
    kuhn = games.load("kuhn_poker")
    for position in played(kuhn, seed=3):
        assert position.to_move() != CHANCE
        assert view.of_position(position) == position.observation()


def test_house_agents_are_not_limited_by_time():
    for agent in roster.load():
        assert all(settings.time_ms is None for settings in agent.settings.values())


@pytest.mark.parametrize("name", ["random", "minimax", "alphabeta", "mcts"])
def test_the_bare_algorithms_can_be_made(name):
    game = games.load("connect_four")
    assert name in roster.names(game)
    assert roster.make(name, game, seed=1).choose(game.initial_state(), Clock(60_000)) in range(7)


def test_a_name_known_for_another_game_is_refused_with_that_game():
    with pytest.raises(InputError, match=r"ab-corners plays: othello \(--game othello\)") as refused:
        roster.make("ab-corners", games.load("connect_four"))
    assert refused.value.code == "not_played"


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
    "a game that it cannot play": (
        '[[agent]]\nname = "a"\nalgorithm = "minimax"\nabout = ""\n[agent.kuhn_poker]\ndepth = 3',
        "without chance or hidden information",
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
