"""`plyground connect`."""

import contextlib
import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import click

import games
from agents import student
from agents.client import Client, Played, RefusedError
from agents.register import register
from agents.tokens import TokenStore, config_folder
from games.errors import InputError
from server.cli import api
from server.cli.api import server_option
from server.cli.events import Reporter
from server.cli.terminal import clean


@click.command()
@click.argument("file", metavar="FILE")
@click.option(
    "--ladder", "ladders", multiple=True, required=True, help="A ladder to play on; can be repeated."
)
@click.option("--name", required=True, help="The agent's name in the standings.")
@click.option("--token", envvar="PLYGROUND_TOKEN", help="The agent's token; PLYGROUND_TOKEN sets it too.")
@click.option(
    "--concurrency", type=click.IntRange(1, 64), default=1, show_default=True, help="Matches at once."
)
@click.option("--matches", type=click.IntRange(min=1), help="Leave after so many matches.")
@server_option
def command(
    file: str,
    ladders: tuple[str, ...],
    name: str,
    token: str | None,
    concurrency: int,
    matches: int | None,
    server: str,
) -> int:
    """Let your agent play rated matches on a server's ladders.

    FILE holds a function choose(state, clock), or a class with such a method. It is tried on each ladder's
    game first. The agent is registered under its name at its first run, and its token kept in your
    configuration folder, so that the next run is the same agent. Ctrl-C finishes the running matches and
    leaves; once more leaves at once. Exit code 1 if the agent failed.
    """
    loaded = student.load(file)
    known = api.check_ladders(server, ladders)
    # What the agent prints goes to stderr: stdout holds the events alone.
    with Reporter(server, sys.stdout) as reporter, contextlib.redirect_stdout(sys.stderr):
        for ladder in ladders:
            student.trial(loaded, games.load(known[ladder]["game"]))

        def play(as_token: str) -> Played:
            client = Client(
                server,
                name,
                ladders,
                as_token,
                make_agent=lambda _start: loaded.make(),
                concurrency=concurrency,
                fingerprint=loaded.fingerprint,
                observer=reporter,
                name=str(loaded.path),
                matches=matches,
            )
            return _until_interrupted(client, reporter)

        played = play(token) if token else _as_kept_agent(server, name, play)
    return 1 if played.faults else 0


def _as_kept_agent(server: str, name: str, play: Callable[[str], Played]) -> Played:
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
        store.forget(server, name)
    token = register(server, name)
    try:
        store.put(server, name, token)
    except InputError as error:
        click.echo(clean(f"{error}; the next run needs --token {token}"), err=True)
    return play(token)


def _until_interrupted(client: Client, reporter: Reporter) -> Played:
    """Play; leave after the running matches at the first Ctrl-C, at once at the second or while offline.

    The client has a thread of its own, so that Ctrl-C interrupts nothing but the waiting here.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="plyground-client") as pool:
        playing = pool.submit(client.run)
        leaving = False
        while True:
            try:
                return playing.result()
            except KeyboardInterrupt:
                leaving = _leave(client, reporter, playing, leaving=leaving)


def _leave(client: Client, reporter: Reporter, playing: Future[Played], *, leaving: bool) -> bool:
    """Carry out a Ctrl-C."""
    if leaving or not reporter.online:
        client.stop()
    elif not playing.done():
        client.leave()
        if reporter.running:
            reporter.say(f"leaving after {reporter.running} running; Ctrl-C again leaves at once")
    return True
