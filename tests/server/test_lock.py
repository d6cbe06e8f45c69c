"""One server a data folder."""

from pathlib import Path

import pytest

from games.errors import InputError
from server.lock import DataLock, is_held


def test_a_second_server_on_the_same_folder_is_refused(tmp_path: Path):
    first, second = DataLock(tmp_path / "new" / "data"), DataLock(tmp_path / "new" / "data")
    first.acquire()
    assert is_held(tmp_path / "new" / "data")
    with pytest.raises(InputError, match="running server") as fault:
        second.acquire()
    assert fault.value.code == "data_in_use"
    first.release()
    second.acquire()
    second.release()
    assert not is_held(tmp_path / "new" / "data")


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="PLYGROUND_DATA_DIR"):
        DataLock(tmp_path / "file" / "data").acquire()
