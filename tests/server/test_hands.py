"""Who has a hand free for a match, and when the house may play alone."""

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from server.core.match import RESTART, Phase
from server.core.outcome import Cause, Outcome, Result
from server.db.matches import QueuedMatch
from server.hands import MAX_STARTING, Hands
from server.presence import Connection, Presence
from server.rests import FIRST_S

LADDER = SimpleNamespace(id=1, name="blitz")
OTHER = SimpleNamespace(id=2, name="slow")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
HOUSE_REST_S = 60.0
REST_S = 1.0


class Hall:
    """Agents by their number, which is that of their version too; matches that run; a clock set by hand."""

    def __init__(self):
        self.now = 1_000.0
        self.presence = Presence()
        self.matches = {}
        referee = SimpleNamespace(find=self.matches.get, running=lambda: list(self.matches.values()))
        settings = SimpleNamespace(house_rest_s=HOUSE_REST_S, rest_ms=1_000 * REST_S)
        self.hands = Hands(self.presence, referee, settings, lambda: self.now)

    def enter(self, number, *, house=False, concurrency=2, ladders=("blitz",)):
        agent = Connection(None, None, number, "ada", number, 1, house, ladders, concurrency, self.now)
        self.presence.enter(agent)
        return agent

    def begin(self, *agents, phase=Phase.STARTING, resumed=False, ladder=LADDER):
        number = len(self.matches) + 1
        match = SimpleNamespace(phase=phase, resumed=resumed)
        house_only = all(agent.house for agent in agents)
        self.matches[number] = SimpleNamespace(match=match, house_only=house_only, ladder=ladder)
        for agent in agents:
            agent.matches.add(number)

    def end(self, *agents, causes, void=False, detail="", ready=True):
        outcome = Outcome.VOID if void else Outcome.DRAW
        result = Result((outcome,) * len(agents), tuple(causes), detail)
        here = [True] * len(agents)
        match = SimpleNamespace(result=result, connected=here, ready=[ready] * len(agents))
        self.hands.ended(SimpleNamespace(id=7, match=match, seats=agents))


@pytest.fixture
def hall():
    return Hall()


def queued(*versions):
    return QueuedMatch(1, LADDER.id, versions, NOW)


def test_each_running_match_takes_a_hand(hall):
    ada = hall.enter(1, concurrency=2)
    assert hall.hands.free(ada) == 2
    hall.begin(ada, phase=Phase.RUNNING)
    assert hall.hands.free(ada) == 1


def test_one_that_never_gets_ready_keeps_few_waiting(hall):
    ada = hall.enter(1, concurrency=64)
    for _ in range(MAX_STARTING):
        assert hall.hands.free(ada) > 0
        hall.begin(ada)
    assert hall.hands.free(ada) == 0


@pytest.mark.parametrize("case", [{"phase": Phase.RUNNING}, {"resumed": True}])
def test_matches_that_run_or_go_on_do_not_count_as_waiting(hall, case):
    ada = hall.enter(1, concurrency=64)
    for _ in range(MAX_STARTING):
        hall.begin(ada, **case)
    assert hall.hands.free(ada) == MAX_STARTING


@pytest.mark.parametrize(
    ("end", "rest_s"),
    [
        ({"causes": [Cause.NORMAL]}, REST_S),
        ({"causes": [Cause.NO_SHOW], "void": True}, FIRST_S),
        ({"causes": [Cause.INFRASTRUCTURE], "void": True}, 0.0),
        ({"causes": [Cause.INFRASTRUCTURE], "void": True, "detail": RESTART, "ready": False}, FIRST_S),
        ({"causes": [Cause.INFRASTRUCTURE], "void": True, "detail": RESTART, "ready": True}, 0.0),
    ],
    ids=["played", "no show", "void", "would not go on", "void after a restart"],
)
def test_the_end_of_a_match_gives_rest(hall, end, rest_s):
    ada = hall.enter(1)
    hall.end(ada, **end)
    assert (hall.hands.free(ada) > 0) is (rest_s == 0.0)
    hall.now += rest_s
    assert hall.hands.free(ada) > 0


def test_house_agents_need_no_rest_between_matches(hall):
    house = hall.enter(1, house=True)
    hall.end(house, causes=[Cause.NORMAL])
    assert hall.hands.free(house) > 0


def test_a_hand_that_a_queued_match_is_about_to_take_is_not_free_for_a_pair(hall):
    ada, bob = hall.enter(1, concurrency=1), hall.enter(2, concurrency=2)
    assert hall.hands.candidates(LADDER, []) == [ada, bob]
    assert hall.hands.candidates(LADDER, [queued(1, 2)]) == [bob]
    assert hall.hands.candidates(LADDER, [queued(1, 3)]) == [ada, bob], "3 is not here"
    assert hall.hands.candidates(OTHER, []) == []


def test_a_queued_match_with_one_that_is_left_alone_takes_no_hand(hall):
    ada, bob = hall.enter(1, concurrency=1), hall.enter(2)
    hall.end(bob, causes=[Cause.NO_SHOW], void=True)
    assert hall.hands.candidates(LADDER, [queued(1, 2)]) == [ada]


@pytest.mark.parametrize("busy", ["leaving", "playing"])
def test_a_queued_match_with_one_that_has_no_hand_for_it_takes_none_of_the_others(hall, busy):
    ada, bob = hall.enter(1, concurrency=1), hall.enter(2, concurrency=1)
    if busy == "leaving":
        bob.leaving = True
    else:
        hall.begin(bob, phase=Phase.RUNNING)
    assert hall.hands.candidates(LADDER, [queued(1, 2)]) == [ada]


def test_a_queued_match_of_two_that_only_rest_is_next(hall):
    ada, bob, eve = (hall.enter(n, concurrency=1) for n in (1, 2, 3))
    hall.end(bob, causes=[Cause.NORMAL])
    assert hall.hands.free(bob) == 0
    assert hall.hands.candidates(LADDER, [queued(1, 2)]) == [eve]
    assert hall.hands.free(ada) == 1


def test_an_agent_waits_since_it_came_or_its_last_match_began(hall):
    ada, bob = hall.enter(1), hall.enter(2)
    hall.now += 5
    hall.hands.begun(LADDER, [ada])
    hall.now += 2
    assert hall.hands.waiting_s([ada, bob]) == {1: 2.0, 2: 7.0}


def test_the_house_plays_alone_once_a_while_on_each_ladder(hall):
    house = [hall.enter(1, house=True), hall.enter(2, house=True)]
    assert hall.hands.may_begin(LADDER, house)
    hall.hands.begun(LADDER, house)
    assert not hall.hands.may_begin(LADDER, house)
    assert hall.hands.may_begin(OTHER, house)
    hall.now += HOUSE_REST_S
    assert hall.hands.may_begin(LADDER, house)
    hall.begin(*house, phase=Phase.RUNNING)
    assert not hall.hands.may_begin(LADDER, house), "it plays there already"
    assert hall.hands.may_begin(OTHER, house)


def test_a_guest_may_play_the_house_at_any_time(hall):
    house, ada = hall.enter(1, house=True), hall.enter(2)
    hall.hands.begun(LADDER, [house, hall.enter(3, house=True)])
    assert hall.hands.may_begin(LADDER, [house, ada])
    hall.hands.begun(OTHER, [house, ada])
    assert hall.hands.house_is_due(OTHER), "that was no match of the house alone"
