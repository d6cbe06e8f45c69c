"""From a hello to a connection that plays: who it is, what it asks for, and whether it may come in now."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from aiohttp import web

from agents import protocol
from games.errors import InputError
from server.admission import Admission, Identity
from server.http.limits import RateLimit
from server.http.security import address_of, bearer_token
from server.knocks import Knocks
from server.presence import Connection, Presence
from server.referee import Referee
from server.settings import Settings
from server.stopping import Stopping

MAX_CONCURRENCY = 64
HELLOS_A_MINUTE = 30
"""An agent that connects more often is told when to come again."""

BAD_TOKENS_A_MINUTE = 60
VERSIONS_AN_HOUR = 30
PATIENCE_S = 8.0
"""How long a new version waits here for the matches of the one before it, then it is told to come again; our
clients wait 10 s for a welcome."""

LOOK_AGAIN_S = 0.05

LATER = frozenset(
    {"too_many_requests", "too_many_connections", "server_full", "still_playing", "server_stopping"}
)
"""Codes of refusals that another try, later, does change."""


class Reception:
    """Lets agents in."""

    def __init__(
        self,
        settings: Settings,
        admission: Admission,
        presence: Presence,
        referee: Referee,
        stopping: Stopping,
        knocks: Knocks,
        monotonic: Callable[[], float],
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._admission = admission
        self._presence = presence
        self._referee = referee
        self._stopping = stopping
        self._knocks = knocks
        self._monotonic = monotonic
        self._now = now
        self._hellos = RateLimit("hellos_per_agent", count=HELLOS_A_MINUTE, period_s=60)
        self._bad_tokens = RateLimit("bad_tokens_per_address", count=BAD_TOKENS_A_MINUTE, period_s=60)
        self._versions = RateLimit("versions_per_agent", count=VERSIONS_AN_HOUR, period_s=3600)

    async def enter(
        self,
        request: web.Request,
        socket: web.WebSocketResponse,
        hello: protocol.Hello,
        retire: Callable[[Connection], None],
    ) -> Connection:
        """Return a connection for the agent of this hello. Raises InputError to refuse it.

        `retire` ends the connection of an older version, whose matches are over before the new one
        begins: it starts from their results.
        """
        self._check(hello)
        with self._knocks.knocking(hello.agent):
            return await self._let_in(request, socket, hello, retire)

    async def _let_in(
        self,
        request: web.Request,
        socket: web.WebSocketResponse,
        hello: protocol.Hello,
        retire: Callable[[Connection], None],
    ) -> Connection:
        identity = await self._identify(request, hello)
        if not self._referee.plays(identity.agent_id):
            self._stopping.check()
        if not identity.house:
            self._hellos.spend(str(identity.agent_id), self._now())
        if identity.changed:
            await self._await_older_version(identity, retire)
            self._versions.spend(str(identity.agent_id), self._now())
        admitted = await self._admission.enter(identity, hello)
        if request.transport is None:
            raise ConnectionResetError("the client has gone")
        return Connection(
            socket=socket,
            transport=request.transport,
            agent_id=admitted.agent_id,
            name=admitted.name,
            version_id=admitted.version_id,
            version=admitted.version,
            house=admitted.house,
            ladders=tuple(dict.fromkeys(hello.ladders)),
            concurrency=hello.concurrency,
            since=self._monotonic(),
            token_id=identity.token_id,
            kept_s=self._knocks.kept_s(hello.agent),
        )

    def _check(self, hello: protocol.Hello) -> None:
        if hello.protocol != protocol.VERSION:
            raise InputError(
                "protocol", expected=f"protocol {protocol.VERSION}", got=str(hello.protocol), where="hello"
            )
        if not 1 <= hello.concurrency <= MAX_CONCURRENCY:
            raise InputError(
                "bad_hello",
                expected=f"concurrency from 1 to {MAX_CONCURRENCY}",
                got=str(hello.concurrency),
                where="hello",
            )
        known = [ladder.name for ladder in self._settings.ladders]
        unknown = [ladder for ladder in hello.ladders if ladder not in known]
        if unknown or not hello.ladders:
            got = repr(unknown[0][:40]) if unknown else "none"
            raise InputError("unknown_ladder", expected="a ladder", got=got, where="hello", available=known)

    async def _identify(self, request: web.Request, hello: protocol.Hello) -> Identity:
        try:
            return await self._admission.identify(hello, bearer_token(request))
        except InputError:
            # Only those who have no token of the agent pay: nobody can lock an agent out.
            self._bad_tokens.spend(address_of(request), self._now())
            raise

    async def _await_older_version(self, identity: Identity, retire: Callable[[Connection], None]) -> None:
        older = self._presence.of_agent(identity.agent_id)
        if older is not None:
            retire(older)
        self._referee.outdate(identity.agent_id)
        until = self._monotonic() + PATIENCE_S
        while self._monotonic() < until:
            if not self._referee.plays(identity.agent_id):
                return
            await asyncio.sleep(LOOK_AGAIN_S)
        raise InputError(
            "still_playing",
            expected="the matches of the older version to be over",
            got="one that goes on; come again in a moment",
            where="hello",
        )
