"""Where tokens are kept."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agents.tokens import TokenStore, config_folder
from games import InputError

SERVER = "http://127.0.0.1:8080"
OTHER = "https://play.example"


@pytest.fixture
def store(tmp_path):
    return TokenStore(tmp_path / "config" / "plyground")


def test_the_folder_is_the_users():
    assert config_folder({"PLYGROUND_CONFIG_DIR": "/own"}) == Path("/own")
    assert config_folder({"XDG_CONFIG_HOME": "/xdg"}) == Path("/xdg/plyground")
    assert config_folder({}) == Path.home() / ".config" / "plyground"


def test_a_token_is_kept_by_server_and_name(store):
    store.put(SERVER, "ada", "ply_1")
    store.put(SERVER, "bob", "ply_2")
    store.put(OTHER, "ada", "ply_3")
    again = TokenStore(store.file.parent)
    assert again.get(SERVER, "ada") == "ply_1"
    assert again.get(SERVER + "/", "bob") == "ply_2"
    assert again.get(OTHER, "ada") == "ply_3"
    assert again.get(OTHER, "bob") is None


def test_nobody_else_can_read_the_file_at_any_moment(store, monkeypatch):
    modes = []
    replace = Path.replace

    def look(self, target):
        modes.append(stat.S_IMODE(self.stat().st_mode))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", look)
    before = os.umask(0)
    try:
        store.put(SERVER, "ada", "ply_1")
        store.put(SERVER, "ada", "ply_2")
    finally:
        os.umask(before)
    assert modes == [0o600, 0o600]
    assert stat.S_IMODE(store.file.stat().st_mode) == 0o600
    assert [path.name for path in store.file.parent.iterdir()] == ["tokens.json"]


def test_a_write_that_fails_leaves_the_old_file(store, monkeypatch):
    store.put(SERVER, "ada", "ply_1")

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(InputError, match="No space left"):
        store.put(SERVER, "ada", "ply_2")
    monkeypatch.undo()
    assert store.get(SERVER, "ada") == "ply_1"
    assert len(list(store.file.parent.iterdir())) == 1


@pytest.mark.parametrize("text", ["", "{", "[]", '{"http://a": 3}', '{"http://a": {"ada": null}}'])
def test_a_damaged_file_is_named(store, text):
    store.file.parent.mkdir(parents=True)
    store.file.write_text(text)
    with pytest.raises(InputError) as refused:
        store.get(SERVER, "ada")
    assert refused.value.code == "bad_tokens"
    assert str(store.file) in str(refused.value)
    with pytest.raises(InputError):
        store.put(SERVER, "ada", "ply_1")
    assert store.file.read_text() == text, "a damaged file is not overwritten"


def test_a_folder_in_the_way_is_named(store):
    store.file.mkdir(parents=True)
    with pytest.raises(InputError, match="a file of tokens"):
        store.get(SERVER, "ada")


def test_a_reader_never_sees_half_a_file(store):
    store.put(SERVER, "ada", "ply_0")
    seen = []

    def read():
        seen.extend(TokenStore(store.file.parent).get(SERVER, "ada") for _ in range(200))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(20):
        store.put(SERVER, "ada", f"ply_{number}")
    reader.join()
    assert len(seen) == 200
    assert None not in seen


KEEP = """
import sys
from pathlib import Path
from agents.tokens import TokenStore
store = TokenStore(Path(sys.argv[1]))
sys.stdin.readline()
for number in range(20):
    store.put("http://127.0.0.1:8080", f"{sys.argv[2]}-{number}", "ply_1")
"""


def test_programs_that_register_at_the_same_moment_lose_no_token(store):
    folder = str(store.file.parent)
    programs = [
        subprocess.Popen([sys.executable, "-c", KEEP, folder, f"agent{k}"], stdin=subprocess.PIPE)
        for k in range(4)
    ]
    for program in programs:
        program.stdin.write(b"go\n")
        program.stdin.close()
    assert [program.wait(60) for program in programs] == [0] * 4
    kept = {f"agent{k}-{number}" for k in range(4) for number in range(20)}
    assert all(store.get(SERVER, agent) == "ply_1" for agent in kept)
