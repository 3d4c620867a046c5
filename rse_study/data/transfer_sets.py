"""Readers of SentEval's seven transfer tasks (Conneau and Kiela 2018).

Layout below the data folder, plain or gzip; lines are SentEval's, including blank ones:

    transfer/MR/rt-polarity.{pos,neg}            one sentence a line, the class is the file
    transfer/CR/custrev.{pos,neg}
    transfer/SUBJ/subj.{subjective,objective}
    transfer/MPQA/mpqa.{pos,neg}
    transfer/SST2/sentiment-{train,dev,test}     sentence TAB 0 or 1; train holds phrases
    transfer/TREC/{train_5500,TREC_10}.label     CLASS:subclass BLANK question
    transfer/MRPC/msr_paraphrase_{train,test}.txt    header; 0 or 1, id, id, sentence, sentence, tab separated

Texts are only stripped: SentEval's download also deletes every ` and ' of TREC.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from rse_study.data.classes import (
    BINARY,
    SENTIMENT_CLASSES,
    Example,
    find_set_file,
    label_of,
    labelled,
    malformed,
    tabbed_sentences,
    text_of,
)
from rse_study.data.labelled import Labelled
from rse_study.data.text_files import read_lines
from rse_study.registry import Registry

MRPC_CLASSES = ("other", "paraphrase")
TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
_TREC = {name: place for place, name in enumerate(TREC_CLASSES)}
_BY_CLASS = {  # (classes, a file for each)
    "MR": (SENTIMENT_CLASSES, ("rt-polarity.neg", "rt-polarity.pos")),
    "CR": (SENTIMENT_CLASSES, ("custrev.neg", "custrev.pos")),
    "SUBJ": (("objective", "subjective"), ("subj.objective", "subj.subjective")),
    "MPQA": (SENTIMENT_CLASSES, ("mpqa.neg", "mpqa.pos")),
}
_WITH_BLANKS = ("CR", "MPQA")  # 4 and 3 lines, as they were published
_TREC_FILES = {"train": "train_5500.label", "test": "TREC_10.label"}
_MRPC_COLUMNS = 5


def read_transfer(name: str, split: str, data_dir: Path) -> Labelled:
    """Read one split of a task, one of `transfer_splits(name)`."""
    Registry("split of " + name, dict.fromkeys(transfer_splits(name))).get(split)
    return _TASKS.get(name)[1](name, split, data_dir)


def read_transfer_task(name: str, data_dir: Path) -> tuple[Labelled, ...]:
    """Read all splits of a task, in the order of `transfer_splits`."""
    return tuple(read_transfer(name, split, data_dir) for split in transfer_splits(name))


def transfer_splits(name: str) -> tuple[str, ...]:
    """Return a task's splits: `all` if the whole set is cross-validated."""
    return _TASKS.get(name)[0]


def transfer_tasks() -> tuple[str, ...]:
    """Return the seven tasks in the order of the papers' tables."""
    return tuple(_TASKS)


def _read_by_class(name: str, split: str, data_dir: Path) -> Labelled:
    classes, files = _BY_CLASS[name]
    paths = [find_set_file(f"transfer/{name}/{file}", data_dir) for file in files]
    examples = (
        (text_of(line, where=f"{path}:{number}", may_be_empty=name in _WITH_BLANKS), label)
        for label, path in enumerate(paths)
        for number, line in enumerate(read_lines(path), start=1)
    )
    return labelled(name, split, examples, classes, str(paths[0].parent))


def _read_sst2(name: str, split: str, data_dir: Path) -> Labelled:
    path = find_set_file(f"transfer/{name}/sentiment-{split}", data_dir)
    return labelled(name, split, tabbed_sentences(path), SENTIMENT_CLASSES, str(path))


def _read_trec(name: str, split: str, data_dir: Path) -> Labelled:
    path = find_set_file(f"transfer/{name}/{_TREC_FILES[split]}", data_dir)
    return labelled(name, split, _questions(path), TREC_CLASSES, str(path))


def _read_mrpc(name: str, split: str, data_dir: Path) -> Labelled:
    path = find_set_file(f"transfer/{name}/msr_paraphrase_{split}.txt", data_dir)
    return labelled(name, split, _paraphrases(path), MRPC_CLASSES, str(path))


def _questions(path: Path) -> Iterator[Example]:
    for number, line in enumerate(read_lines(path), start=1):
        where = f"{path}:{number}"
        label, blank, text = line.partition(" ")
        if not blank:
            raise malformed("no question", where, "a line is CLASS:subclass, blank, question")
        yield text_of(text, where=where), label_of(label.partition(":")[0], _TREC, where)


def _paraphrases(path: Path) -> Iterator[Example]:
    for number, line in enumerate(read_lines(path), start=1):
        where, columns = f"{path}:{number}", line.split("\t")
        if len(columns) != _MRPC_COLUMNS:
            rule = f"{_MRPC_COLUMNS} columns, tab separated"
            raise malformed(f"{len(columns)} column(s)", where, rule)
        if number > 1:
            yield text_of(*columns[3:], where=where), label_of(columns[0], BINARY, where)


_TASKS: Registry[tuple[tuple[str, ...], Callable[[str, str, Path], Labelled]]] = Registry(
    "transfer task",
    {
        **dict.fromkeys(("MR", "CR", "SUBJ", "MPQA"), (("all",), _read_by_class)),
        "SST2": (("train", "dev", "test"), _read_sst2),
        "TREC": (("train", "test"), _read_trec),
        "MRPC": (("train", "test"), _read_mrpc),
    },
)
