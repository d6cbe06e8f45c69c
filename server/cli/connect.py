"""`plyground connect`."""

import contextlib
import os
import shlex
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from functools import partial

import click
from click.core import ParameterSource

from agents import student
from agents.client import LATE_IN_A_ROW, Client
from agents.matches import Played
from agents.refusal import RefusedError
from agents.register import register
from agents.tokens import TokenStore, config_folder
from games.errors import InputError
from server.cli import api
from server.cli.api import server_option
from server.cli.entrant import check_one_given, tried_command, tried_file
from server.cli.events import Reporter
from server.cli.numbers import WholeNumber
from server.cli.patience import Patience
from server.cli.terminal import clean

LATE_ADVICE = (
    f"{LATE_IN_A_ROW} matches in a row were lost on time, so it plays no more: clock.share_ms() tells choose "
    "how long to think about a move, clock.left_ms() when its time is over; let it search less deep, or stop "
    "in time and return its best action so far"
)

STEP_S = 0.1
"""Between looks at whether Ctrl-C was pressed."""

STOP_S = 2.0
"""How long the client may take to stop; it may be waiting for a server that does not answer."""


@click.command()
@click.argument("file", metavar="[FILE]", required=False)
@click.option("--command", "line", help='In place of FILE, a program that talks over stdio: "node bot.js".')
@click.option(
    "--ladder", "ladders", multiple=True, required=True, help="A ladder to play on; can be repeated."
)
@click.option("--name", required=True, help="The agent's name in the standings.")
@click.option("--token", envvar="PLYGROUND_TOKEN", help="The agent's token; PLYGROUND_TOKEN sets it too.")
@click.option(
    "--invitation",
    envvar="PLYGROUND_INVITATION",
    help="What the server's admin gave you to register with; PLYGROUND_INVITATION sets it too.",
)
@click.option("--concurrency", type=WholeNumber(1, 64), default=1, show_default=True, help="Matches at once.")
@click.option("--matches", type=WholeNumber(1), help="Leave after so many matches.")
@server_option
def command(
    file: str | None,
    line: str | None,
    ladders: tuple[str, ...],
    name: str,
    token: str | None,
    invitation: str | None,
    concurrency: int,
    matches: int | None,
    server: str,
) -> int:
    """Let your agent play rated matches on a server's ladders.

    FILE holds a function choose(state, clock), or a class with such a method; with --command the agent is
    a program in any language. It is tried on each ladder's game first. The agent is registered under its
    name at its first run, and its token kept in your configuration folder, so that the next run is the
    same agent. Ctrl-C finishes the running matches and leaves; once more leaves at once. Exit code 1 if
    the agent failed, or lost three matches in a row on time.
    """
    check_one_given(file, line)
    if file is not None:
        student.read(file)
    # What the agent prints goes to stderr: stdout holds the events alone.
    with contextlib.ExitStack() as stack:
        reporter = stack.enter_context(Reporter(server, sys.stdout))
        patience = Patience(reporter.say)
        known = patience.with_server(lambda: api.check_ladders(server, ladders))
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        reporter.say(f"trying {file or line} on {', '.join(ladders)} ...")
        chosen = [known[ladder] for ladder in ladders]
        entrant = tried_file(file, chosen) if file else tried_command(line or "", chosen, stack)

        def play(as_token: str) -> Played:
            client = Client(
                server,
                name,
                ladders,
                as_token,
                make_agent=lambda _start: entrant.make(),
                concurrency=concurrency,
                fingerprint=entrant.fingerprint,
                observer=reporter,
                name=entrant.name,
                matches=matches,
                known=True,
            )
            return _until_interrupted(client, reporter)

        try:
            registered = partial(_registered, patience, server, name, invitation)
            played = play(token) if token else _as_kept_agent(server, name, registered, play)
        except RefusedError as error:
            raise _explained(error, name) from error
        late = played.late >= LATE_IN_A_ROW
        reporter.sum_up(LATE_ADVICE if late else "")
    return 1 if played.faults or late else 0


def _explained(error: RefusedError, name: str) -> InputError:
    """Say of a refusal what it means for whoever sits here."""
    if error.code == "replaced":
        return api.RefusalError(
            error.code, f"another terminal or process connected as {name!r} and took over; this one stops"
        )
    if error.code == "bad_token":
        source = click.get_current_context().get_parameter_source("token")
        kept = f"the file {TokenStore(config_folder(os.environ)).file}"
        named = {ParameterSource.COMMANDLINE: "--token", ParameterSource.ENVIRONMENT: "PLYGROUND_TOKEN"}
        origin = named.get(source, kept) if source else kept
        return api.RefusalError(error.code, f"{error}; the token came from {origin}")
    return error


def _as_kept_agent(
    server: str, name: str, registered: Callable[[str], str], play: Callable[[str], Played]
) -> Played:
    """Play with the token kept for this agent, or register it and keep the new one.

    A kept token that the server does not know is of another life of the server: the agent registers anew.
    """
    store = TokenStore(config_folder(os.environ))
    kept = store.get(server, name)
    if kept is not None:
        try:
            return play(kept)
        except RefusedError as error:
            if error.code != "bad_token":
                raise
    before = f"the token kept in {store.file} is not its token; " if kept else ""
    token = registered(before)
    try:
        store.put(server, name, token)
    except InputError as error:
        click.echo(clean(f"{error}; the next run needs --token {token}"), err=True)
    return play(token)


def _registered(patience: Patience, server: str, name: str, invitation: str | None, before: str) -> str:
    """Register the agent and return its token; say what to do where it is refused."""
    try:
        return patience.with_server(lambda: register(server, name, invitation))
    except InputError as error:
        advice = {
            "name_taken": (
                f"{before}if it is yours, give its token with --token (an admin can issue a new one: "
                f"plyground token issue play --agent {shlex.quote(name)}); else choose another name"
            ),
            "registration_closed": "ask its admin for an invitation, and give it with --invitation",
        }
        if invitation is not None and error.code in {"bad_token", "wrong_scope"}:
            raise api.RefusalError(error.code, f"the invitation was refused: {error}") from error
        if error.code == "bad_name" and error.available:
            sentence = f"expected {error.expected}, got {error.got} in {error.where}"
            raise api.RefusalError(error.code, f"{sentence}; try {error.available[0]!r}") from error
        if error.code not in advice:
            raise
        raise api.RefusalError(error.code, f"{error}; {advice[error.code]}") from error


def _until_interrupted(client: Client, reporter: Reporter) -> Played:
    """Play; leave after the running matches at the first Ctrl-C, at once at the second or while offline.

    The client has a thread of its own, which is left alone if it does not stop: it may wait for a server that
    does not answer. Ctrl-C is noted and raises no KeyboardInterrupt: one raised inside a
    lock or a callback would be lost. And the waiting is in short steps: Python runs a signal's handler
    between its own instructions, so that of a Ctrl-C just before a long wait would run after it.
    """
    presses: deque[int] = deque()
    before = signal.signal(signal.SIGINT, lambda number, _: presses.append(number))
    try:
        playing = _playing(client)
        again = False
        while not wait([playing], timeout=STEP_S).done:
            if presses:
                presses.popleft()
                if _leave(client, reporter, again=again) and not wait([playing], timeout=STOP_S).done:
                    return client.played
                again = True
        return playing.result()
    finally:
        signal.signal(signal.SIGINT, before)


def _playing(client: Client) -> Future[Played]:
    """Let the client play in a daemon thread; return what comes of it."""
    playing: Future[Played] = Future()

    def play() -> None:
        try:
            playing.set_result(client.run())
        except BaseException as error:  # noqa: BLE001 - it is raised again where the result is awaited
            playing.set_exception(error)

    threading.Thread(target=play, name="plyground-client", daemon=True).start()
    return playing


def _leave(client: Client, reporter: Reporter, *, again: bool) -> bool:
    """Carry out a Ctrl-C; tell whether the client is to stop at once."""
    reporter.leaving()
    if again or not reporter.online:
        client.stop()
        return True
    client.leave()
    if reporter.running:
        reporter.say(f"leaving after {reporter.running} running; Ctrl-C again leaves at once")
    return False
