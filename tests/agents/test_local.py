"""Matches without a server: the same causes of ends as on one."""

import threading

import pytest

import games
from agents import student
from agents.agent import Agent, Resigned
from agents.local import play_match, seatings
from agents.protocol import TimeControl
from agents.random_agent import RandomAgent
from games import InputError

GAME = games.load("connect_four")
THREE = games.load("connect_four_three")
CONTROL = TimeControl(1_000, margin_ms=200, ready_ms=10_000)


def assert_forfeit(result, seat, cause):
    assert result.outcomes[seat] == "loss"
    assert result.outcomes[1 - seat] == "win"
    assert result.causes[seat] == cause
    assert result.causes[1 - seat] == "normal"
    assert result.scores[seat] == 0.0


def first_legal(state, clock):
    return next(iter(state.actions()))


def test_a_game_is_played_to_its_end(scripted):
    result = play_match(GAME, [scripted(first_legal), scripted(first_legal)], CONTROL)
    assert result.causes == ("normal", "normal")
    assert sum(result.scores) == 1.0
    assert result.position.is_terminal()
    assert tuple(move.action for move in result.moves) == result.position.actions
    assert [move.seat for move in result.moves][:4] == [0, 1, 0, 1]
    assert result.fault is None


def test_a_draw_is_half_a_point_each():
    cells = iter("048176253")
    player = student.ObjectAgent(type("P", (), {"choose": lambda self, s, c: next(cells)})())
    result = play_match(games.load("tic_tac_toe"), [player, player])
    assert (result.outcomes, result.scores) == (("draw", "draw"), (0.5, 0.5))


@pytest.mark.parametrize("seat", [0, 1])
def test_the_margin_still_counts_and_a_millisecond_more_does_not(scripted, timer, seat):
    def slow(ms):
        def choose(state, clock):
            timer.advance(ms)
            return first_legal(state, clock)

        return scripted(choose)

    def play(ms):
        agents = [slow(0), slow(0)]
        agents[seat] = slow(ms)
        return play_match(GAME, agents, CONTROL, timer=timer)

    assert play(1_200).causes == ("normal", "normal")
    late = play(1_201)
    assert_forfeit(late, seat, "timeout")
    assert "within 1000 ms" in late.detail
    assert len(late.moves) == seat
    assert late.fault.got == "no answer within 1000 ms, choose took 1201 ms"


def test_where_no_limit_of_a_move_is_set_each_has_that_of_a_first_one(scripted):
    seen = []

    def look(state, clock):
        seen.append((clock.move_ms, clock.bank_ms, clock.increment_ms))
        return first_legal(state, clock)

    for control in (TimeControl(0, bank_ms=90_000, increment_ms=1_000), TimeControl(0, nodes=500)):
        assert play_match(GAME, [scripted(look), scripted(look)], control).causes == ("normal", "normal")
    assert set(seen) == {(90_000, 90_000, 1_000), (60_000, 0, 0)}


def test_code_that_does_not_come_back_loses_on_time(scripted):
    release = threading.Event()
    quick = TimeControl(60, margin_ms=20, ready_ms=10_000)
    try:
        result = play_match(GAME, [RandomAgent(1), scripted(lambda s, c: release.wait())], quick)
    finally:
        release.set()
    assert_forfeit(result, 1, "timeout")
    assert "release.wait()" in result.fault.traceback
    assert "within 60 ms, choose had not returned after" in result.fault.got
    assert result.fault.command().endswith("--move-ms 60")


@pytest.mark.parametrize("chosen", [99, "99", None, 3.0, True])
def test_an_illegal_action_loses(scripted, chosen):
    result = play_match(GAME, [RandomAgent(1), scripted(lambda s, c: chosen)], CONTROL)
    assert_forfeit(result, 1, "illegal_action")
    assert result.fault.ply == 1
    assert result.fault.legal == tuple("1234567")
    assert result.fault.actions == tuple(range(7))


@pytest.mark.parametrize("error", [ValueError("no"), SystemExit(1), RecursionError(), KeyError()])
def test_a_crash_loses(scripted, error):
    def crash(state, clock):
        raise error

    result = play_match(GAME, [scripted(crash), RandomAgent(1)], CONTROL)
    assert_forfeit(result, 0, "crash")
    assert type(error).__name__ in result.fault.got
    assert "raise error" in result.fault.traceback


def test_giving_up_is_no_fault(scripted):
    def resign(state, clock):
        raise Resigned

    result = play_match(GAME, [RandomAgent(1), scripted(resign)], CONTROL)
    assert_forfeit(result, 1, "resignation")
    assert result.fault is None


def test_a_crash_before_the_first_move_loses(scripted):
    class Unready(Agent):
        def match_start(self, start):
            raise OSError("no book")

    result = play_match(GAME, [Unready(), RandomAgent(1)], CONTROL)
    assert_forfeit(result, 0, "crash")
    assert result.moves == ()


def test_an_agent_that_never_gets_ready_makes_the_match_void(scripted):
    release = threading.Event()

    class Sleeper(Agent):
        def match_start(self, start):
            release.wait()

    try:
        result = play_match(GAME, [Sleeper(), RandomAgent(1)], TimeControl(1_000, ready_ms=50))
    finally:
        release.set()
    assert result.outcomes == ("void", "void")
    assert result.causes == ("no_show", "normal")
    assert result.scores == (None, None)
    assert "match_start had not returned" in result.fault.got
    assert "release.wait()" in result.fault.traceback


def test_untimed_agents_run_in_the_calling_thread(scripted):
    threads = set()

    def note(state, clock):
        threads.add(threading.current_thread())
        return first_legal(state, clock)

    play_match(GAME, [scripted(note), scripted(note)])
    assert threads == {threading.current_thread()}


def test_a_match_can_start_from_moves_and_tells_of_each(scripted):
    seen = []
    result = play_match(
        GAME,
        [scripted(first_legal), scripted(first_legal)],
        moves=["4", "4", "3"],
        on_move=lambda position, move: seen.append((position.ply, move and (move.ply, move.seat))),
    )
    assert seen[:2] == [(3, None), (4, (3, 1))]
    assert len(seen) - 1 == len(result.moves) == result.position.ply - 3
    assert result.position.actions[:3] == ("4", "4", "3")


def test_moves_that_cannot_be_played_are_refused(scripted):
    with pytest.raises(InputError):
        play_match(GAME, [RandomAgent(1), RandomAgent(2)], moves=["9"])


def test_everybody_is_told_of_the_start_and_the_end(scripted):
    agents = [scripted(first_legal), scripted(first_legal)]
    play_match(GAME, agents, CONTROL)
    assert [(agent.started, agent.ended) for agent in agents] == [(1, 1), (1, 1)]


def test_seats_are_swapped_after_every_game():
    assert list(seatings(2, 4)) == [(0, 1), (1, 0), (0, 1), (1, 0)]
    assert list(seatings(3, 3)) == [(0, 1, 2), (1, 2, 0), (2, 0, 1)]


# three seats ----------------------------------------------------------------------------------------


def test_three_play_in_turn(scripted):
    seen = []

    def look(state, clock):
        seen.append(state.to_move())
        return first_legal(state, clock)

    result = play_match(THREE, [scripted(look) for _ in range(3)], CONTROL)
    assert seen == [move.seat for move in result.moves] == [ply % 3 for ply in range(len(seen))]
    assert result.causes == ("normal", "normal", "normal")
    assert sorted(result.outcomes) == ["loss", "loss", "win"]
    assert result.scores[result.outcomes.index("win")] == 1.0


@pytest.mark.parametrize("seat", range(3))
def test_a_fault_of_one_of_three_is_a_loss_of_that_one(scripted, seat):
    agents = [RandomAgent(number) for number in range(3)]
    agents[seat] = scripted(lambda state, clock: 99)
    names = ["random"] * 3
    names[seat] = "mine.py"
    result = play_match(THREE, agents, CONTROL, moves=["5", "5", "4"], names=names)
    assert result.outcomes == tuple("loss" if other == seat else "draw" for other in range(3))
    assert result.causes == tuple("illegal_action" if other == seat else "normal" for other in range(3))
    assert result.fault.command().startswith(f"plyground play {' '.join(names)} --game connect_four_three")


@pytest.mark.parametrize("number", [0, 1, 2, 4])
def test_as_many_agents_as_seats_play(number):
    with pytest.raises(InputError, match=rf"expected 3 agents, .* connect_four_three, got {number}"):
        play_match(THREE, [RandomAgent(seed) for seed in range(number)])


def test_more_chips_win_where_nobody_loses_any(scripted):
    result = play_match(games.load("centipede"), [scripted(lambda s, c: "take"), RandomAgent(1)])
    assert (result.position.utilities(), result.outcomes) == ((4.0, 1.0), ("win", "loss"))


# rehearsals -----------------------------------------------------------------------------------------


class Counting(Agent):
    """Remembers what it was told and asked, and does something at its n-th call."""

    def __init__(self, at=None, does=None):
        self.at, self.does = at, does
        self.starts, self.shown = [], []

    def match_start(self, start):
        self.starts.append((start.position, start.history))

    def choose(self, state, clock):
        self.shown.append(GAME.format_position(state))
        if len(self.shown) == self.at:
            return self.does()
        return first_legal(state, clock)


def crash():
    raise ValueError("at this call")


def resign():
    raise Resigned


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("call", [1, 2, 4])
def test_an_agent_that_crashes_at_its_nth_call_crashes_there_again(seat, call):
    def play(moves, rehearsing):
        agents = [RandomAgent(1), RandomAgent(2)]
        agents[seat] = Counting(at=call, does=crash)
        return play_match(GAME, agents, CONTROL, moves, rehearsing=rehearsing)

    first = play((), ())
    assert_forfeit(first, seat, "crash")
    again = play(first.fault.moves, [seat])
    assert_forfeit(again, seat, "crash")
    assert (again.fault.ply, again.fault.moves) == (first.fault.ply, first.fault.moves)
    unlike = play(first.fault.moves, [])
    assert unlike.fault is None or unlike.fault.ply > first.fault.ply or call == 1


def test_a_rehearsing_agent_sees_the_match_from_its_start():
    one, other = Counting(), Counting()
    play_match(GAME, [one, other], moves=["4", "4", "3"], rehearsing=[0])
    begin = GAME.format_position(GAME.initial_state())
    assert one.starts == [(begin, [])]
    assert one.shown[0] == begin
    assert other.starts[0][1] == ["4", "4", "3"]
    assert other.shown[0] != begin


@pytest.mark.parametrize("does", [lambda: 99, lambda: None, resign, lambda: "7"])
def test_what_is_answered_in_a_rehearsal_is_ignored(does):
    result = play_match(GAME, [Counting(at=1, does=does), RandomAgent(1)], moves=["4", "4"], rehearsing=[0])
    assert result.causes == ("normal", "normal")
    assert result.position.actions[:2] == ("4", "4")


def test_a_fault_in_a_rehearsal_is_told_at_its_own_ply():
    agent = Counting(at=2, does=crash)
    result = play_match(GAME, [agent, RandomAgent(1)], moves=["4", "4", "3", "3"], rehearsing=[0])
    assert_forfeit(result, 0, "crash")
    assert (result.fault.ply, result.fault.moves) == (2, ("4", "4"))


def test_a_match_end_that_crashes_is_a_fault_and_changes_no_outcome(scripted):
    class Careless(scripted):
        def match_end(self, end):
            raise ValueError("no file to write to")

    plain = play_match(GAME, [scripted(first_legal), scripted(first_legal)], CONTROL)
    result = play_match(GAME, [scripted(first_legal), Careless(first_legal)], CONTROL)

    assert (result.outcomes, result.causes) == (plain.outcomes, plain.causes)
    assert result.fault is not None
    assert (result.fault.seat, result.fault.got) == (1, "match_end raised ValueError: no file to write to")
    assert "  legal     (it was not asked for an action)" in result.fault.text()
