"""Tasks of MTEB (Muennighoff et al. 2023): its package has data, protocol and scores."""

import copy
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import datasets
import mteb
import numpy as np
from huggingface_hub import snapshot_download
from huggingface_hub.errors import LocalEntryNotFoundError
from mteb.abstasks import AbsTask, AbsTaskClassification, AbsTaskRetrieval
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction

from rse_study.data.hub import offline
from rse_study.errors import InputError, MissingFile, first_line
from rse_study.evaluation import MTEB
from rse_study.evaluation.evaluations import Embed, evaluation_rows, is_collapsed, vectors_of
from rse_study.registry import did_you_mean
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import POINTS, EvaluationRow, Measure
from rse_study.spec import fingerprint_of

TYPES = ("STS", "Classification", "PairClassification", "Clustering", "Retrieval", "Reranking")
ENGLISH = "eng"
SIMILARITIES = ("cosine", "dot")
MOST_NAMED = 5
"""languages in a message"""
MAIN_SCORE = "main_score"
LARGEST_CARRIED = 2**30
"""bytes of data that travel to workers; larger ones are read from the cache, which all nodes must see"""

logging.getLogger("mteb").setLevel(logging.ERROR)
datasets.disable_progress_bars()


class Encoder(AbsEncoder):
    """Sentence vectors as MTEB asks for them, compared as their model records."""

    def __init__(self, embed: Embed, name: str) -> None:
        self._embed, self._are_finite, self._are_equal = embed, True, True
        similarity = getattr(embed, "similarity", SIMILARITIES[0])
        if similarity not in SIMILARITIES:
            what, rule = f"its similarity is {similarity!r}", f"MTEB compares by {' or '.join(SIMILARITIES)}"
            raise InputError(what, where=name, rule=rule, remedy="Use another encoder")
        is_hub_name = name.count("/") == 1 and not Path(name).exists()
        self.mteb_model_meta = ModelMeta.create_empty(
            {
                "name": name if is_hub_name else f"local/{Path(name).name}",
                "similarity_fn_name": ScoringFunction(similarity),
            }
        )

    @property
    def is_degenerate(self) -> bool:
        """Whether a vector was not finite, or all of each call were the same."""
        return self._are_equal or not self._are_finite

    def encode(self, inputs: Any, **context: Any) -> np.ndarray:
        """Return one row per text, [n d].

        This is the place for prompts: MTEB's (by task and `prompt_type`, in `context`) are not applied, and `embed`
        applies what its model records.
        """
        vectors = self._embed([text for batch in inputs for text in batch["text"]])
        self._are_finite &= bool(np.isfinite(vectors).all())
        self._are_equal &= is_collapsed(vectors)
        return np.nan_to_num(vectors, posinf=0.0, neginf=0.0)


@dataclass(frozen=True)
class MtebTask:
    """Main score x100 of an English task of MTEB, named mteb/TASK or mteb/TASK/eng.

    Parameters
    ----------
    task
        With its data loaded. Every score takes a copy: a task draws from generators that go on from score to score.
    results
        Folder for MTEB's own files, in the layout of its leaderboard; None: none are written.
    """

    name: str
    task: AbsTask
    results: Path | None = None

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "MtebTask":
        """Load a task's data from the hub's cache, never from the hub.

        Raises
        ------
        MissingFile
            The task's revision of its data is not in the cache, or not completely.
        InputError
            There is no such task, it is unfit, or its data cannot be read.
        """
        task = cls.find(name)
        source = task.metadata.dataset
        repository, revision = source["path"], source["revision"]
        remedy = f"Run: hf download {repository} --repo-type dataset --revision {revision}"
        try:
            folder = snapshot_download(
                repository, repo_type="dataset", revision=revision, local_files_only=True
            )
            with _loading():
                task.metadata = task.metadata.model_copy(update={"dataset": {**source, "path": folder}})
                task.load_data()
        except LocalEntryNotFoundError:
            what, rule = f"{repository} is not in the hub's cache", "an evaluation downloads nothing"
            raise MissingFile(what, where=name, rule=rule, remedy=remedy) from None
        except Exception as error:  # of a task's own loader, whatever is in the files
            what = f"{repository} cannot be loaded ({type(error).__name__}: {first_line(error)})"
            raise InputError(what, where=name, remedy=remedy) from error
        del task.metadata  # its class has one, with the name on the hub
        if isinstance(task, AbsTaskRetrieval):
            task.convert_v1_dataset_format_to_v2(num_proc=None)
        return cls(name, task)

    @staticmethod
    def find(name: str, what: str = "") -> AbsTask:
        """Return a task without data, of its English test sets; InputError if unfit."""
        _, task_name, *languages = name.split("/")
        try:
            with _quiet():
                task = mteb.get_task(task_name)
        except KeyError:
            rule = f"MTEB {mteb.__version__} has no such task"
            raise InputError(what or name, rule=rule, remedy=_similar(task_name)) from None
        for is_unfit, rule, remedy in _faults(task, languages):
            if is_unfit:
                raise InputError(what or name, rule=rule, remedy=remedy)
        if "test" in task.eval_splits:
            task.filter_eval_splits(["test"])
        return task.filter_languages([ENGLISH], exclusive_language_filter=True)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of name, revision of the data, and version of MTEB."""
        return fingerprint_of([self.name, dict(self.task.metadata.dataset), mteb.__version__])

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(name=self.name, metric=f"{self.name}/{MAIN_SCORE}", unit=POINTS),)

    @property
    def num_sentences(self) -> int:
        task, texts = self.task, sum(map(sum, self._sizes()))
        if not isinstance(task, AbsTaskClassification):
            return texts
        drawn = task.n_experiments * task.samples_per_label
        labels = [list(part[task.label_column_name]) for part in self._parts(task.train_split)]
        return texts + sum(min(len(one), drawn * len(set(one))) for one in labels)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row; 0, degenerate for collapsed embeddings."""
        encoder = Encoder(embed, subject)
        with _quiet():
            found = mteb.evaluate(
                encoder,
                copy.deepcopy(self.task),
                co2_tracker=False,
                cache=mteb.ResultCache(self.results) if self.results else None,
                overwrite_strategy="always",
                show_progress_bar=False,
            )
        value = 0.0 if encoder.is_degenerate else 100 * float(found.task_results[0].main_score)
        about = self, subject, "+".join(self.task.eval_splits), {MAIN_SCORE: value}
        num_examples = sum(sizes[0] for sizes in self._sizes())
        items = {} if encoder.is_degenerate else {MAIN_SCORE: self._items(embed)}
        return evaluation_rows(*about, num_examples, degenerate=encoder.is_degenerate, items=items)

    def _items(self, embed: Embed) -> ItemScores | None:
        """Return the cosines of pairs with their gold scores; None if it is no one correlation."""
        part, *others = self._parts(*self.task.eval_splits)
        if others or self.task.metadata.main_score != "cosine_spearman":
            return None
        first, second = vectors_of(embed, *(list(part[column]) for column in self.task.column_names))
        return ItemScores.of((first * second).sum(axis=1), part["score"])

    def _parts(self, *splits: str) -> Iterator[Any]:
        """Yield the data of each subset and split: a table, or queries and corpus."""
        for subset in self.task.hf_subsets:
            splits_of = self.task.dataset.get(subset, self.task.dataset)
            yield from (splits_of[split] for split in splits)

    def _sizes(self) -> Iterator[list[int]]:
        """Yield the number of texts of each part, in each of its columns."""
        names = ("input_column_name", "input1_column_name", "input2_column_name")
        columns = [getattr(self.task, name) for name in names if hasattr(self.task, name)]
        for part in self._parts(*self.task.eval_splits):
            if isinstance(self.task, AbsTaskRetrieval):
                yield [len(part["queries"]), len(part["corpus"])]
            else:
                yield [
                    sum(len(cell) if isinstance(cell, list) else 1 for cell in part[column])
                    for column in getattr(self.task, "column_names", columns)
                ]


def _faults(task: AbsTask, languages: list[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield what makes tasks unfit, whether this one is, and the remedy."""
    about, name = task.metadata, f"{MTEB}{task.metadata.name}"
    parts = ", ".join(f"{MTEB}{one.metadata.name}" for one in getattr(about, "tasks", ()))
    yield task.is_aggregate, "it stands for several tasks", f"Name them: {parts}"
    types = f"Types that are scored: {', '.join(TYPES)}"
    yield about.type not in TYPES, f"it is of type {about.type}", types
    is_of_others = about.modalities != ["text"]
    yield is_of_others, f"it is of {' and '.join(about.modalities)}", "Name a task of texts alone"
    sets = [{one.partition("-")[0] for one in each} for each in about.hf_subsets_to_langscripts.values()]
    known = ", ".join(sorted(set().union(*sets))[:MOST_NAMED])
    yield {ENGLISH} not in sets, f"it has no set of English alone ({known})", "Only such sets are scored"
    has_others, remedy = any(one != {ENGLISH} for one in sets), f"Write {name}/{ENGLISH}"
    yield languages not in ([], [ENGLISH]), "English sets alone are scored", remedy
    yield has_others and not languages, f"it has sets of several languages ({known})", remedy


def _similar(name: str) -> str:
    fit: dict[str, Any] = {"languages": [ENGLISH], "task_types": TYPES, "modalities": ["text"]}
    with _quiet():
        tasks = mteb.get_tasks(**fit, exclusive_modality_filter=True, exclude_superseded=False)
    names = [one.metadata.name for one in tasks]
    alike = [one for one in names if name and name.lower() in one.lower()][:MOST_NAMED]
    found = did_you_mean(name, alike or names)
    return found if alike or found.startswith("Did") else "Python lists them: mteb.get_tasks()"


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MTEB's warnings, of newer tasks and of fits that stop, from the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _loading() -> Iterator[None]:
    """Load from files alone, and into memory what is not too large to travel."""
    before = datasets.config.IN_MEMORY_MAX_SIZE
    datasets.config.IN_MEMORY_MAX_SIZE = LARGEST_CARRIED
    try:
        with offline(), _quiet():
            yield
    finally:
        datasets.config.IN_MEMORY_MAX_SIZE = before
