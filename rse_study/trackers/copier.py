"""Incremental copies of a study into a tracker."""

from collections.abc import Iterator
from dataclasses import dataclass

from rse_study.trackers.content import TrackedCell, TrackedPoint, TrackedStudy
from rse_study.trackers.tracker import Holding, Tracker, same


@dataclass(frozen=True)
class CopyCounts:
    """Amounts that were added."""

    num_cells: int = 0
    num_numbers: int = 0
    """Points and scores of these cells."""

    def __add__(self, other: "CopyCounts") -> "CopyCounts":
        return CopyCounts(self.num_cells + other.num_cells, self.num_numbers + other.num_numbers)


class StudyCopier:
    """Copies a study repeatedly, each time only the news."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self._digests: dict[str, str] = {}

    def copy(self, study: TrackedStudy) -> CopyCounts:
        self._tracker.begin_study(study)
        counts = CopyCounts()
        for trial in study.trials:
            changed = [cell for cell in trial.cells if not self._is_whole(cell)]
            if not changed:
                continue
            self._tracker.begin_trial(trial)
            for cell in changed:
                counts += self._copy_cell(cell)
            self._tracker.end_trial(trial)
        return counts

    def _is_whole(self, cell: TrackedCell) -> bool:
        return self._digests.get(cell.identity) == cell.digest

    def _copy_cell(self, cell: TrackedCell) -> CopyCounts:
        holding, counts = self._tracker.begin_cell(cell), CopyCounts()
        if holding.digest != cell.digest:
            if self._contradicts(cell, holding):
                self._tracker.discard_cell(cell)
                holding = self._tracker.begin_cell(cell)
            counts = self._add(cell, holding)
            self._tracker.end_cell(cell)
        self._digests[cell.identity] = cell.digest
        return counts

    def _add(self, cell: TrackedCell, holding: Holding) -> CopyCounts:
        points, scores = list(self._new_points(cell, holding)), self._new_scores(cell, holding)
        if points:
            self._tracker.add_points(cell, points)
        if scores:
            self._tracker.add_scores(cell, scores)
        return CopyCounts(1, sum(len(point.values) for point in points) + len(scores))

    def _as_stored(self, cell: TrackedCell) -> tuple[dict[tuple[str, int], float], dict[str, float]]:
        name, value = self._tracker.metric_name, self._tracker.stored_value
        points = {
            (name(metric), point.t): value(number)
            for point in cell.points
            for metric, number in point.values.items()
        }
        return points, {name(metric): value(number) for metric, number in cell.scores.items()}

    def _contradicts(self, cell: TrackedCell, holding: Holding) -> bool:
        """Whether the tracker has numbers that the ledger lacks or has differently.

        A lost cell that runs again may not have reached the copied steps yet.
        """
        points, scores = self._as_stored(cell)
        may_come = cell.state in ("running", "interrupted")
        return any(
            not same(number, points[key]) if key in points else not may_come
            for key, number in holding.points.items()
        ) or any(
            name not in scores or not same(number, scores[name]) for name, number in holding.scores.items()
        )

    def _new_points(self, cell: TrackedCell, holding: Holding) -> Iterator[TrackedPoint]:
        for point in cell.points:
            values = {
                name: value
                for name, value in point.values.items()
                if (self._tracker.metric_name(name), point.t) not in holding.points
            }
            if values:
                yield TrackedPoint(point.t, point.at, values)

    def _new_scores(self, cell: TrackedCell, holding: Holding) -> dict[str, float]:
        name = self._tracker.metric_name
        return {metric: value for metric, value in cell.scores.items() if name(metric) not in holding.scores}
