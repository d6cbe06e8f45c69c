"""How an agent comes to its name and token."""

from urllib.parse import quote

from aiohttp import web

from games.errors import InputError
from server.core.names import clean_name
from server.db import agents
from server.http.endpoint import Call, answer
from server.http.security import address_of, check_origin, is_local
from server.http.views import Registered


async def register_agent(call: Call) -> web.Response:
    """Give a new agent its name and token.

    Raises InputError: `bad_origin`, `registration_closed`, `bad_name`, `name_taken`, `too_many_requests`.
    """
    services = call.services
    check_origin(call.request)
    if services.settings.registration != "open" and not is_local(call.request):
        raise InputError(
            "registration_closed",
            expected="a request from the machine the server runs on",
            got="another address",
            where="registering an agent",
        )
    name = clean_name(call.body.name)
    now = services.clock()
    services.registrations.spend(address_of(call.request), now)
    made = await services.db.write(
        lambda conn: agents.register(conn, name, owner=None, house=False, now=now), durable=True
    )
    headers = {"Location": f"/api/v1/agents/{quote(made.name, safe='')}", "Cache-Control": "no-store"}
    return answer(Registered(made.name, made.token), 201, headers)
