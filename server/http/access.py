"""Who asks, by token; and how often one address may."""

from collections.abc import Collection

from aiohttp import web

from games.errors import InputError
from server.db import tokens
from server.db.tokens import Bearer
from server.http.security import address_of, bearer_token
from server.http.services import Services

WHERE = "the Authorization header"


def count_request(request: web.Request, services: Services) -> None:
    """Count a request to the API. Raises LimitReachedError for one too many from its address."""
    services.limits.requests.spend(address_of(request), services.clock())


async def bearer(
    request: web.Request, services: Services, scopes: Collection[str], *, needed: bool
) -> Bearer | None:
    """Return who holds the token of a request; None if it has none, and none is needed.

    A token that is worth nothing is refused even where none is needed. Raises InputError: `no_token`,
    `bad_token`, `wrong_scope`; LimitReachedError for too many bad tokens from one address, or too many
    requests with a good one from wherever.
    """
    token = bearer_token(request)
    kinds = " or ".join(scopes)
    if token is None:
        if not needed and "Authorization" not in request.headers:
            return None
        raise InputError("no_token", expected=f"a token of scope {kinds} as Bearer", got="none", where=WHERE)
    found = await services.db.read(tokens.find, token, services.clock())
    if found is None:
        services.limits.bad_tokens.spend(address_of(request), services.clock())
        raise InputError("bad_token", expected="a token of this server", got="another", where=WHERE)
    services.limits.token_requests.spend(str(found.token_id), services.clock())
    if found.scope not in scopes:
        raise InputError(
            "wrong_scope",
            expected=f"a token of scope {kinds}",
            got=f"one of scope {found.scope}",
            where=WHERE,
        )
    return found
