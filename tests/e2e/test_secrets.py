"""A token is told to its holder alone: it stands in no log, no error and no trace."""

import json
import sqlite3
import urllib.error
import urllib.request
from collections.abc import Callable

import pytest
from harness import QUIET, Server, wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

WRONG = "ply_wrong-token-of-a-thief"


def hello_as(server: Server, agent: str, *, header: str = "", query: str = "", field: str = "") -> str:
    """Connect and say hello; return everything that comes back until the connection ends or is welcome."""
    heard = []
    with connect(
        server.url.replace("http", "ws") + "/ws/agent" + (f"?token={query}" if query else ""),
        additional_headers={"Authorization": f"Bearer {header}"} if header else {},
        compression=None,
        proxy=None,
    ) as socket:
        hello = {"type": "hello", "protocol": 1, "agent": agent, "ladders": ["tic_tac_toe"]}
        socket.send(json.dumps({**hello, "token": field} if field else hello))
        try:
            heard.append(str(socket.recv(60)))
        except ConnectionClosed as closed:
            heard.append(str(closed))
    return " ".join(heard)


def body_of(server: Server, path: str, token: str, accept: str) -> tuple[int, str]:
    headers = {"Authorization": f"Bearer {token}", "Accept": accept}
    request = urllib.request.Request(f"{server.url}{path}?token={token}", headers=headers)
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def break_rows(server: Server, table: str) -> None:
    """Make every row of a table unreadable, so that whoever reads it crashes."""
    with sqlite3.connect(server.data_dir / "plyground.db") as data:
        data.execute(f"UPDATE {table} SET created_at = 'no time'")
    data.close()


@pytest.fixture
def server(make_server: Callable[..., Server]) -> Server:
    """A server that logs all it can."""
    return make_server(**QUIET, PLYGROUND_LOG_LEVEL="debug").start()


def test_PB30_a_token_stands_in_no_log_no_error_and_no_trace(server: Server) -> None:
    token = server.register("ada")
    seen = [
        hello_as(server, "ada", header=token),
        hello_as(server, "ada", field=token),
        hello_as(server, "ada", header=WRONG),
        hello_as(server, "ada", field=WRONG),
    ]
    assert ["welcome" in told for told in seen] == [True, True, False, False]
    by_query = hello_as(server, "ada", query=token)
    assert "bad_token" in by_query, "a token in the address is none"
    seen.append(by_query)
    for path in ("/api/v1/agents/ada", "/api/v1/nothing", "/api/v1/tokens", "/agents/nobody", "/metrics"):
        for accept in ("application/json", "text/html"):
            for given in (token, WRONG):
                status, body = body_of(server, path, given, accept)
                assert 400 <= status < 500, (path, status)
                seen.append(body)

    break_rows(server, "versions")
    break_rows(server, "agents")
    for path in ("/agents/ada", "/api/v1/agents"):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        request = urllib.request.Request(server.url + path, headers={"Authorization": f"Bearer {token}"})
        with pytest.raises(urllib.error.HTTPError) as crash:
            opener.open(request, timeout=30)
        assert crash.value.code == 500
        seen.append(crash.value.read().decode())
        crash.value.close()
    seen.append(hello_as(server, "ada", header=token))
    assert "welcome" not in seen[-1], "its handler crashed"

    log = wait_for(lambda: server.log() if server.log().count("ValueError") >= 3 else "", "traces in the log")
    assert "http.request" in log, "every request is logged"
    assert "level=debug" in log
    for secret in (token, WRONG, token.removeprefix("ply_")):
        assert secret not in log
        assert not [text for text in seen if secret in text]
