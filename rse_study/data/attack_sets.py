"""Sets whose texts are attacked, and the training texts of their victims.

Table 1 of RobustSentEmbed also attacks SST2 and MRPC, whose inputs were never published: sst2 and mrpc are the first
1000 of their test splits. Table 3 of DCL attacks CoLA: cola is GLUE's validation split.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from rse_study.data import HUB_NAME, builtin
from rse_study.data.hub import read_glue
from rse_study.data.labelled import Labelled, Text
from rse_study.data.labelled_sets import read_labelled
from rse_study.errors import InputError, MissingFile
from rse_study.registry import Registry
from rse_study.tensors import Int

_NO_LETTERS = {code: None for code in range(128) if not chr(code).isalnum()}


def unseen(texts: Iterable[Text], inputs: Iterable[Text]) -> Int[np.ndarray, " m"]:
    """Return the places of texts that are not among `inputs`."""
    seen = {bare(text) for text in inputs}
    return np.array([place for place, text in enumerate(texts) if bare(text) not in seen], np.int64)


def bare(text: Text) -> Text:
    """Reduce a text to its letters and digits (a-z, 0-9), lower-cased, part by part.

    All of the 1000 inputs attacked in MR are in MR, but only six of them verbatim, and 16 have lost their non-ASCII
    letters ("clich s" for "clichés").
    A part mostly in another script keeps all its letters and digits; one without any is only stripped.
    """
    return tuple(_bare(part) for part in text)


def _bare(part: str) -> str:
    lower = part.lower()
    if lower.isascii():  # hundreds of thousands of reviews in seconds
        return lower.translate(_NO_LETTERS) or part.strip()
    known = "".join(c for c in lower if c.isalnum())
    latin = "".join(c for c in known if c.isascii())
    return (latin if 2 * len(latin) > len(known) else known) or part.strip()


def held_out(texts: list[Text], share: float) -> np.ndarray:
    """Return [n] bool, True for about `share` of the texts.

    Texts that differ only in punctuation or case are held out together.
    """
    return np.array([_uniform_hash(text) < share for text in texts], bool)


def _uniform_hash(text: Text) -> float:
    """Hash a text to a number in [0, 1), uniformly."""
    digest = hashlib.sha256("\n".join(bare(text)).encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56


BUILTIN = "builtin"
SEEN_WITH: dict[str, tuple[str, ...]] = {
    # SST-2 is made of MR's sentences: 1493 of its 1821 test sentences are in MR, 822 of the 1000 that are attacked,
    # 731 of its 872 dev sentences, by letters and digits.
    "MR": ("MR", "attack-mr", "SST2", "attack-sst2", "GLUE-SST-2"),
}
"""Tasks that share sentences with a set, if not only the task of its own name."""


def name_of(labelled: str) -> str:
    """Return the task's name in rows and metrics."""
    return builtin.OPINIONS if labelled == BUILTIN else labelled


def tasks_seen_with(labelled: str) -> tuple[str, ...]:
    """Return the tasks whose sentences a study sees if it selects by this set."""
    return SEEN_WITH.get(labelled, (name_of(labelled),))


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
    """Return texts of an attack set's classes, from which `unseen` removes inputs.

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
