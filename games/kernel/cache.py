"""Compiled code on disk: one file for each function and argument types, named by what it was made from.

numba's own cache is replaced because it keeps one index a function, which a renamed or missing game class
breaks for all games; it looks at the time stamp of the function's own file, so that a changed game goes on
under its old rules inside a search that did not change; and it raises at import where no folder is
writable. Here the name of a file says all that its content depends on, so what is found is right, what is
stale is never found, and what cannot be read or written is compiled in memory.
"""

import contextlib
import functools
import hashlib
import inspect
import operator
import os
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core.caching import CompileResultCacheImpl, _Cache
from numba.core.serialize import dumps

from games.kernel import store
from games.protocol import constants

DIGEST_BYTES = 32


class KernelCache(_Cache):
    """The cache of one function.

    Takes the place of numba's (numba.core.caching.FunctionCache), whose names are private: numba is
    pinned exactly.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self._impl = _Serializer()
        self._enabled = True
        self.loaded = 0
        self.stored = 0

    @property
    def cache_path(self) -> str:
        """Folder of the files."""
        return str(store.folder())

    def enable(self) -> None:
        """Load and store."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor store."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing to forget: a name that fits holds what fits."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function; None if there is none, or its file is damaged."""
        target_context.refresh()
        path = self._path(sig, target_context.codegen())
        if path is None:
            return None
        try:
            data = path.read_bytes()
            digest, payload = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
            if hashlib.sha256(payload).digest() != digest:
                return None
            compiled = self._impl.rebuild(target_context, pickle.loads(payload))  # noqa: S301 - our own file
        except Exception:  # noqa: BLE001 - whatever is wrong with the file, compiling mends it
            return None
        self.loaded += 1
        store.used.add(path)
        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store a compiled function; a folder that cannot be written costs time, not play."""
        path = self._path(sig, data.codegen)
        if path is None or not self._impl.check_cachable(data):
            return
        payload = dumps(self._impl.reduce(data))
        temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(hashlib.sha256(payload).digest() + payload)
            temporary.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            return
        self.stored += 1
        store.used.add(path)

    def _path(self, sig: Any, codegen: Any) -> Path | None:
        """Return the file of a signature; None for one that no other process could read."""
        classes = {cls for kind in sig for cls in _classes(kind)}
        if not self._enabled or self._function.__module__ == "__main__" or not all(map(_has_name, classes)):
            return None
        modules = sorted({cls.__module__ for cls in classes})
        variants = sorted((cls.__qualname__, sorted(constants(cls).items())) for cls in classes)
        parts = (
            numba.__version__,
            sys.version_info[:3],
            self._function.__module__,
            self._function.__qualname__,
            str(sig),
            variants,
            codegen.magic_tuple(),
            _sources(inspect.getfile(self._function)),
            [_sources(inspect.getfile(sys.modules[module])) for module in modules],
        )
        name = hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
        return store.folder() / f"{self._function.__name__}-{name}{store.SUFFIX}"


class _Serializer(CompileResultCacheImpl):
    """numba's way to turn a compiled function into data and back, without its search for a folder."""

    def __init__(self) -> None:
        pass

    def check_cachable(self, cres: Any) -> bool:
        """Whether another process could run it."""
        return not cres.library.has_dynamic_globals and all(part.can_cache for part in cres.lifted)


def _classes(kind: Any) -> Iterator[type]:
    """State classes inside an argument type."""
    if isinstance(kind, types.BaseNamedTuple):
        yield kind.instance_class
    for part in getattr(kind, "types", ()):
        yield from _classes(part)


def _has_name(cls: type) -> bool:
    """Whether stored code finds this very class by its name; it would make another class of any other."""
    module = sys.modules.get(cls.__module__)
    if cls.__module__ == "__main__" or module is None:
        return False  # the program itself is another one in the next process
    try:
        return operator.attrgetter(cls.__qualname__)(module) is cls
    except AttributeError:
        return False


@functools.cache
def _sources(file: str) -> str:
    """SHA-256 of everything a function of this file may call: the sources beside it, and the games."""
    games = Path(__file__).parents[1]
    beside = Path(file).parent
    digest = hashlib.sha256()
    own = beside.glob("*.py") if (beside / "__init__.py").exists() else [Path(file)]
    for path in sorted({*games.rglob("*.py"), *own}):
        digest.update(f"{path.name}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
