"""The round trip of a line, estimated from samples that the server measured; milliseconds throughout.

A sample runs from the writing of a ping to the receipt of its pong, and is known up to the lateness of the
server's own loop: it lies from `least_ms` to `most_ms`. With sample = min(most_ms, CAP_MS), and the same for
the least,

    first    estimate = least
    shorter  estimate = most                                if most  <  estimate
    longer   estimate = estimate + (least - estimate) / 8   if least >  estimate
    else     the estimate agrees with the sample and stays.

A line is as fast as its fastest answer, and a client can only delay one. So one prompt pong undoes whatever
delays went before it, and a single delayed one moves little.
"""

from msgspec import Struct

CAP_MS = 2_000.0
"""No sample counts for more: what takes longer is no line."""

RISE = 1 / 8
"""The part of a difference by which a longer sample moves the estimate."""


class RoundTrip(Struct, frozen=True):
    """What is known of a line; `ms` is None before the first sample."""

    ms: float | None = None

    def sampled(self, most_ms: float, least_ms: float | None = None) -> "RoundTrip":
        """Take a sample into account; without `least_ms` it is known exactly. Negative ones count as 0."""
        most = min(max(0.0, most_ms), CAP_MS)
        least = most if least_ms is None else min(max(0.0, least_ms), most)
        if self.ms is None:
            return RoundTrip(least)
        if most < self.ms:
            return RoundTrip(most)
        if least > self.ms:
            return RoundTrip(self.ms + (least - self.ms) * RISE)
        return self
