"""One process of a storm with some agents: real clients, each in a thread of its own, until it is killed.

Started with its parameters as one JSON argument. SIGUSR1 has every agent take no more matches. A process that
is started again plays with the same tokens and goes on with the same matches.

Most moves are cheap. A few are faults that the agent itself is to blame for: too long a thought, a crash, an
illegal action. What it is told and what it answers goes to its journal, acknowledgements above all.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

from agents.agent import Agent
from agents.client import Client, Timing
from agents.fault import FaultReport
from agents.observer import Observer
from agents.protocol import Ack, Leave, MatchEnd, MatchStart, Move, ToAgent, Welcome, YourMove
from tests.chaos.journal import Journal

SOON = Timing(first_pause_ms=100, longest_pause_ms=1_500, ack_ms=1_500, open_ms=5_000)
THOUGHT_S = (0.02, 0.3)
ILLEGAL = "no such action"
CONCURRENCY = 2

OVERTHINKS, CRASHES, CHEATS = 0.004, 0.001, 0.001
"""How often a move is a fault."""

LONGEST_FAULT_S = 8.0
"""An agent whose limit is longer does not sit it out."""


class Planned(Exception):  # noqa: N818 - a crash that is meant to be
    """The agent crashes as it should."""


class Fickle(Agent):
    """Plays at random after a moment's thought, and now and then commits a fault."""

    def __init__(self, name: str, journal: Journal, draw: random.Random) -> None:
        self._name, self._journal, self._draw = name, journal, draw
        self._where: YourMove | None = None

    def asked(self, request: YourMove) -> None:
        self._where = request

    def choose(self, state: Any, clock: Any) -> Any:
        lot = self._draw.random()
        time.sleep(self._draw.uniform(*THOUGHT_S))
        if lot < OVERTHINKS and clock.move_ms / 1000 < LONGEST_FAULT_S:
            self._note("overthought")
            time.sleep(clock.move_ms / 1000 + 2.0)
        elif OVERTHINKS <= lot < OVERTHINKS + CRASHES:
            self._note("crashed")
            raise Planned
        elif OVERTHINKS + CRASHES <= lot < OVERTHINKS + CRASHES + CHEATS:
            self._note("cheated")
            return ILLEGAL
        return self._draw.choice(list(state.actions()))

    def _note(self, fault: str) -> None:
        assert self._where is not None, "it was asked before it chooses"
        self._journal.note(fault, agent=self._name, match=self._where.match, ply=self._where.ply)


class Chronicler(Observer):
    """Writes down connections, and has an agent that takes no more matches say so on each of them."""

    def __init__(self, name: str, journal: Journal, ending: threading.Event) -> None:
        self._name, self._journal, self._ending = name, journal, ending
        self.client: Player | None = None

    def connected(self, welcome: Welcome) -> None:
        running, process = welcome.running, os.getpid()
        self._journal.note("connected", agent=self._name, running=running, process=process)
        if self._ending.is_set() and self.client is not None:
            self.client.take_no_more()

    def reconnecting(self, why: str, pause_ms: float) -> None:
        self._journal.note("reconnecting", agent=self._name, why=why)

    def fault(self, report: FaultReport) -> None:
        self._journal.note("fault", agent=self._name, match=report.match, ply=report.ply, got=report.got)

    def error(self, error: Any) -> None:
        self._journal.note("error", agent=self._name, code=error.code, message=error.message)


class Player(Client):
    """A client that writes down what it is told and what it answers, before anything comes of it."""

    def __init__(
        self, said: dict[str, Any], ladders: list[str], journal: Journal, ending: threading.Event
    ) -> None:
        self.name = str(said["name"])
        draw = random.Random(f"{self.name} {os.getpid()}")
        observer = Chronicler(self.name, journal, ending)
        super().__init__(
            said["url"],
            self.name,
            ladders,
            said["token"],
            make_agent=lambda _start: Fickle(self.name, journal, draw),
            concurrency=CONCURRENCY,
            fingerprint="chaos",
            observer=observer,
            stop_on_fault=False,
            timing=SOON,
        )
        observer.client = self
        self._journal = journal
        self._answers: dict[tuple[int, int], str] = {}
        self._welcomed_once = True  # a server that is down when the process starts will be back

    def take_no_more(self) -> None:
        """Tell the server to begin nothing new."""
        self._send(Leave())

    def _take(self, message: ToAgent) -> None:
        match message:
            case Ack(number, ply):
                action = self._answers.get((number, ply))
                self._note("acked", match=number, ply=ply, action=action)
            case MatchStart(match=number, history=history):
                self._note("told", match=number, first=0, actions=history)
            case YourMove(match=number, ply=ply, last_actions=last):
                self._note("asked", match=number, ply=ply)
                self._note("told", match=number, first=ply - len(last), actions=last)
            case MatchEnd(match=number, outcome=outcome, cause=cause):
                self._note("over", match=number, outcome=outcome, cause=cause)
        super()._take(message)

    def _send(self, message: Any) -> None:
        if isinstance(message, Move):
            self._answers[message.match, message.ply] = message.action
            self._note("sent", match=message.match, ply=message.ply)
        super()._send(message)

    def _note(self, what: str, **more: object) -> None:
        self._journal.note(what, agent=self.name, **more)


def _play(player: Player, journal: Journal) -> None:
    """Play for ever; that a client gives up is an event of its own."""
    try:
        player.run()
    except Exception as error:  # whatever it was, the judgement hears of it
        journal.note("gave_up", agent=player.name, error=repr(error))


def main(said: dict[str, Any]) -> None:
    """Play until killed."""
    journal, ending = Journal(Path(said["journal"])), threading.Event()
    players = [Player(one, said["ladders"], journal, ending) for one in said["agents"]]

    def take_no_more() -> None:
        for player in players:
            player.take_no_more()

    def end(_signal: int, _frame: object) -> None:
        ending.set()
        threading.Thread(target=take_no_more).start()

    signal.signal(signal.SIGUSR1, end)
    for player in players:
        threading.Thread(target=_play, args=(player, journal), daemon=True).start()
    parent = os.getppid()
    while os.getppid() == parent:  # a storm that is gone takes its agents along
        time.sleep(0.5)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
