"""Tasks of MTEB (Muennighoff et al. 2023), which its own package scores."""

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
from mteb.abstasks import AbsTask, AbsTaskRetrieval
from mteb.models.abs_encoder import AbsEncoder
from mteb.models.model_meta import ModelMeta, ScoringFunction

from rse_study.data.hub import offline
from rse_study.errors import InputError, MissingFile, first_line
from rse_study.evaluation import MTEB
from rse_study.evaluation.evaluations import Embed, evaluation_rows, is_collapsed, vectors_of
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import POINTS, EvaluationRow, Measure
from rse_study.spec import fingerprint_of

TYPES = ("STS", "Classification", "PairClassification", "Clustering", "Retrieval", "Reranking")
ENGLISH = "eng"

# In memory, so that data travel to workers; a larger set stays in a cache that all nodes must see.
datasets.config.IN_MEMORY_MAX_SIZE = 2**30  # bytes
logging.getLogger("mteb").setLevel(logging.ERROR)
datasets.disable_progress_bars()


class MtebEncoder(AbsEncoder):
    """Sentence vectors as MTEB asks for them, compared as their model records."""

    def __init__(self, embed: Embed, name: str) -> None:
        similarity = getattr(embed, "similarity", "cosine")
        if similarity not in ("cosine", "dot"):
            what, rule = f"its similarity is {similarity!r}", "MTEB compares by cosine or dot product"
            raise InputError(what, where=name, rule=rule, remedy="Use another encoder")
        named = name if name.count("/") == 1 else f"local/{Path(name).name}"
        about = {"name": named, "similarity_fn_name": ScoringFunction(similarity)}
        self.mteb_model_meta = ModelMeta.create_empty(about)
        self._embed, self.are_finite, self.are_equal = embed, True, True

    def encode(self, inputs: Any, **context: Any) -> np.ndarray:
        """Return one row per text, [n d].

        This is the place for prompts: MTEB's (by task and `prompt_type`, in `context`) are not applied, and `embed`
        applies what its model records.
        """
        vectors = self._embed([text for batch in inputs for text in batch["text"]])
        self.are_finite &= bool(np.isfinite(vectors).all())
        self.are_equal &= is_collapsed(vectors)
        return np.nan_to_num(vectors, posinf=0.0, neginf=0.0)


@dataclass(frozen=True)
class MtebTask:
    """Main score x100 of an English task of MTEB, named mteb/TASK or mteb/TASK/eng.

    Parameters
    ----------
    task
        An AbsTask with its data loaded. Every score takes a copy: a task draws from generators, which go on from
        score to score.
    results
        Folder for MTEB's own files, in the layout of its leaderboard; None: none are written.
    """

    name: str
    task: Any
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
        task = cls.find(name, name)
        source = task.metadata.dataset
        repository, revision = source["path"], source["revision"]
        remedy = f"Run: hf download {repository} --repo-type dataset --revision {revision}"
        try:
            folder = snapshot_download(
                repository, repo_type="dataset", revision=revision, local_files_only=True
            )
            with offline(), _quiet():
                task.metadata = task.metadata.model_copy(update={"dataset": {**source, "path": folder}})
                task.load_data()
                if isinstance(task, AbsTaskRetrieval):
                    task.convert_v1_dataset_format_to_v2(num_proc=None)
                if not all(map(all, cls(name, task)._sizes())):
                    raise ValueError("a table is empty")
        except LocalEntryNotFoundError:
            what = f"{repository} is not in the hub's cache, or not completely"
            raise MissingFile(what, where=name, remedy=remedy) from None
        except Exception as error:  # of a task's own loader, whatever is in the files
            what = f"{repository} cannot be loaded ({type(error).__name__}: {first_line(error)})"
            raise InputError(what, where=name, remedy=remedy) from error
        del task.metadata  # its class has one, with the name on the hub
        return cls(name, task)

    @staticmethod
    def find(name: str, what: str) -> AbsTask:
        """Return a task without data, of its English test sets; InputError if unfit."""
        _, task_name, *languages = name.split("/")
        try:
            with _quiet():
                task = mteb.get_task(task_name)
        except KeyError as error:
            similar = str(error.args[0]).partition(". ")[2]
            rule, remedy = f"MTEB {mteb.__version__} has no such task", "Python lists them: mteb.get_tasks()"
            raise InputError(what, rule=rule, remedy=similar or remedy) from None
        for is_unfit, rule, remedy in _faults(task, languages):
            if is_unfit:
                raise InputError(what, rule=rule, remedy=remedy)
        if "test" in task.eval_splits:
            task.filter_eval_splits(["test"])
        return task.filter_languages([ENGLISH], exclusive_language_filter=True)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of name, revision of the data, and version of MTEB."""
        return fingerprint_of([self.name, dict(self.task.metadata.dataset), mteb.__version__])

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (Measure(name=self.name, metric=f"{self.name}/main_score", unit=POINTS),)

    @property
    def num_sentences(self) -> int:
        """The number of test texts, without those that a classification fits on."""
        return sum(map(sum, self._sizes()))

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return one row; 0, degenerate for collapsed embeddings."""
        encoder: Any = MtebEncoder(embed, subject)
        cache = mteb.ResultCache(self.results) if self.results else None
        options: Any = {"co2_tracker": False, "overwrite_strategy": "always", "show_progress_bar": False}
        with _quiet():
            found = mteb.evaluate(encoder, copy.deepcopy(self.task), cache=cache, **options)
        is_lost = encoder.are_equal or not encoder.are_finite
        value = 0.0 if is_lost else 100 * float(found.task_results[0].main_score)
        about = self, subject, "+".join(self.task.eval_splits), {"main_score": value}
        num_examples = sum(sizes[0] for sizes in self._sizes())
        items = {} if is_lost else {"main_score": self._items(embed)}
        return evaluation_rows(*about, num_examples, degenerate=is_lost, items=items)

    def _items(self, embed: Embed) -> ItemScores | None:
        """Return the cosines of pairs with their gold scores; None if it is no one correlation."""
        part, *others = self._parts()
        if others or self.task.metadata.main_score != "cosine_spearman":
            return None
        first, second = vectors_of(embed, *(list(part[column]) for column in self.task.column_names))
        return ItemScores.of((first * second).sum(axis=1), part["score"])

    def _parts(self) -> Iterator[Any]:
        """Yield the data of each subset and split: a table, or queries and corpus."""
        data: Any = self.task.dataset
        for subset in self.task.hf_subsets:
            yield from (data.get(subset, data)[split] for split in self.task.eval_splits)

    def _sizes(self) -> Iterator[list[int]]:
        """Yield the number of texts of each part, in each of its columns."""
        for part in self._parts():
            if isinstance(self.task, AbsTaskRetrieval):
                yield [len(part["queries"]), len(part["corpus"])]
                continue
            columns = [part[name] for name in self.task._get_content_columns()]
            yield [sum(len(one) if isinstance(one, list) else 1 for one in column) for column in columns]


def _faults(task: AbsTask, languages: list[str]) -> Iterator[tuple[bool, str, str]]:
    """Yield what makes tasks unfit, whether this one is, and the remedy."""
    about, name = task.metadata, f"{MTEB}{task.metadata.name}"
    parts = ", ".join(f"{MTEB}{one.metadata.name}" for one in getattr(about, "tasks", ()))
    yield task.is_aggregate, "it stands for several tasks", f"Name them: {parts}"
    is_of_others = about.type not in TYPES or about.modalities != ["text"]
    rule, remedy = f"it is of type {about.type}, of {' and '.join(about.modalities)}", ", ".join(TYPES)
    yield is_of_others, rule, f"Types that are scored, of text alone: {remedy}"
    sets = [{one.partition("-")[0] for one in each} for each in about.hf_subsets_to_langscripts.values()]
    yield {ENGLISH} not in sets, "it has no set of English alone", "Only such sets are scored"
    has_others, remedy = any(one != {ENGLISH} for one in sets), f"Write {name}/{ENGLISH}"
    yield languages not in ([], [ENGLISH]), "English sets alone are scored", remedy
    yield has_others and not languages, "it has sets of other languages, too", remedy


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep MTEB's warnings, of newer tasks and of fits that stop, from the terminal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
