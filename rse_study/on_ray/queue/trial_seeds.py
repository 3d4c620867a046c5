"""The seeds of a search's trials: which run next, and the sampler's values."""

from collections.abc import Mapping, Sequence
from typing import Any

from rse_study.on_ray.queue.cell import Cell
from rse_study.search.choice import mean_of
from rse_study.search.observation import RUNNING, Observation
from rse_study.search.race import RaceVerdict, RacingTrial, race


class TrialSeeds:
    """Results by trial and seed; the sampler learns means once a trial's race is over."""

    def __init__(self, seeds: Sequence[int], *, less_is_better: bool) -> None:
        self._seeds, self._less_is_better = tuple(seeds), less_is_better
        self._proposals: dict[int, Mapping[str, Any]] = {}  # by trial
        self._seen: dict[int, dict[int, Observation]] = {}  # by trial and seed
        self._verdicts: dict[int, RaceVerdict] | None = None

    def enter(self, cell: Cell, seen: Observation = RUNNING) -> None:
        self._proposals.setdefault(cell.number, cell.proposal)
        self._seen.setdefault(cell.number, {})[cell.seed] = seen
        self._verdicts = None

    def next_cells(self) -> list[tuple[int, Mapping[str, Any], int]]:
        """Return trial number, proposal and seed of all cells that should run now."""
        return [
            (number, self._proposals[number], next(s for s in self._seeds if s not in self._seen[number]))
            for number, verdict in self._race().items()
            if verdict == "next"
        ]

    def outcome(self, number: int) -> Observation:
        """Return the trial's outcome: that of its first seed unless complete, else means."""
        if self._race()[number] != "over":
            return RUNNING
        seen = self._of(number)
        complete = [one for one in seen if one.outcome == "complete"]
        if seen[0].outcome != "complete":
            return seen[0]
        return Observation(
            "complete",
            tuple(mean_of(values) for values in zip(*(one.values for one in complete), strict=True)),
            tuple(mean_of(values) for values in zip(*(one.violations for one in complete), strict=True)),
        )

    def _race(self) -> dict[int, RaceVerdict]:
        if self._verdicts is None:
            trials = [self._racing(number) for number in sorted(self._seen)]
            self._verdicts = race(trials, len(self._seeds), less_is_better=self._less_is_better)
        return self._verdicts

    def _racing(self, number: int) -> RacingTrial:
        seen = self._of(number)
        values = tuple(one.values[0] for one in seen if one.outcome == "complete")
        return RacingTrial(
            number,
            values,
            is_running=any(one.outcome == "running" for one in seen),
            is_out=any(one.outcome in ("pruned", "failed") or one.was_stopped for one in seen),
        )

    def _of(self, number: int) -> list[Observation]:
        seen = self._seen[number]
        return [seen[seed] for seed in self._seeds if seed in seen]
