"""The sentence about a match: whose fault the end was, and that no time was lost to the server."""

import pytest
from msgspec.structs import replace

from agents.protocol import TimeControl
from server.core.match_events import Timing
from server.core.verdict import Case, Request, verdict

PER_MOVE = TimeControl(move_ms=5_000, margin_ms=200, lag_ms=1_000, grace_ms=5_000)
BANK = TimeControl(move_ms=0, bank_ms=60_000, increment_ms=500, margin_ms=200)
BYOYOMI = TimeControl(move_ms=0, bank_ms=60_000, byoyomi_ms=5_000, periods=3, margin_ms=200)
STRIKES = replace(PER_MOVE, strikes=2)
UNTIMED = TimeControl(move_ms=0, nodes=10_000, margin_ms=200, grace_ms=5_000)
QUIET = "no time was lost to the server: it was not late"


def took(elapsed_ms, *, trip_ms=0, lag_ms=0, away_ms=0, limit_ms=5_000, timed_out=False):
    """How a move was timed, of which this much was refunded."""
    refunded_ms = trip_ms + lag_ms + away_ms
    return Timing(
        elapsed_ms,
        refunded_ms,
        elapsed_ms - refunded_ms,
        limit_ms,
        lag_ms=lag_ms,
        away_ms=away_ms,
        timed_out=timed_out,
    )


def made(ply, elapsed_ms=100, **timing):
    return Request(ply, ply % 2, took(elapsed_ms, **timing))


def unanswered(ply, elapsed_ms, *, received=False, **timing):
    return Request(ply, ply % 2, took(elapsed_ms, **timing), received=received, counted=False)


def ended(*trace, control=PER_MOVE, **end):
    """A match that bob, seat 1, lost; or as `end` says."""
    chosen = {
        "state": "finished",
        "agents": ("ada", "bob"),
        "outcomes": ("win", "loss"),
        "causes": ("normal", "normal"),
        **end,
    }
    return Case(control=control, trace=trace, **chosen)


def lost(cause, *trace, detail=None, **end):
    return ended(*trace, causes=("normal", cause), detail=detail, **end)


def void(*trace, causes=("infrastructure", "infrastructure"), **end):
    return ended(*trace, state="void", outcomes=("void", "void"), causes=causes, **end)


MOVE = made(0)

ENDS = {
    "a late answer": (
        lost("timeout", MOVE, unanswered(1, 5_391, trip_ms=160, received=True)),
        (
            "Seat 2 (bob) lost on time at ply 1: 5,231 ms charged of 5,000 ms and a margin of 200 ms; "
            "160 ms of the way there and back were refunded, the server was not late."
        ),
    ),
    "no answer": (
        lost("timeout", MOVE, unanswered(1, 5_200)),
        (
            "Seat 2 (bob) lost on time at ply 1: no answer came, 5,200 ms of 5,000 ms and a margin "
            "of 200 ms were used up; nothing was refunded, the server was not late."
        ),
    ),
    "a late answer to a late server": (
        lost("timeout", MOVE, unanswered(1, 6_600, trip_ms=100, lag_ms=900, received=True)),
        (
            "Seat 2 (bob) lost on time at ply 1: 5,600 ms charged of 5,000 ms and a margin of 200 ms; "
            "100 ms of the way there and back and 900 ms that the server was late were refunded."
        ),
    ),
    "the server was late, not the agent": (
        lost("timeout", MOVE, unanswered(1, 6_000, lag_ms=900, received=True)),
        (
            "Seat 2 (bob) was given a loss on time at ply 1 that its clock does not show: 5,100 ms "
            "charged of 5,000 ms and a margin of 200 ms; 900 ms that the server was late were refunded. "
            "This is a fault of the server, not of the agent."
        ),
    ),
    "the bank is empty": (
        lost("timeout", MOVE, unanswered(1, 3_500, limit_ms=3_210), control=BANK),
        (
            "Seat 2 (bob) lost on time at ply 1: no answer came, 3,500 ms of 3,210 ms left in its "
            "bank and a margin of 200 ms were used up; nothing was refunded, the server was not late."
        ),
    ),
    "the last period is over": (
        lost("timeout", MOVE, unanswered(1, 5_201, limit_ms=5_000), control=BYOYOMI),
        (
            "Seat 2 (bob) lost on time at ply 1: no answer came, 5,201 ms of 5,000 ms left in its "
            "bank and byo-yomi and a margin of 200 ms were used up; nothing was refunded, the server "
            "was not late."
        ),
    ),
    "all strikes are used": (
        lost("timeout", made(1, 5_300, timed_out=True), unanswered(3, 5_200), control=STRIKES),
        (
            "Seat 2 (bob) lost on time at ply 3, after 2 strikes: no answer came, 5,200 ms of 5,000 "
            "ms and a margin of 200 ms were used up; nothing was refunded, the server was not late."
        ),
    ),
    "the most for a move where no clock runs": (
        lost("timeout", MOVE, unanswered(1, 60_200, limit_ms=60_000), control=UNTIMED),
        (
            "Seat 2 (bob) lost on time at ply 1: no answer came, 60,200 ms of 60,000 ms (no clock "
            "runs, this is the most for a move) and a margin of 200 ms were used up; nothing was "
            "refunded, the server was not late."
        ),
    ),
    "time over, not recorded by an old server": (
        lost("timeout", MOVE, detail="no answer to ply 1 within 5000 ms"),
        (
            "Seat 2 (bob) lost on time at ply 1 (no answer to ply 1 within 5000 ms); how it was timed "
            "is not on record."
        ),
    ),
    "away when its time was over": (
        lost("disconnect", MOVE, unanswered(1, 10_200, away_ms=5_000)),
        (
            "Seat 2 (bob) lost by a lost connection at ply 1: no answer came, 5,200 ms of 5,000 ms "
            "and a margin of 200 ms were used up; 5,000 ms without a connection were refunded, the "
            "server was not late."
        ),
    ),
    "away where no clock runs": (
        lost("disconnect", MOVE, unanswered(1, 5_310, away_ms=5_000, limit_ms=60_000), control=UNTIMED),
        (
            "Seat 2 (bob) lost by a lost connection at ply 1: no answer came in 5,310 ms, and it was "
            "not back; 5,000 ms without a connection were refunded, the server was not late."
        ),
    ),
    "an illegal action": (
        lost("illegal_action", MOVE, unanswered(1, 90, received=True), detail="ply 1: expected a, got b"),
        f"Seat 2 (bob) lost by an illegal action at ply 1; {QUIET}.",
    ),
    "a crash": (
        lost("crash", MOVE, detail="crashed at ply 1"),
        f"Seat 2 (bob) lost by a crash of its own code at ply 1; {QUIET}.",
    ),
    "a resignation": (
        lost("resignation", MOVE, made(1, 100, trip_ms=40), detail="resigned at ply 2"),
        f"Seat 2 (bob) resigned at ply 2; {QUIET} and 40 ms of the way there and back were refunded.",
    ),
    "a normal end": (
        ended(MOVE, made(1)),
        f"Seat 1 (ada) won by the rules of the game, not by the clock; {QUIET}.",
    ),
    "a normal end over a slow line, under load": (
        ended(made(0, 500, trip_ms=160), made(1, 500, trip_ms=160, lag_ms=12), made(2, 2_000, away_ms=900)),
        (
            "Seat 1 (ada) won by the rules of the game, not by the clock; no time was lost to the "
            "server: 320 ms of the way there and back, 12 ms that the server was late and 900 ms "
            "without a connection were refunded."
        ),
    ),
    "a normal end after a strike": (
        ended(MOVE, made(1, 5_200, timed_out=True), control=STRIKES),
        (
            f"Seat 1 (ada) won by the rules of the game, not by the clock; {QUIET}; 1 action of seat 2 "
            "(bob) came too late, and was drawn by lot."
        ),
    ),
    "a normal end after a restart": (
        ended(MOVE, restarts=1),
        (
            f"Seat 1 (ada) won by the rules of the game, not by the clock; {QUIET}; the server was "
            "started anew once, which is charged to nobody."
        ),
    ),
    "a draw": (
        ended(MOVE, outcomes=("draw", "draw")),
        f"Drawn by the rules of the game, not by the clock; {QUIET}.",
    ),
    "a draw by agreement": (
        ended(MOVE, outcomes=("draw", "draw"), causes=("agreement", "agreement")),
        f"Drawn by agreement, not by the clock; {QUIET}.",
    ),
    "an adjudication": (
        ended(MOVE, causes=("adjudication", "adjudication")),
        f"Seat 1 (ada) won by adjudication, not by the clock; {QUIET}.",
    ),
    "a no show": (
        void(causes=("normal", "no_show"), detail="not ready within 10000 ms"),
        "Counts for nobody: seat 2 (bob) did not show up (not ready within 10000 ms).",
    ),
    "nobody showed up": (
        void(causes=("no_show", "no_show")),
        "Counts for nobody: seats 1 (ada) and 2 (bob) did not show up.",
    ),
    "the database was away": (
        void(MOVE, detail="the database was away for 75 s"),
        "Counts for nobody: the database was away for 75 s.",
    ),
    "overload": (
        void(MOVE, unanswered(1, 16_000), detail="overload: the server was 11.0 s late"),
        (
            "Counts for nobody: overload: the server was 11.0 s late; the 16,000 ms that ply 1 was open "
            "are charged to nobody."
        ),
    ),
    "a fault that nobody described": (
        void(MOVE, detail="a fault of the server; counts for nobody"),
        "Counts for nobody: a fault of the server.",
    ),
    "a fault without a word": (void(MOVE), "Counts for nobody: a fault of the server."),
    "it waits": (
        ended(state="queued", outcomes=(None, None), causes=(None, None)),
        "Not begun: no clock has run yet.",
    ),
    "it starts": (
        ended(state="starting", outcomes=(None, None), causes=(None, None)),
        "Not begun: no clock has run yet.",
    ),
    "it starts once more": (
        ended(MOVE, state="starting", outcomes=(None, None), causes=(None, None), restarts=2),
        f"Not over yet; {QUIET}; the server was started anew 2 times, which is charged to nobody.",
    ),
    "it goes on": (
        ended(MOVE, state="running", outcomes=(None, None), causes=(None, None)),
        f"Not over yet; {QUIET}.",
    ),
}


@pytest.mark.parametrize(("case", "sentence"), ENDS.values(), ids=ENDS)
def test_a_match_is_explained(case, sentence):
    assert verdict(case) == sentence


@pytest.mark.parametrize("lag_ms", [0, 1, 200, 900, 10_000])
@pytest.mark.parametrize("trip_ms", [0, 80, 1_000])
def test_no_agent_is_blamed_for_what_was_refunded(lag_ms, trip_ms):
    """Whatever server and line took, an agent within its limit and margin is not said to be at fault."""
    within = unanswered(1, 5_190 + lag_ms + trip_ms, trip_ms=trip_ms, lag_ms=lag_ms, received=True)
    assert "fault of the server, not of the agent" in verdict(lost("timeout", MOVE, within))
    over = unanswered(1, 5_201 + lag_ms + trip_ms, trip_ms=trip_ms, lag_ms=lag_ms, received=True)
    assert "lost on time" in verdict(lost("timeout", MOVE, over))


BY_RULES = "by the rules of the game"


@pytest.mark.parametrize(
    ("outcomes", "causes", "sentence"),
    [
        (("loss", "win", "loss"), ("normal",) * 3, f"Seat 2 (bob) won {BY_RULES}"),
        (
            ("draw", "loss", "draw"),
            ("normal",) * 3,
            f"Seats 1 (ada) and 3 (cat) share first place {BY_RULES}",
        ),
        (("draw",) * 3, ("normal",) * 3, f"Drawn {BY_RULES}"),
        (("draw",) * 3, ("rule_draw",) * 3, "Drawn by a rule of the game, such as one on repetition"),
        (("draw",) * 3, ("agreement",) * 3, "Drawn by agreement"),
    ],
)
def test_how_a_match_of_three_ended(outcomes, causes, sentence):
    case = ended(MOVE, agents=("ada", "bob", "cat"), outcomes=outcomes, causes=causes)
    assert verdict(case) == f"{sentence}, not by the clock; {QUIET}."


def test_the_cause_of_the_seat_that_lost_is_told_among_many():
    case = ended(
        MOVE,
        unanswered(2, 5_300),
        agents=("ada", "bob", "cat"),
        outcomes=("draw", "draw", "loss"),
        causes=("normal", "normal", "timeout"),
    )
    case = replace(case, trace=(MOVE, replace(case.trace[1], seat=2)))
    assert verdict(case).startswith("Seat 3 (cat) lost on time at ply 2")


def test_time_of_chance_is_nobodys():
    chance = Request(0, -1, Timing(0, 0, 0))
    case = ended(chance, MOVE)
    assert verdict(case) == f"Seat 1 (ada) won by the rules of the game, not by the clock; {QUIET}."
