"""Room for the many sockets of a bench."""

import resource


def raise_limit() -> None:
    """Let this process have as many open files as the system lets it have."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
