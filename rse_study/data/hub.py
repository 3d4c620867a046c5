"""Datasets from the Hugging Face hub, or from a local folder in its layout."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rse_study.data.hub_models import LIKE_A_PATH, OF_EACH, UncheckedModel, UnknownModel, ask_hub
from rse_study.data.text_files import looked_for_in, places_of
from rse_study.errors import InputError, first_line
from rse_study.registry import did_you_mean
from rse_study.spec import Spec

README = "README.md"
# pandas takes the texts NA, null, None, nan and more for missing ones.
AS_WRITTEN: dict[str, Any] = {"keep_default_na": False, "na_values": [""]}
_UNNAMED = "__index_level_0__"  # pandas' name for cells that are left of the header's columns
_OFFLINE_REMEDY = (
    "Check name and connection, or copy the dataset's folder into the data folder and name its path"
)


_FOLDER_REMEDY = "Check its files: tables of the same columns, such as train.csv or train.jsonl"


class Dataset(Spec):
    """One text column of one split of a dataset."""

    kind: Literal["hub"] = "hub"
    """a dataset; a study may leave it out"""
    dataset: str = Field(min_length=1)
    """folder (looked for as a text file is) or name on the hub"""
    column: str = "text"
    """the column that holds the sentences"""
    split: str = "train"
    """name of the split; slices such as train[:1000] are understood"""
    config: str = ""
    """name of the dataset's configuration; empty for the default one"""
    revision: str = "main"
    """branch, tag or commit on the hub; not used for a folder"""


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


def read_column(source: Dataset, *folders: Path) -> Iterator[str]:
    """Yield a column's values, from the first folder of that name or the hub."""
    folder = folder_of(source.dataset, *folders) or source.dataset
    table = load_split(str(folder), source.split, folders[-1], config=source.config, revision=source.revision)
    where = f"dataset {source.dataset}"
    if source.column not in table.column_names:
        remedy = did_you_mean(source.column, table.column_names)
        raise InputError(f"no column {source.column!r}", where=where, remedy=remedy)
    if getattr(table.features[source.column], "dtype", "") not in ("string", "large_string"):
        what = f"column {source.column!r} holds {table.features[source.column]}"
        rule = "the column of a corpus must hold strings"
        raise InputError(what, where=where, rule=rule, remedy="Name a column of texts")
    return (value or "" for value in table[source.column])


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
    from huggingface_hub import constants

    folder = data_dir / os.path.expanduser(name)
    is_local = folder.is_dir()
    settings: dict[str, Any] = {} if is_local else {"revision": revision}
    where = f"dataset {name}"
    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    prepared = None if is_local else _prepared(name, config, revision)
    if prepared:  # at each load, `datasets` would ask the hub for what it has
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
        datasets.logging.set_verbosity_error()  # it would say that the hub does not have it
    config, read_with = prepared or (config, AS_WRITTEN)
    load = partial(datasets.load_dataset, str(folder) if is_local else name, config or None, split=split)
    try:
        if not prepared:
            check_dataset(name, revision, data_dir, file=OF_EACH)  # a README in the cache is no answer
        try:
            table = load(**settings, **read_with)
        except (TypeError, ValueError):  # only CSV has these settings
            table = load(**settings)
    except (
        datasets.exceptions.DatasetsError, ConnectionError, FileNotFoundError, ValueError, UncheckedModel
    ) as error:  # fmt: skip
        remedy = _FOLDER_REMEDY if is_local else _OFFLINE_REMEDY
        if isinstance(error, ValueError):  # unknown split or configuration
            remedy = "Check split and config"
        reason = first_line(error.__cause__ or error)
        raise InputError(f"cannot be loaded ({reason})", where=where, remedy=remedy) from None
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before
    if table.builder_name == "csv" and _UNNAMED in table.column_names:
        what, rule = "rows have more cells than the header", "a text with a comma stands in quotes"
        raise InputError(what, where=where, rule=rule, remedy="Correct the file")
    return table
