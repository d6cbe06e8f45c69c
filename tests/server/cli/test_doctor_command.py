"""`plyground doctor` and `plyground db migrate` on real databases."""

import json
import sqlite3

import pytest

from server.db.doctor_replay import NEWEST
from server.lock import DataLock


@pytest.fixture
def place(tmp_path):
    """Variables that name a data folder which is not there yet."""
    return {"PLYGROUND_DATA_DIR": str(tmp_path / "new" / "data")}


async def test_migrate_makes_a_database_that_is_well(plyground, place):
    for _ in range(2):
        result = await plyground("db", "migrate", **place)
        result.assert_done()
        assert "plyground.db is up to date" in result.out
    result = await plyground("doctor", **place)
    result.assert_done()
    assert result.out.splitlines() == [
        f"no server is running on {place['PLYGROUND_DATA_DIR']}",
        "results, ratings and matches hold together",
    ]
    assert json.loads((await plyground("doctor", "--json", **place)).out) == []


async def test_doctor_names_a_running_server(plyground, place, tmp_path):
    (await plyground("db", "migrate", **place)).assert_done()
    lock = DataLock(tmp_path / "new" / "data")
    lock.acquire()
    try:
        assert "a server is running on" in (await plyground("doctor", **place)).out
    finally:
        lock.release()


async def test_a_broken_invariant_is_exit_code_1(plyground, place, tmp_path):
    (await plyground("db", "migrate", **place)).assert_done()
    now = "2026-01-01T00:00:00.000000+00:00"
    with sqlite3.connect(tmp_path / "new" / "data" / "plyground.db") as raw:
        values = "'l', 'l', 'tic_tac_toe', '{\"move_ms\": 1}', 0"
        raw.execute(f"INSERT INTO ladders (name, title, game, time_control, position) VALUES ({values})")
        raw.execute("INSERT INTO results (match_id, ladder_id, finished_at) VALUES (5, 1, ?)", (now,))
    raw.close()
    result = await plyground("doctor", **place)
    assert (result.code, result.err) == (1, "")
    assert len(result.out.splitlines()) >= 2
    findings = json.loads((await plyground("doctor", "--json", **place)).out)
    assert findings
    assert all(finding["code"] in result.out and finding["message"] in result.out for finding in findings)


async def test_old_matches_are_replayed_only_when_all_are_asked_for(plyground, place, tmp_path):
    """Match 1 has an illegal action; as many matches as are looked at come after it."""
    (await plyground("db", "migrate", **place)).assert_done()
    now = "2026-01-01T00:00:00.000000+00:00"
    ids = range(1, NEWEST + 2)
    with sqlite3.connect(tmp_path / "new" / "data" / "plyground.db") as raw:
        raw.execute(
            "INSERT INTO ladders (id, name, title, game, time_control) "
            "VALUES (1, 'l', 'l', 'tic_tac_toe', '')"
        )
        raw.executemany(
            "INSERT INTO matches (id, ladder_id, game, state, attempt, time_control, moves, created_at) "
            "VALUES (?, 1, 'tic_tac_toe', 'void', 1, '{}', 0, ?)",
            [(match, now) for match in ids],
        )
        raw.execute("UPDATE matches SET moves = 1 WHERE id = 1")
        raw.execute("INSERT INTO seats (match_id, seat, version_id) VALUES (1, 0, 1), (1, 1, 2)")
        raw.execute(
            "INSERT INTO moves (match_id, ply, seat, action, elapsed_ms, charged_ms, received_at) "
            "VALUES (1, 0, 0, 'e4', 1, 1, ?)",
            (now,),
        )
    raw.close()

    async def codes(*options):
        result = await plyground("doctor", "--json", *options, **place)
        assert (result.code, result.err) == (1, "")
        return [finding["code"] for finding in json.loads(result.out)]

    assert "illegal" not in await codes()
    assert (await codes("--all")).count("illegal") == 1


async def test_a_damaged_file_is_not_read_any_further(plyground, place, tmp_path):
    (await plyground("db", "migrate", **place)).assert_done()
    path = tmp_path / "new" / "data" / "plyground.db"
    with sqlite3.connect(path) as raw:
        pages = dict(raw.execute("SELECT name, rootpage FROM sqlite_master WHERE type IN ('table', 'index')"))
        (size,) = raw.execute("PRAGMA page_size").fetchone()
    raw.close()
    with path.open("r+b") as file:
        file.seek((pages["moves"] - 1) * size)
        file.write(b"\xff" * size)
    result = await plyground("doctor", "--json", **place)
    assert (result.code, result.err) == (1, "")
    assert {finding["code"] for finding in json.loads(result.out)} == {"corrupt"}


async def test_doctor_makes_no_database(plyground, place, tmp_path):
    (await plyground("doctor", **place)).assert_refused("doctor", "expected an existing database")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"PLYGROUND_DATABASE_URL": "mysql://x/y"}, ["expected a database URL", "available: sqlite"]),
        ({"PLYGROUND_COLOUR": "red"}, ["PLYGROUND_COLOUR"]),
        ({"PLYGROUND_DATA_DIR": "/dev/null/data"}, ["/dev/null"]),
    ],
)
@pytest.mark.parametrize("command", ["doctor", "db migrate"])
async def test_bad_settings(plyground, command, variables, words):
    (await plyground(*command.split(), **variables)).assert_refused(command, *words)


async def test_a_file_that_is_no_database(plyground, place, tmp_path):
    folder = tmp_path / "new" / "data"
    folder.mkdir(parents=True)
    (folder / "plyground.db").write_bytes(b"no database at all" * 100)
    (await plyground("doctor", **place)).assert_refused("doctor", "expected a usable database")
