"""Who an agent is, by its token, and as which version it plays.

Whether new matches may start is another matter: server.gate.
"""

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection

from agents import protocol
from games.errors import InputError
from server.core.names import name_key
from server.db import agents, matches, tokens
from server.db.engine import Database


@dataclass(frozen=True)
class Identity:
    """An agent whose token was good. `changed` says that its code is not that of its newest version.

    House agents have no token of their own.
    """

    token_id: int | None
    agent_id: int
    name: str
    house: bool
    changed: bool


@dataclass(frozen=True)
class Admitted:
    """An agent as it plays."""

    agent_id: int
    name: str
    version_id: int
    version: int
    house: bool


class Admission:
    """Knows agents by their token, and the house process by the word it was started with."""

    def __init__(
        self, db: Database, ladder_ids: Mapping[str, int], house_token: str, now: Callable[[], datetime]
    ) -> None:
        self._db = db
        self._ladder_ids = ladder_ids
        self._house_token = house_token
        self._now = now

    async def identify(self, hello: protocol.Hello, header_token: str | None) -> Identity:
        """Find the agent of a hello. Raises InputError (`bad_token`) if the token is not that agent's."""
        token = header_token or hello.token
        if not token:
            raise InputError("bad_token", expected="the agent's token", got="none", where="hello")
        if not token.isascii():
            raise InputError("bad_token", expected="a token of this server", got="another", where="hello")
        if hmac.compare_digest(token, self._house_token):
            now = self._now()
            house = await self._db.write(lambda conn: agents.ensure_house(conn, hello.agent, now))
            changed = await self._db.read_for_play(agents.is_changed, house.agent_id, hello.fingerprint)
            return Identity(None, house.agent_id, house.name, house=True, changed=changed)
        return await self._db.read_for_play(_owner, hello, token, self._now())

    async def enter(self, identity: Identity, hello: protocol.Hello) -> Admitted:
        """Give the agent its version and a place on each ladder of its hello.

        Raises InputError (`bad_token`) if its token was revoked meanwhile: the writer takes one after the
        other, so a token that is revoked later finds the connection that this ends in.
        """
        now = self._now()
        return await self._db.write(lambda conn: self._enter(conn, identity, hello, now))

    def _enter(self, conn: Connection, identity: Identity, hello: protocol.Hello, now: datetime) -> Admitted:
        if identity.token_id is not None and not tokens.is_good(conn, identity.token_id, now):
            raise InputError("bad_token", expected="a token that lasts", got="a revoked one", where="hello")
        version = agents.ensure_version(conn, identity.agent_id, hello.fingerprint, now)
        matches.drop_outdated(conn, identity.agent_id, version.id, now)
        for ladder in dict.fromkeys(hello.ladders):
            agents.join_ladder(conn, self._ladder_ids[ladder], version.id, now)
        return Admitted(identity.agent_id, identity.name, version.id, version.number, identity.house)


def _owner(conn: Connection, hello: protocol.Hello, token: str, now: datetime) -> Identity:
    owner = tokens.find(conn, token, now)
    if owner is None or owner.agent_id is None or owner.name is None:
        raise InputError("bad_token", expected="a token of this server", got="another", where="hello")
    if name_key(owner.name) != name_key(hello.agent):
        raise InputError(
            "bad_token",
            expected=f"the token of {hello.agent!r}",
            got=f"the token of {owner.name!r}",
            where="hello",
        )
    changed = agents.is_changed(conn, owner.agent_id, hello.fingerprint)
    return Identity(owner.token_id, owner.agent_id, owner.name, owner.house, changed)
