"""Whoever reaches a limit is told its name and when to come again; and no limit ever costs a game."""

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import pytest
from harness import PATIENCE_S, QUIET, RawAgent, Server, SteadyAgent, wait_for
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

MakeServer = Callable[..., Server]
MakeRaw = Callable[..., RawAgent]

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def ask(server: Server, path: str, body: object = None, **headers: str) -> tuple[int, Mapping[str, str], Any]:
    """Ask the API; status, headers and JSON."""
    data = None if body is None else json.dumps(body).encode()
    kind = {} if body is None else {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/api/v1/{path}", data, {**kind, **headers})
    try:
        with _direct.open(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.headers, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, error.headers, json.load(error)


def assert_told(answer: tuple[int, Mapping[str, str], Any], limit: str) -> int:
    """Refused by this limit, by name and with seconds; returns those."""
    status, headers, problem = answer
    assert (status, problem["code"], problem["limit"]) == (429, "too_many_requests", limit)
    assert headers["Retry-After"] == str(problem["retry_after"])
    assert int(headers["Retry-After"]) >= 1
    return int(headers["Retry-After"])


def assert_message_told(error: Mapping[str, Any], code: str, limit: str) -> None:
    assert (error["type"], error["code"], error["where"]) == ("error", code, limit)
    assert error["retry_after_s"] >= 1
    assert error["expected"]


def test_PB11_a_limit_says_its_name_and_seconds_and_lets_in_again_whatever_was_tried_meanwhile(
    make_server: MakeServer,
) -> None:
    allowed = 60  # a minute, so one comes back every second
    server = make_server(**QUIET, PLYGROUND_REQUESTS_PER_MIN=str(allowed)).start()
    start = time.monotonic()
    answers = [ask(server, "games") for _ in range(2 * allowed)]
    passed_s = time.monotonic() - start
    statuses = [status for status, _, _ in answers]
    assert statuses[:allowed] == [200] * allowed
    assert statuses.count(200) <= allowed + passed_s + 1
    for _ in range(30):
        retry = ask(server, "games")
        if retry[0] == 429:
            assert assert_told(retry, "requests_per_address") == 1, "a retry made it longer"
    for _ in range(4):
        time.sleep(1)  # the pace that the case is about
        assert ask(server, "games")[0] == 200
    assert server.get("/healthz")[0] == 200


@pytest.fixture
def limited(make_server: MakeServer) -> Server:
    """A server behind a proxy, with low limits of all kinds."""
    return make_server(
        **QUIET,
        PLYGROUND_REQUESTS_PER_MIN="30",
        PLYGROUND_MESSAGES_PER_S="1",
        PLYGROUND_BURST="20",
        PLYGROUND_CONNECTIONS_PER_ADDRESS="2",
        PLYGROUND_PROXY_HOPS="1",
    ).start()


class Hammer(threading.Thread):
    """Asks all the time, refused or not."""

    def __init__(self, request: Callable[[], tuple[int, Mapping[str, str], Any]]) -> None:
        super().__init__(daemon=True)
        self.request = request
        self.refused = 0
        self.over = threading.Event()
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.01):
            self.refused += self.request()[0] == 429

    def stop(self) -> None:
        self.over.set()
        self.join(PATIENCE_S)


@pytest.fixture
def hammers() -> Iterator[Callable[..., Hammer]]:
    with ExitStack() as started:

        def make(request: Callable[[], tuple[int, Mapping[str, str], Any]]) -> Hammer:
            hammer = Hammer(request)
            started.callback(hammer.stop)
            return hammer

        yield make


def causes(server: Server, ladder: str) -> set[str]:
    """How the seats of the finished matches ended; read where the limit is not reached."""
    _, _, page = ask(server, f"matches?ladder={ladder}&state=finished", **{"X-Forwarded-For": "192.0.2.99"})
    return {player["cause"] for match in page["items"] for player in match["players"]}


def test_PB11_moves_are_never_throttled_by_the_limits_of_address_and_token(
    limited: Server, hammers: Callable[..., Hammer]
) -> None:
    pair = [SteadyAgent(limited, name, ("tic_tac_toe",)) for name in ("ada", "bob")]
    bearer = {"Authorization": f"Bearer {pair[0].agent.token}"}
    address = hammers(lambda: ask(limited, "games"))
    token = hammers(lambda: ask(limited, "tokens", {"scope": "admin"}, **bearer))
    wait_for(lambda: address.refused and token.refused, "both limits to be reached")
    before = pair[0].finished
    wait_for(lambda: pair[0].finished >= before + 10, "matches to end meanwhile")
    for agent in pair:
        agent.stop()
    assert causes(limited, "tic_tac_toe") == {"normal"}


def test_PB11_an_agent_that_used_up_its_messages_on_pings_still_plays_its_moves(
    limited: Server, raw_agent: MakeRaw
) -> None:
    opponent = SteadyAgent(limited, "bob", ("tic_tac_toe",))
    agent = raw_agent(limited, "ada", ladders=("tic_tac_toe",))
    request = agent.await_message("your_move")
    for _ in range(19):  # with the hello these are all that the burst allows
        agent.socket.ping()
    agent.move(request)
    assert agent.await_message("ack")["ply"] == request["ply"]
    while True:
        message = agent.receive()
        if message["type"] == "match_end":
            break
        if message["type"] == "your_move":
            agent.move(message)
    opponent.stop()
    assert set(message["cause"]) == {"normal"}


def test_a_flood_of_messages_is_told_the_limit_and_the_seconds(limited: Server, raw_agent: MakeRaw) -> None:
    agent = raw_agent(limited, "ada", ladders=("connect_four",))
    for _ in range(25):
        try:
            agent.send('{"type":"teleport"}')
        except ConnectionClosed:
            break
    error = agent.await_message("error")
    while error["code"] != "flood":
        error = agent.await_message("error")
    assert_message_told(error, "flood", "messages_per_connection")
    assert agent.await_close() == (1008, "flood")


def watch(server: Server, address: str = "192.0.2.1") -> ClientConnection:
    url = server.url.replace("http", "ws") + "/ws/watch"
    return connect(url, compression=None, proxy=None, additional_headers={"X-Forwarded-For": address})


def test_a_spectators_flood_is_told_the_same(limited: Server) -> None:
    with watch(limited) as socket:
        for _ in range(150):
            try:
                socket.send('{"type":"teleport"}')
            except ConnectionClosed:
                break
        message = json.loads(socket.recv(PATIENCE_S))
        while message["code"] != "flood":
            message = json.loads(socket.recv(PATIENCE_S))
        assert_message_told(message, "flood", "messages_per_connection")
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(PATIENCE_S)
    assert closed.value.rcvd is not None
    assert (closed.value.rcvd.code, closed.value.rcvd.reason) == (1008, "flood")


def test_a_token_that_asks_from_many_addresses_is_limited_as_one(limited: Server) -> None:
    token = limited.register("ada")
    answers = [
        ask(
            limited,
            "tokens",
            {"scope": "admin"},
            **{"Authorization": f"Bearer {token}", "X-Forwarded-For": f"192.0.2.{number}"},
        )
        for number in range(35)
    ]
    statuses = [status for status, _, _ in answers]
    assert statuses[:30] == [403] * 30
    assert_told(answers[statuses.index(429)], "requests_per_token")
    assert ask(limited, "games", **{"X-Forwarded-For": "192.0.2.7"})[0] == 200


def test_too_many_hellos_are_told_the_limit_and_the_seconds(make_server: MakeServer) -> None:
    server = make_server(**QUIET).start()
    token = server.register("restless")
    for _ in range(32):
        agent = RawAgent(server, "restless", token=token)
        agent.hello(ladders=["tic_tac_toe"])
        answer = agent.receive()
        agent.close()
        if answer["type"] == "error":
            break
    assert_message_told(answer, "too_many_requests", "hellos_per_agent")


def test_only_so_many_stay_from_one_address(limited: Server) -> None:
    with ExitStack() as stack:
        sockets = [stack.enter_context(watch(limited)) for _ in range(3)]
        for socket in sockets:
            socket.send('{"type":"watch","front":true}')
            answer = json.loads(socket.recv(PATIENCE_S))
            if socket is not sockets[-1]:
                assert answer["type"] == "snapshot"
        while answer["type"] != "error":
            answer = json.loads(sockets[-1].recv(PATIENCE_S))
        assert_message_told(answer, "too_many_connections", "connections_per_address")
        with pytest.raises(ConnectionClosed) as closed:
            sockets[-1].recv(PATIENCE_S)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1013, "try again later"
        other = stack.enter_context(watch(limited, "192.0.2.2"))
        other.send('{"type":"watch","front":true}')
        assert json.loads(other.recv(PATIENCE_S))["type"] == "snapshot"
