"""From a hello to a connection that plays: who it is, what it asks for, and whether it may come in now."""

import asyncio
from collections.abc import Callable
from datetime import datetime

from aiohttp import web
from msgspec.structs import replace

from agents import protocol
from games.errors import InputError
from server.admission import Admission, Identity
from server.http.limits import RateLimit
from server.http.security import address_of, bearer_token
from server.knocks import Knock, Knocks
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
        self._ladders = [ladder.name for ladder in settings.ladders]
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
        with self._knocks.knocking(hello.agent) as knock:
            return await self._let_in(request, socket, hello, retire, knock)

    async def _let_in(
        self,
        request: web.Request,
        socket: web.WebSocketResponse,
        hello: protocol.Hello,
        retire: Callable[[Connection], None],
        knock: Knock,
    ) -> Connection:
        with knock.asking():
            identity = await self._identify(request, hello)
        unknown = self.unknown_ladder(hello)
        plays = self._referee.plays(identity.agent_id)
        if unknown is not None and (identity.changed or not plays):
            raise unknown
        if not plays:
            self._stopping.check()
        if not identity.house:
            self._hellos.spend(str(identity.agent_id), self._now())
        if identity.changed:
            await self._await_older_version(identity, retire)
            self._versions.spend(str(identity.agent_id), self._now())
        ladders = [ladder for ladder in dict.fromkeys(hello.ladders) if ladder in self._ladders]
        with knock.asking():
            admitted = await self._admission.enter(identity, replace(hello, ladders=ladders))
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
            ladders=tuple(ladders),
            concurrency=hello.concurrency,
            since=self._monotonic(),
            token_id=identity.token_id,
            kept_s=self._knocks.kept_s(knock),
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

    def unknown_ladder(self, hello: protocol.Hello) -> InputError | None:
        """Return what is wrong with the ladders of a hello; None if nothing is.

        An agent that plays is let in all the same, for the ladders that there are: what becomes of a ladder
        costs nobody a match that runs.
        """
        unknown = [ladder for ladder in hello.ladders if ladder not in self._ladders]
        if hello.ladders and not unknown:
            return None
        got = repr(unknown[0][:40]) if unknown else "none"
        return InputError(
            "unknown_ladder", expected="a ladder", got=got, where="hello", available=self._ladders
        )

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
