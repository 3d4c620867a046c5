"""Folders of data, caches and studies, and the tasks whose sets lie there."""

import os
from dataclasses import dataclass
from pathlib import Path

from rse_study.registry import Registry


def cache_dir() -> Path:
    """Return `RSE_STUDY_CACHE`, else `~/.cache/rse_study`."""
    return Path(os.environ.get("RSE_STUDY_CACHE") or Path.home() / ".cache" / "rse_study")


def data_dir() -> Path:
    """Return `RSE_STUDY_DATA`, else `data` in the cache folder."""
    return Path(os.environ.get("RSE_STUDY_DATA") or cache_dir() / "data")


def store_dir() -> Path:
    """Return `RSE_STUDY_STORE`, else `studies` in the working folder."""
    return Path(os.path.expanduser(os.environ.get("RSE_STUDY_STORE") or "studies"))


def study_folders(beside: Path, data_dir: Path) -> tuple[Path, ...]:
    """Return the folders in which a study's relative paths are searched, in order.

    They are that of the study's file, the working folder and the data folder. Which of them has a corpus or a model
    does not enter a cell's identity; the fingerprint of its content does.
    """
    return beside.absolute(), Path.cwd(), data_dir.absolute()


NLI_CLASSES = ("entailment", "neutral", "contradiction")
SUBSETS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),  # without SMT, which its licence withholds
    "STS14": ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
HUB_NAME = "nyu-mll/glue"


@dataclass(frozen=True)
class GlueTask:
    """One task: its configuration in `datasets`, its columns, its classes."""

    config: str
    columns: tuple[str, ...]
    classes: tuple[str, ...]
    """empty: gold similarities from 0 to 5"""
    dev: tuple[str, ...] = ("validation",)

    @property
    def splits(self) -> tuple[str, ...]:
        return ("train", *self.dev)


_BOTH = ("sentence1", "sentence2")
_ENTAILED = ("entailment", "not_entailment")
GLUE: Registry[GlueTask] = Registry(
    "GLUE task",
    {
        "CoLA": GlueTask("cola", ("sentence",), ("unacceptable", "acceptable")),
        "SST-2": GlueTask("sst2", ("sentence",), ("negative", "positive")),
        "MRPC": GlueTask("mrpc", _BOTH, ("not_equivalent", "equivalent")),
        "STS-B": GlueTask("stsb", _BOTH, ()),
        "QQP": GlueTask("qqp", ("question1", "question2"), ("not_duplicate", "duplicate")),
        "MNLI": GlueTask(
            "mnli", ("premise", "hypothesis"), NLI_CLASSES, ("validation_matched", "validation_mismatched")
        ),
        "QNLI": GlueTask("qnli", ("question", "sentence"), _ENTAILED),
        "RTE": GlueTask("rte", _BOTH, _ENTAILED),
        "WNLI": GlueTask("wnli", _BOTH, ("not_entailment", "entailment")),
    },
)
