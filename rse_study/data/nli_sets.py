"""Readers of natural language inference: SNLI, MNLI, ANLI's rounds, FEVER.

Layout below the data folder, as published, plain or gzip, one JSON object a line:

    nli/snli/snli_1.0_{train,dev,test}.jsonl                              gold_label, sentence1, sentence2
    nli/snli_subset/snli_1.0_{dev,test}.subset.jsonl                      its first rows
    nli/mnli/multinli_1.0_{train,dev_matched,dev_mismatched}.jsonl        gold_label, sentence1, sentence2
    nli/anli/R{1,2,3}/{train,dev,test}.jsonl                              context, hypothesis, label: e, n or c
    nli/fever/{train,dev}_fitems.jsonl      context (the evidence), query (the claim), label: SUPPORTS, REFUTES,
                                            NOT ENOUGH INFO, as Nie et al. (2019) pair them (nli_fever)

Pairs without a majority have the gold label `-`; they are left out and counted.
"""

from collections.abc import Iterator
from pathlib import Path

from rse_study.data.classes import Example, find_set_file, label_of, labelled, read_objects, text_of
from rse_study.data.labelled import Labelled
from rse_study.data.tasks import NLI_CLASSES
from rse_study.registry import Registry

ANLI_ROUNDS = ("ANLI-R1", "ANLI-R2", "ANLI-R3")
NO_MAJORITY = "-"
_THREE = ("train", "dev", "test")
_WORDS = {name: place for place, name in enumerate(NLI_CLASSES)}
_LETTERS = {name[0]: place for place, name in enumerate(NLI_CLASSES)}
_VERDICTS = dict(zip(("SUPPORTS", "NOT ENOUGH INFO", "REFUTES"), range(3), strict=True))
_SENTENCES = ("gold_label", "sentence1", "sentence2")
_CONTEXTS = ("label", "context", "hypothesis")
_EVIDENCE = ("label", "context", "query")
_FILES: Registry[dict[str, str]] = Registry(
    "NLI task",
    {
        "SNLI": {split: f"nli/snli/snli_1.0_{split}.jsonl" for split in _THREE},
        "SNLI-subset": {split: f"nli/snli_subset/snli_1.0_{split}.subset.jsonl" for split in ("dev", "test")},
        "MNLI": {
            split: f"nli/mnli/multinli_1.0_{split}.jsonl"
            for split in ("train", "dev_matched", "dev_mismatched")
        },
        **{task: {split: f"nli/anli/{task[-2:]}/{split}.jsonl" for split in _THREE} for task in ANLI_ROUNDS},
        "FEVER": {split: f"nli/fever/{split}_fitems.jsonl" for split in ("train", "dev")},
    },
)


def read_nli(name: str, split: str, data_dir: Path) -> Labelled:
    """Read one split as (premise, hypothesis): entailment, neutral, contradiction."""
    path = find_set_file(nli_files(name).get(split), data_dir)
    examples = _nli(path)
    if name in ANLI_ROUNDS:
        examples = _contexts(path, _CONTEXTS, _LETTERS)
    elif name == "FEVER":
        examples = _contexts(path, _EVIDENCE, _VERDICTS)
    return labelled(name, split, examples, NLI_CLASSES, str(path))


def nli_files(name: str) -> Registry[str]:
    """Return a map from split to file below the data folder."""
    return Registry(f"split of {name}", _FILES.get(name))


def nli_tasks() -> tuple[str, ...]:
    """Return the names of all tasks."""
    return tuple(_FILES)


def _nli(path: Path) -> Iterator[Example]:
    for where, (gold, premise, hypothesis) in read_objects(path, _SENTENCES):
        label = None if gold == NO_MAJORITY else label_of(gold, _WORDS, where)
        yield text_of(premise, hypothesis, where=where), label


def _contexts(path: Path, keys: tuple[str, ...], known: dict[str, int]) -> Iterator[Example]:
    for where, (label, context, hypothesis) in read_objects(path, keys):
        text = text_of(context, hypothesis, where=where, may_be_empty=keys is _EVIDENCE)
        yield text, label_of(label, known, where)
