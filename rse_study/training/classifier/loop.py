"""Fine-tuning of a whole encoder; on one machine it resumes to the same bits."""

import time
from collections.abc import Callable
from pathlib import Path

import torch

from rse_study.spec import fingerprint_of
from rse_study.training import checkpoint
from rse_study.training.classifier.config import FineTuning
from rse_study.training.classifier.data import Start, Supervised, identity_of_tuning, split_off
from rse_study.training.classifier.run import FineTuned, TuningProgress, open_run
from rse_study.training.interrupts import graceful_interrupt

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
    on_progress: TuningCallback = lambda progress: None,
    checkpoint_seconds: float = 60.0,
) -> FineTuned:
    """Fine-tune an encoder, or resume from the checkpoint in `directory`.

    A finished fine-tuning only reads its weights back. The caller removes the checkpoint. Without `dev`, a share of
    the training data is split off. SIGINT raises KeyboardInterrupt once the step is finished and saved. Raises
    InputError if data and encoder do not fit or the folder is another run's, NonFiniteLoss if a loss is not finite.
    """
    run = open_run(spec, seed, start, split_off(training, dev, spec.dev_share), torch.device(device))
    state = run.resume(directory, fingerprint_of(identity_of_tuning(spec, seed, start, training, dev)))
    earlier, begun = state.seconds, time.monotonic()
    saved = begun
    with graceful_interrupt() as is_interrupted:
        while not run.is_over(state):
            progress = run.advance(state)
            state.seconds = earlier + time.monotonic() - begun
            on_progress(progress)
            is_due = time.monotonic() - saved >= checkpoint_seconds
            if is_interrupted() or is_due or run.is_over(state):
                run.losses.require_finite()
                checkpoint.save(directory, state, run.network, run.optimizer, run.all_tensors)
                saved = time.monotonic()
            if is_interrupted() and not run.is_over(state):
                raise KeyboardInterrupt
    return run.result(state)
