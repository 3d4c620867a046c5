"""Training texts for the victims of an attack set, with the same classes."""

from pathlib import Path
from typing import cast

import numpy as np

from rse_study.data.attack_sets import ATTACK_SETS, OF_GLUE, OF_TRANSFER
from rse_study.data.glue import read_glue
from rse_study.data.labelled import Labelled
from rse_study.data.nli_sets import read_nli
from rse_study.data.sentiment_sets import read_reviews, read_sentiment
from rse_study.data.tasks import HUB_NAME, NLI_CLASSES
from rse_study.data.transfer_sets import read_transfer
from rse_study.errors import InputError, MissingFile

_STAND_INS = {"imdb": "review-polarity", "yelp": "uci-yelp"}


def training_for(name: str, data_dir: Path, glue: str = HUB_NAME) -> Labelled:
    """Return texts of an attack set's classes, from which overlap.py removes inputs.

    Pairs come from MNLI's or SNLI's training set, else from the few SNLI pairs there are: a weak victim. Reviews
    come from IMDB's or YELP polarity's, else from 2000 other reviews of films, or 1000 sentences.
    """
    if name == "mr":
        return read_transfer("MR", "all", data_dir)
    if name in OF_TRANSFER:
        return read_transfer(OF_TRANSFER[name], "train", data_dir)
    if name in OF_GLUE:
        return cast(Labelled, read_glue(OF_GLUE[name], "train", data_dir, glue))
    if name in _STAND_INS:
        try:
            return read_reviews(name.upper(), "train", data_dir)
        except MissingFile:
            return read_sentiment(_STAND_INS[name], data_dir)
    if ATTACK_SETS.get(name) is NLI_CLASSES:
        try:
            return read_nli("MNLI" if name.startswith("mnli") else "SNLI", "train", data_dir)
        except MissingFile:
            return _few_pairs(data_dir)
    rule, remedy = "a victim needs training texts of the same classes", "Attack another set"
    raise InputError("no training texts", where=f"attack set {name}", rule=rule, remedy=remedy)


def _few_pairs(data_dir: Path) -> Labelled:
    parts = [read_nli("SNLI-subset", split, data_dir) for split in ("dev", "test")]
    texts = [text for part in parts for text in part.texts]
    labels = np.concatenate([part.labels for part in parts])
    return Labelled("SNLI-subset", "dev+test", texts, labels, NLI_CLASSES)
