"""The generated parts of the docs are what the program says now."""

import importlib.util
import inspect
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import jsonschema
import msgspec
import pytest

import games
from agents import protocol
from server import settings

ROOT = Path(__file__).resolve().parents[1]


def load() -> ModuleType:
    """docs/generate.py, which is no package's module."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


GENERATE = load()
PAGES = GENERATE.pages()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_page_is_as_it_would_be_generated(path: Path) -> None:
    assert path.read_text("utf-8") == PAGES[path], f"docs/{path.name} is stale: run `make docs`"


@pytest.mark.parametrize("name", games.names())
def test_the_page_of_a_game_tells_what_each_feature_is(name: str) -> None:
    told = inspect.getdoc(type(games.load(name).initial_state().features(0))) or ""
    assert [feature for feature in games.load(name).feature_names if f"`{feature}`" not in told] == []


@pytest.mark.parametrize(
    "path", [path for path in PAGES if path.parent.name == "games"], ids=lambda path: path.name
)
def test_the_page_of_a_game_is_for_people_who_play(path: Path) -> None:
    assert "InputError" not in PAGES[path]


def test_a_stale_page_is_seen() -> None:
    page = (ROOT / "docs" / "settings.md").read_text("utf-8")
    stale = page.replace("`PLYGROUND_PORT` | `port` | `8080`", "`PLYGROUND_PORT` | `port` | `80`")
    assert stale != page
    assert GENERATE.written(stale, GENERATE.generated()) == page


def test_a_stale_page_fails_the_check(tmp_path: Path) -> None:
    for name in ("generate.py", "fields.toml", "settings.md", "protocol.schema.json"):
        (tmp_path / name).write_bytes((ROOT / "docs" / name).read_bytes())
    shutil.copytree(ROOT / "docs" / "games", tmp_path / "games")

    def check() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(tmp_path / "generate.py"), "--check"]
        environment = {"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"}
        return subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=120, check=False
        )

    assert (check().returncode, check().stdout) == (0, "")
    page = tmp_path / "settings.md"
    page.write_text(page.read_text("utf-8").replace("| `8080` |", "| `80` |"), "utf-8")
    answer = check()
    assert answer.returncode == 1, answer.stderr
    assert answer.stdout == "stale: docs/settings.md\n"


def test_every_part_stands_in_one_page_and_no_other_does() -> None:
    asked = [
        name
        for page in (ROOT / "docs").glob("*.md")
        for _, name, _, _ in GENERATE.PART.findall(page.read_text("utf-8"))
    ]
    assert sorted(asked) == sorted(GENERATE.generated())


def test_a_part_that_nobody_writes_is_refused() -> None:
    with pytest.raises(KeyError):
        GENERATE.written("<!-- generated: nonsense -->\n<!-- end -->\n", GENERATE.generated())


def test_each_field_has_a_meaning_and_no_other_has() -> None:
    said = GENERATE.FIELDS
    assert set(said["settings"]) == set(settings.Settings.__struct_fields__) - {"ladders"}
    assert set(said["ladders"]) == set(settings.LadderSpec.__struct_fields__)
    messages = GENERATE.messages()
    assert set(said["messages"]) == set(messages)
    for name, message in messages.items():
        assert set(said["messages"][name]) == set(message.__struct_fields__), name
    assert all(
        set(fields) == set(getattr(protocol, name).__struct_fields__)
        for name, fields in said["parts"].items()
    )
    parts = set(GENERATE.schema()["$defs"]) - {message.__name__ for message in messages.values()}
    assert set(said["parts"]) == parts


# games -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", games.names())
def test_the_page_of_a_game_reads_like_documentation(name: str) -> None:
    page = (ROOT / "docs" / "games" / f"{name}.md").read_text("utf-8")
    assert page.count("\nAn action is written as ") == page.count("\nA position is written as ") == 1
    assert "InputError" not in page
    assert not re.search(r"^(Read|Return|Write) ", page, flags=re.MULTILINE)


@pytest.mark.parametrize("name", games.names())
def test_the_typical_position_tells_features_apart(name: str) -> None:
    game = games.load(name)
    assert any(games.Position.start(game, moves=game.typical).state.features(0))


# the schema ---------------------------------------------------------------------------------------------


def faults(message: Any) -> list[str]:
    schema = json.loads((ROOT / "docs" / "protocol.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(message)]


PLAYERS = [protocol.Player(0, "ada", 1), protocol.Player(1, "grace", 2)]
SAMPLES = [
    protocol.Hello(1, "ada", ["connect_four"]),
    protocol.Move(12, 0, "4", {"depth": 7}),
    protocol.Leave(),
    protocol.MatchStart(12, "go", "go", 0, PLAYERS, protocol.TimeControl(5_000), "-", []),
    protocol.YourMove(12, 0, "-", [], ["1"], protocol.ClockView(5_000), protocol.LastMove(7, 0, 7)),
    protocol.MatchEnd(12, ["win", "loss"], ["normal", "timeout"], [1.0, 0.0], "/api/v1/matches/12/record"),
    protocol.Watch(front=True),
]


@pytest.mark.parametrize("message", SAMPLES, ids=lambda message: type(message).__name__)
def test_a_message_keeps_to_the_schema(message: msgspec.Struct) -> None:
    assert faults(msgspec.json.decode(protocol.encode(message))) == []


@pytest.mark.parametrize(
    "message",
    [
        {"type": "move", "match": 12, "ply": 0, "action": 4},
        {"type": "move", "match": 12, "ply": 0},
        {"type": "move", "match": 12, "ply": 0, "action": "4", "why": "because"},
        {"type": "bet", "match": 12},
        {"type": "hello", "protocol": 1, "agent": "a" * 101, "ladders": []},
    ],
)
def test_what_is_no_message_does_not(message: dict[str, object]) -> None:
    assert faults(message)


def test_the_schema_tells_what_each_field_means() -> None:
    schema = GENERATE.schema()
    assert schema["$defs"]["Move"]["properties"]["ply"]["description"] == "the ply of `your_move`"
