"""What must be true after a storm, whatever happened in it: the database against itself and what was told.

`plyground doctor` looks at much of this too; here it is found again by other means, and held against what the
agents wrote down.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from server.db import schema
from tests.chaos.evidence import Evidence
from tests.chaos.trace import BY_TIME, FORFEITS, Played, Request, wrong_in_forfeit, wrong_in_strike

SCORES = {"win": 1.0, "draw": 0.5, "loss": 0.0}
ELO_TOLERANCE = 1e-6
IN_TIME_S = 0.5
"""An answer that an agent sent so long before its time was over was certainly in time."""

BACK_S = 1.0
"""An agent that is back so long before its time is over has heard by then what it is asked."""

HIDDEN = "d?"
"""How an agent sees an outcome that it may not know."""


class Finding(NamedTuple):
    """A broken promise: which, and where in a sentence."""

    promise: str
    message: str


@dataclass(frozen=True)
class Record:
    """The database at the end: matches by id; results and ratings as rows; agents' names by version."""

    matches: dict[int, Played]
    results: list[Any]
    ratings: list[Any]
    names: dict[int, str]

    @classmethod
    def read(cls, conn: Connection) -> "Record":
        """Read all of it."""
        sitting, played = defaultdict(list), defaultdict(list)
        for row in conn.execute(select(schema.seats).order_by(schema.seats.c.match_id, schema.seats.c.seat)):
            sitting[row.match_id].append(row)
        for row in conn.execute(select(schema.moves).order_by(schema.moves.c.match_id, schema.moves.c.ply)):
            played[row.match_id].append(row)
        names = select(schema.versions.c.id, schema.agents.c.name).join(
            schema.agents, schema.agents.c.id == schema.versions.c.agent_id
        )
        return cls(
            {
                row.id: Played(row, sitting[row.id], played[row.id])
                for row in conn.execute(select(schema.matches))
            },
            list(conn.execute(select(schema.results).order_by(schema.results.c.seq))),
            list(conn.execute(select(schema.ratings))),
            {row.id: row.name for row in conn.execute(names)},
        )

    def agent(self, match: Played, seat: int) -> str:
        """Name of the agent on a seat."""
        return self.names[match.seats[seat].version_id]


def judge(record: Record, evidence: Evidence) -> list[Finding]:
    """Return every broken promise."""
    return [
        Finding(check.__name__.removeprefix("_"), message)
        for check in PROMISES
        for message in check(record, evidence)
    ]


def _every_match_is_settled(record: Record, _evidence: Evidence) -> Iterator[str]:
    """At the end a match waits or is over, and nobody has to come back for it."""
    for number, match in record.matches.items():
        if match.row.state not in {"queued", "finished", "void"}:
            yield f"match {number} is {match.row.state}"


def _every_match_has_one_result(record: Record, _evidence: Evidence) -> Iterator[str]:
    counted = Counter(row.match_id for row in record.results)
    for number, match in record.matches.items():
        expected = 1 if match.row.state == "finished" else 0
        if counted[number] != expected:
            yield f"match {number} is {match.row.state} and has {counted[number]} results"
        outcomes = sorted(str(seat.outcome) for seat in match.seats)
        if match.row.state == "finished" and outcomes not in (["loss", "win"], ["draw", "draw"]):
            yield f"match {number} is finished with {outcomes}"


def _a_void_match_has_its_cause_and_is_replayed(record: Record, _evidence: Evidence) -> Iterator[str]:
    replays = Counter(match.row.replay_of for match in record.matches.values())
    for number, match in record.matches.items():
        if match.row.state != "void":
            continue
        causes = {seat.cause for seat in match.seats}
        if not causes & {"infrastructure", "no_show"} or not causes <= {
            "infrastructure",
            "no_show",
            "normal",
        }:
            yield f"match {number} is void with the causes {sorted(map(str, causes))}"
        if not match.row.detail:
            yield f"match {number} is void and does not say why"
        if match.moves and replays[number] != 1:
            broken = f"was broken off after {len(match.moves)} moves"
            yield f"match {number} {broken} and replayed {replays[number]} times"


def _ratings_are_what_the_results_give(record: Record, _evidence: Evidence) -> Iterator[str]:
    """Rate everybody anew: K = max(16, 160 / (1 + n/8)), from where the ratings are when a match ends."""
    anew = {(row.ladder_id, row.version_id): (row.start_elo, 0) for row in record.ratings}
    for result in record.results:
        match = record.matches[result.match_id]
        who = [(result.ladder_id, seat.version_id) for seat in match.seats]
        if len(who) != 2 or any(seat.outcome not in SCORES for seat in match.seats):
            continue  # told by another promise
        (own, games), (other, others_games) = anew[who[0]], anew[who[1]]
        surprise = SCORES[match.seats[0].outcome] - 1 / (1 + 10 ** ((other - own) / 400))
        anew[who[0]] = own + max(16, 160 / (1 + games / 8)) * surprise, games + 1
        anew[who[1]] = other - max(16, 160 / (1 + others_games / 8)) * surprise, others_games + 1
    for row in record.ratings:
        elo, games = anew[row.ladder_id, row.version_id]
        if abs(row.elo - elo) > ELO_TOLERANCE or row.games != games:
            yield (
                f"{record.names[row.version_id]} on ladder {row.ladder_id} has {row.elo:.3f} from {row.games}"
                f" games, and its results give {elo:.3f} from {games}"
            )


def _forfeits(record: Record) -> Iterator[tuple[int, Played, int, str]]:
    """All forfeits: number of the match, the match, the seat and its cause."""
    for number, match in record.matches.items():
        for seat in match.seats:
            if match.row.state == "finished" and seat.cause in FORFEITS:
                yield number, match, seat.seat, seat.cause


def _a_forfeit_has_its_own_fault_in_the_clock_trace(record: Record, _evidence: Evidence) -> Iterator[str]:
    for number, match, seat, cause in _forfeits(record):
        for wrong in wrong_in_forfeit(match, seat, cause):
            yield f"match {number}: seat {seat} lost by {cause}, yet {wrong}"
    for number, match in record.matches.items():
        for request in match.timed_out():
            for wrong in wrong_in_strike(match, request):
                yield f"match {number}: seat {request.seat} had a strike at ply {request.ply}, yet {wrong}"


def late_requests(record: Record) -> Iterator[tuple[int, Played, Request]]:
    """All requests that cost an agent a match or a strike by time."""
    for number, match, _seat, cause in _forfeits(record):
        if cause in BY_TIME and match.last_request is not None:
            yield number, match, match.last_request
    for number, match in record.matches.items():
        for request in match.timed_out():
            yield number, match, request


def _no_outage_is_charged(record: Record, evidence: Evidence) -> Iterator[str]:
    for number, _match, request in late_requests(record):
        outage = evidence.outage(request.handed_over_at, request.at)
        if outage is not None:
            yield (
                f"match {number}: seat {request.seat} was late with ply {request.ply}, and of its "
                f"{request.timing.elapsed_ms} ms no server was there for {outage.end - outage.start:.1f} s"
            )


def _nobody_is_late_who_was_in_time(record: Record, evidence: Evidence) -> Iterator[str]:
    """An agent that wrote down an answer in good time, over a line that held, is not late."""
    for number, match, request in late_requests(record):
        agent = record.agent(match, request.seat)
        over_at = request.handed_over_at + (request.timing.limit_ms + match.control.margin_ms) / 1000
        # What was sent before the hand-over went to a server that was killed; the next one has asked anew.
        sent = min(
            (at for at in evidence.sent[agent, number, request.ply] if at >= request.handed_over_at),
            default=over_at,
        )
        if sent > over_at - IN_TIME_S:
            continue
        if not evidence.in_trouble(agent, request.handed_over_at, request.at):
            yield (
                f"match {number}: {agent} answered ply {request.ply} {over_at - sent:.1f} s before its time "
                "was over, by a line that held"
            )


def _whoever_comes_back_is_asked_again(record: Record, evidence: Evidence) -> Iterator[str]:
    """An agent that was welcomed again with time left hears what it is to answer."""
    for number, match, request in late_requests(record):
        agent = record.agent(match, request.seat)
        over_at = request.handed_over_at + (request.timing.limit_ms + match.control.margin_ms) / 1000
        back = max((at for at in evidence.back[agent] if at < over_at - BACK_S), default=0.0)
        if back < request.handed_over_at or evidence.in_trouble(agent, back, over_at):
            continue
        if not any(at > back - BACK_S for at in evidence.asked[agent, number, request.ply]):
            yield (
                f"match {number}: {agent} was back {over_at - back:.1f} s before its time was over, and was "
                f"not asked for ply {request.ply} again"
            )


def unexplained(record: Record, evidence: Evidence) -> Iterator[str]:
    """Say who was late though nothing is known that kept it: on a busy machine it had no turn to run."""
    for number, match, request in late_requests(record):
        agent = record.agent(match, request.seat)
        known = any((agent, number, ply) in evidence.faults for ply in range(request.ply + 1))
        if not known and not evidence.in_trouble(agent, request.handed_over_at, request.at):
            yield f"match {number}: {agent} at ply {request.ply}, {request.timing.charged_ms} ms"


def _other_forfeits_were_meant(record: Record, evidence: Evidence) -> Iterator[str]:
    """A crash or an illegal action that the agent knows nothing of is none of its own."""
    expected = {"crash": "crashed", "illegal_action": "cheated"}
    for number, match, seat, cause in _forfeits(record):
        fault = expected.get(cause)
        agent = record.agent(match, seat)
        known = {what for (who, where, _), what in evidence.faults.items() if (who, where) == (agent, number)}
        if fault is not None and fault not in known:
            yield f"match {number}: {agent} lost by {cause}, and has not {fault}"


def _what_was_acknowledged_is_on_record(record: Record, evidence: Evidence) -> Iterator[str]:
    for ack in sorted(evidence.acked, key=lambda ack: (ack.match, ack.ply)):
        moves = _moves(record, ack.match)
        where = f"match {ack.match}, ply {ack.ply} of {ack.agent}"
        if ack.ply not in moves:
            yield f"{where} was acknowledged and is not there"
        elif ack.action is not None and moves[ack.ply].action != ack.action:
            yield f"{where} was acknowledged as {ack.action!r} and is {moves[ack.ply].action!r}"


def _what_was_told_is_on_record(record: Record, evidence: Evidence) -> Iterator[str]:
    for told in sorted(evidence.told):
        moves = _moves(record, told.match)
        got = moves[told.ply].action if told.ply in moves else None
        if got != told.action and (got is None or told.action != HIDDEN):
            where = f"match {told.match}, ply {told.ply}"
            yield f"{where} was told {told.agent} as {told.action!r} and is {got!r}"


def _an_end_that_was_told_stands(record: Record, evidence: Evidence) -> Iterator[str]:
    for over in evidence.over:
        match = record.matches.get(over.match)
        seats = [] if match is None else match.seats
        stands = [seat.outcome for seat in seats], [seat.cause for seat in seats]
        if stands != (over.outcome, over.cause):
            ended = f"match {over.match} ended for {over.agent}"
            yield f"{ended} with {over.outcome}, {over.cause} and has {stands}"


def _nobody_is_shut_out(_record: Record, evidence: Evidence) -> Iterator[str]:
    for agent, error in evidence.gave_up.items():
        yield f"{agent} gave up: {error}"


def _moves(record: Record, number: int) -> dict[int, Any]:
    """Return the moves of a match by ply."""
    match = record.matches.get(number)
    return {} if match is None else {move.ply: move for move in match.moves}


PROMISES: tuple[Callable[[Record, Evidence], Iterator[str]], ...] = (
    _every_match_is_settled,
    _every_match_has_one_result,
    _a_void_match_has_its_cause_and_is_replayed,
    _ratings_are_what_the_results_give,
    _a_forfeit_has_its_own_fault_in_the_clock_trace,
    _no_outage_is_charged,
    _nobody_is_late_who_was_in_time,
    _whoever_comes_back_is_asked_again,
    _other_forfeits_were_meant,
    _what_was_acknowledged_is_on_record,
    _what_was_told_is_on_record,
    _an_end_that_was_told_stands,
    _nobody_is_shut_out,
)
