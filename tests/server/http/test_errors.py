"""Every fault becomes problem+json; faults of ours are logged once and show nothing of the inside."""

import json

import msgspec
import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from games.errors import InputError
from server.http import middlewares
from server.http.errors import ERROR_PAGE, STATUS, LimitReachedError, Problem, problem_of


async def broken(_request):
    raise RuntimeError("secret inside")


async def database_away(_request):
    raise OperationalError("SELECT secret", {}, Exception("disk I/O error"))


async def half_answered(request):
    response = web.StreamResponse()
    await response.prepare(request)
    await response.write(b"half")
    raise RuntimeError("too late for a problem")


async def refused(_request):
    raise LimitReachedError("requests", "3 a minute", 20)


async def odd_text(_request):
    raise InputError("unknown_agent", expected="an agent", got="'\ud800'" + "x" * 5000)


async def moved(_request):
    raise web.HTTPFound("/elsewhere")


@pytest.fixture
async def client():
    app = web.Application(middlewares=middlewares())
    handlers = (broken, database_away, half_answered, refused, odd_text, moved)
    app.add_routes([web.get(f"/{handler.__name__}", handler) for handler in handlers])
    app.add_routes([web.get("/api/v1/broken", broken)])
    app[ERROR_PAGE] = lambda _request, problem: web.Response(
        status=problem.status, text=f"<h1>{problem.title}</h1>", content_type="text/html"
    )
    async with TestClient(TestServer(app)) as client:
        yield client


def errors(logs):
    """What was logged as a fault, without the line about each request."""
    return [line for line in logs if line["log_level"] == "error"]


async def problem(response):
    assert response.content_type == "application/problem+json"
    found = msgspec.json.decode(await response.read(), type=Problem)
    assert found.status == response.status
    return found


async def test_a_fault_of_ours_is_a_500_logged_once_without_its_inside(client):
    with capture_logs() as logs:
        response = await client.get("/broken?token=ply_secret")
    found = await problem(response)
    assert (found.status, found.code) == (500, "internal")
    assert "secret" not in await response.text()
    [fault] = errors(logs)
    assert fault["path"] == "/broken"
    assert "ply_secret" not in str(logs)


async def test_a_database_that_is_away_is_a_503_without_its_statement(client):
    with capture_logs() as logs:
        response = await client.get("/database_away")
    assert (await problem(response)).code == "database_unavailable"
    assert response.status == 503
    assert "SELECT" not in await response.text()
    assert len(errors(logs)) == 1
    assert "SELECT" not in str(logs)


async def test_an_answer_that_has_begun_is_cut_off_not_continued(client):
    response = await client.get("/half_answered")
    assert response.status == 200
    with pytest.raises(Exception, match=r"payload is not completed|closed"):
        await response.read()


async def test_a_reached_limit_names_itself_and_the_seconds(client):
    response = await client.get("/refused")
    found = await problem(response)
    assert (found.status, found.code, found.limit, found.retry_after) == (
        429,
        "too_many_requests",
        "requests",
        20,
    )
    assert response.headers["Retry-After"] == "20"


async def test_text_that_utf8_cannot_hold_and_long_text_are_shown_safely(client):
    found = await problem(await client.get("/odd_text"))
    assert found.status == 404
    assert found.got.startswith("'\\ud800'")
    assert len(found.got) < 300


async def test_unknown_paths_and_wrong_methods_are_problems(client):
    unknown = await client.get("/no/such/thing")
    assert (await problem(unknown)).code == "not_found"
    wrong = await client.post("/broken")
    assert wrong.status == 405
    assert wrong.headers["Allow"] == "GET, HEAD"
    assert (await problem(wrong)).expected == "GET, HEAD"


async def test_redirections_are_no_errors(client):
    response = await client.get("/moved", allow_redirects=False)
    assert response.status == 302
    assert response.headers["X-Content-Type-Options"] == "nosniff"


BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.mark.parametrize("path", ["/api/v1/nothing", "/ws/agent", "/ws/watch", "/healthz"])
async def test_where_programs_ask_nobody_gets_a_page(client, path):
    """These answers wait for no turn, so none of them may cost what a page does."""
    data = await client.get(path, headers=BROWSER)
    assert (data.status, data.content_type) == (404, "application/problem+json")


async def test_a_browser_gets_a_page_except_from_the_api(client):
    page = await client.get("/nothing", headers=BROWSER)
    assert (page.status, page.content_type) == (404, "text/html")
    assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"]
    with capture_logs():
        data = await client.get("/api/v1/broken", headers=BROWSER)
    assert data.content_type == "application/problem+json"


@pytest.mark.parametrize("code", [*STATUS, "some_code_not_listed"])
def test_a_problem_says_what_its_error_says(code):
    error = InputError(code, expected="a", got="b", where="c", available=["d"])
    found = json.loads(msgspec.json.encode(problem_of(error)))
    assert found["status"] == STATUS.get(code, 400)
    assert found["detail"] == "expected a, got b in c; available: d"
    assert [found[key] for key in ("code", "expected", "got", "where", "available")] == [
        code,
        "a",
        "b",
        "c",
        ["d"],
    ]
