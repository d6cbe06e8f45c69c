"""Registering an agent, against a small HTTP server."""

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from agents.register import register
from games import InputError


@pytest.fixture
def http():
    """Start a server that gives one fixed answer; it keeps the requests it got."""
    servers = []

    def start(status, body, content_type="application/json", **headers):
        requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                length = int(self.headers["Content-Length"])
                requests.append(
                    (
                        self.path,
                        self.headers["Content-Type"],
                        json.loads(self.rfile.read(length)),
                        self.headers["Authorization"],
                    )
                )
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                requests.append((self.path, self.headers["Authorization"]))
                self.send_error(404)

            def log_message(self, *args):
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_address[1]}", requests

    yield start
    for server, thread in servers:
        server.shutdown()
        server.server_close()
        thread.join()


def problem(**fields):
    return json.dumps({"type": "about:blank", "title": "Conflict", "status": 409, **fields}).encode()


def test_an_agent_gets_a_token(http):
    url, requests = http(201, b'{"name": "ada", "token": "ply_1", "later": true}')
    assert register(url, "ada") == "ply_1"
    assert requests == [("/api/v1/agents", "application/json", {"name": "ada"}, None)]


def test_a_name_beyond_ascii_is_sent_as_it_is(http):
    url, requests = http(201, '{"name": "围棋", "token": "ply_1"}'.encode())
    register(url, "围棋")
    assert requests[0][2] == {"name": "围棋"}


def test_a_taken_name_is_refused_in_the_servers_words(http):
    detail = "expected a name that is free, got 'ada'"
    url, _ = http(
        409,
        problem(code="name_taken", detail=detail, expected="a name that is free", got="'ada'"),
        "application/problem+json",
    )
    with pytest.raises(InputError) as refused:
        register(url, "ada")
    assert refused.value.code == "name_taken"
    assert str(refused.value) == detail
    assert refused.value.got == "'ada'"


def test_what_would_be_accepted_is_handed_on(http):
    body = problem(code="bad_name", detail="no", available=["ada-1"], expected=None, got=None)
    with pytest.raises(InputError) as refused:
        register(http(400, body)[0], "ada!")
    assert refused.value.available == ("ada-1",)


@pytest.mark.parametrize(
    ("status", "body"), [(404, b"not here"), (502, b"<html>"), (200, b"<html>"), (201, b'{"ok": true}')]
)
def test_another_kind_of_server_is_one_sentence(http, status, body):
    url, _ = http(status, body)
    with pytest.raises(InputError, match="expected a Plyground server at") as refused:
        register(url, "ada")
    assert refused.value.code == "no_server"


def test_a_dead_server_is_one_sentence():
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(InputError) as refused:
            register(url, "ada")
    assert refused.value.code == "no_server"
    assert str(refused.value) == f"expected a Plyground server at {url}, got Connection refused"


def test_a_server_that_hangs_up_is_one_sentence():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()

        def hang_up():
            listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(InputError) as refused:
            register(f"http://127.0.0.1:{listening.getsockname()[1]}", "ada")
        thread.join()
    assert refused.value.code == "no_server"


def test_no_token_is_asked_for_over_an_open_network():
    with pytest.raises(InputError, match="https://"):
        register("http://play.example", "ada")


def test_an_invitation_goes_along_in_its_header(http):
    url, requests = http(201, b'{"name": "ada", "token": "ply_1"}')
    register(url, "ada", " ply_invitation\n")
    assert requests == [("/api/v1/agents", "application/json", {"name": "ada"}, "Bearer ply_invitation")]


@pytest.mark.parametrize("invitation", ["", "two words", "ply_é", "ply_x\r\nHost: evil"])
def test_what_is_no_invitation_is_not_sent(http, invitation):
    url, requests = http(201, b"{}")
    with pytest.raises(InputError, match="a token"):
        register(url, "ada", invitation)
    assert requests == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_an_invitation_goes_to_nobody_that_a_server_sends_to(http, status):
    elsewhere, stolen = http(201, b'{"name": "ada", "token": "ply_2"}')
    target = elsewhere.replace("127.0.0.1", "localhost")
    url, requests = http(status, b"", Location=f"{target}/api/v1/agents")
    with pytest.raises(InputError) as refused:
        register(url, "ada", "ply_invitation")
    assert stolen == []
    assert len(requests) == 1, "nor is it asked again at the same place"
    assert refused.value.code == "server_moved"
    sends = f"got one that sends to '{target}'; give that address if it is the one you mean"
    assert str(refused.value) == f"expected a Plyground server at {url}, {sends}"


@pytest.mark.parametrize("location", ["/login", "http://[x", "x" * 5_000, "file:///etc/passwd"])
def test_whatever_a_server_sends_to_is_one_sentence(http, location):
    url, requests = http(302, b"", Location=location)
    with pytest.raises(InputError, match="got one that sends to '") as refused:
        register(url, "ada")
    assert len(requests) == 1
    assert len(str(refused.value)) < 250
