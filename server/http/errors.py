"""Faults as answers: every error is problem+json (RFC 9457) with a stable `code` and one sentence."""

import http
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

import msgspec
import structlog
from aiohttp import web
from sqlalchemy.exc import InterfaceError, OperationalError

from games.errors import InputError
from server.db.readers import BusyError

log = structlog.get_logger(__name__)

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

PROBLEM_TYPE = "application/problem+json"
_FOR_PROGRAMS = ("/api/", "/ws/", "/healthz")
"""Where nobody is answered by a page: to draw one costs more than the answer itself."""

MAX_SHOWN = 200
"""Characters of a client's own text that an error repeats."""

STATUS: Mapping[str, int] = {
    "no_token": 401,
    "bad_token": 401,
    "wrong_scope": 403,
    "bad_link": 403,
    "bad_origin": 403,
    "registration_closed": 403,
    "loopback_only": 403,
    "not_found": 404,
    "unknown_ladder": 404,
    "unknown_agent": 404,
    "unknown_match": 404,
    "unknown_game": 404,
    "unknown_token": 404,
    "method_not_allowed": 405,
    "slow_body": 408,
    "name_taken": 409,
    "house_agent": 409,
    "match_closed": 409,
    "token_in_use": 409,
    "body_too_large": 413,
    "wrong_content_encoding": 415,
    "wrong_content_type": 415,
    "too_many_connections": 429,
    "too_many_requests": 429,
    "headers_too_large": 431,
    "busy": 503,
    "database_unavailable": 503,
    "server_full": 503,
}
"""HTTP status of each code of an InputError; a code that is not listed is a 400."""


class Problem(msgspec.Struct, frozen=True):
    """An error as all endpoints answer it. One of a limit has `limit` and `retry_after` (seconds)."""

    type: str
    title: str
    status: int
    code: str
    detail: str
    expected: str | None = None
    got: str | None = None
    where: str | None = None
    available: tuple[str, ...] = ()
    limit: str | None = None
    retry_after: int | None = None


class LimitReachedError(InputError):
    """Too many of something; `limit` names it, and `retry_after_s` says when the next one will do."""

    def __init__(
        self, limit: str, allowance: str, retry_after_s: int, *, code: str = "too_many_requests"
    ) -> None:
        self.limit = limit
        self.retry_after_s = retry_after_s
        super().__init__(
            code,
            expected=f"at most {allowance}",
            got=f"one more; the next is possible in {retry_after_s} s",
            where=limit,
        )


ErrorPage: TypeAlias = Callable[[web.Request, Problem], web.Response]
ERROR_PAGE: web.AppKey[ErrorPage] = web.AppKey("error_page")
"""Draws a problem as a page for browsers; set by the app, absent where there are no pages."""


def problem_of(error: InputError) -> Problem:
    """Describe bad input as a problem."""
    status = STATUS.get(error.code, 400)
    limited = error if isinstance(error, LimitReachedError | BusyError) else None
    return Problem(
        type="about:blank",
        title=http.HTTPStatus(status).phrase,
        status=status,
        code=error.code,
        detail=shown(str(error), 5 * MAX_SHOWN),
        expected=shown(error.expected),
        got=shown(error.got),
        where=shown(error.where) if error.where else None,
        available=tuple(shown(name) for name in error.available[:MAX_SHOWN]),
        limit=limited.limit if limited else None,
        retry_after=limited.retry_after_s if limited else None,
    )


def shown(text: str, at_most: int = MAX_SHOWN) -> str:
    """Cut a text, and make it one that UTF-8 can hold."""
    if len(text) > at_most:
        text = text[:at_most] + "…"
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def answer_problem(
    request: web.Request, problem: Problem, headers: Mapping[str, str] | None = None
) -> web.Response:
    """Answer a problem: as a page where a browser asks for one, else as problem+json."""
    page = request.app.get(ERROR_PAGE)
    if page is not None and wants_page(request):
        response = page(request, problem)
    else:
        response = web.Response(
            status=problem.status, body=msgspec.json.encode(problem), content_type=PROBLEM_TYPE
        )
    response.headers.update(headers or {})
    response.headers["Cache-Control"] = "no-store"
    if problem.retry_after is not None:
        response.headers["Retry-After"] = str(problem.retry_after)
    if problem.status == http.HTTPStatus.UNAUTHORIZED:
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def wants_page(request: web.Request) -> bool:
    """Whether a browser asks for a page, not a program for data."""
    return "text/html" in request.headers.get("Accept", "") and not request.path.startswith(_FOR_PROGRAMS)


@web.middleware
async def errors_middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Turn every error into its answer; a fault of ours is logged once and shows nothing of the inside."""
    try:
        return await handler(request)
    except InputError as error:
        return answer_problem(request, problem_of(error))
    except web.HTTPException as error:
        if error.status < http.HTTPStatus.BAD_REQUEST:
            raise
        return _from_http(request, error)
    except (OperationalError, InterfaceError) as error:
        if request.writer.output_size > 0:
            raise
        log.error("http.database_unavailable", **_about(request), error=str(error.orig))  # noqa: TRY400 - a sentence, no flood
        return answer_problem(request, _ours("database_unavailable", 503, "the database cannot be reached"))
    except Exception:
        if request.writer.output_size > 0:
            raise  # the answer has begun: aiohttp logs this and closes the connection
        log.exception("http.failed", **_about(request))
        return answer_problem(
            request, _ours("internal", 500, "the server failed to answer; its log says how")
        )


def _ours(code: str, status: int, detail: str) -> Problem:
    return Problem("about:blank", http.HTTPStatus(status).phrase, status, code, detail)


def _from_http(request: web.Request, error: web.HTTPException) -> web.Response:
    """Turn what aiohttp itself refuses (unknown path, wrong method, huge body) into a problem."""
    headers = {}
    if isinstance(error, web.HTTPMethodNotAllowed):
        allowed = ", ".join(sorted(error.allowed_methods))
        headers["Allow"] = allowed
        fault = InputError("method_not_allowed", expected=allowed, got=request.method, where=_path(request))
    elif isinstance(error, web.HTTPRequestEntityTooLarge):
        fault = InputError("body_too_large", expected="a smaller body", got="a larger one")
    elif error.status == http.HTTPStatus.NOT_FOUND:
        fault = InputError("not_found", expected="an address of this server", got=_path(request))
    else:
        return answer_problem(
            request, _ours(f"http_{error.status}", error.status, error.text or error.reason)
        )
    return answer_problem(request, problem_of(fault), headers)


def _about(request: web.Request) -> dict[str, str | None]:
    """Say in a log which request it was; `address` is what the logs count by."""
    return {"method": request.method, "path": _path(request)[:MAX_SHOWN], "address": request.remote}


def _path(request: web.Request) -> str:
    """Return the path without its query, which may hold what belongs in no log."""
    return request.rel_url.raw_path
