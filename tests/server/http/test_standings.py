"""Standings as JSON pages, CSV and JSON Lines: the same rows, and safe to open in a spreadsheet."""

import csv
import io
import json

import pytest

from server.db.matches import SeatResult
from server.http.standings import _cell
from server.settings import DEFAULT_LADDERS

PATH = "/api/v1/ladders/connect_four/standings"
COLUMNS = (
    "rank,tier,agent,version,owner,rating,rating_low,rating_high,elo,provisional,"
    "games,wins,draws,losses,los_next"
)
WIN = [SeatResult("win", "normal", 1.0), SeatResult("loss", "normal", 0.0)]


LADDERS = [ladder.name for ladder in DEFAULT_LADDERS]


@pytest.fixture
def played(world):
    """Ada won a match against Bob; 围棋 has not played; Eve is on another ladder."""
    ada, bob = world.agent("ada", owner="countess"), world.agent("bob")
    world.agent("围棋")
    world.agent("eve", ladder="tic_tac_toe")
    world.match(ada, bob, ["4", "3", "4", "3", "4", "3", "4"], WIN)


async def test_rows_have_the_documented_columns_best_first(played, get):
    page = await get(PATH)
    assert page["next"] is None
    assert [row["agent"] for row in page["items"]] == ["ada", "围棋", "bob"]
    assert [row["rank"] for row in page["items"]] == [1, 2, 3]
    ada = page["items"][0]
    assert ",".join(ada) == COLUMNS
    assert ada["rating"] == ada["elo"] == 1580
    assert [ada[key] for key in ("games", "wins", "draws", "losses", "owner")] == [1, 1, 0, 0, "countess"]
    assert ada["provisional"] is True
    assert ada["tier"] is ada["rating_low"] is ada["rating_high"] is ada["los_next"] is None


async def test_pages_give_every_row_once(world, get):
    names = [f"agent-{number:02}" for number in range(23)]
    for name in names:
        world.agent(name)
    found, query = [], "?limit=5"
    while query:
        page = await get(PATH + query)
        assert len(page["items"]) <= 5
        found += [row["agent"] for row in page["items"]]
        query = page["next"] and f"?limit=5&cursor={page['next']}"
    assert found == names


async def test_an_empty_ladder_is_an_empty_page_and_a_header(client, get):
    assert await get(PATH) == {"items": [], "next": None}
    assert await (await client.get(f"{PATH}.csv")).text() == COLUMNS + "\n"
    assert await (await client.get(f"{PATH}.jsonl")).text() == ""


async def test_csv_holds_the_rows_of_the_json(played, client, get):
    response = await client.get(f"{PATH}.csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    text = await response.text()
    assert text.splitlines()[0] == COLUMNS
    rows = list(csv.DictReader(io.StringIO(text)))
    for row, expected in zip(rows, (await get(PATH))["items"], strict=True):
        shown = {key: "" if value is None else value for key, value in expected.items()}
        assert row == {
            key: str(value).lower() if value is True else str(value) for key, value in shown.items()
        }


async def test_jsonl_holds_the_rows_of_the_json(played, client, get):
    text = await (await client.get(f"{PATH}.jsonl")).text()
    assert [json.loads(line) for line in text.splitlines()] == (await get(PATH))["items"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r"])
def test_no_text_cell_is_a_formula(start):
    assert _cell(f"{start}1+1") == f"'{start}1+1"
    assert _cell("ada-2") == "ada-2"
    assert _cell(-3.5) == -3.5


@pytest.mark.parametrize("end", ["", ".csv", ".jsonl"])
async def test_an_unknown_ladder_names_those_there_are(get, end):
    problem = await get(f"/api/v1/ladders/halma/standings{end}", 404)
    assert problem["code"] == "unknown_ladder"
    assert problem["available"] == LADDERS
