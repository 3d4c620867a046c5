"""What is still to be scored in a study: its baselines and the models it keeps, each on every evaluation once."""

import shutil
from collections.abc import Iterator, Sequence

import ray

from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.evaluations import (
    as_they_come,
    ask_for_baseline,
    ask_for_scores,
    drop_models,
    missing_evaluations,
    scored_in,
)
from rse_study.on_ray.place import Place, Stock
from rse_study.on_ray.room import Room
from rse_study.on_ray.watcher import Watcher
from rse_study.results.ledger import Ledger
from rse_study.results.schema import baselines_folder, cell_folder
from rse_study.study.baselines import can_measure, measure_baselines
from rse_study.study.config import Baseline, Study
from rse_study.study.evaluations.subject import CLASSIFIERS, OfWeights


class Scoring:
    """The scores of one study. `judges`: what baselines are scored on besides its evaluations."""

    def __init__(
        self,
        study: Study,
        place: Place,
        ledger: Ledger,
        stock: Stock,
        watcher: Watcher,
        evaluations: Sequence[Evaluation],
        judges: Sequence[Evaluation],
    ) -> None:
        self._study, self._place, self._ledger = study, place, ledger
        self._stock, self._watcher = stock, watcher
        self._evaluations, self._judges = evaluations, judges

    def baselines(self) -> None:
        """Baselines on the dev pairs and every evaluation of vectors: here, before the first cell."""
        base = self._study.base
        of_vectors = [one for one in self._evaluations if not isinstance(one, OfWeights)]
        for name, lacking in self._lacking([*self._judges, *of_vectors]):
            rows = measure_baselines(base, self._stock.of(base), [name], lacking)
            self._ledger.record_evaluations(rows)

    def everything(self, cells: Sequence[Cell], room: Room) -> None:
        """What these cells and the baselines have no score of; then models that need not be kept go.

        As many tasks at a time as fit. Each is in the ledger as soon as it is there.
        """
        asked = [*self._scores_of_cells(cells, room), *self._scores_of_weights(room)]
        if asked:
            self._watcher.told(f"evaluations: {len(asked)} models on {', '.join(self._study.evaluations)}")
        for number, rows in enumerate(as_they_come(asked, room.closing), start=1):
            self._ledger.record_evaluations(rows)
            self._watcher.told(f"evaluated: {number} of {len(asked)} models")
        if not room.closing.is_set():
            shutil.rmtree(baselines_folder(self._place.study) / CLASSIFIERS, ignore_errors=True)
            drop_models([cell_folder(self._place.study, identity) for identity in self._not_kept(cells)])

    def _scores_of_cells(self, cells: Sequence[Cell], room: Room) -> Iterator[ray.ObjectRef]:
        missing = missing_evaluations(cells, self._evaluations, self._ledger)
        for cell in cells:
            if cell.identity in missing:
                room.open(cell.resources)
                wanted = [one for one in self._evaluations if one.name in missing[cell.identity]]
                yield ask_for_scores(cell, room.packer(cell), wanted)

    def _scores_of_weights(self, room: Room) -> Iterator[ray.ObjectRef]:
        """Of baselines: what is fine-tuned may take hours, which no cell should wait for."""
        study = self._study
        for name, lacking in self._lacking(self._evaluations):
            room.open(study.resources)
            yield ask_for_baseline(name, room.packer.base(study.base, study.resources), lacking)

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

    def _not_kept(self, cells: Sequence[Cell]) -> list[str]:
        """Identities of the cells whose model goes, by keep_models; `best`: of a search's chosen, of a grid's best."""
        every = [record.identity for record in self._ledger.cells() if record.status == "complete"]
        if self._study.keep_models == "final":
            return []
        if self._study.keep_models == "none":
            return every
        kept = {cell.identity for cell in cells} if self._study.grid is None else set(self._best(every))
        return [identity for identity in every if identity not in kept]

    def _best(self, identities: Sequence[str]) -> list[str]:
        values = self._ledger.last_points(self._study.objective.metric)
        choose = max if self._study.objective.direction == "maximize" else min
        return [choose(identities, key=lambda identity: values[identity][1])] if identities else []
