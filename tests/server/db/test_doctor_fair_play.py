"""Whatever happens to a match, its record passes the doctor: referee and doctor agree on every clock."""

import random

import msgspec
import pytest
from sqlalchemy import text

import games
from agents.protocol import TimeControl
from games.position import Position
from server.core import match as core
from server.db import doctor, matches
from server.time_controls import terms

CONTROLS = (
    TimeControl(300, margin_ms=50, lag_ms=100, grace_ms=200, strikes=2),
    TimeControl(0, bank_ms=900, increment_ms=40, margin_ms=20, lag_ms=100, grace_ms=150, strikes=1),
    TimeControl(0, bank_ms=500, byoyomi_ms=120, periods=3, margin_ms=20, lag_ms=100, grace_ms=100),
    TimeControl(250, bank_ms=90_000, margin_ms=20, lag_ms=100),
    TimeControl(0, nodes=10, margin_ms=20, lag_ms=100, grace_ms=90),
)


class Game:
    """A match on a clock of its own, driven at random; keeps what would be recorded."""

    def __init__(self, control: TimeControl, rng: random.Random) -> None:
        self.rng = rng
        self.at = rng.uniform(0, 5_000)
        self.rows: list[core.Accept] = []
        self.end: core.Finish | None = None
        position = Position.start(games.load("tic_tac_toe"))
        self.match, _ = core.start(position, terms(control, pace_ms=0, resume_ms=1_000), self.at)
        self.take(core.Ready(0, self.at), core.Ready(1, self.at))

    def take(self, *events: core.MatchEvent) -> None:
        for event in events:
            self.match, effects = core.advance(self.match, event)
            for effect in effects:
                match effect:
                    case core.Accept():
                        self.rows.append(effect)
                    case core.Finish():
                        self.end = effect
                    case core.Ask(_, ply, _, again) if not again:
                        self.at += self.rng.random() * 0.003
                        trip_ms = self.rng.choice([None, self.rng.uniform(0, 150)])
                        self.take(core.HandedOver(ply, self.at, trip_ms))
                    case core.Draw(ply, outcomes):
                        self.at += self.rng.random() * 0.003
                        self.take(core.Drawn(ply, outcomes[0][0], self.at))

    def go_on(self) -> None:
        """Let something happen."""
        seat = self.match.to_move
        assert seat is not None
        left_s = self.match.deadline - self.at
        what = self.rng.random()
        if what < 0.5:
            self.at += self.rng.uniform(0, left_s * self.rng.choice([0.1, 0.6, 1.001]))
            action = self.rng.choice(self.match.position.legal()) if what < 0.48 else "nonsense"
            lag_s = self.rng.choice([0.0, self.rng.uniform(0, 0.05)])
            self.take(core.Action(seat, self.match.ply, action, self.at, None, lag_s))
        elif what < 0.7:
            self.at += self.rng.uniform(0, min(left_s, 0.2))
            self.take(core.Lost(seat, self.at, gone=self.rng.random() < 0.1))
        elif what < 0.9:
            self.at += self.rng.uniform(0, min(left_s, 0.2))
            kept_s = self.rng.choice([0.0, 0.0, self.rng.uniform(0, 1)])
            self.take(core.Back(seat, self.at, kept_s))
        else:
            late_s = self.rng.choice([0.0, self.rng.uniform(0, 0.02)])
            self.at = self.match.deadline + late_s
            self.take(core.DeadlinePassed(self.at, late_s))


def as_row(move: core.Accept, league) -> matches.MoveRow:
    timing = msgspec.structs.asdict(move.timing)
    del timing["refunded_ms"]
    return matches.MoveRow(
        ply=move.ply, seat=move.seat, action=move.action, info=None, received_at=league.now(), **timing
    )


def record(league, pair, control: TimeControl, game: Game) -> None:
    """Write the match down as the server would."""
    match = league.queue(*pair)[0]
    sql = text(f"UPDATE matches SET time_control = :control WHERE id = {match}")
    attempt = league.run(match)
    league.do(lambda conn: conn.execute(sql, {"control": msgspec.json.encode(control).decode()}).close())
    rows = [as_row(move, league) for move in game.rows]
    assert game.end is not None
    result, request = game.end.result, game.end.request
    shown = None
    if request is not None:
        shown = msgspec.to_builtins(request)
        shown |= shown.pop("timing")
    by_seat = [
        matches.SeatResult(*seat) for seat in zip(result.outcomes, result.causes, result.scores, strict=True)
    ]
    ended = matches.Ended(match, attempt, by_seat, None, league.now(), rows, shown)
    league.do(matches.finish_all, [ended])


@pytest.mark.parametrize("seed", range(3))
def test_the_record_of_any_match_is_fair(league, seed):
    rng = random.Random(seed)
    pair = league.agent("ada"), league.agent("bob")
    causes = set()
    for _ in range(40):
        control = rng.choice(CONTROLS)
        game = Game(control, rng)
        while game.end is None:
            game.go_on()
        causes |= set(game.end.result.causes)
        record(league, pair, control, game)
    assert {"timeout", "disconnect", "illegal_action"} <= causes
    assert league.db.read_now(doctor.check) == []
