"""Registering an agent with a server: one request, one token."""

import urllib.error
import urllib.request
from http.client import HTTPException

import msgspec

from agents.address import bearer, check_token_is_safe, http_url, moved, opener
from agents.refusal import NotNowError, later_ms
from games import InputError

TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 65_536


class Registered(msgspec.Struct, frozen=True):
    """The server's answer. Other fields may come with it."""

    name: str
    token: str


class Problem(msgspec.Struct, frozen=True):
    """An error as problem+json (RFC 9457), as far as it is shown here."""

    code: str
    detail: str = ""
    expected: str | None = None
    got: str | None = None
    where: str | None = None
    available: list[str] | None = None


class RegistrationError(InputError):
    """The server refused to register the agent, in its own words."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(
            problem.code,
            expected=problem.expected or "",
            got=problem.got or "",
            where=problem.where or "",
            available=problem.available or (),
        )
        if problem.detail:
            self.args = (problem.detail,)


def register(server_url: str, name: str, invitation: str | None = None) -> str:
    """Register an agent and return its token.

    `invitation` is a token of scope register, for a server that registers nobody else. Raises InputError if
    the name or the invitation is refused, if registration is closed, or if there is no Plyground server at
    this address; NotNowError if another try may do.
    """
    check_token_is_safe(server_url)
    headers = {"Content-Type": "application/json", "Accept": "application/json"}
    if invitation is not None:
        headers["Authorization"] = bearer(invitation)
    request = urllib.request.Request(  # noqa: S310 - http_url answers with http or https alone
        http_url(server_url, "/api/v1/agents"),
        data=msgspec.json.encode({"name": name}),
        headers=headers,
        method="POST",
    )
    try:
        with opener(server_url).open(request, timeout=TIMEOUT_S) as answer:
            return msgspec.json.decode(answer.read(MAX_ANSWER_BYTES), type=Registered).token
    except urllib.error.HTTPError as error:
        with error:
            raise _refused(server_url, error) from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise _no_server(server_url, "an answer without a token") from error
    except urllib.error.URLError as error:
        reason = error.reason
        text = (reason.strerror if isinstance(reason, OSError) else None) or str(reason)
        raise _no_server(server_url, text) from error
    except (OSError, HTTPException) as error:
        raise _no_server(server_url, str(error) or type(error).__name__) from error


def _refused(server_url: str, error: urllib.error.HTTPError) -> InputError:
    if (elsewhere := moved(server_url, error.code, error.headers.get("Location"))) is not None:
        return elsewhere
    retry_after = error.headers.get("Retry-After")
    try:
        problem = msgspec.json.decode(error.read(MAX_ANSWER_BYTES), type=Problem)
    except (msgspec.DecodeError, RecursionError, OSError, HTTPException):
        asked_ms = later_ms(error.code, retry_after)
        if asked_ms is None:
            return _no_server(server_url, f"HTTP {error.code}")
        return NotNowError("busy", f"status {error.code} from {server_url}", asked_ms)
    asked_ms = later_ms(error.code, retry_after, problem.code)
    if asked_ms is None:
        return RegistrationError(problem)
    return NotNowError(problem.code, problem.detail or problem.code, asked_ms)


def _no_server(server_url: str, got: str) -> InputError:
    return InputError("no_server", expected=f"a Plyground server at {server_url}", got=got)
