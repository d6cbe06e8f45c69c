"""`plyground clock`."""

from datetime import UTC, datetime

import click
import msgspec

from agents.plain import plain
from games.errors import InputError
from server.cli import api
from server.cli.api import server_option
from server.cli.numbers import WholeNumber
from server.cli.terminal import clean, json_option, write_json, write_table

COLUMNS = ("ply", "agent", "asked", "handed", "received", "limit", "trip", "refunded", "charged", "lag")
LEGEND = """\
asked: time of day, UTC; the rest in ms. handed: over, after asked; received:
after handed; trip: way there and back; lag: lateness of the server"""


class Player(msgspec.Struct, frozen=True):
    """Who sits at a seat."""

    seat: int
    agent: str


class Entry(msgspec.Struct, frozen=True):
    """A request as the server measured it; see server.http.views.ClockEntry."""

    ply: int
    seat: int
    asked_at: datetime
    received_at: datetime | None
    limit_ms: int | None
    waited_ms: int
    elapsed_ms: int
    round_trip_ms: float | None
    refunded_ms: int
    charged_ms: int
    lag_ms: int
    timed_out: bool
    counted: bool


class Trace(msgspec.Struct, frozen=True):
    """What is read of the answer about a match."""

    id: int
    state: str
    game: str
    players: list[Player]
    clock: list[Entry]
    verdict: str


@click.command()
@click.argument("match", type=WholeNumber(1))
@server_option
@json_option
def command(match: int, server: str, *, as_json: bool) -> None:
    """Show how the moves of a match were timed, with a verdict.

    One line a request: when it was wanted, when it was handed over, when the answer was in, what was
    refunded and what was charged. The sentence below says whose fault the end was.
    """
    try:
        told = api.get(server, f"matches/{match}")
    except api.RefusalError as error:
        if error.code != "unknown_match":
            raise
        raise api.RefusalError(error.code, f"there is no match {match} on {server}") from error
    try:
        trace = msgspec.convert(told, Trace)
    except msgspec.ValidationError as error:
        got = f"a match that cannot be read ({plain(error)})"
        raise InputError("no_plyground", expected=f"a match with its clock from {server}", got=got) from None
    if as_json:
        write_json({name: told[name] for name in Trace.__struct_fields__})
        return
    _show(trace)


def _show(trace: Trace) -> None:
    names = {player.seat: player.agent for player in trace.players}
    rows = [_line(entry, names.get(entry.seat, "?")) for entry in trace.clock]
    title = f"match {trace.id}  {trace.game}  {trace.state}"
    if rows:
        write_table(COLUMNS, rows, title=title, tight=True)
        for entry in trace.clock:  # what is out of the ordinary alone
            if remark := _remark(entry):
                click.echo(f"ply {entry.ply}: {remark}")
        click.echo(f"{LEGEND}\n")
    else:
        click.echo(clean(title))
    click.echo(clean(trace.verdict))


def _line(entry: Entry, agent: str) -> tuple[object, ...]:
    trip_ms = None if entry.round_trip_ms is None else round(entry.round_trip_ms)
    return (
        entry.ply,
        agent,
        entry.asked_at.astimezone(UTC).strftime("%H:%M:%S.%f")[:-3],
        f"+{entry.waited_ms}",
        None if entry.received_at is None else f"+{entry.elapsed_ms}",
        entry.limit_ms,
        trip_ms,
        entry.refunded_ms,
        entry.charged_ms,
        entry.lag_ms,
    )


def _remark(entry: Entry) -> str:
    if entry.timed_out:
        return "strike: drawn by lot"
    if entry.counted:
        return ""
    return "not counted" if entry.received_at is not None else "no answer"
