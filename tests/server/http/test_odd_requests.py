"""Whatever is asked of any endpoint, the answer is one that the table declares, and never a fault of ours."""

import asyncio
import base64
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from server.http import ENDPOINTS, SERVICES
from server.http.errors import PROBLEM_TYPE, Problem

NAMES = [f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS]

RAW_SEGMENTS = st.sampled_from(
    [
        "%FF",
        "%00",
        "%2F",
        "..%2F..",
        "%2e%2e",
        "%ED%A0%80",
        "%",
        "%zz",
        "%C3%28",
        "1%0a",
        "-1",
        "0",
        "1",
        "10" * 15,
        "9" * 18,
        "9" * 1000,
        "2147483648",
        "1e3",
        "0x1",
        "%EF%BC%91",
        "null",
        "standings.csv",
        "ada",
        "Ada",
        "connect_four",
        "%E2%80%AE",
        "';DROP%20TABLE%20agents;--",
        "<script>",
        "{ladder}",
        "~",
        "+",
        "%20",
    ]
)
SEGMENTS = RAW_SEGMENTS | st.text(min_size=1, max_size=40).map(lambda text: quote(_valid(text), safe=""))
PARAMETERS = st.sampled_from(["limit", "cursor", "state", "ladder", "agent", "format", "token", "", "é"])
VALUES = RAW_SEGMENTS | st.integers().map(str) | st.text(max_size=40).map(lambda t: quote(_valid(t), safe=""))
QUERIES = st.lists(st.tuples(PARAMETERS, VALUES), max_size=4).map(
    lambda pairs: "&".join(f"{quote(name)}={value}" for name, value in pairs)
) | st.sampled_from(["&&&", "=", "?", "limit", "limit&limit", "a" * 4000, "%FF=%FF", "limit=%00", "%"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
BODIES = (
    st.binary(max_size=200)
    | JSON.map(lambda value: msgspec.json.encode(_encodable(value)))
    | st.text(max_size=60).map(lambda name: msgspec.json.encode({"name": _valid(name)}))
    | st.sampled_from(
        [
            b'{"name":"\\ud800"}',
            b'{"name":"\\u0000"}',
            b"[" * 60_000,
            b'{"name":' * 5_000,
            b" " * 70_000,
            b'{"name":"a","name":"b"}',
            b'\xef\xbb\xbf{"name":"a"}',
            b'{"name":"a"}x',
            b'{"name":"\xff"}',
        ]
    )
)
CONTENT_TYPES = st.sampled_from(
    [
        "application/json",
        "application/json; charset=utf-16",
        "text/plain",
        "",
        "nonsense",
        "multipart/form-data",
    ]
)


def _valid(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _encodable(value):
    if isinstance(value, str):
        return _valid(value)
    if isinstance(value, list):
        return [_encodable(part) for part in value]
    if isinstance(value, dict):
        return {_valid(key): _encodable(part) for key, part in value.items()}
    return value


@pytest.fixture
def peopled(world):
    """Ada is playing Bob: the first match has moves, the second waits."""
    world.match(world.agent("ada"), world.agent("bob"), ["4", "4", "3"])


def test_the_table_has_each_endpoint_once_and_says_what_it_does():
    assert len(set(NAMES)) == len(NAMES)
    for endpoint in ENDPOINTS:
        assert endpoint.summary.endswith(".")
        assert endpoint.path.startswith("/api/v1/") or endpoint.path in ("/healthz", "/metrics")
        assert ("{" in endpoint.path) <= (404 in endpoint.all_answers)


async def declared_answer(endpoint, response):
    """Assert that the endpoint declares this answer, and that it is what it is declared to be."""
    body = await response.read()
    assert response.status < 500, (response.url, body)
    assert response.status in endpoint.all_answers, (response.status, response.url, body)
    declared = endpoint.all_answers[response.status]
    if isinstance(declared, str):
        assert response.content_type == declared
    elif declared is Problem:
        assert response.content_type == PROBLEM_TYPE
        assert msgspec.json.decode(body, type=Problem).status == response.status
    else:
        assert response.content_type == "application/json"
        msgspec.json.decode(body, type=declared)


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=NAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
async def test_odd_requests_get_declared_answers(endpoint, peopled, client, data):
    path = endpoint.path
    while "{" in path:
        before, _, rest = path.partition("{")
        path = f"{before}{data.draw(SEGMENTS, 'segment')}{rest.partition('}')[2]}"
    query = data.draw(QUERIES, "query")
    address = URL(str(client.make_url("/")).rstrip("/") + path + (f"?{query}" if query else ""), encoded=True)
    body, headers = None, {}
    if endpoint.body:
        body = data.draw(BODIES, "body")
        headers = {"Content-Type": data.draw(CONTENT_TYPES, "content type")}
    async with client.session.request(endpoint.method, address, data=body, headers=headers) as response:
        await declared_answer(endpoint, response)


def crafted(key) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode(key)).decode().rstrip("=")


@pytest.mark.parametrize(
    "key",
    [[2**31], [2**63], [10**30], [-(10**30)], [1e308],
     [True], [None], [], [1, 2], {}, 5, ["\0"], ["x" * 4000],
     [1500.0, "\0"], [1e308, "a"], [10**400, "a"], ["a", "b"], [1500.0, "a", 1]],
    ids=lambda key: str(key)[:20],
)  # fmt: skip
@pytest.mark.parametrize("path", ["matches", "agents", "ladders/connect_four/standings"])
async def test_crafted_cursors_are_no_fault_of_ours(client, path, key):
    response = await client.get(f"/api/v1/{path}", params={"cursor": crafted(key)})
    assert response.status in (200, 400), await response.text()


async def test_bytes_that_are_no_http_are_refused_and_the_server_goes_on(client):
    for sent in (
        b"GET /api/v1/agents/\xff\xfe HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /api/v1/agents/\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET http://[/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET //// HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: \xff\r\n\r\n",
        b"\0\0\0\0\r\n\r\n",
    ):
        reader, writer = await asyncio.open_connection(client.host, client.port)
        writer.write(sent)
        status = await reader.readline()
        writer.close()
        assert status.split()[1] in (b"200", b"400", b"404"), (sent[:60], status)
    assert (await client.get("/healthz")).status == 200


def address_of(endpoint) -> str:
    return endpoint.path.replace("{id}", "1").replace("{ladder}", "connect_four").replace("{name}", "ada")


@pytest.mark.parametrize("endpoint", [e for e in ENDPOINTS if e.method != "GET"], ids=lambda e: e.summary)
@pytest.mark.parametrize("origin", ["http://evil.example", "null"])
async def test_no_page_of_another_site_changes_anything(client, endpoint, origin):
    response = await client.request(
        endpoint.method, address_of(endpoint), json={}, headers={"Origin": origin}
    )
    assert (response.status, (await response.json())["code"]) == (403, "bad_origin")


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=NAMES)
async def test_every_endpoint_of_the_api_has_a_limit_and_names_it(client, endpoint, clock):
    limit = client.app[SERVICES].limits.requests
    for _ in range(limit.count):
        limit.spend("127.0.0.1", clock())
    response = await client.request(endpoint.method, address_of(endpoint))
    if endpoint.path in ("/healthz", "/metrics"):
        assert response.status == 200
        return
    problem = await response.json()
    assert (response.status, problem["limit"]) == (429, "requests_per_address")
    assert response.headers["Retry-After"] == str(problem["retry_after"]) == "1"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/api/v1/nothing", None, 404),
        ("GET", "/api/v2/agents", None, 404),
        ("GET", "/api", None, 404),
        ("PUT", "/api/v1/agents", b"{}", 405),
        ("TRACE", "/api/v1/tokens", None, 405),
        ("POST", "/api/v1/agents", b"{", 400),
        ("POST", "/api/v1/agents", b" " * 70_000, 413),
        ("POST", "/api/v1/agents", b"[" * 60_000, 400),
        ("GET", "/api/v1/agents?limit=x", None, 400),
    ],
)
@pytest.mark.parametrize("accept", ["application/json", "text/html", "*/*"])
async def test_every_fault_under_api_is_a_problem(client, method, path, body, status, accept):
    headers = {"Accept": accept, **({"Content-Type": "application/json"} if body else {})}
    response = await client.request(method, path, data=body, headers=headers)
    assert (response.status, response.content_type) == (status, PROBLEM_TYPE)
    assert msgspec.json.decode(await response.read(), type=Problem).status == status
