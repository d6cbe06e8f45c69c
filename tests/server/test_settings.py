"""Settings: the file, the environment, and every way to get them wrong."""

from pathlib import Path

import pytest

from games.errors import InputError
from server.settings import DEFAULT_LADDERS, Settings, load


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_defaults_listen_on_loopback_8080_with_five_ladders():
    settings = load({})
    assert (settings.host, settings.port) == ("127.0.0.1", 8080)
    assert [ladder.name for ladder in settings.ladders] == [
        "connect_four",
        "connect_four_5x6",
        "othello",
        "tic_tac_toe",
        "kuhn_poker",
    ]
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


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("prot = 1", "prot"),
        ("port = 'x", "plyground.toml"),
        ("port = true", "port"),
        ('[[ladders]]\nname = "a b"\ngame = "tic_tac_toe"', "ladders[0].name"),
        ('[[ladders]]\nname = "a"\ngame = "ludo"', "ludo"),
        ('[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\nmove_ms = 0', "move_ms"),
        ('[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\nmove_ms = "fast"', "ladders[0].move_ms"),
        ('[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\nstrikes = 101', "strikes, ladder a"),
        ('[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\nincrement_ms = 5', "increment_ms, ladder a"),
        ('[[ladders]]\nname = "a"\ngame = "tic_tac_toe"\nspeed = 3', "speed"),
        (
            '[[ladders]]\nname="a"\ngame="tic_tac_toe"\n[[ladders]]\nname="a"\ngame="tic_tac_toe"',
            "ladders[1]",
        ),
        ("ladders = []", "ladder"),
    ],
)
def test_a_bad_file_is_named(empty_folder: Path, text: str, said: str):
    (empty_folder / "plyground.toml").write_text(text)
    with pytest.raises(InputError) as fault:
        load({})
    assert said in str(fault.value)


def test_variables_of_client_programs_are_ignored():
    assert load({"PLYGROUND_SERVER": "http://example.org", "HOME": "/"}) == Settings()


def test_default_ladders_can_be_played():
    assert load({}).ladders == DEFAULT_LADDERS
