"""Addresses, and where a token may be sent."""

import pytest

from agents.address import check_token_is_safe, http_url, is_loopback, socket_url
from agents.client import Client
from games import InputError


@pytest.mark.parametrize(
    ("given", "http", "socket"),
    [
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080", "ws://127.0.0.1:8080/ws/agent"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", "ws://127.0.0.1:8080/ws/agent"),
        ("https://play.example", "https://play.example", "wss://play.example/ws/agent"),
        ("https://a.example/games/", "https://a.example/games", "wss://a.example/games/ws/agent"),
        ("ws://[::1]:9000/ws/agent", "http://[::1]:9000", "ws://[::1]:9000/ws/agent"),
    ],
)
def test_one_address_gives_both(given, http, socket):
    assert http_url(given) == http
    assert socket_url(given) == socket
    assert http_url(given, "/api/v1/agents") == http + "/api/v1/agents"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "localhost:8080",
        "ftp://a.example",
        "http://",
        "http://a:b@c.example",
        "http://a:99999",
        "http://a/?x",
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(InputError) as refused:
        socket_url(text)
    assert refused.value.code == "bad_server"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.9.9.9", "localhost", "[::1]", "a.localhost"])
def test_this_machine_is_loopback(host):
    assert is_loopback(f"http://{host}:8080")
    check_token_is_safe(f"http://{host}:8080")


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "example.org", "127.0.0.1.example.org", "localhost.example.org"]
)
def test_a_token_never_crosses_a_network_in_clear(host):
    assert not is_loopback(f"http://{host}")
    check_token_is_safe(f"https://{host}")
    for scheme in ("http", "ws"):
        with pytest.raises(InputError, match="https://"):
            Client(f"{scheme}://{host}", "ada", ["x"], "ply_secret", make_agent=lambda start: None)
