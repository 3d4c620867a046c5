"""A few labelled texts, some to attack and others to fit a probe on.

They come only from sets without a test split: one that trials are selected by could not be reported.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data import builtin
from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import read_labelled
from rse_study.data.overlap import without
from rse_study.errors import InputError
from rse_study.streams import Streams

BUILTIN = "builtin"
SEEN_WITH: dict[str, tuple[str, ...]] = {
    # SST-2 is made of MR's sentences: 1493 of its 1821 test sentences are in MR, 822 of the 1000 that are attacked,
    # 731 of its 872 dev sentences, by letters and digits.
    "MR": ("MR", "attack-mr", "SST2", "attack-sst2", "GLUE-SST-2"),
}
"""Tasks that share sentences with a set, if not only the task of its own name."""


@dataclass(frozen=True)
class FewLabelled:
    """Texts to fit a probe on and texts to attack, disjoint."""

    training: Labelled
    inputs: Labelled


def name_of(labelled: str) -> str:
    """Return the task's name in rows and metrics."""
    return builtin.OPINIONS if labelled == BUILTIN else labelled


def tasks_seen_with(labelled: str) -> tuple[str, ...]:
    """Return the tasks whose sentences a study sees if it selects by this set."""
    return SEEN_WITH.get(labelled, (name_of(labelled),))


def read_few_labelled(
    labelled: str, data_dir: Path, *, num_inputs: int, num_training: int, seed: int
) -> FewLabelled:
    """Draw texts to attack, and others to train on, from the stream `order`.

    `labelled` is `builtin` or a cross-validated transfer task.
    """
    whole = builtin.opinions() if labelled == BUILTIN else read_labelled(labelled, "all", data_dir)
    where = f"{whole.name} {whole.split}"
    order = Streams(seed).numpy("order").permutation(len(whole))
    inputs = whole.take(order[:num_inputs])
    # Sets contain duplicates, but no input may be among its probe's training texts.
    others, _ = without(whole.take(order[num_inputs:]), inputs.texts)
    if len(others) < num_training:
        rule = f"{num_inputs} to attack leave {len(others)} others, and {num_training} are to be trained on"
        raise InputError("too few texts", where=where, rule=rule, remedy="Ask for fewer")
    training = others.take(np.arange(num_training))
    absent = sorted(set(range(len(whole.classes))) - set(training.labels.tolist()))
    if absent:
        what = f"none of {num_training} training texts is {whole.classes[absent[0]]!r}"
        rule = "a probe needs texts of every class"
        raise InputError(what, where=where, rule=rule, remedy="Ask for more, or draw them by another seed")
    return FewLabelled(training, inputs)
