"""The cost of trials yet to be proposed: a mean over random draws from the space."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rse_study.results.settings import StudySettings
from rse_study.search.ablation_path import PathState, most_path_cells, num_points
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.search import AblationPath, Confirm
from rse_study.study.planning.cost_model import FREE, WHOLE, Cost, CostModel, drawn, total
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.grid_stage import Remaining, remaining_of, row_seeds, stage_of_rows
from rse_study.study.planning.ledger_state import LedgerCell, LedgerState
from rse_study.study.planning.rung_shares import stopped_share
from rse_study.study.planning.sampling import NUM_POINTS, sample
from rse_study.study.planning.stages import StagePlan, has_ended, stage_plan
from rse_study.study.planning.workload import workload_of
from rse_study.training.trial import Trial

NO_NUMBER = -2  # of a base that the ledger does not know


@dataclass(frozen=True)
class SearchPlanner:
    """A search against what its ledger holds."""

    checked: CheckedStudy
    ledger_state: LedgerState
    data_sizes: DataSizes

    def stages(self, models: Mapping[str, CostModel]) -> tuple[tuple[StagePlan, ...], list[Remaining]]:
        """Plan the search and what follows it; return also what is left to confirm."""
        study = self.checked.study
        stages, remaining = [self.search(models["search"])], list[Remaining]()
        if study.confirm is not None:
            stage, remaining = self.confirm(study.confirm, models["confirm"])
            stages.append(stage)
        if study.ablation_path is not None:
            stages.append(self.path(study.ablation_path, models["path"]))
        return tuple(stages), remaining

    def notes(self, stages: Sequence[StagePlan]) -> Iterator[str]:
        """Say what the plan of a search rests on while some of it is left."""
        study, goes_on = self.checked.study, stages[0].num_to_run > 0
        is_open = any(stage.num_to_run for stage in stages)
        if is_open:
            who = study.sampler.title
            yield (
                f"trials are unknown until {who} proposes them: {NUM_POINTS} even points of the space stand in for them"
            )
        if goes_on and study.ablation_path is not None:
            yield "path: as if base and best trial differed on every axis, until the search is over"
        if goes_on and study.search_budget is not None:
            yield "search: as if its budget had room for all trials; cells that do not fit are not started"
        if is_open and self.checked.rungs:
            yield self._rung_note()

    def _rung_note(self) -> str:
        rule, num_trials = self.checked.study.early_stopping, self.checked.study.num_trials
        assert rule is not None, "rungs without early stopping"
        shares = zip(self.checked.rungs, rule.shares_past(len(self.checked.rungs), num_trials), strict=True)
        passing = ", ".join(f"{share * num_trials:.3g} pass step {t}" for t, share in shares)
        return f"low: of {num_trials} trials {passing}; high: none is stopped"

    def search(self, cost_model: CostModel) -> StagePlan:
        """Plan the search itself; a baseline to be confirmed runs its full budget."""
        study, cells = self.checked.study, self._searched
        waiting = [] if self._is_ended_by_budget else [cell.trial for cell in cells if not has_ended(cell)]
        num_new = self._num_to_propose
        if not cells and self._base_is_first:
            waiting, num_new = [self.checked.space.base], num_new - 1
        continued = [cell for cell in cells if cell.status == "stopped_early" and self._confirms(cell.trial)]
        costs = [self._cell(trial, cost_model) for trial in waiting]
        costs += [self._rest(cell, cost_model) for cell in continued]
        costs.append(
            drawn([self._cell(trial, cost_model) for trial in self._sample()], num_new) if num_new else FREE
        )
        ended = [cell for cell in cells if has_ended(cell) and cell not in continued]
        num_to_run = len(waiting) + len(continued) + num_new
        return stage_plan("search", study.resources, self._num_trials, 1, ended, num_to_run, total(costs))

    @property
    def _num_trials(self) -> int:
        return len(self._searched) if self._is_ended_by_budget else self.checked.study.num_trials

    @property
    def _is_ended_by_budget(self) -> bool:
        """Whether the budget that the file has now is the one that ended the search."""
        state = self.ledger_state.search
        spent = state.spent_budget if state else None
        return self._settings.search_budget == spent

    @property
    def _num_to_propose(self) -> int:
        if self._is_ended_by_budget:
            return 0
        return max(0, self.checked.study.num_trials - len(self._searched))

    def confirm(self, confirm: Confirm, cost_model: CostModel) -> tuple[StagePlan, list[Remaining]]:
        """Plan the confirmation: trials that the ledger has chosen, else drawn ones."""
        known, settings = defaultdict[Trial, dict[int, LedgerCell]](dict), self._settings.confirm
        for cell in self.ledger_state.current("confirm"):
            known[cell.trial][cell.seed] = cell
        numbers = {trial: next(iter(of.values())).number for trial, of in known.items()}
        if confirm.baseline == "base":
            numbers.setdefault(self.checked.space.base, NO_NUMBER)
        num_trials = self._num_best + (confirm.baseline == "base")
        num_drawn, seeds = max(0, num_trials - len(numbers)), settings.seeds
        rows = row_seeds(confirm.seeds, self.ledger_state, num_trials, seeds[0])
        remaining = [
            remaining_of(self.ledger_state, trial, known[trial], seeds, rows, number)[0]
            for trial, number in numbers.items()
        ]
        costs = [self._whole(one.trial, cost_model).scaled(one.range_to_run) for one in remaining]
        if num_drawn:
            candidates = [self._whole(trial, cost_model) for trial in self._candidates()]
            num_spared = len(seeds) - len(settings.least_seeds)
            each = Remaining(self.checked.space.base, (), len(seeds), num_spared)
            costs.append(drawn(candidates, num_drawn).scaled(each.range_to_run))
            remaining += [each] * num_drawn
        num_trials, cost = len(numbers) + num_drawn, total(costs)
        stage = stage_of_rows("confirm", cost_model.resources, num_trials, len(seeds), remaining, cost)
        return stage, remaining

    def path(self, path: AblationPath, cost_model: CostModel) -> StagePlan:
        """Plan the ablation path; points not known yet cost what drawn trials do."""
        state = self._path_state(path)
        num_axes = len(self.checked.space.axes) if state is None else len(state.axes)
        points, settings = num_points(num_axes, path.order), self._settings
        known = self.ledger_state.current("path") if state is not None else []
        ended = [cell for cell in known if has_ended(cell)]
        waiting = [cell.trial for cell in known if not has_ended(cell)]
        num_cells = most_path_cells(num_axes, settings.ablation_path, settings.confirm)
        num_cells = len(known) if state is not None and state.is_over else num_cells
        num_drawn = max(0, num_cells - len(known))
        costs = [self._whole(trial, cost_model) for trial in waiting]
        if num_drawn:
            costs.append(drawn([self._whole(trial, cost_model) for trial in self._sample()], num_drawn))
        to_run, num_seeds = len(waiting) + num_drawn, len(path.seeds)
        stage = stage_plan("path", cost_model.resources, points, num_seeds, ended, to_run, total(costs))
        return replace(stage, num_shared=points * num_seeds - num_cells)

    def _path_state(self, path: AblationPath) -> PathState | None:
        """The path in the ledger, if it was frozen with the same settings and no trial is to come."""
        search = self.ledger_state.search
        state = search.path if search else None
        is_same = state is not None and (state.order, state.seeds) == (path.order, path.seeds)
        return state if is_same and self._num_to_propose == 0 else None

    @property
    def _settings(self) -> StudySettings:
        return self.checked.study.search_settings

    @property
    def _searched(self) -> list[LedgerCell]:
        return self.ledger_state.current("search")

    @property
    def _base_is_first(self) -> bool:
        return self.checked.space.base_point is not None

    def _confirms(self, trial: Trial) -> bool:
        confirm = self.checked.study.confirm
        return confirm is not None and confirm.baseline == "base" and trial == self.checked.space.base

    @property
    def _num_best(self) -> int:
        """There are no more candidates than trials beside the base."""
        return min(self.checked.study.num_confirmed, self._num_trials - self._base_is_first)

    def _sample(self) -> list[Trial]:
        return sample(self.checked.space, self.checked.study.search_seed)

    def _candidates(self) -> list[Trial]:
        """The trials that may be confirmed: the search's own once all are known."""
        trials = [cell.trial for cell in self._searched if not self._confirms(cell.trial)]
        is_over = self._num_to_propose == 0 and trials
        return trials if is_over else self._sample()

    def _whole(self, trial: Trial, cost_model: CostModel) -> Cost:
        return cost_model.cell(workload_of(trial, self.data_sizes))

    def _cell(self, trial: Trial, cost_model: CostModel) -> Cost:
        workload, study = workload_of(trial, self.data_sizes), self.checked.study
        if self._confirms(trial):
            return cost_model.cell(workload)
        rule, rungs = study.early_stopping, self.checked.rungs
        return cost_model.cell(workload, stopped_share(rule, rungs, workload.num_steps, study.num_trials))

    def _rest(self, cell: LedgerCell, cost_model: CostModel) -> Cost:
        workload = workload_of(cell.trial, self.data_sizes)
        left = 1 - cell.t / workload.num_steps
        return cost_model.cell(workload, WHOLE.times(left))
