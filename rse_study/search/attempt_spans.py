"""When attempts ran, and what that sums up to: hours, and hours times devices."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rse_study.results.device_time import GpusAt, devices_of, seconds_between
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

    def after(self, seconds: float) -> "AttemptSpan":
        """Return the span in seconds after a time that lies so much earlier."""
        return AttemptSpan(self.begun + seconds, self.ended + seconds, self.will_end + seconds, self.devices)


NONE = AttemptSpan(float("-inf"), 0.0, 0.0, 0.0)


def _newest(span: AttemptSpan) -> tuple[float, float]:
    return span.begun, span.devices


class EndedSpans:
    """Sums over spans of attempts that have ended; adding one costs the same always."""

    def __init__(self) -> None:
        self.newest = NONE
        self.device_seconds = self._covered = 0.0
        self._begun: list[float] = []  # the times that they cover, apart and in order
        self._ended: list[float] = []

    def add(self, span: AttemptSpan) -> None:
        self.newest = max(self.newest, span, key=_newest)
        self.device_seconds += span.devices * (span.ended - span.begun)
        at = self._meeting(span.begun, span.ended)
        begun, ended = min([span.begun, *self._begun[at]]), max([span.ended, *self._ended[at]])
        self._covered += ended - begun - sum(self._ended[at]) + sum(self._begun[at])
        self._begun[at], self._ended[at] = [begun], [ended]

    def covered_with(self, intervals: Iterable[tuple[float, float]]) -> float:
        """Return the seconds that these intervals and all spans cover."""
        covered, reached = self._covered, float("-inf")
        for begun, ended in sorted(intervals):
            begun = max(begun, reached)
            if begun < ended:
                at = self._meeting(begun, ended)
                known = zip(self._begun[at], self._ended[at], strict=True)
                covered += ended - begun - sum(min(ended, last) - max(begun, first) for first, last in known)
                reached = ended
        return covered

    def _meeting(self, begun: float, ended: float) -> slice:
        first = bisect_left(self._ended, begun)
        return slice(first, max(first, bisect_right(self._begun, ended)))


def hours_of(
    spans: Sequence[AttemptSpan], longest: float, before: EndedSpans | None = None, now: float = 0.0
) -> Use:
    """Return hours in which cells ran; what ran at the same time counts once."""
    before = before or EndedSpans()
    spent = before.covered_with((one.begun, one.ended) for one in spans)
    with_next = before.covered_with([(now, now + longest), *((one.begun, one.will_end) for one in spans)])
    return Use(spent / HOUR, with_next / HOUR)


def device_hours_of(spans: Sequence[AttemptSpan], longest: float, before: EndedSpans | None = None) -> Use:
    """Return hours times devices."""
    before = before or EndedSpans()
    devices = max([before.newest, *spans], key=_newest).devices
    spent = before.device_seconds + sum(one.devices * (one.ended - one.begun) for one in spans)
    more = sum(one.devices * (one.will_end - one.ended) for one in spans)
    return Use(spent / HOUR, (spent + more + devices * longest) / HOUR)


def spans_of(
    attempts: Sequence[AttemptRecord], now: str, gpus: GpusAt, *, is_held: bool = True
) -> list[AttemptSpan]:
    """Return when each attempt ran.

    A running one is taken to last as long as the longest complete one, a lost one at most that: nobody knows
    when it died.
    """
    longest = longest_seconds(attempts)
    spans = []
    for one in attempts:
        begun = -seconds_between(one.started, now)
        devices = devices_of(one.workers, one.threads, gpus(one.started))
        runs = one.outcome == "running" and is_held
        lasted = seconds_between(one.started, one.ended or now)
        if one.outcome == "lost" or (one.outcome == "running" and not runs):
            lasted = min(lasted, longest)
        ended = begun + lasted
        spans.append(AttemptSpan(begun, ended, max(ended, begun + longest) if runs else ended, devices))
    return spans


def spans_without_attempts(
    cells: Iterable[CellRecord], attempts: Iterable[AttemptRecord], now: str, gpus: GpusAt
) -> list[AttemptSpan]:
    """Return when cells ran of which a ledger that was rebuilt knows no attempt."""
    known = {one.cell for one in attempts}
    spans = []
    for cell in cells:
        if cell.identity not in known and cell.status in FINISHED:
            ended = -seconds_between(cell.ended, now)
            workers, threads = (cell.provenance.get(name, 1) for name in ("workers", "threads"))
            held = devices_of(workers, threads, gpus(cell.ended))
            spans.append(AttemptSpan(ended - cell.duration_s, ended, ended, held))
    return spans


def longest_seconds(attempts: Iterable[AttemptRecord]) -> float:
    """Return the longest complete attempt's time, else the longest stopped one's."""
    lasted: dict[str, float] = {}
    for one in attempts:
        lasted[one.outcome] = max(lasted.get(one.outcome, 0.0), seconds_between(one.started, one.ended))
    return lasted.get("complete") or lasted.get("stopped_early", 0.0)
