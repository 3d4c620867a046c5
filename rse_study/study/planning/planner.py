"""A study priced against its store, for `plan` and for `run`."""

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from rse_study.data.location import data_dir
from rse_study.errors import InputError
from rse_study.results.files.connect import has_ledger, is_lost
from rse_study.results.records import FINISHED
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.pending import pending_in
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.footprint import footprint, free_bytes, lines_of, num_models, show_bytes
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.plan import Plan, check_allowance, plan
from rse_study.study.planning.run_again import KnownCells, known_cells
from rse_study.study.planning.sampling import spread
from rse_study.study.planning.throughput import Throughput, TimedWork, with_stated_hours
from rse_study.training.materials import PrepareMaterials

LOST = (
    "its ledger is missing or empty: `run` takes its backup and the results on disk, and runs only the rest"
)
TimeTrials = Callable[[CheckedStudy, Path], tuple[TimedWork, ...]]


class StudyPlanner:
    """Plans of one study, whose data are counted and whose store is read once."""

    def __init__(
        self,
        checked: CheckedStudy,
        store: Path,
        probe: TimeTrials,
        max_hours: float | None = None,
        max_cost: float | None = None,
        prepare: PrepareMaterials | None = None,
    ) -> None:
        """Plan a study of this store. `probe` times a few steps; limits that are given override the allowance.

        `prepare` returns today's materials, without those that take long, for the identities of ended cells.
        """
        self._prepare = prepare
        self._checked = checked
        self._store = store
        self._probe = probe
        self._sizes = DataSizes(data_dir(), checked.settings_in(data_dir()), checked.folder)
        given = {"max_hours": max_hours, "max_cost": max_cost}
        said = {name: value for name, value in given.items() if value is not None}
        self._limits = checked.study.allowance.model_copy(update=said)

    @cached_property
    def num_ended(self) -> int:
        """Number of the study's cells that have ended."""
        if self._checked.study.grid is None:
            counts = self.counts()
            return sum(counts.get(status, 0) for status in FINISHED)
        return sum(seed in self._checked.study.all_seeds for _, seed in self._cells.ended)

    @cached_property
    def _cells(self) -> KnownCells:
        return known_cells(self._store / self._checked.study.name, self._checked, self._prepare)

    def counts(self) -> dict[str, int]:
        """Number of cells now, by status and planned; empty before the study was frozen."""
        folder = self._store / self._checked.study.name
        if not has_ledger(folder):
            return {}
        # These import pandas, which a plan without ledgers does without.
        from rse_study.results.reader import Reader
        from rse_study.search.state import SearchState

        with Reader(folder) as reader:
            if reader.ledger.study() is None:  # its first run was killed before it was frozen
                return {}
            return SearchState.read(reader).counts

    def require_disk(self) -> None:
        """Raise InputError where the files of the cells left would not fit on the disk."""
        checked, study = self._checked, self._checked.study
        location = study.storage or str(self._store.absolute())
        if "://" in location:
            return  # an object store has no end that could be asked for
        num_to_run = checked.num_cells - self.num_ended
        wanted, free = footprint(checked, num_to_run, self._sizes), free_bytes(Path(location))
        if wanted is None or wanted.disk <= free:
            return
        least = study.model_copy(update={"keep_models": "none"})
        lean = replace(wanted, num_models=num_models(least, num_to_run, wanted.num_at_a_time))
        option = "`storage: FOLDER` on a larger disk" if study.storage else "a larger disk: --store DIR"
        if lean.disk <= free:
            lighter = f"`-o keep_models=none` (`best` also keeps the best model), which takes {show_bytes(lean.disk)}"
            option = f"{lighter}, or {option}"
        what, *_ = lines_of(wanted)
        rule = f"{show_bytes(free)} are free in {location}"
        raise InputError(what, where=study.name, rule=rule, remedy=f"Use {option}")

    def require_allowance(self) -> list[str]:
        """Return warnings; raise OverBudget where a limit would be passed.

        Without history, cells are probed.
        """
        if not self._limits.max_hours and not self._limits.max_cost:
            return []
        planned = self.plan()
        if planned.device_hours is None:
            if not planned.price_per_hour:
                check_allowance(planned, 0.0, self._limits.max_cost)  # refused before minutes of probing
            planned = self.plan(probes=True)
        return self.check(planned)

    def check(self, planned: Plan) -> list[str]:
        """Return warnings on a plan; raise OverBudget where it passes a limit."""
        return check_allowance(planned, self._limits.max_hours, self._limits.max_cost)

    def plan(self, *, probes: bool = False) -> Plan:
        """Plan the study against its folder in the store, timed by histories or a probe."""
        ledger_state, throughput = self._history
        if probes:
            throughput = replace(
                throughput,
                timed=self._probe(self._checked, self._store / self._checked.study.name),
                source="a probe on this machine",
            )
        throughput = with_stated_hours(throughput, self._checked, self._sizes)
        pending = pending_in(self._store / self._checked.study.name, self._checked)
        revision = [str(pending.refusal) if pending.reasons else f"revision: {pending}"] if pending else []
        revision += [LOST] if is_lost(self._store / self._checked.study.name) else []
        planned = plan(self._checked, ledger_state, throughput, self._sizes)
        return replace(planned, notes=(*revision, *self._cells.lines(), *planned.notes))

    @cached_property
    def _history(self) -> tuple[LedgerState, Throughput]:
        """The ledgers of the store; without any, nothing is imported to read them."""
        if not any(self._store.glob("*/ledger.sqlite")):
            return LedgerState(), Throughput()
        from rse_study.study.planning.history import history_of

        study = self._checked.study
        encoders = {trial.encoder.name for trial in spread(self._checked)}
        again = self._cells.reasons
        return history_of(self._store / study.name, self._store, self._sizes, encoders, study, again)
