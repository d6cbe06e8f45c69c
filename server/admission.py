"""Who may connect as which agent: checks a `hello` against the database."""

import hmac
from collections.abc import Callable, Mapping
from datetime import datetime

from sqlalchemy import Connection

from agents import protocol
from games.errors import InputError
from server.core.names import name_key
from server.db import agents
from server.db.engine import Database
from server.gateway import Admitted


class Admission:
    """Admits agents by their token, and the house process by the word it was started with."""

    def __init__(
        self, db: Database, ladder_ids: Mapping[str, int], house_token: str, now: Callable[[], datetime]
    ) -> None:
        self._db = db
        self._ladder_ids = ladder_ids
        self._house_token = house_token
        self._now = now

    async def admit(self, hello: protocol.Hello, header_token: str | None) -> Admitted:
        """Find the agent of a hello and enter it on its ladders. Raises InputError to refuse."""
        token = header_token or hello.token
        if not token:
            raise InputError("bad_token", expected="the agent's token", got="none", where="hello")
        house = hmac.compare_digest(token.encode(), self._house_token.encode())
        now = self._now()
        return await self._db.write(lambda conn: self._enter(conn, hello, None if house else token, now))

    def _enter(self, conn: Connection, hello: protocol.Hello, token: str | None, now: datetime) -> Admitted:
        if token is None:
            identity = agents.ensure_house(conn, hello.agent, now)
        else:
            identity = self._owner(conn, hello, token)
        version = agents.ensure_version(conn, identity.agent_id, hello.fingerprint, now)
        for ladder in hello.ladders:
            agents.join_ladder(conn, self._ladder_ids[ladder], version.id, now)
        return Admitted(identity.agent_id, identity.name, version.id, version.number, identity.house)

    def _owner(self, conn: Connection, hello: protocol.Hello, token: str) -> agents.Identity:
        identity = agents.by_token(conn, token)
        if identity is None:
            raise InputError("bad_token", expected="a token of this server", got="another", where="hello")
        if name_key(identity.name) != name_key(hello.agent):
            raise InputError(
                "bad_token",
                expected=f"the token of {hello.agent[:40]!r}",
                got=f"the token of {identity.name!r}",
                where="hello",
            )
        return identity
