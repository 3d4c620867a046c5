"""A study's run that ends in its middle, as by Ctrl-C, and what its ledger holds."""

import os
import signal

from rse_study.on_ray.driver import run_study
from rse_study.results.reader import Reader
from tests.on_ray.listener import Listener
from tests.on_ray.world import few


class Interrupts(Listener):
    """Interrupts the run when the cell of this number among a stage's has ended."""

    def __init__(self, stage, number):
        super().__init__()
        self._stage, self._number, self.num_ended = stage, number, 0

    def ended(self, cell, record):
        super().ended(cell, record)
        self.num_ended += cell.stage == self._stage
        if self.num_ended == self._number:
            os.kill(os.getpid(), signal.SIGINT)


def run(checked, folder, materials, cluster, listener=None):
    return run_study(checked, folder, lambda trial: materials, few, listener or Listener(), address=cluster)


def ledger_rows(folder):
    with Reader(folder) as reader:
        return reader.trials_table().drop(columns="duration_s").to_dict("records")
