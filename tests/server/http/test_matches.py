"""Matches: pages, one match, and its record."""

from datetime import datetime, timedelta

import pytest
from yarl import URL

import games
from agents.protocol import TimeControl
from games.position import Position
from server.db import matches, resume
from server.db.matches import SeatResult

WIN = [SeatResult("win", "normal", 1.0, 1.0), SeatResult("loss", "normal", 0.0, -1.0)]
MOVES = ["4", "3", "4", "3", "4", "3", "4"]
START = "......./......./......./......./......./....... x"
KEYS = {
    *("id", "ladder", "game", "state", "players", "moves", "times", "detail", "replay_of"),
    *("closed", "seed_hash", "seed"),
    *("created_at", "started_at", "finished_at"),
}


@pytest.fixture
def finished(world):
    """A match that ada won against bob, and its partner, which waits."""
    return world.match(world.agent("ada"), world.agent("bob"), MOVES, WIN, detail="four in a column")


async def test_a_finished_match_tells_all_about_itself(finished, get):
    match = await get(f"/api/v1/matches/{finished[0]}")
    assert set(match) == KEYS | {"position", "clock", "verdict"}
    assert (match["ladder"], match["game"], match["state"]) == ("connect_four", "connect_four", "finished")
    assert (match["moves"], match["times"]) == (7, [10, 11, 12, 13, 14, 15, 16])
    assert match["detail"] == "four in a column"
    assert match["position"] == Position.start(games.load("connect_four"), moves=MOVES).text()
    assert match["players"][0] == {
        "seat": 0,
        "agent": "ada",
        "version": 1,
        "outcome": "win",
        "cause": "normal",
        "utility": 1.0,
        "elo_before": 1500.0,
        "elo_after": 1580.0,
    }
    assert match["players"][1]["elo_after"] == 1420.0
    for key in ("created_at", "started_at", "finished_at"):
        assert datetime.fromisoformat(match[key]).utcoffset() == timedelta(0)


async def test_a_match_that_waits_knows_no_outcome(finished, get):
    match = await get(f"/api/v1/matches/{finished[1]}")
    assert (match["state"], match["moves"], match["times"]) == ("queued", 0, [])
    assert match["position"] == START
    assert match["started_at"] is match["finished_at"] is None
    assert [player["agent"] for player in match["players"]] == ["bob", "ada"]
    for player in match["players"]:
        assert player["outcome"] is player["cause"] is player["elo_before"] is player["elo_after"] is None


async def test_a_void_match_and_its_replay_know_each_other(world, db, get):
    void, _ = world.match(world.agent("ada"), world.agent("bob"), ["4"])
    [left] = db.write_now(resume.resume, "another server")
    assert left.id == void
    causes, now = ["infrastructure"] * 2, datetime.now().astimezone()
    replay = db.write_now(
        lambda conn: matches.void(conn, void, left.attempt, causes, "lost", now, replay=True)
    )
    match = await get(f"/api/v1/matches/{void}")
    assert match["state"] == "void"
    assert [player["outcome"] for player in match["players"]] == ["void", "void"]
    assert (await get(f"/api/v1/matches/{replay}"))["replay_of"] == void


async def test_the_record_plays_through_again(finished, get):
    record = await get(f"/api/v1/matches/{finished[0]}/record")
    assert list(record) == [
        *("match", "time_control", "initial_position", "actions", "final_position", "clock", "verdict")
    ]
    position = Position.start(games.load(record["match"]["game"]), record["initial_position"])
    for ply, action in enumerate(record["actions"]):
        assert (action["ply"], action["seat"]) == (ply, position.to_move())
        position = position.play(action["action"])
    assert position.text() == record["final_position"]
    assert position.is_terminal()
    assert record["actions"][3] == {
        "ply": 3,
        "seat": 1,
        "action": "3",
        "limit_ms": None,
        "waited_ms": 0,
        "elapsed_ms": 13,
        "round_trip_ms": None,
        "refunded_ms": 5,
        "charged_ms": 8,
        "lag_ms": 5,
        "away_ms": 0,
        "timed_out": False,
        "info": {"depth": 3},
    }
    none = dict.fromkeys(TimeControl.__struct_fields__, 0)
    times = {"move_ms": 5000, "margin_ms": 200, "ready_ms": 10000, "lag_ms": 1000, "grace_ms": 5000}
    assert record["time_control"] == {**none, **times}, "those of its ladder when it began"
    assert record["match"]["id"] == finished[0]


async def test_what_a_remote_agent_thinks_is_told_only_after_the_end(world, get):
    ada, bob = world.agent("ada"), world.agent("bob", house=True)
    running, _ = world.match(ada, bob, ["4", "4"])
    actions = (await get(f"/api/v1/matches/{running}/record"))["actions"]
    assert [action["info"] for action in actions] == [None, None]
    house_only, _ = world.match(world.agent("mcts", house=True), bob, ["4", "4"])
    actions = (await get(f"/api/v1/matches/{house_only}/record"))["actions"]
    assert [action["info"] for action in actions] == [{"depth": 0}, {"depth": 1}]


async def test_a_game_whose_rules_are_gone_has_no_positions(finished, get, monkeypatch):
    def gone(name):
        raise games.InputError("unknown_game", expected="a game", got=name)

    monkeypatch.setattr(games, "load", gone)
    record = await get(f"/api/v1/matches/{finished[0]}/record")
    assert record["initial_position"] is record["final_position"] is None
    assert len(record["actions"]) == 7


async def test_pages_give_every_match_once_newest_first(world, get):
    ada, bob = world.agent("ada"), world.agent("bob")
    made = [number for _ in range(6) for number in world.match(ada, bob, ["4"])]
    found, query = [], "?limit=5"
    while query:
        page = await get("/api/v1/matches" + query)
        found += page["items"]
        query = page["next"] and f"?limit=5&cursor={page['next']}"
    assert [match["id"] for match in found] == sorted(made, reverse=True)
    assert all(set(match) == KEYS for match in found)
    assert {tuple(match["times"]) for match in found if match["state"] == "running"} == {(10,)}


async def test_filters(world, get):
    ada, bob = world.agent("ada"), world.agent("bob")
    cat = world.agent("cat", ladder="tic_tac_toe")
    dog = world.agent("dog", ladder="tic_tac_toe")
    won, waiting = world.match(ada, bob, MOVES, WIN)
    world.match(cat, dog, ladder="tic_tac_toe")

    async def ids(query):
        return [match["id"] for match in (await get(f"/api/v1/matches?{query}"))["items"]]

    assert await ids("ladder=connect_four") == [waiting, won]
    assert await ids("agent=ada&state=finished") == [won]
    assert await ids("agent=ADA&ladder=tic_tac_toe") == []
    assert len(await ids("state=running")) == 1


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("ladder=halma", 404, "unknown_ladder"),
        ("agent=nobody", 404, "unknown_agent"),
        ("state=lost", 400, "bad_parameter"),
        ("limit=0", 400, "bad_parameter"),
        ("limit=1e1", 400, "bad_parameter"),
        ("limit=5.0", 400, "bad_parameter"),
        ("limit=05", 400, "bad_parameter"),
        ("limit=%D9%A3", 400, "bad_parameter"),
        ("limit=201", 400, "bad_parameter"),
        ("limit=ten", 400, "bad_parameter"),
        ("limit=" + "9" * 6000, 400, "bad_parameter"),
        ("limit=1&limit=2", 400, "bad_parameter"),
        ("cursor=nonsense", 400, "bad_cursor"),
        ("cursor=%FF", 400, "bad_cursor"),
        ("cursor=é", 400, "bad_cursor"),
        ("cursor=", 400, "bad_cursor"),
        ("agent=%00", 400, "bad_parameter"),
        ("token=ply_secret", 400, "unknown_parameter"),
        ("Ladder=connect_four", 400, "unknown_parameter"),
    ],
)
async def test_odd_queries_are_told_what_is_wrong(get, query, status, code):
    problem = await get(f"/api/v1/matches?{query}", status)
    assert problem["code"] == code
    assert "ply_secret" not in str(problem)


async def test_a_wrong_state_lists_the_states(get):
    problem = await get("/api/v1/matches?state=lost", 400)
    assert problem["available"] == ["finished", "queued", "running", "starting", "void"]
    assert problem["where"] == "state"


@pytest.mark.parametrize(
    ("number", "status", "code"),
    [
        ("1", 404, "unknown_match"),
        ("0", 404, "unknown_match"),
        (str(2**31), 404, "unknown_match"),
        (str(10**30), 404, "unknown_match"),
        ("9" * 6000, 404, "unknown_match"),
        ("-1", 400, "bad_id"),
        ("1e3", 400, "bad_id"),
        ("%EF%BC%91", 400, "bad_id"),
        ("1%0A", 400, "bad_id"),
        ("%00", 400, "bad_path"),
        ("%FF", 400, "bad_id"),
        ("a%2Fb", 400, "bad_id"),
    ],
)
@pytest.mark.parametrize("end", ["", "/record"])
async def test_odd_numbers_of_matches(client, number, status, code, end):
    response = await client.get(URL(f"/api/v1/matches/{number}{end}", encoded=True))
    assert response.status == status
    assert (await response.json())["code"] == code


async def test_another_form_of_record_is_refused_by_name(finished, get):
    problem = await get(f"/api/v1/matches/{finished[0]}/record?format=pgn", 400)
    assert (problem["code"], problem["available"]) == ("bad_parameter", ["json"])
