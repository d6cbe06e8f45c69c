"""Settings: the file, the environment, and every way to get them wrong."""

from pathlib import Path

import pytest

import games
from games.errors import InputError
from server.settings import DEFAULT_LADDERS, Settings, load


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_listen_on_loopback_8080_with_a_ladder_for_each_game():
    settings = load({})
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert [ladder.name for ladder in settings.ladders][:2] == ["connect_four", "connect_four_5x6"]
    assert {games.load(ladder.game).name for ladder in settings.ladders} == set(games.names())
    assert settings.database.startswith("sqlite:///")


def test_lag_absence_and_a_stop_are_bridged_by_default():
    settings = load({})
    assert (settings.lag_ms, settings.grace_ms, settings.drain_s) == (1_000, 5_000, 5.0)
    assert load({"PLYGROUND_DRAIN_S": "0"}).drain_s == 0.0


def test_the_environment_wins_over_the_file(empty_folder: Path):
    (empty_folder / "plyground.toml").write_text('port = 9000\nhost = "::1"\n')
    settings = load({"PLYGROUND_PORT": "9001"})
    assert (settings.host, settings.port) == ("::1", 9001)


def test_ladders_come_from_the_file(empty_folder: Path):
    (empty_folder / "plyground.toml").write_text(
        '[[ladders]]\nname = "fast"\ngame = "connect_four(rows=5,columns=6,k=4)"\nmove_ms = 100\n'
    )
    assert load({}).ladders[0].move_ms == 100


@pytest.mark.parametrize(
    ("environ", "code", "said"),
    [
        ({"PLYGROUND_PROT": "1"}, "unknown_setting", "PLYGROUND_PROT"),
        ({"PLYGROUND_PORT": "eighty"}, "bad_setting", "PLYGROUND_PORT"),
        ({"PLYGROUND_PORT": "70000"}, "bad_setting", "65535"),
        ({"PLYGROUND_PORT": "-1"}, "bad_setting", "PLYGROUND_PORT"),
        ({"PLYGROUND_HOST": ""}, "bad_setting", "host"),
        ({"PLYGROUND_HOUSE": "perhaps"}, "bad_setting", "PLYGROUND_HOUSE"),
        ({"PLYGROUND_REGISTRATION": "all"}, "bad_setting", "PLYGROUND_REGISTRATION"),
        ({"PLYGROUND_HELLO_S": "nan"}, "bad_setting", "PLYGROUND_HELLO_S"),
        ({"PLYGROUND_LAG_MS": "60001"}, "bad_setting", "lag_ms from 0 to 60000"),
        ({"PLYGROUND_GRACE_MS": "-1"}, "bad_setting", "grace_ms from 0 to 600000"),
        ({"PLYGROUND_DRAIN_S": "601"}, "bad_setting", "drain_s from 0 to 600"),
        ({"PLYGROUND_CONFIG": "absent.toml"}, "no_settings_file", "absent.toml"),
    ],
)
def test_a_bad_variable_is_named(environ: dict[str, str], code: str, said: str):
    with pytest.raises(InputError) as fault:
        load(environ)
    assert fault.value.code == code
    assert said in str(fault.value)


LADDER = '[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", ["prot", "available: port"]),
        ("port = 'x", ["plyground.toml"]),
        ("port = true", ["port"]),
        ('[[ladders]]\nname = "a b"\ngame = "tic_tac_toe"', ["'a b'", "a-z, 0-9 and _"]),
        ('[[ladders]]\nname = "a"\ngame = "ludo"', ["got 'ludo' in game of ladder a", "backgammon"]),
        (
            '[[ladders]]\nname = "a"\ngame = "othello(x=1)"',
            ["an option of othello, got 'x' in game of ladder a"],
        ),
        ('[[ladders]]\nname = "a"', ["expected game = ..., got no game in ladder a"]),
        ('[[ladders]]\ngame = "tic_tac_toe"', ["got no name in ladders[0]"]),
        (LADDER + "move_ms = 0", ["expected move_ms from 1 to 86400000, got 0", "ladder a"]),
        (
            LADDER + 'move_ms = "fast"',
            ["a whole number for move_ms, got move_ms = fast in ladder a, plyground"],
        ),
        (LADDER + "bank_ms = 5.5", ["a whole number for bank_ms, got bank_ms = 5.5 in ladder a"]),
        (LADDER + "nodes = true", ["a whole number for nodes, got nodes = True in ladder a"]),
        (LADDER + "title = 3", ["text for title, got title = 3 in ladder a"]),
        (LADDER + "strikes = 101", ["strikes from 0 to 100, got 101", "ladder a"]),
        (LADDER + "increment_ms = 5", ["bank_ms above 0", "got increment_ms = 5 alone in ladder a"]),
        (
            LADDER + "bankms = 3",
            ["a known key of a ladder, got bankms = 3 in ladder a", "bank_ms, increment_ms"],
        ),
        (
            LADDER + "nodes = 9\nstrikes = 2",
            ["move_ms, bank_ms or byoyomi_ms", "strikes = 2", "no clock runs"],
        ),
        (LADDER + LADDER, ["expected another name for each ladder, got 'a' twice in ladders[1].name"]),
        ("ladders = []", ["at least one ladder"]),
        ("ladders = 3", ["[[ladders]] above each ladder, got ladders = 3"]),
        ('[ladders]\nname = "a"', ["[[ladders]] above each ladder, got [ladders]"]),
        ('[[ladder]]\nname = "a"', ["[[ladders]], with an s, got ladder in plyground.toml"]),
        ("move_ms = 1000", ["move_ms below [[ladders]]", "got move_ms in plyground.toml"]),
    ],
)
def test_a_bad_file_is_named(empty_folder: Path, text: str, said: list[str]):
    (empty_folder / "plyground.toml").write_text(text)
    with pytest.raises(InputError) as fault:
        load({})
    sentence = str(fault.value)
    assert [words for words in said if words not in sentence] == [], sentence
    assert "[{" not in sentence, "the whole list of ladders"


def test_variables_of_client_programs_are_ignored():
    assert load({"PLYGROUND_SERVER": "http://example.org", "HOME": "/"}) == Settings()


def test_default_ladders_can_be_played():
    assert load({}).ladders == DEFAULT_LADDERS
