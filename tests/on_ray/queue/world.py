"""Queues over a folder whose cells no worker runs: what one leaves behind is written by the test."""

from pathlib import Path

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells, ProposedCells
from rse_study.on_ray.queue.stages import grid_cells
from rse_study.on_ray.stored import StudyFiles
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.sampling.proposer import Proposer, deciding_rule
from rse_study.spec import fingerprint_of
from tests.on_ray.world import checked_of


class World:
    """Queues over one folder, as a driver makes them at every start."""

    def __init__(self, folder, content):
        self.checked = checked_of(content)
        self.ledger, self.files = Ledger.open(folder), StudyFiles(folder)
        self.ledger.freeze(StudyRecord(name="x", objective=ObjectiveRecord(metric="dev")))

    def queue(self, **options):
        self.ledger.close_attempts("the driver ended while it ran")
        study = self.checked.study
        domains = {axis.name: axis.domain for axis in self.checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, [study.objective.direction])
        source = ProposedCells(self.checked, proposer, identify)
        rule = deciding_rule(study, Path())
        return CellQueue(
            study, "search", source, self.ledger, self.files, self.checked.rungs, rule=rule, **options
        )

    def grid(self):
        self.ledger.close_attempts("the driver ended while it ran")
        cells = grid_cells(self.checked, self.ledger, identify)
        self.ledger.retire_others({cell.identity for cell in cells}, "grid")
        return CellQueue(self.checked.study, "grid", FixedCells(cells, self.ledger), self.ledger, self.files)

    def train(self, cell, dev=50.0, t=3, **settings):
        """What a worker leaves behind."""
        history = (Point(t=t, metrics={"dev": dev}),)
        result = Result(
            identity=cell.identity, seed=cell.seed, config={}, history=history, final={"dev": dev}, **settings
        )
        write_result(cell_folder(self.ledger.study_dir, cell.identity), result)

    def end(self, queue, cell, dev=50.0, **settings):
        self.train(cell, dev, **settings)
        return queue.finish(cell)

    def run(self, queue, value_of=lambda cell: 50.0):
        """All cells, one at a time."""
        ran = []
        while (cell := queue.next_cell()) is not None:
            self.end(queue, cell, value_of(cell))
            ran.append(cell)
        return ran


def identify(trial, seed):
    return fingerprint_of([trial.identity(), seed])
