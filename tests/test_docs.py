"""Docs are held to the truth: what they name exists, and what exists is named."""

import doctest
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import msgspec
import pytest

import games
from agents import protocol, roster, student
from agents.address import check_token_is_safe
from agents.check import STEPS
from agents.client import LATE_IN_A_ROW, Timing
from agents.clock import INCREMENT_SHARE, MOVES_IN_A_BANK
from agents.local import play_match
from agents.program import KEPT_STDERR_BYTES
from agents.protocol import TimeControl
from agents.random_agent import RandomAgent
from games.board import Style
from games.protocol import takes_turns
from server import loop_lag, pings, settings
from server.cli import cli
from server.cli.check import MARGIN_MS, MOVE_MS
from server.cli.clock import COLUMNS as CLOCK_COLUMNS
from server.core import clock as core_clock
from server.core import round_trip
from server.core.clock import LAG_REGAIN, UNTIMED_MS
from server.core.match import HAND_OVER_S, OVERLOAD_S
from server.core.match_clock import ABSENT_S
from server.core.standings import COLUMNS, PROVISIONAL_GAMES
from server.db import tokens
from server.http import Limits
from server.http.endpoints import ENDPOINTS
from server.http.views import ClockEntry, MatchView, PlayerView
from server.knocks import AGAIN_S
from server.reception import VERSIONS_AN_HOUR
from server.running_match import KEPT_AWAY_S
from server.time_controls import MOVE_MS as MOVE_MS_OF_A_LADDER
from server.time_controls import time_control

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def code_words(page: str) -> set[str]:
    """Everything between single backticks."""
    return set(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", page, flags=re.DOTALL)))


def table_keys(page: str) -> set[str]:
    """The words in backticks in the first cells of a page's tables."""
    return {
        word
        for line in page.splitlines()
        if line.startswith("| `")
        for word in code_words(line.split("|")[1])
    }


def shell_lines(page: str) -> list[str]:
    """The commands of a page: its indented lines that call plyground, make, curl or apt-get."""
    lines = re.findall(r"^ {4}(?:[A-Z_]+=\S+ )*(.+)$", page, flags=re.MULTILINE)
    starts = ("plyground ", ".venv/bin/plyground ", "make ", "curl ", "echo ", "apt-get ")
    return [line.split("  #")[0].strip() for line in lines if line.startswith(starts)]


# every page ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("page", [*ROOT.glob("docs/*.md")], ids=lambda page: page.name)
def test_a_page_says_first_whom_it_is_for(page: Path) -> None:
    paragraphs = [part for part in page.read_text("utf-8").split("\n\n") if not part.startswith("#")]
    assert paragraphs[0].startswith("For "), page.name


def test_every_page_of_docs_is_linked_from_the_readme() -> None:
    readme = text("README.md")
    for page in ROOT.glob("docs/*.md"):
        assert f"docs/{page.name}" in readme


# protocol ----------------------------------------------------------------------------------------------


def structs() -> Iterator[type[msgspec.Struct]]:
    for thing in vars(protocol).values():
        if isinstance(thing, type) and issubclass(thing, msgspec.Struct) and thing.__struct_fields__:
            yield thing


def messages() -> dict[str, type[msgspec.Struct]]:
    unions = (protocol.FromAgent, protocol.FromSpectator, protocol.ToAgent, protocol.ToSpectator)
    return {m.__struct_config__.tag: m for union in unions for m in get_args(union)}


def test_protocol_has_a_section_for_each_message_and_no_others() -> None:
    sections = re.findall(r"^### `(\w+)`$", text("docs/protocol.md"), flags=re.MULTILINE)
    assert sorted(sections) == sorted(messages())


def test_protocol_names_each_field_in_its_message() -> None:
    parts = re.split(r"^### `(\w+)`$", text("docs/protocol.md"), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    for name, message in messages().items():
        missing = set(message.__struct_fields__) - code_words(sections[name])
        assert missing == set(), f"docs/protocol.md says nothing of {missing} in {name}"


def test_protocol_names_each_field_of_the_parts_of_messages() -> None:
    words = code_words(text("docs/protocol.md"))
    for part in structs():
        assert set(part.__struct_fields__) <= words, part.__name__


def test_protocol_tables_name_only_fields_that_exist() -> None:
    known = {field for part in structs() for field in part.__struct_fields__}
    # The tables of codes have a test of their own.
    sections = re.split(r"^(?=## )", text("docs/protocol.md"), flags=re.MULTILINE)
    for section in sections:
        if not section.startswith("## Codes"):
            assert table_keys(section) <= known


def test_protocol_names_each_outcome_and_cause() -> None:
    words = code_words(text("docs/protocol.md"))
    assert set(get_args(protocol.Outcome)) <= words
    assert set(get_args(protocol.Cause)) <= words


def test_the_messages_shown_are_messages() -> None:
    shown = re.findall(r"^ {4}-> (\{.*?\})(?: {2,}.*)?$", text("docs/protocol.md"), flags=re.MULTILINE)
    assert len(shown) >= 3
    for message in shown:
        protocol.decode_from_agent(message)


# settings ----------------------------------------------------------------------------------------------


def setting_rows() -> dict[str, tuple[str, str]]:
    """Variable -> (key, default), from the table of docs/settings.md."""
    rows = re.findall(
        r"^\| `(PLYGROUND_\w+)` \| `(\w+)` \| (.+?) \|", text("docs/settings.md"), flags=re.MULTILINE
    )
    return {variable: (key, default.strip("`")) for variable, key, default in rows}


def test_settings_are_documented_one_by_one() -> None:
    fields = set(settings.Settings.__struct_fields__) - {"ladders"}
    assert {key for key, _ in setting_rows().values()} == fields
    for variable, (key, _) in setting_rows().items():
        assert variable == f"PLYGROUND_{key.upper()}"


def test_documented_defaults_are_the_defaults() -> None:
    chosen = settings.load({"PLYGROUND_CONFIG": "/dev/null"})
    for key, default in setting_rows().values():
        if key != "database_url":
            assert str(getattr(chosen, key)).lower() == default, key


def test_documented_ladders_are_the_defaults(tmp_path: Path) -> None:
    example = re.search(r"```toml\n(.*?)```", text("docs/settings.md"), flags=re.DOTALL)
    assert example is not None
    file = tmp_path / "plyground.toml"
    file.write_text(example.group(1), encoding="utf-8")
    assert settings.load({"PLYGROUND_CONFIG": str(file)}).ladders == settings.DEFAULT_LADDERS


def test_the_number_of_default_ladders_is_told_right() -> None:
    count = len(settings.DEFAULT_LADDERS)
    assert f"the {count} below run" in text("docs/settings.md")
    assert f"replaces all {count} ladders" in text("docs/adding-a-game.md")


def test_variables_named_anywhere_exist() -> None:
    known = {f"PLYGROUND_{field.upper()}" for field in settings.Settings.__struct_fields__}
    known |= settings.CLIENT_VARIABLES | {"PLYGROUND_CONFIG", "PLYGROUND_PUBLISH", "PLYGROUND_WRITE_GOLDEN"}
    for page in [*PAGES, ROOT / "docker-compose.yml", ROOT / "Dockerfile", ROOT / ".env.example"]:
        named = set(re.findall(r"PLYGROUND_[A-Z_]+[A-Z]", page.read_text("utf-8")))
        assert named <= known, page.name
    assert code_words(text("docs/settings.md")) >= settings.CLIENT_VARIABLES


# commands ----------------------------------------------------------------------------------------------


def commands(group: click.Group, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], click.Command]:
    """Every command that does something, by its words."""
    context = click.Context(group)
    found: dict[tuple[str, ...], click.Command] = {}
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found |= (
            commands(command, (*path, name)) if isinstance(command, click.Group) else {(*path, name): command}
        )
    return found


def test_each_command_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| `plyground ([a-z ]+)", text("docs/commands.md"), flags=re.MULTILINE)
    assert sorted(name.strip() for name in documented) == sorted(" ".join(words) for words in commands(cli))


def plyground_lines() -> list[tuple[str, str]]:
    return [
        (page.name, line[line.index("plyground ") :])
        for page in PAGES
        for line in shell_lines(page.read_text("utf-8"))
        if "plyground " in line
    ]


@pytest.mark.parametrize(("page", "line"), plyground_lines())
def test_shown_commands_parse(page: str, line: str) -> None:
    """Words, options and their values are known to the program; nothing is run."""
    words = shlex.split(line)[1:]
    known = commands(cli)
    name = next((tuple(words[:n]) for n in (2, 1) if tuple(words[:n]) in known), None)
    assert name is not None, f"{page}: no such command: {line}"
    known[name].make_context(" ".join(name), words[len(name) :], resilient_parsing=False)


RUN = [
    "plyground check examples/my_agent.py",
    'plyground check --command "python3 examples/stdio_bot.py" --game tic_tac_toe',
    "plyground games",
    "plyground agents",
    "plyground play examples/my_agent.py minimax --game tic_tac_toe",
    "plyground play alphabeta random --game connect_four --games 20",
    "plyground perft tic_tac_toe 9",
    'plyground perft "connect_four(rows=5,columns=6,k=4)" 5 --divide',
    """echo '{"game": "tic_tac_toe", "moves": ["4", "0"]}' | plyground inspect""",
]


@pytest.mark.parametrize("line", RUN)
def test_shown_commands_run_without_a_server(line: str) -> None:
    shown = {f.replace(".venv/bin/", "") for page in PAGES for f in shell_lines(page.read_text("utf-8"))}
    assert line in shown, "the line stands in the docs no more"
    program = f"{shlex.quote(sys.executable)} -m server.cli"
    answer = subprocess.run(
        line.replace("plyground", program, 1),
        shell=True,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.strip()


def test_make_targets_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), flags=re.MULTILINE))
    for page in [*PAGES, ROOT / ".ci" / "run"]:
        named = set(re.findall(r"(?:^|`| {4})make ([a-z-]+)", page.read_text("utf-8"), flags=re.MULTILINE))
        assert named <= targets, page.name
    phony = re.search(r"^\.PHONY: (.+)$", text("Makefile"), flags=re.MULTILINE)
    assert phony is not None
    assert set(phony.group(1).split()) == targets
    helped = set(re.findall(r'"make ([a-z-]+) ', text("Makefile")))
    assert helped == targets - {"help"}


def test_the_steps_of_check_are_those_of_the_table() -> None:
    page = text("docs/commands.md")
    told = {
        int(number): title for number, title in re.findall(r"^\| (\d+) (.+?) \|", page, flags=re.MULTILINE)
    }
    assert told == {number: title for number, (title, _) in STEPS.items()}
    assert (MOVE_MS, "The limit is 1 s a move" in page) == (1_000, True)
    assert (MARGIN_MS, "a margin of 200 ms" in page) == (200, True)
    assert (KEPT_STDERR_BYTES, "at most 64 KB a run" in page) == (65_536, True)


# api ---------------------------------------------------------------------------------------------------


def test_each_endpoint_is_documented_and_no_other() -> None:
    documented = re.findall(r"^\| `((?:GET|POST|DELETE) /\S+)` ", text("docs/api.md"), flags=re.MULTILINE)
    assert sorted(documented) == sorted(f"{endpoint.method} {endpoint.path}" for endpoint in ENDPOINTS)


def test_each_query_parameter_is_documented() -> None:
    words = code_words(text("docs/api.md"))
    asked = {name for e in ENDPOINTS for name in e.query.__struct_fields__} - {"format"}
    assert asked <= words


def test_each_standings_column_and_match_field_is_documented() -> None:
    words = code_words(text("docs/api.md"))
    assert set(COLUMNS) <= words
    assert set(MatchView.__struct_fields__) <= words
    assert set(PlayerView.__struct_fields__) <= words


def test_each_field_of_a_clock_is_documented() -> None:
    """And so is what each column of `plyground clock` says."""
    assert set(ClockEntry.__struct_fields__) <= code_words(text("docs/api.md"))
    columns = {"asked", "handed", "received", "limit", "trip", "refunded", "charged", "lag"}
    assert columns == set(CLOCK_COLUMNS) - {"ply", "agent", ""}
    assert columns <= table_keys(text("docs/clocks.md"))
    assert {"losses_by_cause"} <= code_words(text("docs/api.md"))


def test_each_key_of_a_time_control_is_in_the_clocks_page() -> None:
    told = set(TimeControl.__struct_fields__)
    assert told <= code_words(text("docs/clocks.md"))


def test_numbers_of_the_clocks_page_are_true() -> None:
    page, chosen = " ".join(text("docs/clocks.md").split()), settings.Settings()
    assert (chosen.margin_ms, "`margin_ms` (200 ms)" in page) == (200, True)
    assert (chosen.lag_ms, "`lag_ms` (1 s)" in page) == (1_000, True)
    assert (chosen.grace_ms, "`grace_ms` (5 s a match)" in page) == (5_000, True)
    assert (chosen.resume_s, "back within `resume_s` (60 s)" in page) == (60, True)
    assert (chosen.drain_s, "`drain_s` (5 s)" in page) == (5, True)
    assert (MOVE_MS_OF_A_LADDER, "gives 5 s a move" in page) == (5_000, True)
    assert (UNTIMED_MS, "still ends after 60 s" in page) == (60_000, True)
    assert (LAG_REGAIN, "a quarter of the whole comes back" in page) == (4, True)
    assert (ABSENT_S, "at most 60 s and the grace after the loss" in page) == (60, True)
    assert (OVERLOAD_S, "Up to 10 s within a move are given back" in page) == (10, True)
    assert (HAND_OVER_S, "the same for more than 60 s" in page) == (60, True)


def test_measures_of_the_clocks_page_are_those_of_the_code() -> None:
    page = " ".join(text("docs/clocks.md").split())
    assert (loop_lag.BEAT_S, "event loop every 20 ms" in page) == (0.02, True)
    assert (loop_lag.SLACK_S, "Less than 5 ms counts as on time" in page) == (0.005, True)
    assert (loop_lag.RECENT_S, "the worst lag of the last two seconds" in page) == (2, True)
    assert (round_trip.CAP_MS, "a sample `s` of at most 2 s" in page) == (2_000, True)
    assert (round_trip.RISE, "e + (s - e) / 8" in page) == (1 / 8, True)
    assert (pings.APART_S, "at most one a second" in page) == (1, True)
    assert (pings.LOOK_S, "at three looks in a row, 20 s apart" in page) == (20, True)
    assert pings.SILENT_LOOKS == 3
    assert (AGAIN_S, "nor in the 5 s after such a refusal or the end of the outage" in page) == (5, True)
    assert (KEPT_AWAY_S, "After 60 s more than its time the match is void" in page) == (60, True)


def test_the_formula_of_the_clocks_page_is_the_one_of_the_code() -> None:
    refund = "refunded = min(elapsed, lag + min(away, grace) + min(round trip, lag bank))"
    assert refund in text("docs/clocks.md")
    assert refund in (core_clock.__doc__ or "")


def test_clocks_shown_are_messages() -> None:
    page = text("docs/clocks.md")
    shown = re.findall(r'^ {4}"(clock|last)": (\{.*?\})$', page, flags=re.MULTILINE | re.DOTALL)
    kinds = {"clock": protocol.ClockView, "last": protocol.LastMove}
    assert [name for name, _ in shown] == ["clock", "last"]
    for name, body in shown:
        message = msgspec.json.decode(body, type=kinds[name])
        assert json.loads(body) == msgspec.to_builtins(message)
    assert message.charged_ms == message.elapsed_ms - message.refunded_ms


def test_limits_of_the_api_page_are_the_limits() -> None:
    rows = re.findall(r"^\| `(\w+_per_\w+)` \| ([\d,]+) ", text("docs/api.md"), flags=re.MULTILINE)
    limits = vars(Limits(settings.Settings())).values()
    assert {name: int(count.replace(",", "")) for name, count in rows} == {
        limit.name: limit.count for limit in limits
    }


def test_scopes_of_tokens_are_documented() -> None:
    words = table_keys(text("docs/api.md"))
    assert {tokens.PLAY, tokens.REGISTER, tokens.ADMIN, tokens.LINK} <= words


def test_addresses_shown_for_curl_are_endpoints() -> None:
    paths = [re.sub(r"\\?\{\w+\\?\}", "[^/]+", endpoint.path.replace(".", r"\.")) for endpoint in ENDPOINTS]
    lines = [
        line for page in PAGES for line in shell_lines(page.read_text("utf-8")) if line.startswith("curl")
    ]
    assert len(lines) >= 4
    for line in lines:
        address = shlex.split(line)[-1].removeprefix("http://127.0.0.1:8080").split("?")[0]
        assert any(re.fullmatch(path, address) for path in paths), line


# games, agents, examples -------------------------------------------------------------------------------


def test_the_readme_counts_the_games() -> None:
    assert f"There are\n{len(games.names())} games," in text("README.md")


def test_the_styles_of_boards_are_listed_for_those_who_add_a_game() -> None:
    [listed] = re.findall(r"Choose a `style`.*?(?=\n- )", text("docs/adding-a-game.md"), flags=re.DOTALL)
    assert set(get_args(Style)) <= code_words(listed)


def test_games_named_as_models_are_what_they_are_named_for() -> None:
    assert all(
        games.load(name).has_chance and games.load(name).hidden for name in ("kuhn_poker", "leduc_poker")
    )
    assert games.load("connect_four_three").players == 3
    turns = {name: takes_turns(type(games.load(name).initial_state())) for name in ("checkers", "kalah")}
    assert turns == {"checkers": True, "kalah": False}


def test_games_named_with_a_game_option_exist() -> None:
    for page in PAGES:
        added = ["nim"] if page.name == "adding-a-game.md" else []  # which test_adding_a_game.py adds
        for name in re.findall(r"--game ([a-z_]+)", page.read_text("utf-8")):
            assert name in [*games.names(), *added], page.name


def test_variants_written_anywhere_load() -> None:
    for page in PAGES:
        for variant in re.findall(r"\b[a-z_]+\([a-z]+=\d[^)]*\)", page.read_text("utf-8")):
            assert games.load(variant).variant == variant, page.name


def test_house_agents_of_the_changelog_are_there() -> None:
    kinds = {agent.algorithm for agent in roster.load()}
    assert kinds == {"random", "minimax", "alphabeta", "mcts", "policy"}


def test_the_agent_in_the_readme_is_the_example() -> None:
    block = re.search(r"```python\n(.*?)```", text("README.md"), flags=re.DOTALL)
    assert block is not None
    assert block.group(1) == text("examples/my_agent.py")
    code = [line for line in block.group(1).splitlines() if line and not line.strip().startswith('"""')]
    assert 5 <= len(code) <= 10, "five to ten lines"


def test_the_session_in_the_agents_page_is_true() -> None:
    session = re.search(r"```pycon\n(.*?)```", text("docs/agents.md"), flags=re.DOTALL)
    assert session is not None
    examples = doctest.DocTestParser().get_doctest(session.group(1), {}, "docs/agents.md", None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    assert len(examples.examples) > 5
    assert runner.run(examples).failed == 0


WEIGHED = ("connect_four", "connect_four_5x6", "othello", "tic_tac_toe")


@pytest.mark.parametrize(
    "ladder",
    [ladder for ladder in settings.DEFAULT_LADDERS if ladder.name in WEIGHED],
    ids=lambda ladder: ladder.name,
)
def test_the_class_in_the_agents_page_plays(ladder: settings.LadderSpec, tmp_path: Path) -> None:
    block = re.search(r"```python\n(.*?)```", text("docs/agents.md"), flags=re.DOTALL)
    assert block is not None
    file = tmp_path / "deepening.py"
    file.write_text(block.group(1), encoding="utf-8")
    loaded, game = student.load(file), games.load(ladder.game)
    student.trial(loaded, game)
    result = play_match(game, [loaded.make(), RandomAgent(1)], TimeControl(move_ms=400, margin_ms=5_000))
    assert result.causes == ("normal", "normal"), result.detail
    assert result.moves[0].info is not None
    assert result.moves[0].info["depth"] >= 1


def test_the_function_for_hidden_information_in_the_agents_page_plays(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", text("docs/agents.md"), flags=re.DOTALL)
    file = tmp_path / "bluffer.py"
    file.write_text(blocks[1], encoding="utf-8")
    loaded, game = student.load(file), games.load("kuhn_poker")
    student.trial(loaded, game)
    for seed in range(20):
        result = play_match(game, [loaded.make(), RandomAgent(seed)], TimeControl(5_000, margin_ms=5_000))
        assert result.causes == ("normal", "normal"), result.detail


def test_the_agent_for_dice_in_the_agents_page_plays(tmp_path: Path) -> None:
    blocks = re.findall(r"```python\n(.*?)```", text("docs/agents.md"), flags=re.DOTALL)
    assert (games.CHANCE, "`games.CHANCE`, which is -1" in text("docs/agents.md")) == (-1, True)
    file = tmp_path / "dice.py"
    file.write_text(blocks[2], encoding="utf-8")
    loaded, game = student.load(file), games.load("backgammon")
    student.trial(loaded, game)
    for seed in range(2):
        result = play_match(game, [loaded.make(), RandomAgent(seed)], TimeControl(5_000, margin_ms=5_000))
        assert result.causes == ("normal", "normal"), result.detail
        assert result.outcomes[0] == "win"


def test_the_agents_page_names_methods_and_features() -> None:
    page = text("docs/agents.md")
    state = games.load("connect_four").initial_state()
    methods = re.findall(r"^\| `(\w+)\(\w?(?:, \w)?\)` \|", page, flags=re.MULTILINE)
    assert len(methods) == 7
    assert all(callable(getattr(state, name)) for name in methods)
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, flags=re.MULTILINE))
    named = [name for name in games.names() if name in rows]
    assert len(named) >= 5
    for name in named:
        assert list(games.load(name).feature_names) == re.findall(r"`(\w+)`", rows[name])
    assert "(games/README.md)" in page, "where all games are"


def test_numbers_of_the_agents_page_are_true() -> None:
    page, chosen = text("docs/agents.md"), settings.Settings()
    assert f"under {PROVISIONAL_GAMES} games" in page
    controls = [time_control(ladder, chosen) for ladder in settings.DEFAULT_LADDERS]
    assert {control.move_ms for control in controls} == {5_000}
    assert "5 s a move unless" in page
    assert f"a few seconds a match are forgiven ({chosen.grace_ms // 1000} unless" in page
    assert f"bank/{MOVES_IN_A_BANK} + {INCREMENT_SHARE} increment" in page
    silence_s = Timing().pong_ms // 1000, (Timing().pong_ms + Timing().ping_ms) // 1000
    assert f"given up after {silence_s[0]:.0f} to {silence_s[1]:.0f} s" in page
    assert f"... {Timing().longest_pause_ms / 1000:.0f} s, but within" in page
    assert Timing().playing_pause_ms == 1_000
    assert all(f"`{name}`" in page for name in msgspec.structs.asdict(protocol.ClockView(1)))
    assert f"A reply up to {chosen.margin_ms} ms late" in page
    assert f"takes over {chosen.ready_ms // 1000} s" in page
    assert f"up to {protocol.MAX_INFO_BYTES // 1024} KB" in page
    assert f"{VERSIONS_AN_HOUR} new versions an hour" in page
    assert (LATE_IN_A_ROW, "after three in a row" in page) == (3, True)
    assert (chosen.rest_ms, "rests a second" in page) == (1_000, True)
    for name in re.findall(r"lost, `(\w+)`", page):
        assert name in get_args(protocol.Cause)


def test_the_readme_is_right_about_tokens_over_plain_http() -> None:
    assert "refuses `--server http://HOST:8080`" in text("README.md")
    with pytest.raises(games.InputError):
        check_token_is_safe("http://host.example.org:8080")
    check_token_is_safe("https://ai.example.org")
    check_token_is_safe("http://127.0.0.1:9000")


def test_the_readme_tells_the_alpha_betas_apart() -> None:
    extra = {agent.name: agent.extra for agent in roster.entries() if agent.algorithm == "alphabeta"}
    assert [name for name in extra if extra[name]] == ["alphabeta"]
    assert set(extra) <= code_words(text("README.md"))


def test_the_readme_is_short() -> None:
    assert len(text("README.md").splitlines()) < 150


def test_folders_named_in_contributing_exist() -> None:
    named = re.findall(r"^ {4}([a-z_/]+/) ", text("CONTRIBUTING.md"), flags=re.MULTILINE)
    assert named
    for folder in named:
        assert (ROOT / folder).is_dir(), folder


# packages ----------------------------------------------------------------------------------------------


def test_everything_installed_is_pinned() -> None:
    pins = re.findall(r"^([\w.-]+)==", text("constraints.txt"), flags=re.MULTILINE)
    pinned = {name.lower().replace("_", "-") for name in pins}
    wanted = re.findall(r'^    "([\w-]+)(?:\[\w+\])?>=', text("pyproject.toml"), flags=re.MULTILINE)
    assert len(wanted) > 15
    assert {name.lower() for name in wanted} <= pinned
