"""`plyground db backup` and `plyground db restore`, as they are typed."""

import sqlite3

import pytest

from server.lock import DataLock


@pytest.fixture
def place(tmp_path):
    """Variables that name a data folder which is not there yet."""
    return {"PLYGROUND_DATA_DIR": str(tmp_path / "data")}


@pytest.fixture
def elsewhere(tmp_path):
    return {"PLYGROUND_DATA_DIR": str(tmp_path / "elsewhere")}


@pytest.fixture
async def backup(plyground, place, tmp_path):
    """A backup of a database with one ladder."""
    (await plyground("db", "migrate", **place)).assert_done()
    ladder(tmp_path / "data", "othello")
    file = str(tmp_path / "monday.backup")
    (await plyground("db", "backup", file, **place)).assert_done()
    return file


def ladder(folder, name):
    with sqlite3.connect(folder / "plyground.db") as raw:
        raw.execute(
            "INSERT INTO ladders (name, title, game, time_control) VALUES (?, 'O', 'othello', ?)",
            (name, '{"move_ms": 1}'),
        )
    raw.close()


def ladders(folder):
    with sqlite3.connect(folder / "plyground.db") as raw:
        found = [name for (name,) in raw.execute("SELECT name FROM ladders ORDER BY id")]
    raw.close()
    return found


async def test_a_backup_is_restored_elsewhere_and_is_well(plyground, backup, elsewhere, tmp_path):
    result = await plyground("db", "restore", backup, **elsewhere)
    result.assert_done()
    assert result.out.endswith("plyground.db holds ladders: 1\n")
    assert ladders(tmp_path / "elsewhere") == ["othello"]
    (await plyground("doctor", **elsewhere)).assert_done()


async def test_a_server_may_run_during_a_backup_and_not_during_a_restore(plyground, backup, place, tmp_path):
    lock = DataLock(tmp_path / "data")
    lock.acquire()
    try:
        (await plyground("db", "backup", f"{backup}.2", **place)).assert_done()
        result = await plyground("db", "restore", backup, "--replace", **place)
        result.assert_refused("db restore", "one that a running server uses")
    finally:
        lock.release()
    assert ladders(tmp_path / "data") == ["othello"]


async def test_data_are_replaced_only_if_that_is_said(plyground, backup, place, tmp_path):
    ladder(tmp_path / "data", "kuhn_poker")
    result = await plyground("db", "restore", backup, **place)
    result.assert_refused("db restore", "expected an empty database, or --replace, got one with ladders: 2")
    assert ladders(tmp_path / "data") == ["othello", "kuhn_poker"]
    (await plyground("db", "restore", backup, "--replace", **place)).assert_done()
    assert ladders(tmp_path / "data") == ["othello"]


async def test_a_backup_is_never_written_over_a_file(plyground, backup, place):
    result = await plyground("db", "backup", backup, **place)
    result.assert_refused("db backup", "expected the name of a new file, got one that exists")


async def test_what_is_no_backup_makes_no_database(plyground, elsewhere, tmp_path):
    (tmp_path / "diary").write_text("dear diary")
    for name, words in {
        "diary": "expected a whole backup, made by plyground db backup",
        "nowhere": "expected the file of a backup, got no file",
    }.items():
        result = await plyground("db", "restore", str(tmp_path / name), **elsewhere)
        result.assert_refused("db restore", words, name)
    result = await plyground("db", "backup", str(tmp_path / "x"), **elsewhere)
    result.assert_refused("db backup", "no such file")
    assert not (tmp_path / "elsewhere").exists()


async def test_what_does_not_hold_after_a_restore_is_told(plyground, place, elsewhere, tmp_path):
    (await plyground("db", "migrate", **place)).assert_done()
    with sqlite3.connect(tmp_path / "data" / "plyground.db") as raw:
        values = "'Ada', 'wrong', 0, '2026-01-01T00:00:00.000000+00:00'"
        raw.execute(f"INSERT INTO agents (name, name_key, house, created_at) VALUES ({values})")
    raw.close()
    file = str(tmp_path / "odd.backup")
    (await plyground("db", "backup", file, **place)).assert_done()
    result = await plyground("db", "restore", file, **elsewhere)
    assert (result.code, result.err) == (1, "")
    assert "name_key: agent 1, 'Ada', has the key 'wrong'" in result.out
