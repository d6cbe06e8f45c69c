"""What the server counts about itself. No label names a match or an agent, so the series are few."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LAG_BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)


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
        self.running_matches = Gauge("plyground_running_matches", "Matches under way.", registry=registry)
        self.loop_lag = Histogram(
            "plyground_loop_lag_seconds",
            "How much later than asked the event loop woke up, in seconds.",
            buckets=_LAG_BUCKETS_S,
            registry=registry,
        )
