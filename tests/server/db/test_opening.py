"""What can be opened, and the one sentence for what cannot."""

import os
import socket
import sqlite3
from pathlib import Path
from urllib.parse import quote

import pytest
from sqlalchemy import make_url, text

from agents.protocol import TimeControl
from games.errors import InputError
from server.db import ladders
from server.db.doctor import check
from server.db.engine import Database


def starts(url: str) -> Database:
    database = Database.open(url)
    database.migrate()
    database.check_schema()
    assert database.read_now(check) == []
    return database


def refused(url: str, code: str = "unusable_database", **options) -> str:
    with pytest.raises(InputError) as raised:
        Database.open(url, **options)
    assert raised.value.code == code
    sentence = str(raised.value)
    assert sentence.startswith("expected ")
    assert "\n" not in sentence
    return sentence


def test_missing_folders_are_made(tmp_path):
    path = tmp_path / "a b" / "100%25 why? #1" / "Füße" / "plyground.db"
    starts(f"sqlite:///{quote(str(path))}").close()
    assert path.stat().st_size > 0


def test_a_relative_path_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    starts("sqlite:///data/plyground.db").close()
    assert Path("data/plyground.db").exists()


@pytest.mark.parametrize("left", ["folder", "empty_file", "wal_only", "wal_and_shm_only", "garbage_wal"])
def test_a_half_made_data_folder_starts(tmp_path, left):
    folder = tmp_path / "data"
    folder.mkdir()
    if left in ("empty_file", "garbage_wal"):
        (folder / "plyground.db").touch()
    if left.startswith("wal"):
        (folder / "plyground.db-wal").touch()
    if left == "wal_and_shm_only":
        (folder / "plyground.db-shm").write_bytes(bytes(32768))
    if left == "garbage_wal":
        (folder / "plyground.db-wal").write_bytes(os.urandom(5000))
    starts(f"sqlite:///{folder}/plyground.db").close()


def test_what_a_killed_writer_left_in_the_wal_is_read(tmp_path, sqlite_url):
    """Copy the files while they are open, as a crash would leave them: the last commit is only in the WAL."""
    database = Database.open(sqlite_url)
    database.write_now(ladders.sync, [ladders.LadderSpec("go", "Go", "go", TimeControl(5))])
    copy = tmp_path / "copy"
    copy.mkdir()
    for suffix in ("", "-wal"):
        (copy / f"plyground.db{suffix}").write_bytes((tmp_path / f"plyground.db{suffix}").read_bytes())
    database.close()
    again = starts(f"sqlite:///{copy}/plyground.db")
    assert [ladder.name for ladder in again.read_now(ladders.all_ladders)] == ["go"]
    again.close()


def test_a_sqlite_file_made_without_wal_starts(tmp_path):
    with sqlite3.connect(tmp_path / "plyground.db") as made:
        made.execute("PRAGMA journal_mode = DELETE")
        made.execute("PRAGMA user_version = 1")
    made.close()
    database = starts(f"sqlite:///{tmp_path}/plyground.db")
    assert database.read_now(lambda conn: conn.execute(text("PRAGMA journal_mode")).scalar()) == "wal"
    database.close()


def test_postgres_urls_of_every_spelling_open(postgresql_url):
    for prefix in ("postgres", "postgresql", "postgresql+psycopg"):
        Database.open(postgresql_url.replace("postgresql+psycopg", prefix)).close()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "plyground.db",
        "sqlite://",
        "sqlite:///:memory:",
        "mysql://root@localhost/x",
        "postgresql+asyncpg://localhost/x",
        "postgresql://localhost:port/x",
    ],
)
def test_what_is_no_database_url_says_what_is(url):
    sentence = refused(url, "bad_database_url")
    assert "sqlite:///path/to/file.db" in sentence
    assert "postgresql://user:password@host/database" in sentence


def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "plyground.db").write_text("dear diary, " * 500)
    assert "file is not a database" in refused(f"sqlite:///{tmp_path}/plyground.db")
    assert (tmp_path / "plyground.db").read_text().startswith("dear diary")


def test_a_folder_in_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "plyground.db").mkdir()
    assert "plyground.db" in refused(f"sqlite:///{tmp_path}/plyground.db")


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "data").write_text("")
    assert "data" in refused(f"sqlite:///{tmp_path}/data/plyground.db")


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    """Nobody can write to /proc, root neither; elsewhere permissions do it."""
    if os.geteuid() != 0:
        (tmp_path / "locked").mkdir(mode=0o500)
        refused(f"sqlite:///{tmp_path}/locked/plyground.db")
    assert "/proc/plyground" in refused("sqlite:////proc/plyground/plyground.db")


def test_a_missing_database_is_not_made_for_readers(tmp_path):
    assert "no such file" in refused(f"sqlite:///{tmp_path}/data/plyground.db", "no_database", create=False)
    assert not (tmp_path / "data").exists()


def test_an_unreachable_postgres_is_refused_without_showing_the_password():
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        port = nobody_listens.getsockname()[1]
        sentence = refused(f"postgresql://ada:s3cret@127.0.0.1:{port}/plyground")
    assert "s3cret" not in sentence
    assert f"ada:***@127.0.0.1:{port}" in sentence


def test_a_missing_postgres_database_is_refused(postgresql_url):
    url = make_url(postgresql_url).set(database="nowhere")
    assert '"nowhere" does not exist' in refused(url.render_as_string(hide_password=False))


def test_readers_cannot_write(db):
    for statement in ("DELETE FROM agents", "CREATE TABLE mine (id integer)"):
        with pytest.raises(Exception, match=r"read-?only"):
            db.read_now(lambda conn, sql=statement: conn.execute(text(sql)))


def test_closing_twice_is_harmless(db):
    db.close()
    db.close()


def test_a_second_server_on_the_same_postgresql_database_is_refused(postgresql_url: str) -> None:
    first, second = Database.open(postgresql_url), Database.open(postgresql_url)
    first.claim()
    with pytest.raises(InputError, match="running server") as raised:
        second.claim(patience_s=0.2)
    assert raised.value.code == "data_in_use"
    first.close()
    second.claim()
    second.close()
