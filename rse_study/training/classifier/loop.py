"""Fine-tuning of a whole encoder for classes, or for gold similarities: one process, a function of its seed.

What seed, data and start decide is decided whatever happens on the way: an interrupted run that is called again ends
in the same bits on the same kind of processor with the same number of threads.
"""

import time
from collections.abc import Callable
from pathlib import Path

import torch

from rse_study.spec import fingerprint_of
from rse_study.training import checkpoint
from rse_study.training.classifier.config import Start, identity_of_tuning
from rse_study.training.classifier.data import Supervised, split_off
from rse_study.training.classifier.run import FineTuned, TuningProgress, open_run
from rse_study.training.classifier.spec import FineTuning
from rse_study.training.interruption import interrupt_held_back

__all__ = ["FineTuned", "FineTuning", "Start", "TuningCallback", "TuningProgress", "fine_tune"]

TuningCallback = Callable[[TuningProgress], None]


def fine_tune(
    spec: FineTuning,
    seed: int,
    start: Start,
    training: Supervised,
    directory: Path,
    *,
    dev: Supervised | None = None,
    device: str = "cpu",
    told: TuningCallback = lambda progress: None,
    checkpoint_seconds: float = 60.0,
) -> FineTuned:
    """Train, or go on from the checkpoint in `directory`; a finished one only reads its weights back.

    The checkpoint is the caller's to remove. Raises InputError where data and encoder do not fit or the folder is
    another run's, NonFiniteLoss where the loss is lost, KeyboardInterrupt after SIGINT: the step is finished and
    saved first.
    """
    run = open_run(spec, seed, start, split_off(training, dev, spec.dev_share), torch.device(device))
    account = run.resume(directory, fingerprint_of(identity_of_tuning(spec, seed, start, training, dev)))
    earlier, begun = account.seconds, time.monotonic()
    saved = begun
    with interrupt_held_back() as is_interrupted:
        while not run.is_over(account):
            progress = run.advance(account)
            account.seconds = earlier + time.monotonic() - begun
            told(progress)
            is_due = time.monotonic() - saved >= checkpoint_seconds
            if is_interrupted() or is_due or run.is_over(account):
                checkpoint.save(directory, account, run.network, run.optimizer, run.state)
                saved = time.monotonic()
            if is_interrupted() and not run.is_over(account):
                raise KeyboardInterrupt
    return run.result(account)
