"""Origins, local clients, and the headers of every answer."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer, make_mocked_request

from games.errors import InputError
from server.http import check_origin, middlewares
from server.http.security import address_of, is_local


def request_with(peer="127.0.0.1", **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = make_mocked_request("POST", "/api/v1/agents", headers=named)
    return request.clone(remote=peer)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        (None, "plyground.example"),
        ("http://127.0.0.1:8080", "127.0.0.1:8080"),
        ("https://plyground.example", "plyground.example"),
        ("https://plyground.example", "plyground.example:443"),
        ("http://Plyground.Example", "plyground.example"),
        ("http://[::1]:8080", "[::1]:8080"),
    ],
)
def test_own_pages_and_programs_pass(origin, host):
    check_origin(request_with(Host=host, **({"Origin": origin} if origin else {})))


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "",
        "http://127.0.0.1:9090",
        "http://127.0.0.1:8080.evil.example",
        "file://127.0.0.1:8080",
        "127.0.0.1:8080",
        "http://user@127.0.0.1:8080",
        "http://127.0.0.1:8080/",
    ],
)
def test_pages_of_other_sites_are_refused(origin):
    with pytest.raises(InputError) as refused:
        check_origin(request_with(Host="127.0.0.1:8080", Origin=origin))
    assert refused.value.code == "bad_origin"


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])
def test_loopback_peers_are_local(peer):
    assert is_local(request_with(peer, Host="anything"))


@pytest.mark.parametrize("peer", ["192.0.2.7", "10.0.0.1", "::ffff:192.0.2.7", "2001:db8::1", "", "nonsense"])
def test_other_peers_are_not(peer):
    assert not is_local(request_with(peer, Host="127.0.0.1:8080"))


@pytest.mark.parametrize("header", ["Forwarded", "X-Forwarded-For", "X-Real-IP", "Via"])
def test_what_came_through_a_proxy_is_not_local(header):
    assert not is_local(request_with("127.0.0.1", **{header: "192.0.2.7", "Host": "127.0.0.1"}))


def test_a_browser_that_reached_us_by_a_foreign_name_is_not_local():
    rebound = {"Origin": "http://evil.example:8080", "Host": "evil.example:8080"}
    assert not is_local(request_with("127.0.0.1", **rebound))
    own = {"Origin": "http://localhost:8080", "Host": "localhost:8080"}
    assert is_local(request_with("127.0.0.1", **own))


def test_a_whole_network_of_version_6_counts_as_one_address():
    assert address_of(request_with("2001:db8::1")) == address_of(request_with("2001:db8::ffff:2"))
    assert address_of(request_with("2001:db8::1")) != address_of(request_with("2001:db8:0:1::1"))
    assert address_of(request_with("192.0.2.7")) == "192.0.2.7"


async def test_pages_and_data_carry_their_policies():
    async def page(_request):
        return web.Response(text="<p>hello", content_type="text/html")

    async def embedded(_request):
        return web.Response(
            text="<p>hello",
            content_type="text/html",
            headers={"Content-Security-Policy": "frame-ancestors *"},
        )

    app = web.Application(middlewares=middlewares())
    app.add_routes([web.get("/page", page), web.get("/embedded", embedded)])
    async with TestClient(TestServer(app)) as client:
        headers = (await client.get("/page")).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert (await client.get("/embedded")).headers["Content-Security-Policy"] == "frame-ancestors *"
        refused = await client.get("/nothing")
        assert refused.headers["X-Content-Type-Options"] == "nosniff"
        assert "default-src 'none'" in refused.headers["Content-Security-Policy"]
