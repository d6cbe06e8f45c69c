"""The description of the API is valid, complete, and can be contradicted by a server that errs."""

import asyncio
import re

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from contract import command
from openapi_spec_validator import OpenAPIV31SpecValidator

from server.http import ENDPOINTS, SERVICES, Limits, Services, middlewares, routes, views
from server.http.endpoint import Endpoint, answer
from server.http.openapi import described, document


@pytest.fixture(scope="module")
def api():
    return msgspec.json.decode(msgspec.json.encode(document(ENDPOINTS)))


@pytest.fixture(scope="module")
def operations(api):
    return {
        f"{method.upper()} {path}": operation
        for path, methods in api["paths"].items()
        for method, operation in methods.items()
    }


def test_the_description_is_valid(api):
    OpenAPIV31SpecValidator(api).validate()
    assert api["openapi"].startswith("3.1")


async def test_a_server_tells_it(client, api):
    response = await client.get("/api/v1/openapi.json")
    assert (response.status, response.content_type) == (200, "application/json")
    assert await response.json() == api


def test_every_endpoint_is_described_head_beside_get(operations):
    table = {f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS}
    heads = {name.replace("GET", "HEAD", 1) for name in table if name.startswith("GET")}
    assert set(operations) == table | heads
    for name in heads:
        assert all("content" not in answer for answer in operations[name]["responses"].values())


def test_every_answer_is_described_with_what_it_holds(operations):
    for endpoint in ENDPOINTS:
        responses = operations[f"{endpoint.method} {endpoint.path}"]["responses"]
        assert set(responses) == {str(status) for status in endpoint.all_answers} | {"5XX"}
        for status in endpoint.all_answers:
            content = responses[str(status)].get("content", {})
            if status >= 400 and endpoint.path != "/healthz":
                assert list(content) == ["application/problem+json"]
            assert (content == {}) == (status == 204)


def test_other_media_types_are_named(operations):
    def media(path):
        return list(operations[f"GET {path}"]["responses"]["200"]["content"])

    assert media("/api/v1/ladders/{ladder}/standings.csv") == ["text/csv"]
    assert media("/api/v1/ladders/{ladder}/standings.jsonl") == ["application/jsonl"]
    assert media("/metrics") == ["text/plain"]


def test_parameters_have_their_kinds_bounds_and_values(operations):
    found = {asked["name"]: asked for asked in operations["GET /api/v1/matches"]["parameters"]}
    assert set(found) == {"ladder", "agent", "state", "limit", "cursor"}
    limit = found["limit"]["schema"]
    assert (limit["type"], limit["minimum"], limit["maximum"], limit["default"]) == ("integer", 1, 200, 50)
    assert found["state"]["schema"] == {"enum": ["finished", "queued", "running", "starting", "void"]}
    assert found["cursor"]["schema"] == {"type": "string"}
    [number] = operations["GET /api/v1/matches/{id}"]["parameters"]
    assert (number["in"], number["required"], number["schema"]["type"]) == ("path", True, "integer")


def test_tokens_are_asked_for_where_they_are_needed(api, operations):
    assert api["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    asking = {
        name: operation["security"] for name, operation in operations.items() if "security" in operation
    }
    assert asking.pop("POST /api/v1/agents") == [{"bearer": []}, {}]
    needed = (
        "POST /api/v1/tokens",
        "GET /api/v1/tokens",
        "HEAD /api/v1/tokens",
        "DELETE /api/v1/tokens/{id}",
    )
    assert asking == {name: [{"bearer": []}] for name in needed}
    for name in needed:
        assert {"401", "403", "429"} <= set(operations[name]["responses"])


def test_headers_of_refusals_are_described(operations):
    responses = operations["POST /api/v1/tokens"]["responses"]
    assert responses["429"]["headers"]["Retry-After"]["required"]
    assert responses["401"]["headers"]["WWW-Authenticate"]["required"]
    assert "Location" in operations["POST /api/v1/agents"]["responses"]["201"]["headers"]


def test_answers_promise_every_field(api):
    problem = api["components"]["schemas"]["Problem"]
    assert set(problem["required"]) == set(problem["properties"])
    match = api["components"]["schemas"]["MatchView"]
    assert set(match["properties"]) - set(match["required"]) == {"position", "clock", "verdict"}
    asked = api["components"]["schemas"]["Registration"]
    assert asked["additionalProperties"] is False


def test_descriptions_are_sentences_of_one_line(api):
    texts = re.findall(r'"(?:description|summary)":"((?:[^"\\]|\\.)*)"', msgspec.json.encode(api).decode())
    assert len(texts) > 50
    assert not [text for text in texts if "\\n" in text or "  " in text]


# a wrong description is noticed ----------------------------------------------------------------------------


async def ladder_less(_call):
    return answer({"name": "connect_four", "title": "Connect four"})


async def unheard_of(_call):
    return answer({}, 202)


async def plain(_call):
    return web.Response(text="connect_four")


async def failing(_call):
    raise RuntimeError("a fault of ours")


async def without_header(_call):
    return answer(views.Registered("ada", "ply_x"), 200)


async def true_to_itself(_call):
    return answer(views.Registered("ada", "ply_x"))


@pytest.fixture
async def contradicted(db, settings, registry, clock):
    """Serve one endpoint, described as given, and return the report about it."""
    started = []

    async def ask(handler, declared, **more):
        table = described([Endpoint("GET", "/api/v1/ladders/one", handler, "One.", declared, **more)])
        app = web.Application(middlewares=middlewares())
        app[SERVICES] = Services(db, settings, registry, clock, Limits(settings))
        app.add_routes(routes(table))
        server = TestServer(app, host="127.0.0.1")
        await server.start_server()
        started.append(server)
        options = ("--phases", "coverage", "--include-path", "/api/v1/ladders/one", "--include-method", "GET")
        process = await asyncio.create_subprocess_exec(
            *command(str(server.make_url("")).rstrip("/"), *options, examples=2),
            cwd=settings.data_dir,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        told, _ = await process.communicate()
        return process.returncode, told.decode()

    yield ask
    for server in started:
        await server.close()


@pytest.mark.parametrize(
    ("handler", "declared", "more", "fault"),
    [
        (ladder_less, {200: views.LadderView}, {}, "Response violates schema"),
        (unheard_of, {200: views.LadderView}, {}, "Undocumented status code"),
        (plain, {200: views.LadderView}, {}, "Undocumented Content-Type"),
        (failing, {200: views.LadderView}, {}, "Server error"),
        (without_header, {200: views.Registered}, {"headers": {200: {"Location": "x"}}}, "Missing required"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
async def test_an_answer_that_is_not_as_described_is_found(contradicted, handler, declared, more, fault):
    code, told = await contradicted(handler, declared, **more)
    assert code == 1, told
    assert fault.lower() in told.lower(), told


async def test_an_answer_as_described_is_not_complained_of(contradicted):
    code, told = await contradicted(true_to_itself, {200: views.Registered})
    assert code == 0, told
