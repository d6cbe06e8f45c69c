"""The house agents' process: `python -m agents.house --server URL --ladders NAME=GAME ...`.

Started by the server, which writes one line to its standard input: the token of all house agents. The end
of that input is the end of the server, in whatever way it came, and ends this process at once.
"""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Sequence

from agents import roster
from agents.agent import Agent
from agents.client import Client
from agents.fault import FaultReport
from agents.observer import Observer
from agents.protocol import Error, MatchStart
from agents.roster import HouseAgent
from games import Game, InputError, load

CONCURRENCY = 4
"""Matches of one house agent at once."""

SERVER_GONE = 0
REFUSED = 2

ITS_OWN = frozenset({"name_taken", "bad_name"})
"""Codes of refusals that concern one agent alone."""

log = logging.getLogger("plyground.house")


class HouseObserver(Observer):
    """Logs faults and refusals, and nothing of the ordinary course."""

    def __init__(self, name: str) -> None:
        self._name = name

    def fault(self, report: FaultReport) -> None:
        """Log the report: a fault of a house agent is ours."""
        log.error("%s", report.text())

    def error(self, error: Error) -> None:
        """Log what the server did not like."""
        log.warning("%s: %s", self._name, error.message)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the token, then play every house agent on every ladder it knows."""
    parser = argparse.ArgumentParser(prog="python -m agents.house", description="Play the house agents.")
    parser.add_argument("--server", required=True, help="the server's address")
    parser.add_argument("--ladders", action="append", default=[], metavar="NAME=GAME", help="repeatable")
    options = parser.parse_args(arguments)
    logging.basicConfig(format="house: %(message)s", level=logging.WARNING, stream=sys.stderr)
    for number in (signal.SIGINT, signal.SIGTERM):  # Ctrl-C, or a service's stop: the server's to handle
        signal.signal(number, signal.SIG_IGN)
    ladders = _ladders(options.ladders)
    token = sys.stdin.readline()
    if not token.endswith("\n"):
        _exit(SERVER_GONE)
    thinking = threading.Semaphore(max(1, (os.cpu_count() or 1) - 1))
    for agent in roster.load():
        own = {name: game for name, game in ladders.items() if agent.plays(game)}
        if own:
            client = _client(options.server, token.strip(), agent, list(own), thinking)
            playing = (client, agent, list(own.values()))
            threading.Thread(target=_play, args=playing, name=agent.name, daemon=True).start()
    sys.stdin.read()
    _exit(SERVER_GONE)


def _ladders(texts: Sequence[str]) -> dict[str, Game]:
    """Read `name=game_variant` for each ladder."""
    ladders = {}
    for text in texts:
        name, _, variant = text.partition("=")
        ladders[name] = load(variant or name)
    return ladders


def _client(
    server: str, token: str, agent: HouseAgent, ladders: Sequence[str], thinking: threading.Semaphore
) -> Client:
    """Return the client that plays the agent on ladders."""

    def make_agent(start: MatchStart) -> Agent:
        return roster.build(agent, load(start.game), nodes=start.time_control.nodes)

    return Client(
        server,
        agent.name,
        ladders,
        token,
        make_agent=make_agent,
        concurrency=CONCURRENCY,
        fingerprint=agent.fingerprint(),
        observer=HouseObserver(agent.name),
        stop_on_fault=False,
        thinking=thinking,
    )


def _play(client: Client, agent: HouseAgent, games: Sequence[Game]) -> None:
    """Play until the process ends. A refusal ends it, and the server starts a fresh one.

    An agent whose name somebody else has stays away alone. What is not compiled yet is compiled before the
    agent comes: no match waits for that.
    """
    try:
        for game in games:
            roster.prepare(agent.algorithm, game.variant)
        client.run()
    except InputError as error:
        log.error("%s: %s", agent.name, error)  # noqa: TRY400 - a sentence, not a traceback
        if error.code not in ITS_OWN:
            _exit(REFUSED)


def _exit(code: int) -> None:
    """End the process at once, whatever its threads are doing."""
    logging.shutdown()
    os._exit(code)


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.stderr.write(f"house: {error}\n")
        sys.exit(REFUSED)
