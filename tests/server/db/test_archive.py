"""Backups: what one database held is what another one holds, or nothing is changed."""

import gzip
import hashlib
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from sqlalchemy import text

from games.errors import InputError
from server.cli.db.restore import command
from server.db import archive, ladders, tokens, upgrade
from server.db.doctor import check
from server.db.engine import Database
from server.db.schema import METADATA

BOTH = ("sqlite", "postgresql")
NOW = datetime(2026, 3, 2, 8, 30, 15, 123456, tzinfo=UTC)


def fill(league) -> None:
    """A row in every table, and texts, times and numbers that are hard to keep."""
    ada, bob = league.agent("Äda 围棋", "f1"), league.agent("bob")
    league.play(ada, bob, "win", "draw")
    void = league.queue(ada, bob)[0]
    attempt = league.run(void)
    league.move(void, attempt, 0, 'd4 "quoted"\n', {"pv": ["é\\", "\x7f"], "value": 0.1, "say": "\U0001f600"})
    league.void(void, attempt, replay=True)
    league.do(lambda conn: tokens.issue(conn, "link", NOW, label="one line\nand another", expires_at=NOW))
    assert all(contents(league.db).values())


def contents(db) -> dict[str, list]:
    """Every row as Python sees it, whatever the database."""

    def read(conn):
        return {
            name: [tuple(row) for row in conn.execute(table.select().order_by(*table.primary_key.columns))]
            for name, table in METADATA.tables.items()
        }

    return db.read_now(read)


def backup(db, path) -> dict[str, int]:
    return db.read_now(archive.backup, path, NOW)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "plyground.backup"


@pytest.fixture(params=BOTH)
def into(request, tmp_path):
    """An empty database of each kind to restore into."""
    if request.param == "sqlite":
        database = Database.open(f"sqlite:///{tmp_path}/restored/plyground.db")
    else:
        postgres = request.getfixturevalue("postgres")
        database = Database.open(postgres.create(empty=True))
    yield database
    database.close()
    if request.param == "postgresql":
        postgres.drop(database.url)


def refused(code, do):
    with pytest.raises(InputError) as raised:
        do()
    assert raised.value.code == code
    sentence = str(raised.value)
    assert sentence.startswith("expected ")
    assert "\n" not in sentence
    return sentence


def test_a_backup_of_either_database_restores_into_both(league, into, file):
    fill(league)
    rows = backup(league.db, file)
    assert rows == {name: len(found) for name, found in contents(league.db).items()}
    assert into.restore(file) == rows
    assert contents(into) == contents(league.db)
    into.check_schema()
    assert into.read_now(check) == []


def test_a_restored_database_goes_on_counting(league, into, file, league_type):
    fill(league)
    backup(league.db, file)
    into.restore(file)
    again = league_type(into)
    again.play(again.agent("eve"), again.agent("zoe"), "win", "loss")
    assert into.read_now(check) == []


def test_a_backup_is_of_one_moment_while_matches_are_played(league, into, file):
    ada, bob = league.agent("ada"), league.agent("bob")
    league.play(ada, bob, "win", "draw")
    before = contents(league.db)

    def meanwhile(conn):
        conn.execute(text("SELECT count(*) FROM matches")).scalar()  # the snapshot is taken
        league.play(ada, bob, "loss", "loss")
        return archive.backup(conn, file, NOW)

    league.db.read_now(meanwhile)
    into.restore(file)
    assert contents(into) == before != contents(league.db)


def test_an_empty_database_is_backed_up_and_restored(db, into, file):
    assert set(backup(db, file).values()) <= {0}
    into.restore(file)
    into.check_schema()


def test_a_backup_holds_no_token_and_is_readable_by_its_owner_alone(league, file):
    made = league.do(lambda conn: tokens.issue(conn, "admin", NOW))
    backup(league.db, file)
    assert made.token not in gzip.decompress(file.read_bytes()).decode()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_file_that_exists_is_not_overwritten(league, file):
    file.write_text("my thesis")
    assert "one that exists" in refused("file_exists", lambda: backup(league.db, file))
    assert file.read_text() == "my thesis"


def test_a_backup_into_a_folder_that_is_not_there_is_refused(league, tmp_path):
    path = tmp_path / "nowhere" / "x"
    assert "nowhere" in refused("unwritable_file", lambda: backup(league.db, path))


def test_a_broken_off_backup_leaves_no_file(league, tmp_path, monkeypatch):
    def full(_fd):
        raise OSError(28, "No space left on device")

    folder = tmp_path / "backups"
    folder.mkdir()
    monkeypatch.setattr(os, "fsync", full)
    assert "No space left" in refused("unwritable_file", lambda: backup(league.db, folder / "x"))
    assert list(folder.iterdir()) == []


def test_a_database_with_something_in_it_is_refused_and_kept(league, file):
    fill(league)
    backup(league.db, file)
    league.agent("newcomer")
    before = contents(league.db)
    sentence = refused("not_empty", lambda: league.db.restore(file))
    assert "got one with agents: 3, ladders: 2" in sentence
    assert contents(league.db) == before


def test_replace_puts_back_what_was(league, file):
    fill(league)
    backup(league.db, file)
    before = contents(league.db)
    league.play(league.agent("newcomer"), league.agent("other"), "win", "win")
    league.db.restore(file, replace=True)
    assert contents(league.db) == before


def test_a_restore_into_the_database_of_a_running_server_is_refused(
    postgresql_url, file, tmp_path, monkeypatch
):
    """SQLite's is told by the lock on the data folder: see the tests of the command."""
    server = Database.open(postgresql_url)
    server.claim()
    backup(server, file)
    monkeypatch.setenv("PLYGROUND_DATABASE_URL", postgresql_url)
    monkeypatch.setenv("PLYGROUND_DATA_DIR", str(tmp_path / "data"))
    sentence = refused("data_in_use", lambda: command.callback(file=file, replace=True))
    assert "one that a running server uses" in sentence
    server.close()
    assert command.callback(file=file, replace=False) == 0


def lines_of(file: Path) -> list[bytes]:
    return gzip.decompress(file.read_bytes()).splitlines(keepends=True)


def write(file: Path, lines: list[bytes], *, signed: bool) -> None:
    """Write lines as a backup; `signed` with the right sum, so that only what they say is wrong."""
    if signed:
        end = msgspec.json.decode(lines[-1])
        end["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
        lines = [*lines[:-1], msgspec.json.encode(end) + b"\n"]
    file.write_bytes(gzip.compress(b"".join(lines)))


def is_row(line: bytes) -> bool:
    return line.startswith(b"[")


DAMAGE = {
    "no such file": lambda file: file.unlink(),
    "empty": lambda file: file.write_bytes(b""),
    "not ours": lambda file: file.write_text("dear diary"),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
    "other gzip": lambda file: file.write_bytes(gzip.compress(b"dear diary\n" * 9)),
    "one endless line": lambda file: file.write_bytes(gzip.compress(b"[" * (archive.MAX_LINE + 1))),
    "cut off": lambda file: file.write_bytes(file.read_bytes()[:-20]),
    "cut in half": lambda file: file.write_bytes(file.read_bytes()[: file.stat().st_size // 2]),
    "a flipped bit": lambda file: file.write_bytes(
        (data := bytearray(file.read_bytes())).__setitem__(len(data) // 2, data[len(data) // 2] ^ 4) or data
    ),
    "without its end": lambda file: write(file, lines_of(file)[:-1], signed=False),
    "without a row": lambda file: write(file, [x for x in lines_of(file) if b'"bob"' not in x], signed=True),
    "another name": lambda file: write(
        file, [line.replace(b'"bob"', b'"eve"') for line in lines_of(file)], signed=False
    ),
    "more after the end": lambda file: write(file, [*lines_of(file), b"[]\n"], signed=False),
    "a number for a name": lambda file: write(
        file,
        [line.replace(b'"bob"', b"17") if is_row(line) else line for line in lines_of(file)],
        signed=True,
    ),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_backup_is_refused_and_changes_nothing(league, file, what):
    fill(league)
    backup(league.db, file)
    before = contents(league.db)
    DAMAGE[what](file)
    assert str(file) in refused("bad_backup", lambda: league.db.restore(file, replace=True))
    refused("bad_backup", lambda: archive.check(file))
    assert contents(league.db) == before
    league.db.check_schema()


@pytest.mark.parametrize("change", [{"version": 2}, {"revision": "9999"}])
def test_a_backup_of_a_newer_plyground_is_refused(league, file, change):
    backup(league.db, file)
    first, *rest = lines_of(file)
    write(file, [msgspec.json.encode(msgspec.json.decode(first) | change) + b"\n", *rest], signed=True)
    assert "or an older one" in refused("new_backup", lambda: league.db.restore(file, replace=True))


NEWER = {
    "tokens": {"label", "expires_at", "used_at"},
    "matches": {"last_request", "seed", "sealed"},
    "seats": {"utility"},
    "moves": {"waited_ms", "round_trip_ms", "lag_ms", "away_ms", "limit_ms", "timed_out"},
}
"""Columns that revision 0001 had not."""


def as_of_revision_0001(lines):
    """What a Plyground of that time would have written."""
    header, *rest = (msgspec.json.decode(line) for line in lines)
    columns = {name: list(kinds) for name, kinds in header["tables"].items()}
    for name, newer in NEWER.items():
        for key in newer:
            del header["tables"][name][key]
    kept = {name: list(kinds) for name, kinds in header["tables"].items()}
    header["tables"]["ladders"] = {
        "move_ms" if key == "time_control" else key: "integer" if key == "time_control" else kind
        for key, kind in header["tables"]["ladders"].items()
    }
    header["revision"] = "0001"
    old, table = [header], ""
    for entry in rest:
        if isinstance(entry, list):
            row = dict(zip(columns[table], entry, strict=True))
            if table == "ladders":
                row["time_control"] = 5000
            old.append([row[key] for key in kept[table]])
            continue
        table = entry.get("name", table)
        old.append(entry)
    return [msgspec.json.encode(entry) + b"\n" for entry in old]


def test_a_backup_of_an_older_revision_is_brought_up_to_date(league, into, file):
    fill(league)
    league.do(lambda conn: conn.execute(text("DELETE FROM tokens WHERE scope = 'link'")).close())
    backup(league.db, file)
    write(file, as_of_revision_0001(lines_of(file)), signed=True)
    into.restore(file)
    restored, expected = contents(into), contents(league.db)
    assert {row[4] for row in restored["ladders"]} == {'{"move_ms":5000}'}
    assert into.read_now(ladders.all_ladders) == league.db.read_now(ladders.all_ladders)
    del restored["ladders"], expected["ladders"]
    assert restored == expected
    into.check_schema()
    assert into.read_now(check) == []


def test_a_restore_that_fails_at_its_end_leaves_what_was(league, file, monkeypatch):
    fill(league)
    backup(league.db, file)
    league.agent("newcomer")
    before = contents(league.db)
    steps = upgrade.migrate

    def fail_at_the_end(conn, to, *, where):
        if to == "head":
            raise RuntimeError("power cut")
        steps(conn, to, where=where)

    monkeypatch.setattr(upgrade, "migrate", fail_at_the_end)
    with pytest.raises(RuntimeError, match="power cut"):
        league.db.restore(file, replace=True)
    assert contents(league.db) == before
    league.db.check_schema()


SLOW_BACKUP = """
import sys, time
from datetime import UTC, datetime
from pathlib import Path
from server.db import archive
from server.db.engine import Database

encode = archive.msgspec.json.encode

class Slow:
    @staticmethod
    def encode(value):
        print("a line", flush=True)
        time.sleep(0.05)
        return encode(value)

archive.msgspec.json.encode = Slow.encode
Database.open(sys.argv[1]).read_now(archive.backup, Path(sys.argv[2]), datetime.now(UTC))
"""


def test_a_killed_backup_leaves_nothing_under_its_name(league, file):
    fill(league)
    root = Path(__file__).parents[3]
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_BACKUP, league.db.url.render_as_string(hide_password=False), str(file)],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
    ) as child:
        for _ in range(8):
            assert child.stdout.readline() == b"a line\n"
        time.sleep(0.01)
        child.send_signal(signal.SIGKILL)
    assert not file.exists()
    assert contents(league.db)["agents"] != []
    backup(league.db, file)
    archive.check(file)
