"""Sets whose texts are attacked, and the training texts of their victims.

Table 1 of RobustSentEmbed also attacks SST2 and MRPC, whose inputs were never published: sst2 and mrpc are the first
1000 of their test splits. Table 3 of DCL attacks CoLA: cola is GLUE's validation split.
"""

from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from rse_study.data.glue import read_glue
from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import read_labelled
from rse_study.data.tasks import HUB_NAME
from rse_study.errors import InputError, MissingFile
from rse_study.registry import Registry

OF_TRANSFER = {"sst2": "SST2", "mrpc": "MRPC"}
OF_GLUE = {"cola": "CoLA"}
NUM_OF_TRANSFER = 1000
_SNLI = (("SNLI", "train"), ("SNLI-subset", "dev+test"))
_MNLI = (("MNLI", "train"), ("SNLI-subset", "dev+test"))
ATTACK_SETS: Registry[tuple[tuple[str, str], ...]] = Registry(
    "attack set",
    {
        "mr": (("MR", "all"),),
        "imdb": (("IMDB", "train"), ("review-polarity", "all")),
        "yelp": (("YELP", "train"), ("uci-yelp", "all")),
        "ag": (),
        "sst2": (("SST2", "train"),),
        "mrpc": (("MRPC", "train"),),
        "cola": (),
        "mnli_matched": _MNLI,
        "mnli_mismatched": _MNLI,
        "snli": _SNLI,
    },
)
"""Training texts of the same classes, the first that are here; GLUE's come with its inputs, ag has none."""


def read_attack_set(name: str, data_dir: Path, glue: str = HUB_NAME) -> Labelled:
    """Read the inputs of a set as `attack-<set>`, split `test`, in the file's order."""
    ATTACK_SETS.get(name)
    if name in OF_TRANSFER:
        whole = read_labelled(OF_TRANSFER[name], "test", data_dir)
        first = whole.take(np.arange(min(NUM_OF_TRANSFER, len(whole))))
        return replace(first, name=f"attack-{name}")
    if name in OF_GLUE:
        dev = cast(Labelled, read_glue(OF_GLUE[name], "validation", data_dir, glue))
        return replace(dev, name=f"attack-{name}", split="test")
    return read_labelled(f"attack-{name}", "test", data_dir)


def training_for(name: str, data_dir: Path, glue: str = HUB_NAME) -> Labelled:
    """Return texts of an attack set's classes, from which overlap.py removes inputs.

    Without the training set of pairs the few SNLI pairs make a weak victim; without that of reviews 2000 other reviews
    of films are read, or 1000 sentences.
    """
    if name in OF_GLUE:
        return cast(Labelled, read_glue(OF_GLUE[name], "train", data_dir, glue))
    missing: InputError = InputError(
        "no training texts",
        where=f"attack set {name}",
        rule="a victim needs training texts of the same classes",
        remedy="Attack another set",
    )
    for task, split in ATTACK_SETS.get(name):
        try:
            return read_labelled(task, split, data_dir)
        except MissingFile as error:
            missing = error
    raise missing
