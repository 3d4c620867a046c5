"""When attempts ran, and what that sums up to: hours, and hours times devices."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rse_study.results.device_time import devices_of, seconds_between
from rse_study.results.records import FINISHED, AttemptRecord, CellRecord

HOUR = 3600.0


class Use(NamedTuple):
    """The use of a limit so far, and with one more cell."""

    spent: float
    with_next: float


class AttemptSpan(NamedTuple):
    """When an attempt ran, in seconds after now: what was is below 0."""

    begun: float
    ended: float
    """now where it runs"""
    will_end: float
    devices: float


def hours_of(spans: Sequence[AttemptSpan], longest: float) -> Use:
    """Return hours in which cells ran; what ran at the same time counts once."""
    spent = _covered((one.begun, one.ended) for one in spans)
    with_next = _covered([(0.0, longest), *((one.begun, one.will_end) for one in spans)])
    return Use(spent / HOUR, with_next / HOUR)


def device_hours_of(spans: Sequence[AttemptSpan], longest: float) -> Use:
    """Return hours times devices."""
    devices = max(spans, key=lambda one: one.begun).devices if spans else 0.0
    spent = sum(one.devices * (one.ended - one.begun) for one in spans)
    with_next = sum(one.devices * (one.will_end - one.begun) for one in spans) + devices * longest
    return Use(spent / HOUR, with_next / HOUR)


def spans_of(
    attempts: Sequence[AttemptRecord], now: str, gpus: float, *, is_held: bool = True
) -> list[AttemptSpan]:
    """Return when each attempt ran.

    A running one is taken to last as long as the longest complete one, a lost one at most that: nobody knows
    when it died.
    """
    longest = longest_seconds(attempts)
    spans = []
    for one in attempts:
        begun, devices = -seconds_between(one.started, now), float(devices_of(one.workers, one.threads, gpus))
        runs = one.outcome == "running" and is_held
        lasted = seconds_between(one.started, one.ended or now)
        if one.outcome == "lost" or (one.outcome == "running" and not runs):
            lasted = min(lasted, longest)
        ended = begun + lasted
        spans.append(AttemptSpan(begun, ended, max(ended, begun + longest) if runs else ended, devices))
    return spans


def spans_without_attempts(
    cells: Iterable[CellRecord], attempts: Iterable[AttemptRecord], now: str, gpus: float
) -> list[AttemptSpan]:
    """Return when cells ran of which a ledger that was rebuilt knows no attempt."""
    known = {one.cell for one in attempts}
    spans = []
    for cell in cells:
        if cell.identity not in known and cell.status in FINISHED:
            ended = -seconds_between(cell.ended, now)
            held = devices_of(cell.provenance.get("workers", 1), cell.provenance.get("threads", 1), gpus)
            spans.append(AttemptSpan(ended - cell.duration_s, ended, ended, float(held)))
    return spans


def longest_seconds(attempts: Iterable[AttemptRecord]) -> float:
    """Return the longest complete attempt's time, else the longest stopped one's."""
    lasted: dict[str, float] = {}
    for one in attempts:
        lasted[one.outcome] = max(lasted.get(one.outcome, 0.0), seconds_between(one.started, one.ended))
    return lasted.get("complete") or lasted.get("stopped_early", 0.0)


def _covered(intervals: Iterable[tuple[float, float]]) -> float:
    covered, reached = 0.0, float("-inf")
    for begun, ended in sorted(intervals):
        covered += max(0.0, ended - max(begun, reached))
        reached = max(reached, ended)
    return covered
