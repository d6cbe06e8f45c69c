"""What the server asks of its own process: open files, and rare garbage collections."""

import gc
import resource

import structlog

WANTED_FILES = 65_536
RESERVED_FILES = 64
"""Kept free for the database, for requests, and for those who say goodbye."""

COLLECT_AFTER = (50_000, 20, 50)
"""Objects made before a collection, and how many of one generation make one of the next.

A move makes some fifty objects that live until the next one: with Python's 700 a third of all CPU time went
into looking through them. What is in cycles here (connections, tasks, tracebacks) is little and can wait.
"""

log = structlog.get_logger()


def prepare() -> None:
    """Make room for many connections, and collect garbage less often."""
    gc.freeze()  # modules live as long as the process: no collection need look at them
    gc.set_threshold(*COLLECT_AFTER)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED_FILES if hard == resource.RLIM_INFINITY else min(hard, WANTED_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        log.info("process.files", limit=most, before=soft)


def files() -> int:
    """Return how many files this process may have open now."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return WANTED_FILES if limit == resource.RLIM_INFINITY else limit
