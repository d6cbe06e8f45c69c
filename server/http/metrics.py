"""What the server counts about itself. No label names a match or an agent, so the series are few."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LAG_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)

CUT_REASONS = (
    "does_not_read",
    "flood",
    "headers",
    "malformed",
    "no_files",
    "no_request",
    "silent_address",
    "silent_crowd",
)
"""Why connections are cut: docs/api.md explains each."""


class Metrics:
    """The counters and gauges of a server, kept in one registry."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.matches_finished = Counter(
            "plyground_matches_finished", "Matches finished and rated.", registry=registry
        )
        self.matches_void = Counter(
            "plyground_matches_void", "Matches that count for nobody.", registry=registry
        )
        self.moves = Counter("plyground_moves", "Moves recorded.", registry=registry)
        self.forfeits = Counter(
            "plyground_forfeits",
            "Seats that lost otherwise than by the game's rules.",
            ["cause"],
            registry=registry,
        )
        self.connections = Gauge(
            "plyground_connections", "Open connections of agents and spectators.", registry=registry
        )
        self.connections_cut = Counter(
            "plyground_connections_cut",
            "Connections that the server ended by a limit, by the reason.",
            ["reason"],
            registry=registry,
        )
        for reason in CUT_REASONS:
            self.connections_cut.labels(reason)  # so that each is there from the start, at 0
        self.running_matches = Gauge("plyground_running_matches", "Matches under way.", registry=registry)
        self.loop_lag = Histogram(
            "plyground_loop_lag_seconds",
            "How much later than asked the event loop woke up, in seconds.",
            buckets=_LAG_BUCKETS_S,
            registry=registry,
        )

        self.admission_open = Gauge(
            "plyground_admission_open", "1 if new matches start, 0 while they wait.", registry=registry
        )
        self.admission_open.set(1)
        self.admission_closed = Counter(
            "plyground_admission_closed",
            "How often new matches began to wait, since the event loop was late.",
            registry=registry,
        )
        self.recent_lag = Gauge(
            "plyground_loop_lag_recent_seconds",
            "The worst lateness of the event loop in the last two seconds.",
            registry=registry,
        )

    def cut(self, reason: str) -> None:
        """Count a connection that was ended by a limit."""
        self.connections_cut.labels(reason).inc()
