"""What a client tells those who watch it: the command line, the house process, a test."""

from agents.fault import FaultReport
from agents.protocol import Error, MatchEnd, MatchStart, Move, Welcome


class Observer:
    """Is told what happens; override what you want to show. Calls may come from any thread."""

    def connected(self, welcome: Welcome) -> None:
        """Note that the server has welcomed the agent, for the first time or again."""

    def reconnecting(self, why: str, pause_ms: float) -> None:
        """Note that the connection is lost; the next try comes after the pause."""

    def match_start(self, start: MatchStart) -> None:
        """Note that a match begins."""

    def moved(self, start: MatchStart, move: Move, elapsed_ms: float) -> None:
        """Note that the agent has answered."""

    def struck(self, start: MatchStart, ply: int, strikes: int) -> None:
        """Note that no answer came in time: a random action is played for the agent, `strikes` are left."""

    def match_end(self, start: MatchStart, end: MatchEnd) -> None:
        """Note how a match ended; perhaps later, if that was while the connection was away."""

    def match_lost(self, start: MatchStart) -> None:
        """Note that a match ended while the connection was away, and the server does not say how."""

    def fault(self, report: FaultReport) -> None:
        """Note a fault in the agent's code."""

    def timed_out(self, report: FaultReport) -> None:
        """Note a match lost on time: how long the agent took, or where its code still is."""

    def error(self, error: Error) -> None:
        """Note an error message of the server, after which the connection went on."""
