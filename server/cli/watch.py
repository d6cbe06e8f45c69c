"""`plyground watch`."""

import time
import urllib.parse
from collections.abc import Iterator
from typing import TypeAlias

import click
import msgspec
from rich.live import Live
from rich.text import Text
from websockets.exceptions import ConnectionClosed, InvalidHandshake
from websockets.sync.client import ClientConnection, connect

from agents.address import is_loopback
from agents.plain import plain
from agents.protocol import (
    Error,
    Event,
    FromSpectator,
    MatchView,
    Snapshot,
    Unwatch,
    Watch,
    decode_to_spectator,
    encode,
)
from games.errors import InputError
from server.cli import api, boards
from server.cli.api import server_option
from server.cli.numbers import WholeNumber
from server.cli.terminal import clean, console

REFRESH_S = 0.25
"""How often the clock of the side to move is drawn again."""

MAX_FRAME_BYTES = 4 * 1024 * 1024
OVER = ("finished", "void")
PLAYED = ("starting", "running")
News: TypeAlias = tuple[str, list[MatchView]]
"""A channel and the matches on it that were told."""


@click.command()
@click.argument("match", type=WholeNumber(1), required=False)
@click.option("--ladder", help="Watch the newest match of this ladder.")
@click.option("--follow", is_flag=True, help="Go on with the next match when one ends.")
@server_option
def command(match: int | None, ladder: str | None, server: str, *, follow: bool) -> None:
    """Watch a match live in the terminal.

    Without MATCH the newest one that runs; where none runs, the next one. Where stdout is no terminal
    each change of the board is printed.
    """
    if ladder is not None:
        api.check_ladders(server, [ladder])
    with _connected(server) as socket:
        while True:
            chosen = match or _newest_running(server, socket, ladder)
            try:
                _show_match(server, socket, chosen)
            except api.RefusalError as error:
                if error.code != "unknown_match":
                    raise
                raise api.RefusalError(error.code, f"there is no match {chosen} on {server}") from error
            if not follow:
                return
            match = None


def _connected(server: str) -> ClientConnection:
    parts = urllib.parse.urlsplit(server)
    url = f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}{parts.path}/ws/watch"
    try:
        return connect(
            url,
            proxy=None if is_loopback(server) else True,
            compression=None,
            max_size=MAX_FRAME_BYTES,
            open_timeout=api.TIMEOUT_S,
        )
    except OSError as error:
        raise api.dead_server(server, error) from None
    except InvalidHandshake as error:
        raise InputError("no_plyground", expected=f"a Plyground server at {server}", got=str(error)) from None


def _newest_running(server: str, socket: ClientConnection, ladder: str | None) -> int:
    """Return the id of the newest match that runs; waits for one."""
    _send(server, socket, Watch(ladder=ladder, front=ladder is None))
    for news in _news(server, socket):
        running = [match.id for match in news[1] if match.state in PLAYED] if news else []
        if running:
            _send(server, socket, Unwatch(ladder=ladder, front=ladder is None))
            return max(running)
    raise AssertionError("news never ends")


def _show_match(server: str, socket: ClientConnection, chosen: int) -> None:
    """Draw a match until it is over."""
    _send(server, socket, Watch(match=chosen))
    views = _views(server, socket, chosen)
    out = console()
    if out.is_terminal:
        with Live(console=out, auto_refresh=False) as live:
            for view, left_ms in views:
                live.update(picture(view, left_ms), refresh=True)
    else:
        shown = None
        for view, _ in views:
            if shown != (view.ply, view.state):
                shown = (view.ply, view.state)
                out.print(picture(view, None), end="\n\n")
    _send(server, socket, Unwatch(match=chosen))


def _views(server: str, socket: ClientConnection, chosen: int) -> Iterator[tuple[MatchView, int | None]]:
    """Yield the match and the time left to the side to move, at each change and each refresh."""
    view = None
    told_at = 0.0
    for news in _news(server, socket):
        for match in news[1] if news and news[0] == f"match:{chosen}" else ():
            view, told_at = match, time.monotonic()
        if view is not None:
            yield view, _left_ms(view, told_at)
            if view.state in OVER:
                return


def _left_ms(view: MatchView, told_at: float) -> int | None:
    if view.clock_ms is None or view.state in OVER:
        return None
    ran_ms = max(0, round(1000 * (time.monotonic() - told_at)) - view.still_ms)
    return max(0, view.clock_ms - ran_ms)


def _send(server: str, socket: ClientConnection, message: FromSpectator) -> None:
    try:
        socket.send(encode(message).decode())
    except ConnectionClosed:
        raise _gone(server) from None


def _news(server: str, socket: ClientConnection) -> Iterator[News | None]:
    """Yield what the server tells, and None when a refresh is due. Raises InputError for its errors."""
    while True:
        try:
            frame = socket.recv(REFRESH_S)
        except TimeoutError:
            yield None
            continue
        except ConnectionClosed:
            raise _gone(server) from None
        try:
            message = decode_to_spectator(frame)
        except (msgspec.DecodeError, RecursionError) as error:
            got = f"one that cannot be read ({plain(error)})"
            raise InputError("bad_message", expected=f"a message from {server}", got=got) from None
        match message:
            case Snapshot(channel=channel, matches=matches):
                yield channel, matches
            case Event(channel=channel, match=match):
                yield channel, [match]
            case Error():
                raise api.RefusalError(message.code, message.message)


def _gone(server: str) -> InputError:
    return InputError("server_gone", expected=f"the server at {server}", got="a closed connection")


def picture(view: MatchView, left_ms: int | None) -> Text:
    """Draw a match: who plays, the board, what happens."""
    head = Text(clean(f"match {view.id}  {view.title}  ply {view.ply}"), "bold")
    lines = [head, *(_player(view, seat) for seat in range(len(view.players)))]
    lines += [boards.drawn(boards.from_json(view.board)), _happening(view, left_ms)]
    return Text("\n").join(lines)


def _player(view: MatchView, seat: int) -> Text:
    player = view.players[seat]
    elo = f"{player.elo:.0f}{'?' if player.provisional else ''}"
    line = Text.assemble(boards.mark(seat), clean(f" {player.agent} v{player.version}  {elo}"))
    if player.outcome:
        line.append(clean(f"  {player.outcome} ({player.cause})"))
    elif not player.connected:
        line.append("  away")
    return line


def _happening(view: MatchView, left_ms: int | None) -> Text:
    if view.state in OVER:
        ended = _ended(view)
        return Text(clean(f"{ended}: {view.detail}" if view.detail else ended))
    if view.to_move is None or not 0 <= view.to_move < len(view.players):
        return Text("about to start")
    line = f"{view.players[view.to_move].agent} to move"
    if left_ms is not None:
        line += f", {left_ms / 1000:.1f} s left"
    return Text(clean(line))


def _ended(view: MatchView) -> str:
    """Say how a match ended: who won against whom, and why."""
    names = {
        outcome: " and ".join(player.agent for player in view.players if player.outcome == outcome)
        for outcome in ("win", "loss", "draw")
    }
    causes = dict.fromkeys(player.cause for player in view.players if player.cause not in (None, "normal"))
    why = ", ".join(map(str, causes)) or "normal"
    if names["win"]:
        return f"{names['win']} won against {names['loss'] or names['draw']} ({why})"
    if names["draw"] and names["loss"]:
        return f"{names['draw']} share first place before {names['loss']} ({why})"
    if names["draw"]:
        return f"{names['draw']} drew ({why})"
    return view.state if why == "normal" else f"{view.state} ({why})"
