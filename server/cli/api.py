"""HTTP to a Plyground server: JSON in and out, every failure one InputError."""

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from http.client import HTTPException
from typing import Any

import click

from agents.address import bearer, check_token_is_safe, http_url, moved, opener
from agents.refusal import NotNowError, later_ms
from games.errors import InputError

DEFAULT_SERVER = "http://127.0.0.1:8080"
TIMEOUT_S = 10.0
MAX_ANSWER_BYTES = 16 * 1024 * 1024
MAX_PAGES = 1_000


def server_url(text: str) -> str:
    """Check a server's address, http:// if it does not say; return it without a trailing slash."""
    text = text.strip()
    return http_url(text if "://" in text else f"http://{text}")


server_option = click.option(
    "--server",
    envvar="PLYGROUND_SERVER",
    default=DEFAULT_SERVER,
    show_default=True,
    callback=lambda _ctx, _param, value: server_url(value),
    help="Address of the server; PLYGROUND_SERVER sets it too.",
)


class RefusalError(InputError):
    """A server's refusal, in its own words."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(code, expected="", got=sentence)

    def _sentence(self) -> str:
        return self.got


def dead_server(server: str, reason: object) -> InputError:
    """Return the error for a server that does not answer."""
    return InputError(
        "no_server",
        expected=f"a Plyground server at {server}",
        got=f"{_reason(reason)}; start one with `make serve` or give --server",
    )


def get(server: str, path: str, *, token: str | None = None, **query: str | int | None) -> Any:
    """GET `/api/v1/{path}` and return the JSON answer. Raises InputError whatever goes wrong."""
    given = urllib.parse.urlencode({key: value for key, value in query.items() if value is not None})
    return send(server, "GET", path + (f"?{given}" if given else ""), token=token)


def send(server: str, method: str, path: str, data: object = None, *, token: str | None = None) -> Any:
    """Send a request to `/api/v1/{path}` and return the JSON answer, None for an empty one.

    A token goes to this machine or over https only. Raises InputError whatever goes wrong, NotNowError where
    the server says to come again.
    """
    headers = {"Accept": "application/json"}
    body = None if data is None else json.dumps(data).encode()
    if body is not None:
        headers["Content-Type"] = "application/json"
    if token is not None:
        check_token_is_safe(server)
        headers["Authorization"] = bearer(token)
    request = urllib.request.Request(  # noqa: S310 - server_url answers with http or https alone
        f"{server}/api/v1/{path}", body, headers, method=method
    )
    try:
        with opener(server).open(request, timeout=TIMEOUT_S) as answer:
            told = answer.read(MAX_ANSWER_BYTES)
    except urllib.error.HTTPError as error:
        raise _problem(server, error) from None
    except urllib.error.URLError as error:
        raise dead_server(server, error.reason) from None
    except (OSError, HTTPException) as error:
        raise dead_server(server, error) from None
    return _decoded(server, told) if told else None


def items(
    server: str, path: str, *, token: str | None = None, **query: str | int | None
) -> list[dict[str, Any]]:
    """Return all items of a list, page by page."""
    found: list[dict[str, Any]] = []
    cursor = None
    for _ in range(MAX_PAGES):
        page = get(server, path, token=token, cursor=cursor, **query)
        listed = page.get("items") if isinstance(page, dict) else None
        if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
            raise _stranger(server, "an answer without items")
        found += listed
        cursor = page.get("next")
        if cursor is None:
            break
    return found


def check_ladders(server: str, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the server's ladders by name. Raises InputError unless all of `names` are among them."""
    ladders = {str(ladder.get("name")): ladder for ladder in items(server, "ladders")}
    for name in names:
        if name not in ladders:
            raise InputError(
                "unknown_ladder", expected=f"a ladder of {server}", got=repr(name), available=ladders
            )
    return ladders


def text_of(server: str, told: Any, field: str) -> str:
    """Return a text of an answer. Raises InputError if it is not there."""
    found = told.get(field) if isinstance(told, dict) else None
    if not isinstance(found, str):
        raise _stranger(server, f"an answer without {field}")
    return found


def quoted(part: str) -> str:
    """Quote one part of a path."""
    return urllib.parse.quote(part, safe="")


def _reason(reason: object) -> str:
    """Name a network failure in a few plain words."""
    if isinstance(reason, ConnectionRefusedError):
        return "connection refused"
    if isinstance(reason, TimeoutError):
        return "no answer in time"
    if isinstance(reason, OSError) and reason.strerror:
        return reason.strerror[:1].lower() + reason.strerror[1:]
    return str(reason) or type(reason).__name__


def _decoded(server: str, body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise _stranger(server, "an answer that is no JSON") from None


def _stranger(server: str, got: str) -> InputError:
    return InputError("no_plyground", expected=f"a Plyground server at {server}", got=got)


def _problem(server: str, error: urllib.error.HTTPError) -> InputError:
    """Turn a problem+json answer into the sentence that it holds, and into NotNowError if it says so."""
    if (elsewhere := moved(server, error.code, error.headers.get("Location"))) is not None:
        return elsewhere
    retry_after = error.headers.get("Retry-After")
    try:
        problem = json.loads(error.read(MAX_ANSWER_BYTES))
    except (ValueError, RecursionError, OSError, HTTPException):
        problem = None
    if not isinstance(problem, dict) or not isinstance(problem.get("code"), str):
        asked_ms = later_ms(error.code, retry_after)
        if asked_ms is None:
            return _stranger(server, f"status {error.code}")
        return NotNowError("busy", f"status {error.code} from {server}", asked_ms)
    sentence = str(problem.get("detail") or problem.get("title") or problem["code"])
    asked_ms = later_ms(error.code, retry_after, problem["code"])
    if asked_ms is None:
        return RefusalError(problem["code"], sentence)
    return NotNowError(problem["code"], sentence, asked_ms)
