"""Readers of the sets TextFooler attacked, 1000 inputs each (Jin et al. 2020).

Texts are lower-cased and tokenised, and read verbatim: most of ag's have quotation marks around them. Layout below
the data folder, plain or gzip:

    attack/<set>/<set>.txt   mr, imdb, yelp, ag: label BLANK text
                             mnli_matched, mnli_mismatched, snli: label TAB premise TAB hypothesis

Table 1 of RobustSentEmbed also attacks SST2 and MRPC, whose inputs were never published: sst2 and mrpc are the first
1000 of their test splits (transfer_sets.py). Table 3 of DCL attacks CoLA: cola is GLUE's validation split.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np

from rse_study.data.classes import (
    SENTIMENT_CLASSES,
    Example,
    find_set_file,
    label_of,
    labelled,
    malformed,
    text_of,
)
from rse_study.data.glue import read_glue
from rse_study.data.labelled import Labelled
from rse_study.data.tasks import GLUE, HUB_NAME, NLI_CLASSES
from rse_study.data.text_files import read_lines
from rse_study.data.transfer_sets import MRPC_CLASSES, read_transfer
from rse_study.registry import Registry

OF_TRANSFER = {"sst2": "SST2", "mrpc": "MRPC"}
OF_GLUE = {"cola": "CoLA"}
NUM_OF_TRANSFER = 1000
AG_CLASSES = ("world", "sports", "business", "sci/tech")
_NLI = {name: place for place, name in enumerate(NLI_CLASSES)}
ATTACK_SETS: Registry[tuple[str, ...]] = Registry(
    "attack set",
    {
        **dict.fromkeys(("mr", "imdb", "yelp"), SENTIMENT_CLASSES),
        "ag": AG_CLASSES,
        "sst2": SENTIMENT_CLASSES,
        "mrpc": MRPC_CLASSES,
        "cola": GLUE.get("CoLA").classes,
        **dict.fromkeys(("mnli_matched", "mnli_mismatched", "snli"), NLI_CLASSES),
    },
)


def read_attack_set(name: str, data_dir: Path, glue: str = HUB_NAME) -> Labelled:
    """Read the inputs of a set as `attack-<set>`, split `test`, in the file's order.

    Classes follow the files' numbers (negative, positive; ag: world, sports, business, sci/tech); those of pairs are
    entailment, neutral, contradiction.
    """
    classes = ATTACK_SETS.get(name)
    if name in OF_TRANSFER:
        whole = read_transfer(OF_TRANSFER[name], "test", data_dir)
        first = whole.take(np.arange(min(NUM_OF_TRANSFER, len(whole))))
        return replace(first, name=f"attack-{name}")
    if name in OF_GLUE:
        dev = cast(Labelled, read_glue(OF_GLUE[name], "validation", data_dir, glue))
        return replace(dev, name=f"attack-{name}", split="test")
    path = find_set_file(f"attack/{name}/{name}.txt", data_dir)
    read = _pairs if classes is NLI_CLASSES else _singles
    return labelled(f"attack-{name}", "test", read(path, len(classes)), classes, str(path))


def _singles(path: Path, num_classes: int) -> Iterator[Example]:
    known = {str(label): label for label in range(num_classes)}
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}:{number}"
        label, blank, text = line.partition(" ")
        if not blank:
            raise malformed("no text", where, "a line is label, blank, text")
        yield text_of(text, where=where), label_of(label, known, where)


def _pairs(path: Path, num_classes: int) -> Iterator[Example]:
    for number, line in enumerate(read_lines(path), start=1):
        where, columns = f"{path}:{number}", line.split("\t")
        if len(columns) != 3:
            raise malformed(f"{len(columns)} column(s)", where, "label, premise, hypothesis, tab separated")
        yield text_of(*columns[1:], where=where), label_of(columns[0], _NLI, where)
