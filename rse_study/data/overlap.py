"""Training texts that come back among an attack's inputs: no victim may see them.

Compared by letters and digits alone, lower-cased: of the 1000 inputs attacked in MR all are in MR itself, but only
six of them character by character. Letters are a to z: the attacked inputs have lost all others ("clich s" for
"clichés", 16 of the 1000).
"""

from collections.abc import Iterable

import numpy as np

from rse_study.data.labelled import Labelled, Text


def without(training: Labelled, inputs: Iterable[Text]) -> tuple[Labelled, int]:
    """(what of `training` is not among `inputs`, how many examples were removed)."""
    seen = {bare(text) for text in inputs}
    kept = np.array([i for i, text in enumerate(training.texts) if bare(text) not in seen], np.int64)
    return training.take(kept), len(training) - len(kept)


def num_found(inputs: Iterable[Text], training: Labelled) -> int:
    """How many of the inputs occur in the training set."""
    seen = {bare(text) for text in training.texts}
    return sum(bare(text) in seen for text in inputs)


def bare(text: Text) -> Text:
    """A text's letters and digits alone (a-z, 0-9), lower-cased, part by part.

    Of a part that is mostly written otherwise all letters and digits stay; one without any stays as it is, without its
    outer blanks.
    """
    return tuple(_bare(part) for part in text)


def _bare(part: str) -> str:
    known = "".join(c for c in part.lower() if c.isalnum())
    latin = "".join(c for c in known if c.isascii())
    return (latin if 2 * len(latin) > len(known) else known) or part.strip()
