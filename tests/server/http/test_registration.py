"""Registering an agent: who may, under which name, how often, and what odd bodies are told."""

import asyncio
import gzip
import json
import unicodedata
from datetime import UTC, datetime

import msgspec
import pytest

from server.db import agents, tokens
from server.http import validation
from server.http.limits import RateLimit
from server.http.services import REGISTRATIONS_AN_HOUR, Limits
from server.settings import Settings

PATH = "/api/v1/agents"
JSON = {"Content-Type": "application/json"}


@pytest.fixture
def register(client):
    """Send a name, or a body as it is, and expect a status."""

    async def ask(name=None, status=201, *, data=None, **headers):
        named = {key.replace("_", "-"): value for key, value in headers.items()}
        body = msgspec.json.encode({"name": name}) if data is None else data
        response = await client.post(PATH, data=body, headers={**JSON, **named})
        assert response.status == status, await response.text()
        return await response.json()

    return ask


async def test_a_new_agent_gets_a_token_that_works_and_is_kept_nowhere(client, db, tmp_path):
    response = await client.post(PATH, json={"name": "ada"})
    assert response.status == 201
    assert response.headers["Cache-Control"] == "no-store"
    made = await response.json()
    assert set(made) == {"name", "token"}
    assert db.read_now(tokens.find, made["token"], datetime.now(UTC)).name == "ada"
    assert (await client.get(response.headers["Location"])).status == 200
    db.close()
    for file in tmp_path.iterdir():
        assert made["token"].encode() not in file.read_bytes()


@pytest.mark.parametrize("name", ["围棋", "Tarrasch-Verteidigung äöü", "Zoë 2.1", "a_b"])
async def test_names_of_any_script_come_back_as_they_are(register, client, name):
    made = await register(unicodedata.normalize("NFD", name))
    assert made["name"] == unicodedata.normalize("NFC", name)
    page = await (await client.get(PATH)).json()
    assert [agent["name"] for agent in page["items"]] == [made["name"]]


@pytest.mark.parametrize("name", ["ada", "ADA", "ａｄａ"])
async def test_a_name_that_somebody_has_is_taken(register, name):
    await register("Ada")
    problem = await register(name, 409)
    assert problem["code"] == "name_taken"


async def test_of_many_at_once_one_gets_the_name(client):
    answers = await asyncio.gather(*(client.post(PATH, json={"name": "ada"}) for _ in range(8)))
    assert sorted(answer.status for answer in answers) == [201] + [409] * 7


async def test_a_name_of_the_house_is_taken(db, register, clock):
    db.write_now(agents.ensure_house, "minimax", clock())
    assert (await register("Minimax", 409))["code"] == "name_taken"


@pytest.mark.parametrize(
    "name",
    ["", " ", "a" * 33, "<svg/onload=alert(1)>", '"><img src=x onerror=1>', "{{7*7}}", "ada\u202egpj", "a\0b",
     "=1+1", "../../etc", "a/b", "♜", "e" + "\u0301" * 200, "\ud7ff\u200b", "a\nb", "x" * 60_000],
)  # fmt: skip
async def test_an_unusable_name_is_refused(register, client, name):
    problem = await register(name, 400)
    assert problem["code"] == "bad_name"
    assert len(problem["detail"]) < 1200
    for suggestion in problem["available"]:
        assert (await register(suggestion))["name"] == suggestion


async def test_a_refusal_suggests_a_name_that_would_do(register):
    assert (await register("my agent!", 400))["available"] == ["my agent"]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1.evil.example"]
)
async def test_another_site_cannot_register(register, origin):
    assert (await register("ada", 403, Origin=origin))["code"] == "bad_origin"


async def test_our_own_page_can_register(register, client):
    await register("ada", Origin=f"http://{client.host}:{client.port}")


async def test_what_came_through_a_proxy_is_not_from_this_machine(register):
    assert (await register("ada", 403, X_Forwarded_For="127.0.0.1"))["code"] == "registration_closed"
    assert (await register("ada", 403, Forwarded="for=127.0.0.1"))["code"] == "registration_closed"


class TestOpenRegistration:
    """With `registration = "open"` anybody may register."""

    @pytest.fixture
    def settings(self, tmp_path):
        return Settings(data_dir=tmp_path, registration="open")

    async def test_anybody_may(self, register):
        await register("ada", X_Forwarded_For="192.0.2.7")

    async def test_but_no_page_of_another_site(self, register):
        assert (await register("ada", 403, Origin="http://evil.example"))["code"] == "bad_origin"


class TestFewRegistrations:
    """With a limit of two an hour."""

    @pytest.fixture
    def registrations(self):
        return RateLimit("registrations_per_address", count=2, period_s=3600)

    async def test_the_third_waits(self, register, client, clock):
        await register("ada")
        await register("bob")
        problem = await register("cat", 429)
        assert (problem["code"], problem["limit"]) == ("too_many_requests", "registrations_per_address")
        assert problem["retry_after"] == 1800
        response = await client.post(PATH, json={"name": "cat"})
        assert response.headers["Retry-After"] == "1800"
        clock.advance(1800)
        await register("cat")

    async def test_a_refused_name_costs_nothing(self, register):
        for _ in range(5):
            await register("!", 400)
        await register("ada")


def test_a_class_of_200_fits_into_the_usual_limit(settings, clock):
    limits = Limits(settings)
    assert REGISTRATIONS_AN_HOUR >= 200
    for _ in range(200):
        limits.registrations.spend("192.0.2.7", clock())


@pytest.mark.parametrize(
    ("data", "where"),
    [
        (b"{}", "the body"),
        (b"[]", "the body"),
        (b'"ada"', "the body"),
        (b'{"name": 5}', "name of the body"),
        (b'{"name": null}', "name of the body"),
        (b'{"name": "ada", "admin": true}', "the body"),
    ],
)
async def test_a_body_of_another_shape_is_told_where(register, data, where):
    problem = await register(status=400, data=data)
    assert (problem["code"], problem["where"]) == ("bad_body", where)


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b'{"name": "\xff"}', b'{"name": "\\ud800"}', b'{"name":"a"}x', b'{"name": NaN}',
     b'\xef\xbb\xbf{"name":"a"}', '{"name":"a"}'.encode("utf-16")],
)  # fmt: skip
async def test_what_is_no_json_is_told_so(register, data):
    assert (await register(status=400, data=data))["code"] == "bad_json"


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "text/json", "*/*"])
async def test_another_content_type_is_refused(register, kind):
    problem = await register("ada", 415, Content_Type=kind)
    assert (problem["code"], problem["expected"], problem["got"]) == (
        "wrong_content_type",
        "application/json",
        kind,
    )


async def test_a_charset_beside_the_content_type_is_fine(register):
    await register("ada", Content_Type="application/json; charset=utf-8")


async def test_a_huge_body_is_refused_however_it_comes(register):
    huge = json.dumps({"name": "a" * 1_000_000}).encode()
    assert (await register(status=413, data=huge))["code"] == "body_too_large"

    async def pieces():
        for _ in range(100):
            yield b" " * 10_000

    assert (await register(status=413, data=pieces()))["code"] == "body_too_large"


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "nonsense"])
async def test_a_packed_body_is_refused_unopened(register, encoding):
    bomb = gzip.compress(b" " * 30_000_000)
    for data in (bomb, b"not packed"):
        problem = await register(status=415, data=data, Content_Encoding=encoding)
        assert problem["code"] == "wrong_content_encoding"


async def test_a_body_that_breaks_its_own_chunks_is_bad_and_no_fault_of_ours(client, caplog):
    reader, writer = await asyncio.open_connection(client.host, client.port)
    writer.write(
        b"POST /api/v1/agents HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
        b'Transfer-Encoding: chunked\r\n\r\n5\r\n{"nam\r\nzz\r\n'
    )
    status = await reader.readline()
    writer.close()
    assert status.split()[1] == b"400"
    assert "Unhandled exception" not in caplog.text


async def test_a_body_that_never_ends_is_given_up(register, monkeypatch):
    monkeypatch.setattr(validation, "BODY_TIMEOUT_S", 0.05)

    async def slow():
        yield b'{"name":'
        await asyncio.sleep(0.5)
        yield b'"ada"}'

    assert (await register(status=408, data=slow()))["code"] == "slow_body"
