"""Agents, games, ladders, health and metrics as data."""

import pytest
from prometheus_client import Counter
from yarl import URL

from server.db.matches import SeatResult
from server.settings import DEFAULT_LADDERS

WIN = [SeatResult("win", "normal", 1.0), SeatResult("loss", "normal", 0.0)]


LADDERS = [ladder.name for ladder in DEFAULT_LADDERS]


async def test_games_say_what_can_be_played(get):
    page = await get("/api/v1/games")
    found = {game["name"]: game for game in page["items"]}
    assert page["next"] is None
    assert {"tic_tac_toe", "connect_four"} <= set(found)
    assert found["tic_tac_toe"]["initial_position"] == "......... x"
    options = {option["name"]: option["default"] for option in found["connect_four"]["options"]}
    assert options == {"rows": 6, "columns": 7, "k": 4}
    assert found["connect_four"]["players"] == 2


async def test_ladders_in_the_order_of_the_settings(get):
    page = await get("/api/v1/ladders")
    assert [ladder["name"] for ladder in page["items"]] == LADDERS
    one = await get("/api/v1/ladders/connect_four_5x6")
    assert one in page["items"]
    assert one["game"] == "connect_four(rows=5,columns=6,k=4)"
    none = dict.fromkeys(("bank_ms", "increment_ms", "byoyomi_ms", "periods", "strikes", "nodes"), 0)
    assert one["time_control"] == {
        **none,
        "move_ms": 5000,
        "margin_ms": 200,
        "ready_ms": 10000,
        "lag_ms": 1000,
        "grace_ms": 5000,
    }


async def test_an_agent_with_its_record_on_each_ladder(world, get):
    world.match(world.agent("ada"), world.agent("bob"), ["4", "3", "4", "3", "4", "3", "4"], WIN)
    ada = await get("/api/v1/agents/ada")
    assert (ada["name"], ada["house"], ada["version"], ada["retired_at"]) == ("ada", False, 1, None)
    assert ada["ladders"] == [
        {
            "ladder": "connect_four",
            "version": 1,
            "elo": 1580.0,
            "provisional": True,
            "games": 1,
            "wins": 1,
            "draws": 0,
            "losses": 0,
            "losses_by_cause": {},
        }
    ]
    assert await get("/api/v1/agents/ADA") == ada, "names that differ in case only are the same"


def lost_by(cause):
    return [SeatResult("loss", cause, 0.0), SeatResult("win", "normal", 1.0)]


async def test_PB16_the_causes_of_an_agents_losses_add_up_to_them(world, get):
    ada, bob = world.agent("ada"), world.agent("bob")
    for result in [lost_by("timeout")] * 6 + [lost_by("crash")] + [WIN] * 3:
        world.match(ada, bob, ["4"], result)
    [record] = (await get("/api/v1/agents/ada"))["ladders"]
    assert (record["games"], record["wins"], record["losses"]) == (10, 3, 7)
    assert record["losses_by_cause"] == {"timeout": 6, "crash": 1}
    assert sum(record["losses_by_cause"].values()) == record["losses"]
    shares = [number / record["losses"] for number in record["losses_by_cause"].values()]
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) == pytest.approx(1)
    [record] = (await get("/api/v1/agents/bob"))["ladders"]
    assert (record["losses"], record["losses_by_cause"]) == (3, {"normal": 3})


async def test_causes_are_counted_for_each_ladder_and_version_alone(world, db, get):
    ada, bob = world.agent("ada"), world.agent("bob")
    world.match(ada, bob, ["4"], lost_by("crash"))
    world.change("ada", "f2")
    newer = world.version_of("ada", "f2")
    world.match(newer, bob, ["4"], lost_by("timeout"))
    other = world.version_of("ada", "f2", ladder="tic_tac_toe")
    cat = world.agent("cat", ladder="tic_tac_toe")
    world.match(other, cat, ["4"], lost_by("normal"), ladder="tic_tac_toe")
    told = {row["ladder"]: row for row in (await get("/api/v1/agents/ada"))["ladders"]}
    for row in told.values():
        assert sum(row["losses_by_cause"].values()) == row["losses"]
    assert told["connect_four"]["losses_by_cause"] == {"timeout": 1}
    assert told["tic_tac_toe"]["losses_by_cause"] == {"normal": 1}


async def test_a_list_of_agents_does_not_count_their_losses(world, get):
    world.agent("ada")
    [ada] = (await get("/api/v1/agents"))["items"]
    assert "losses_by_cause" not in ada["ladders"][0]


async def test_versions_newest_first(world, db, get):
    world.agent("ada")
    world.change("ada", "f2")
    page = await get("/api/v1/agents/ada/versions")
    assert [(row["number"], row["fingerprint"], row["parent"]) for row in page["items"]] == [
        (2, "f2", 1),
        (1, "f1", None),
    ]
    assert page["next"] is None


async def test_pages_give_every_agent_once(world, get):
    names = ["ada", "Bob", "cäsar", "dora", "Émile", "围棋"]
    for name in names:
        world.agent(name)
    found, query = [], "?limit=4"
    while query:
        page = await get("/api/v1/agents" + query)
        found += [agent["name"] for agent in page["items"]]
        query = page["next"] and f"?limit=4&cursor={page['next']}"
    assert sorted(found) == sorted(names)


@pytest.mark.parametrize("end", ["", "/versions"])
@pytest.mark.parametrize("name", ["nobody", "a%2Fb", "%FF", "..%2F..", "a%20b", "%F0%9F%98%80", "x" * 3000])
async def test_unknown_agents(client, name, end):
    response = await client.get(URL(f"/api/v1/agents/{name}{end}", encoded=True))
    assert response.status == 404
    assert (await response.json())["code"] == "unknown_agent"


async def test_no_name_holds_nul(client):
    response = await client.get(URL("/api/v1/agents/a%00b", encoded=True))
    assert (response.status, (await response.json())["code"]) == (400, "bad_path")


@pytest.mark.parametrize("path", ["/api/v1/games", "/api/v1/agents/ada", "/healthz"])
async def test_an_endpoint_without_parameters_takes_none(world, get, path):
    world.agent("ada")
    problem = await get(f"{path}?verbose=1", 400)
    assert (problem["code"], problem["available"]) == ("unknown_parameter", ["none"])


@pytest.mark.parametrize("path", ["/api/v1/ladders", "/api/v1/agents", "/healthz", "/api/v1/ladders/chess"])
async def test_head_is_get_without_the_body(client, path):
    asked, told = await client.get(path), await client.head(path)
    assert told.status == asked.status
    assert told.headers["Content-Type"] == asked.headers["Content-Type"]
    assert told.headers["Content-Length"] == asked.headers["Content-Length"]
    assert await told.read() == b""


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("DELETE", "/api/v1/agents", "GET, HEAD, POST"),
        ("POST", "/api/v1/ladders", "GET, HEAD"),
        ("PUT", "/api/v1/matches/1", "GET, HEAD"),
        ("OPTIONS", "/healthz", "GET, HEAD"),
        ("PATCH", "/api/v1/games", "GET, HEAD"),
    ],
)
async def test_a_wrong_method_is_told_the_right_ones(client, method, path, allowed):
    response = await client.request(method, path)
    assert response.status == 405
    assert response.headers["Allow"] == allowed
    assert (await response.json())["code"] == "method_not_allowed"


@pytest.mark.parametrize(
    "path", ["/api/v1/games/", "/api/v1/nothing", "/api/v2/games", "/api/v1/agents/a/b/c"]
)
async def test_unknown_addresses(get, path):
    assert (await get(path, 404))["code"] == "not_found"


async def test_healthy_with_a_database_and_not_without(client, db, get):
    on_time = {"admission": "open", "loop_lag_ms": 0, "notice": None}
    assert await get("/healthz") == {"status": "ok", "database": "ok", **on_time}
    db.close()
    assert await get("/healthz", 503) == {"status": "unavailable", "database": "unavailable", **on_time}


async def test_metrics_are_for_this_machine(client, registry):
    Counter("plyground_moves", "Moves recorded.", registry=registry).inc(3)
    response = await client.get("/metrics")
    assert response.content_type == "text/plain"
    assert "plyground_moves_total 3.0" in await response.text()
    through_a_proxy = await client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.7"})
    assert through_a_proxy.status == 403
    assert (await through_a_proxy.json())["code"] == "loopback_only"
