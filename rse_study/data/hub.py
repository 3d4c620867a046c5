"""Datasets of the Hugging Face hub, or of a folder in its layout; GLUE among them."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import Field

from rse_study.data import GLUE, HUB_NAME, GlueTask
from rse_study.data.hub_models import LIKE_A_PATH, OF_EACH, UncheckedModel, UnknownModel, ask_hub
from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import Example, label_of, labelled, malformed, text_of
from rse_study.data.text_files import looked_for_in, places_of
from rse_study.errors import InputError, MissingFile, first_line
from rse_study.registry import Registry, did_you_mean
from rse_study.spec import Spec

README = "README.md"
# pandas takes the texts NA, null, None, nan and more for missing ones.
AS_WRITTEN: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
_UNNAMED = "__index_level_0__"  # pandas' name for cells that are left of the header's columns
_OFFLINE_REMEDY = (
    "Check name and connection, or copy the dataset's folder into the data folder and name its path"
)


_FOLDER_REMEDY = "Check its files: tables of the same columns, such as train.csv or train.jsonl"


class Table(Spec):
    """One split of a dataset."""

    dataset: str = Field(min_length=1)
    """folder (looked for as a text file is) or name on the hub"""
    split: str = "train"
    """name of the split; slices such as train[:1000] are understood"""
    config: str = ""
    """name of the dataset's configuration; empty for the default one"""
    revision: str = "main"
    """branch, tag or commit on the hub; not used for a folder"""


class Dataset(Table):
    """One text column of one split of a dataset."""

    kind: Literal["hub"] = "hub"
    """a dataset; a study may leave it out"""
    column: str = "text"
    """the column that holds the sentences"""


def check_dataset(name: str, revision: str, *folders: Path, file: str = README) -> None:
    """Raise UnknownModel unless it is a folder, or its file is cached or on the hub."""
    if folder_of(name, *folders):
        return
    if name.startswith(LIKE_A_PATH):
        rule = "" if name.startswith(("/", "~")) else looked_for_in(*folders)
        remedy = "Check the path; a name on the hub does not begin so"
        raise InputError("no such folder", where=name, rule=rule, remedy=remedy)
    try:
        ask_hub(name, revision, file, "dataset")
    except UnknownModel as problem:
        if isinstance(problem, UncheckedModel) or file not in problem.what:  # a dataset needs none
            problem.rule = f"as a folder it was {looked_for_in(*folders)}"
            raise


def folder_of(name: str, *folders: Path) -> Path | None:
    """Return the first folder of that name, if there is one; InputError for a file."""
    for place in places_of(name, *folders):
        if place.is_dir():
            return place
        if place.is_file():
            what, rule = "is a file", "a dataset is a folder, or on the hub"
            remedy = f"Put it into a folder of its own, as train{place.suffix.lower()}, and give that folder"
            raise InputError(what, where=str(place), rule=rule, remedy=remedy)
    return None


def read_columns(source: Any, *folders: Path) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield each row's place and texts, from the first folder of that name or the hub."""
    folder = folder_of(source.dataset, *folders) or source.dataset
    table = load_split(str(folder), source.split, folders[-1], config=source.config, revision=source.revision)
    where = f"dataset {source.dataset}"
    columns = getattr(source, "columns", None) or (source.column,)
    _require_columns(table, columns, where)
    for column in columns:
        if getattr(table.features[column], "dtype", "") not in ("string", "large_string"):
            what = f"column {column!r} holds {table.features[column]}"
            rule = "the column of a corpus must hold strings"
            raise InputError(what, where=where, rule=rule, remedy="Name a column of texts")
    for number, cells in enumerate(_rows(table, columns), start=1):
        yield f"{where}, row {number}", cells


def _require_columns(table: Any, columns: Sequence[str], where: str) -> None:
    for column in columns:
        if column not in table.column_names:
            remedy = did_you_mean(column, table.column_names)
            raise InputError(f"no column {column!r}", where=where, remedy=remedy)


def _prepared(name: str, config: str, revision: str) -> tuple[str, dict[str, Any]] | None:
    """Return the configuration that `datasets` has in its cache at this revision, and the settings it was read with."""
    from datasets import BuilderConfig
    from datasets import config as settings
    from datasets.naming import camelcase_to_snakecase
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCard, DatasetCardData, constants
    from huggingface_hub.file_download import repo_folder_name

    repository = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="dataset")
    named = repository / "refs" / revision
    commit = named.read_text(encoding="utf-8").strip() if named.is_file() else revision
    *owner, last = name.split("/")
    folder = Path(settings.HF_DATASETS_CACHE) / "___".join([*owner, camelcase_to_snakecase(last)])
    newest = dict[str, tuple[str, dict[str, Any]]]()
    for path in sorted(folder.glob("*/*/*/dataset_info.json"), key=lambda path: path.parent.stat().st_mtime):
        with suppress(ValueError, KeyError):  # of another version, or cut off: it is asked for
            info = json.loads(path.read_text(encoding="utf-8"))
            read_with, own = AS_WRITTEN if info["builder_name"] == "csv" else {}, info["config_name"]
            if path.parts[-4] == BuilderConfig(own).create_config_id(config_kwargs={**read_with}):
                newest[own] = path.parts[-2], read_with
    card = repository / "snapshots" / commit / README
    listed = DatasetCard.load(card, ignore_metadata_errors=True).data if card.is_file() else DatasetCardData()
    found = config or MetadataConfigs.from_dataset_card_data(listed).get_default_config_name() or "default"
    of_commit, read_with = newest.get(found, ("", {}))
    return (found, read_with) if of_commit == commit else None


def load_split(name: str, split: str, data_dir: Path, *, config: str = "", revision: str = "main") -> Any:
    """Read a split, or a slice such as train[:1000], of a folder or a name on the hub."""
    import datasets

    folder, where = data_dir / os.path.expanduser(name), f"dataset {name}"
    is_local = folder.is_dir()
    settings: dict[str, Any] = {} if is_local else {"revision": revision}
    prepared = None if is_local else _prepared(name, config, revision)
    config, read_with = prepared or (config, AS_WRITTEN)
    load = partial(datasets.load_dataset, str(folder) if is_local else name, config or None, split=split)
    remedy = _FOLDER_REMEDY if is_local else _OFFLINE_REMEDY
    with _failures_named(where, remedy), offline() if prepared else nullcontext():
        if not prepared:
            check_dataset(name, revision, data_dir, file=OF_EACH)  # a README in the cache is no answer
        try:
            table = load(**settings, **read_with)
        except (TypeError, ValueError):  # only CSV has these settings
            table = load(**settings)
    if table.builder_name == "csv" and _UNNAMED in table.column_names:
        what, rule = "rows have more cells than the header", "a text with a comma stands in quotes"
        raise InputError(what, where=where, rule=rule, remedy="Correct the file")
    return table


@contextmanager
def offline() -> Iterator[None]:
    """Let `datasets` read its cache; at each load, it would ask the hub."""
    import datasets
    from huggingface_hub import constants

    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    datasets.logging.set_verbosity_error()  # it would say that the hub does not have it
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before


@contextmanager
def _failures_named(where: str, remedy: str) -> Iterator[None]:
    """Turn the failures of a load into an InputError."""
    from datasets.exceptions import DatasetsError

    try:
        yield
    except (DatasetsError, ConnectionError, FileNotFoundError, ValueError, UncheckedModel) as error:
        if isinstance(error, ValueError):  # unknown split or configuration
            remedy = "Check split and config"
        reason = first_line(error.__cause__ or error)
        raise InputError(f"cannot be loaded ({reason})", where=where, remedy=remedy) from None


GLUE_LAYOUT = "<task>/{train,validation}.{jsonl,csv,parquet}"
NO_LABEL = -1  # in the test splits, whose labels GLUE does not publish
MAX_GOLD = 5.0


def read_glue(name: str, split: str, data_dir: Path, dataset: str = HUB_NAME) -> Labelled | StsPairs:
    """Read one labelled split, named `GLUE-<task>`; STS-B as pairs with gold.

    Labels may be numbers or class names; classes are always in GLUE's own order, even if a copy lists another.
    """
    task = GLUE.get(name)
    Registry(f"split of GLUE {name}", dict.fromkeys(task.splits)).get(split)
    place, config = _source_of(task, dataset, data_dir)
    table = load_split(place, split, data_dir, config=config)
    where = f"{place} {config} {split}".replace("  ", " ")
    _require_columns(table, (*task.columns, "label"), where)
    if not task.classes:
        return _pairs(f"GLUE-{name}", split, table, task, where)
    return labelled(f"GLUE-{name}", split, _examples(table, task, where), task.classes, where)


def _source_of(task: GlueTask, dataset: str, data_dir: Path) -> tuple[str, str]:
    """Return (name for `datasets`, configuration) of a local folder or the hub."""
    folder = data_dir / os.path.expanduser(dataset)
    if not folder.is_dir():
        return dataset, task.config
    there = [GLUE.get(name).config for name in GLUE if (folder / GLUE.get(name).config).is_dir()]
    if there and task.config not in there:
        rule = f"the layout is {GLUE_LAYOUT} in {folder}"
        remedy = f"Copy it there, beside {', '.join(there)}"
        raise MissingFile("no such folder", where=str(folder / task.config), rule=rule, remedy=remedy)
    if (folder / "README.md").is_file():
        return dataset, task.config
    return (f"{dataset}/{task.config}" if there else dataset), ""


def _examples(table: Any, task: GlueTask, where: str) -> Iterator[Example]:
    listed = getattr(table.features["label"], "names", None)
    known: dict[str, int | None] = {name: place for place, name in enumerate(task.classes)}
    if listed is None:  # bare numbers are GLUE's own
        known |= {str(place): place for place in range(len(task.classes))}
    for number, (*parts, label) in enumerate(_rows(table, (*task.columns, "label")), start=1):
        row = f"{where}, row {number}"
        named = listed[label] if listed and isinstance(label, int) and 0 <= label < len(listed) else label
        is_labelled = label is not None and label != NO_LABEL
        text = text_of(*parts, where=row, may_be_empty=task.config == "qqp")
        yield text, label_of(named, known, row) if is_labelled else None


def _pairs(name: str, split: str, table: Any, task: GlueTask, where: str) -> StsPairs:
    first, second, gold = [], [], []
    for number, (one, other, value) in enumerate(_rows(table, (*task.columns, "label")), start=1):
        row = f"{where}, row {number}"
        if not isinstance(value, int | float) or not 0 <= value <= MAX_GOLD:
            raise malformed(f"gold score {value!r}", row, f"it must be a number from 0 to {MAX_GOLD:g}")
        pair = text_of(one, other, where=row)
        first.append(pair[0])
        second.append(pair[1])
        gold.append(float(value))
    if not gold:
        raise InputError("holds no pairs", where=where, remedy="Use another split, or fetch it again")
    return StsPairs(name, split, first, second, np.array(gold))


def _rows(table: Any, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[column] for column in columns), strict=True)
