"""How an agent comes to its name and token."""

from urllib.parse import quote

from aiohttp import web

from games.errors import InputError
from server.core.names import clean_name
from server.db import agents
from server.http.endpoint import Call, answer
from server.http.security import address_of, is_local
from server.http.views import Registered


async def register_agent(call: Call) -> web.Response:
    """Give a new agent its name and token.

    Raises InputError: `registration_closed`, `bad_name`, `name_taken`, `too_many_requests`.
    """
    services = call.services
    if call.bearer is None and services.settings.registration != "open" and not is_local(call.request):
        raise InputError(
            "registration_closed",
            expected="an invitation (a token of scope register), or a request from the server's own machine",
            got="another address",
            where="registering an agent",
        )
    name = clean_name(call.body.name)
    now = services.clock()
    services.limits.registrations.spend(address_of(call.request), now)
    made = await services.db.write(
        lambda conn: agents.register(conn, name, owner=None, house=False, now=now), durable=True
    )
    headers = {"Location": f"/api/v1/agents/{quote(made.name, safe='')}", "Cache-Control": "no-store"}
    return answer(Registered(made.name, made.token), 201, headers)
