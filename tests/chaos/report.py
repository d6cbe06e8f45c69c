"""A storm in words: what happened, what came of it, and which promise was broken where."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.chaos.judgement import Finding, Record, unexplained
from tests.chaos.storm import Verdict
from tests.chaos.trace import FORFEITS

SHOWN = 12
"""Findings of one kind that are told in full."""


def report(verdict: Verdict, folder: Path) -> Iterator[str]:
    """Write lines for people."""
    counts, record = verdict.evidence.counts, verdict.record
    states = Counter(match.row.state for match in record.matches.values())
    yield f"matches: {_listed(states)}; {sum(len(match.moves) for match in record.matches.values())} moves"
    yield (
        f"killed: {counts['agents killed']} processes of agents, {counts['server SIGKILL']} servers; "
        f"{counts['server SIGTERM']} servers asked to end"
    )
    yield (
        f"lines: {counts['opened']} connections, {counts['reset']} reset, {counts['close']} closed, "
        f"{counts['stall']} stalled"
    )
    resumed = sum(match.row.attempt > 1 for match in record.matches.values())
    yield f"matches that a later server went on with: {resumed}; acknowledged moves: {counts['acked']}"
    yield f"forfeits: {_listed(_forfeits(record)) or 'none'}; strikes: {_strikes(record)}"
    yield f"void: {_listed(_voids(record)) or 'none'}"
    yield f"time refunded: {_refunds(record)}"
    late = list(unexplained(record, verdict.evidence))
    if late:
        yield f"late, and nothing that kept them is known: {len(late)}, such as {late[0]}"
    yield from _broken(verdict.findings)
    for line in verdict.doctor:
        yield f"doctor: {line}"
    if verdict.findings or verdict.doctor:
        yield f"the data are kept in {folder}"
    else:
        yield "every promise was kept"


def _broken(findings: list[Finding]) -> Iterator[str]:
    for promise, number in Counter(finding.promise for finding in findings).items():
        yield f"BROKEN, {promise.replace('_', ' ')}: {number}"
        mine = [finding.message for finding in findings if finding.promise == promise]
        yield from (f"    {message}" for message in mine[:SHOWN])


def _listed(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {what}" for what, number in counts.most_common())


def _forfeits(record: Record) -> Counter[str]:
    return Counter(
        seat.cause for match in record.matches.values() for seat in match.seats if seat.cause in FORFEITS
    )


def _strikes(record: Record) -> int:
    return sum(move.timed_out for match in record.matches.values() for move in match.moves)


def _voids(record: Record) -> Counter[str]:
    """Why matches are void, without the numbers that differ from one to the next."""
    details = (str(match.row.detail) for match in record.matches.values() if match.row.state == "void")
    return Counter("".join("N" if letter.isdigit() else letter for letter in text) for text in details)


def _refunds(record: Record) -> str:
    moves = [move for match in record.matches.values() for move in match.moves]
    total = sum(move.elapsed_ms - move.charged_ms for move in moves)
    lag, away = sum(move.lag_ms for move in moves), sum(move.away_ms for move in moves)
    taken = sum(move.elapsed_ms for move in moves)
    return f"{total} of {taken} ms ({lag} for lateness of the server, {away} for time away)"
