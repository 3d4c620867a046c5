"""What is still to be scored in a study: its baselines and the models it keeps, each on every evaluation once."""

import shutil
from collections.abc import Iterator, Sequence

import ray

from rse_study.downstream.scored_model import CLASSIFIERS, FineTunedEvaluation
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.evaluations import (
    as_they_come,
    ask_for_baseline,
    ask_for_scores,
    drop_models,
    missing_evaluations,
    scored_in,
)
from rse_study.on_ray.payload import MaterialsCache, StudyFolders
from rse_study.on_ray.runtime import RayRuntime
from rse_study.results.ledger import Ledger
from rse_study.results.ranking import best_first
from rse_study.results.schema import baselines_folder, cell_folder
from rse_study.study.baselines import can_measure, measure_baselines
from rse_study.study.definition.config import Baseline, Study


class Scoring:
    """The scores of one study. `judges`: what baselines are scored on besides its evaluations."""

    def __init__(
        self,
        study: Study,
        place: StudyFolders,
        ledger: Ledger,
        stock: MaterialsCache,
        watcher: StudyCallback,
        evaluations: Sequence[Evaluation],
        judges: Sequence[Evaluation],
    ) -> None:
        self._study, self._place, self._ledger = study, place, ledger
        self._stock, self._watcher = stock, watcher
        self._evaluations, self._judges = evaluations, judges

    def baselines(self) -> None:
        """Baselines on the dev pairs and every evaluation of vectors: here, before the first cell."""
        base = self._study.base
        of_vectors = [one for one in self._evaluations if not isinstance(one, FineTunedEvaluation)]
        for name, lacking in self._lacking([*self._judges, *of_vectors]):
            rows = measure_baselines(base, self._stock.of(base), [name], lacking)
            self._ledger.record_evaluations(rows)

    def everything(self, cells: Sequence[Cell], room: RayRuntime) -> None:
        """What these cells and the baselines have no score of; then models that need not be kept go.

        As many tasks at a time as fit. Each is in the ledger as soon as it is there.
        """
        of_cells, of_weights = list(self._scores_of_cells(cells, room)), list(self._scores_of_weights(room))
        asked = [*of_cells, *of_weights]
        if asked:
            besides = f", {len(of_weights)} scores of baselines" if of_weights else ""
            named = ", ".join(self._study.evaluations)
            self._watcher.told(f"evaluations: {len(of_cells)} models on {named}{besides}")
        for number, rows in enumerate(as_they_come(asked, room.closing), start=1):
            self._ledger.record_evaluations(rows)
            self._watcher.told(f"evaluated: {number} of {len(asked)}")
        if not room.closing.is_set():
            shutil.rmtree(baselines_folder(self._place.study) / CLASSIFIERS, ignore_errors=True)
            drop_models(
                [cell_folder(self._place.study, identity) for identity in self.models_not_kept(cells)]
            )

    def _scores_of_cells(self, cells: Sequence[Cell], room: RayRuntime) -> Iterator[ray.ObjectRef]:
        missing = missing_evaluations(cells, self._evaluations, self._ledger)
        for cell in cells:
            if cell.identity in missing:
                room.open(cell.resources)
                wanted = [one for one in self._evaluations if one.name in missing[cell.identity]]
                yield ask_for_scores(cell, room.packer(cell), wanted)

    def _scores_of_weights(self, room: RayRuntime) -> Iterator[ray.ObjectRef]:
        """Of baselines: what is fine-tuned may take hours, which no cell should wait for."""
        study = self._study
        for name, lacking in self._lacking(self._evaluations):
            room.open(study.resources)
            packed = room.packer.base(study.base, study.resources)
            yield from (ask_for_baseline(name, packed, one) for one in lacking)

    def _lacking(self, evaluations: Sequence[Evaluation]) -> Iterator[tuple[Baseline, list[Evaluation]]]:
        """Baselines with the evaluations they have no score of."""
        known = scored_in(self._ledger)
        for name in self._study.baselines:
            lacking = [
                one
                for one in evaluations
                if can_measure(name, one) and (name, one.name, one.fingerprint) not in known
            ]
            if lacking:
                yield name, lacking

    def models_not_kept(self, cells: Sequence[Cell]) -> list[str]:
        """Identities of the cells whose model goes, by keep_models; `best`: of a search's chosen, of a grid's best."""
        complete = [record for record in self._ledger.cells() if record.status == "complete"]
        if self._study.keep_models == "final":
            return []
        if self._study.keep_models == "none":
            kept = set[str]()
        elif self._study.grid is None:
            kept = {cell.identity for cell in cells}
        else:
            kept = self._best([record.identity for record in complete if not record.retired])
        return [record.identity for record in complete if record.identity not in kept]

    def _best(self, identities: Sequence[str]) -> set[str]:
        """One of them; none where none has a value."""
        last = self._ledger.last_points(self._study.objective.metric)
        standings = [(one, *last[one]) for one in identities if one in last]
        return set(best_first(standings, self._study.objective.direction)[:1])
