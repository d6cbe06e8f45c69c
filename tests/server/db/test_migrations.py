"""Migrations on both databases: up, down, up with data in every table, and equal to the schema in code."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine, inspect, text

from agents.protocol import TimeControl
from games.errors import InputError
from server.db import ladders, matches, tokens, upgrade
from server.db.doctor import check
from server.db.engine import Database
from server.db.schema import METADATA

TABLES = sorted(METADATA.tables)


def tables(database: Database) -> list[str]:
    return sorted(database.read_now(lambda conn: inspect(conn).get_table_names()))


def rows(database: Database) -> dict[str, list[str]]:
    return database.read_now(
        lambda conn: {
            name: sorted(map(repr, conn.execute(text(f"SELECT * FROM {name}")).all())) for name in TABLES
        }
    )


def difference(database: Database) -> list:
    def compare(conn):
        options = {"compare_type": True, "compare_server_default": True, "render_as_batch": True}
        return compare_metadata(MigrationContext.configure(conn, opts=options), METADATA)

    return database.read_now(compare)


def fill(league) -> None:
    ada, bob = league.agent("ada", "f1"), league.agent("bob")
    league.play(ada, bob, "win", "draw")
    void = league.queue(ada, bob)[0]
    league.void(void, league.run(void), replay=True)


def test_PB28_data_in_every_table_goes_down_and_up_again(league):
    database = league.db
    fill(league)
    assert all(rows(database).values()), "this test wants a row in every table"
    database.migrate("base")
    assert tables(database) == ["alembic_version"]
    database.migrate("head")
    database.check_schema()
    assert tables(database) == sorted([*TABLES, "alembic_version"])
    assert not any(rows(database).values())
    fill(type(league)(database))
    assert database.read_now(check) == []


def test_PB28_what_fits_an_older_schema_is_kept_on_the_way_down_and_up(league):
    """Revision 0001 knows tokens of agents only, and none that end, and one limit for each move."""
    fill(league)
    shown = league.db.read_now(ladders.all_ladders)
    now = league.now()
    league.do(lambda conn: tokens.issue(conn, "admin", now, label="of nobody"))
    lasting = rows(league.db)
    lasting["tokens"] = [row for row in lasting["tokens"] if "of nobody" not in row]
    agent_id = league.rows("SELECT id FROM agents")[0].id
    league.do(lambda conn: tokens.issue(conn, "play", now, agent_id=agent_id, expires_at=now))
    league.db.migrate("0001")
    assert league.rows("SELECT DISTINCT scope FROM tokens") == [("play",)]
    with pytest.raises(InputError, match="plyground db migrate"):
        league.db.check_schema()
    league.db.migrate()
    league.db.check_schema()
    assert difference(league.db) == []
    assert rows(league.db)["tokens"] != []
    assert league.db.read_now(ladders.all_ladders) == shown
    assert {**rows(league.db), "ladders": []} == {**lasting, "ladders": []}
    assert league.db.read_now(check) == []


TIMES = "waited_ms, round_trip_ms, lag_ms, away_ms, limit_ms, timed_out"


def test_times_that_an_older_schema_has_not_are_gone_when_it_comes_up_again(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    match = league.queue(ada, bob)[0]
    attempt = league.run(match)
    timed = matches.MoveRow(0, 0, "4", 120, 100, None, league.now(), 3, 20.5, 4, 5, 5000, timed_out=True)
    league.do(matches.record_moves, [matches.Played(match, attempt, [timed])])
    seats = [matches.SeatResult("loss", "timeout", 0.0), matches.SeatResult("win", "normal", 1.0)]
    request = {"seat": 1, "ply": 1, "received": False}
    league.do(matches.finish_all, [matches.Ended(match, attempt, seats, "over", league.now(), (), request)])
    before = league.everything()
    assert league.rows(f"SELECT {TIMES} FROM moves") == [(3, 20.5, 4, 5, 5000, True)]
    league.db.migrate("0002")
    assert league.rows("SELECT elapsed_ms, charged_ms FROM moves") == [(120, 100)]
    league.db.migrate()
    assert league.rows(f"SELECT {TIMES} FROM moves") == [(0, None, 0, 0, None, False)]
    assert league.rows(f"SELECT last_request FROM matches WHERE id = {match}") == [(None,)]
    after = league.everything()
    assert [table for table in before if after[table] != before[table]] == ["matches", "moves"]


def test_the_limit_of_a_ladder_goes_down_and_up(league):
    """An older Plyground knows a limit for each move only; where there is none it takes what is the most."""
    controls = {
        "per_move": TimeControl(300, strikes=2),
        "bank": TimeControl(0, bank_ms=60_000, increment_ms=1_000),
        "both": TimeControl(9_000, bank_ms=60_000),
    }
    specs = [ladders.LadderSpec(name, "", "othello", control) for name, control in controls.items()]
    league.do(ladders.sync, specs)
    league.db.migrate("0002")
    names = "('per_move', 'bank', 'both')"
    old = f"SELECT name, move_ms FROM ladders WHERE name IN {names} ORDER BY position"
    assert league.rows(old) == [("per_move", 300), ("bank", 60_000), ("both", 9_000)]
    league.db.migrate()
    assert {ladder.name: ladder.time_control for ladder in league.db.read_now(ladders.all_ladders)} == {
        "per_move": TimeControl(300),
        "bank": TimeControl(60_000),
        "both": TimeControl(9_000),
    }


def test_utilities_are_gone_when_an_older_schema_comes_up_again_and_the_rest_stays(league):
    ada, bob = league.agent("ada"), league.agent("bob")
    played, other = league.queue(ada, bob)
    league.play_out(played, 3.0, 1.0)
    before = league.everything()
    league.db.migrate("0004")
    assert "utility" not in {column["name"] for column in league.db.read_now(columns_of_seats)}
    league.db.migrate()
    assert difference(league.db) == []
    assert league.rows("SELECT DISTINCT utility FROM seats") == [(None,)]
    after = league.everything()
    assert [table for table in before if after[table] != before[table]] == ["seats"]
    assert league.db.read_now(check) == [], "two seats are rated by their outcomes as by their utilities"
    league.play_out(other, 1.0, 2.0)
    assert league.db.read_now(check) == [], "an old result may come before those with utilities"


def columns_of_seats(conn):
    return inspect(conn).get_columns("seats")


def test_migrating_twice_changes_nothing(league):
    fill(league)
    before = rows(league.db)
    league.db.migrate()
    assert rows(league.db) == before


def test_PB28_migrations_make_the_schema_in_code(db):
    assert difference(db) == []


def test_the_comparison_sees_a_difference(db):
    db.write_now(lambda conn: conn.execute(text("ALTER TABLE ladders ADD COLUMN colour text")))
    db.write_now(lambda conn: conn.execute(text("DROP INDEX ix_results_ladder_id_seq")))
    found = [step[0] for step in difference(db)]
    assert sorted(found) == ["add_index", "remove_column"]


def test_PB28_every_constraint_has_a_name(db):
    def names(conn):
        inspector = inspect(conn)
        for table in TABLES:
            yield table, "pk", inspector.get_pk_constraint(table)["name"]
            for kind in ("foreign_keys", "unique_constraints", "check_constraints", "indexes"):
                for constraint in getattr(inspector, f"get_{kind}")(table):
                    yield table, kind, constraint["name"]

    found = db.read_now(lambda conn: list(names(conn)))
    assert len(found) > 30
    assert [entry for entry in found if not entry[2]] == []
    in_code = {
        (table.name, str(constraint.name))
        for table in METADATA.tables.values()
        for constraint in table.constraints
    }
    assert in_code <= {(table, name) for table, _, name in found}


def test_every_table_can_be_changed_in_batch_mode_without_losing_a_row(league):
    """SQLite replaces a table to change it: rows, names and references stay."""
    fill(league)
    before = rows(league.db)
    engine = create_engine(league.db.url)
    recreate = "always" if engine.dialect.name == "sqlite" else "auto"
    with engine.begin() as conn:
        operations = Operations(MigrationContext.configure(conn))
        for name in TABLES:
            with operations.batch_alter_table(name, recreate=recreate) as batch:
                batch.alter_column(METADATA.tables[name].columns.keys()[0], comment=None)
    engine.dispose()
    assert rows(league.db) == before
    assert difference(league.db) == []
    assert league.db.read_now(check) == []


def test_a_migration_that_fails_leaves_nothing_behind(empty_url):
    """`results` is made last; one of that name which is not ours stops the first migration at its end."""
    database = Database.open(empty_url)
    database.write_now(lambda conn: conn.execute(text("CREATE TABLE results (mine integer)")))
    with pytest.raises(InputError, match=r"expected a usable database, got .*results.*already exists"):
        database.migrate()
    assert tables(database) == ["results"]
    database.close()


def test_a_schema_newer_than_the_code_is_refused(db):
    db.write_now(lambda conn: conn.execute(text("UPDATE alembic_version SET version_num = '9999'")))
    for use in (db.migrate, db.check_schema):
        with pytest.raises(InputError, match="got revision 9999") as raised:
            use()
        assert raised.value.code == "new_schema"
        assert "0001" in raised.value.available


def test_a_database_without_tables_is_told_apart(empty_url):
    database = Database.open(empty_url)
    with pytest.raises(InputError, match="plyground db migrate") as raised:
        database.check_schema()
    assert raised.value.code == "old_schema"
    database.close()


def test_revisions_form_one_line():
    assert len(ScriptDirectory(str(upgrade.MIGRATIONS)).get_heads()) == 1
