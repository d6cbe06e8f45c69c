"""Whoever reaches a limit is told so in its own way: people by a page, programs by a problem."""

import pytest

from server import pages
from server.http import ERROR_PAGE
from server.http.limits import RateLimit
from server.settings import Settings

BROWSER = {"Accept": "text/html,application/xhtml+xml"}


@pytest.fixture
def settings(tmp_path):
    return Settings(data_dir=tmp_path, requests_per_min=3)


@pytest.fixture
def extend():
    """The pages too, as the server has them."""

    def add(app):
        app[ERROR_PAGE] = pages.error_page
        app.add_routes(pages.routes())

    return add


async def use_up(client):
    for _ in range(3):
        assert (await client.get("/api/v1/games")).status == 200


def assert_told_to_wait(response, seconds):
    assert response.status == 429
    assert response.headers["Retry-After"] == str(seconds)
    assert response.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/ladders/connect_four", "/matches/1", "/agents/ada", "/admin"])
async def test_a_browser_that_asks_too_often_gets_a_page_that_names_the_limit(client, clock, path):
    await use_up(client)
    refused = await client.get(path, headers=BROWSER)
    assert_told_to_wait(refused, 20)
    assert refused.content_type == "text/html"
    html = await refused.text()
    assert "<code>too_many_requests</code>" in html
    assert "the next is possible in 20 s in requests_per_address" in html
    clock.advance(20)
    assert (await client.get("/", headers=BROWSER)).status == 200


@pytest.mark.parametrize(("path", "headers"), [("/", {}), ("/api/v1/games", {}), ("/api/v1/games", BROWSER)])
async def test_a_program_that_asks_too_often_gets_a_problem(client, path, headers):
    await use_up(client)
    refused = await client.get(path, headers=headers)
    assert_told_to_wait(refused, 20)
    assert refused.content_type == "application/problem+json"
    problem = await refused.json()
    assert (problem["code"], problem["limit"]) == ("too_many_requests", "requests_per_address")
    assert problem["retry_after"] == 20


class TestRegistrations:
    """One agent an hour from each address."""

    @pytest.fixture
    def settings(self, tmp_path):
        return Settings(data_dir=tmp_path)

    @pytest.fixture
    def registrations(self):
        return RateLimit("registrations_per_address", count=1, period_s=3600)

    @pytest.mark.parametrize("headers", [{}, BROWSER])
    async def test_one_registration_too_many_is_a_problem_whoever_asks(self, client, headers):
        """It is a request of the API, which answers nobody by a page."""
        made = await client.post("/api/v1/agents", json={"name": "ada"}, headers=headers)
        assert made.status == 201
        refused = await client.post("/api/v1/agents", json={"name": "bob"}, headers=headers)
        assert_told_to_wait(refused, 3600)
        assert refused.content_type == "application/problem+json"
        problem = await refused.json()
        assert (problem["code"], problem["limit"]) == ("too_many_requests", "registrations_per_address")
        assert problem["retry_after"] == 3600
        assert (await client.get("/", headers=BROWSER)).status == 200, "pages have a limit of their own"
