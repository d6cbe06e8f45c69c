"""Matches: pages of them, one of them, and its record."""

from collections.abc import Sequence
from typing import Any, Literal, cast

import msgspec
from aiohttp import web
from msgspec.structs import replace
from sqlalchemy import Connection

import games
from agents.protocol import Cause, Outcome, State
from games.errors import InputError
from games.position import Position
from server.db import reads
from server.db.reads import MatchRow, MoveRow, SeatRow
from server.http import clocks
from server.http.endpoint import Call, answer
from server.http.validation import read_number
from server.http.views import ActionView, MatchView, Page, PageLimit, PlayerView, RecordView


class MatchesQuery(msgspec.Struct, frozen=True):
    """Which matches: of one ladder, agent or state; newest first."""

    ladder: str | None = None
    agent: str | None = None
    state: State | None = None
    limit: PageLimit = 50
    cursor: str | None = None


class RecordQuery(msgspec.Struct, frozen=True):
    """In which form."""

    format: Literal["json"] = "json"


async def list_matches(call: Call) -> web.Response:
    """Answer a page of matches, newest first."""
    return answer(await call.services.db.read(_page, call.query))


async def one_match(call: Call) -> web.Response:
    """Answer one match with its latest position and its clock."""
    return answer(_one(*await call.services.db.read(_find, call.path["id"])))


async def match_record(call: Call) -> web.Response:
    """Answer everything about one match."""
    row, moves = await call.services.db.read(_find, call.path["id"])
    if row.closed:
        raise InputError(
            "match_closed",
            expected="a match of a set that has ended",
            got=f"match {row.id}, while matches with the same dice or cards are played",
        )
    return answer(_record(row, moves))


def _page(conn: Connection, query: MatchesQuery) -> Page[MatchView]:
    rows, following = reads.matches_page(
        conn,
        ladder=query.ladder,
        agent=query.agent,
        state=query.state,
        cursor=query.cursor,
        limit=query.limit,
    )
    times = reads.times(conn, [row.id for row in rows])
    return Page(items=[_view(row, times.get(row.id, [])) for row in rows], next=following)


def _find(conn: Connection, text: str) -> tuple[MatchRow, list[MoveRow]]:
    """Return the match of that number and its moves. Raises InputError: `bad_id`, `unknown_match`."""
    row = reads.match(conn, read_number(text, "a match"))
    if row is None:
        raise InputError("unknown_match", expected="a match", got=text)
    return row, reads.moves(conn, row.id)


def _one(row: MatchRow, moves: Sequence[MoveRow]) -> MatchView:
    final = _position(row, moves)
    measured, told = clocks.clock(row, moves)
    return replace(
        _view(row, [move.elapsed_ms for move in moves]),
        position=None if final is None else final.text(row.viewer),
        clock=measured,
        verdict=told,
    )


def _record(row: MatchRow, moves: Sequence[MoveRow]) -> RecordView:
    final = _position(row, moves)
    measured, told = clocks.clock(row, moves)
    return RecordView(
        match=_view(row, [move.elapsed_ms for move in moves]),
        time_control=clocks.time_control(row),
        initial_position=None if final is None else Position.start(final.game).text(),
        actions=_actions(row, moves, final),
        final_position=None if final is None else final.text(row.viewer),
        clock=measured,
        verdict=told,
    )


def _position(row: MatchRow, moves: Sequence[MoveRow]) -> Position | None:
    """Return the latest position; None for a game whose rules are no longer here."""
    try:
        return Position.start(games.load(row.game), moves=[move.action for move in moves])
    except InputError:
        return None


def _view(row: MatchRow, times: list[int]) -> MatchView:
    return MatchView(
        id=row.id,
        ladder=row.ladder,
        game=row.game,
        state=cast("State", row.state),
        players=[_player(seat) for seat in row.seats],
        moves=row.moves,
        times=times,
        detail=row.detail,
        replay_of=row.replay_of,
        closed=row.closed,
        seed_hash=row.seed_hash,
        seed=row.seed,
        created_at=row.created_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
    )


def _player(seat: SeatRow) -> PlayerView:
    rated = seat.elo_after is not None
    return PlayerView(
        seat=seat.seat,
        agent=seat.agent,
        version=seat.version,
        outcome=cast("Outcome | None", seat.outcome),
        cause=cast("Cause | None", seat.cause),
        utility=seat.utility,
        elo_before=seat.elo if rated else None,
        elo_after=seat.elo_after,
    )


def _actions(row: MatchRow, moves: Sequence[MoveRow], final: Position | None) -> list[ActionView]:
    """Return the actions.

    What an agent thinks is told only after the end where an opponent could read it, or where it would show
    what is hidden. Without rules nobody knows what is hidden, and nothing is told before the end.
    """
    if final is None and not row.over:
        return []
    seen = [move.action for move in moves] if final is None else final.seen_actions(row.viewer)
    hidden = final is not None and final.game.hidden
    told = row.over or (all(seat.house for seat in row.seats) and not hidden)
    return [
        _action(move, action, move.info if told else None) for move, action in zip(moves, seen, strict=True)
    ]


def _action(move: MoveRow, action: str, info: dict[str, Any] | None) -> ActionView:
    timed = clocks.figures(clocks.timing(move))
    return ActionView(ply=move.ply, seat=move.seat, action=action, info=info, **timed)
