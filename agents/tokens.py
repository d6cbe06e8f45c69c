"""Tokens of a person's agents, kept in the configuration folder so that a second run is the same agent."""

import contextlib
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from agents.address import http_url
from agents.plain import plain
from games import InputError

try:
    import fcntl
except ImportError:  # on Windows, where two programs that register at the same moment may lose one token
    fcntl = None  # type: ignore[assignment]

FILE = "tokens.json"
Tokens = dict[str, dict[str, str]]
"""Token by server and agent name."""


def config_folder(environ: Mapping[str, str]) -> Path:
    """Return PLYGROUND_CONFIG_DIR, else plyground in XDG_CONFIG_HOME, else ~/.config/plyground."""
    own = environ.get("PLYGROUND_CONFIG_DIR")
    if own:
        return Path(own).expanduser()
    base = environ.get("XDG_CONFIG_HOME")
    return (Path(base) if base else Path.home() / ".config") / "plyground"


class TokenStore:
    """The file of tokens: readable by its owner alone, from its first moment, and replaced as a whole."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE

    def get(self, server_url: str, agent: str) -> str | None:
        """Return the token of an agent on a server, if there is one."""
        return self._read().get(http_url(server_url), {}).get(agent)

    def put(self, server_url: str, agent: str, token: str) -> None:
        """Keep a token; those that other programs keep at the same moment stay."""
        with self._locked():
            tokens = self._read()
            tokens.setdefault(http_url(server_url), {})[agent] = token
            self._write(tokens)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Make the folder and have it to ourselves; the lock goes with the process, however it ends."""
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = None if fcntl is None else os.open(self.file.parent, os.O_RDONLY)
        except OSError as error:
            raise self._unusable(error) from error
        if folder is None:
            yield
            return
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _read(self) -> Tokens:
        try:
            data = self.file.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._unusable(error) from error
        try:
            return msgspec.json.decode(data, type=Tokens)
        except msgspec.DecodeError as error:
            raise InputError(
                "bad_tokens",
                expected="tokens as JSON",
                got=plain(error),
                where=f"{self.file} (delete it to register anew)",
            ) from error

    def _write(self, tokens: Tokens) -> None:
        try:
            # mkstemp makes the file 0600 at once: at no moment can anybody else read it.
            handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=f".{FILE}.")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(msgspec.json.format(msgspec.json.encode(tokens)))
                    file.flush()
                    os.fsync(file.fileno())
                Path(name).replace(self.file)
            except BaseException:
                Path(name).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise self._unusable(error) from error

    def _unusable(self, error: OSError) -> InputError:
        return InputError(
            "bad_tokens",
            expected="a file of tokens that can be read and written",
            got=error.strerror or str(error),
            where=str(self.file),
        )
