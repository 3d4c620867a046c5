"""Datasets from the Hugging Face hub, or from a local folder in its layout."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from rse_study.data.hub_models import OF_EACH, UncheckedModel, UnknownModel, ask_hub
from rse_study.data.text_files import looked_for_in, places_of
from rse_study.errors import InputError, first_line
from rse_study.registry import did_you_mean
from rse_study.spec import Spec

README = "README.md"
_OFFLINE_REMEDY = (
    "Check name and connection, or copy the dataset's folder into the data folder and name its path"
)


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
    if any(map(Path.is_dir, places_of(name, *folders))):
        return
    try:
        ask_hub(name, revision, file, "dataset")
    except UnknownModel as problem:
        if isinstance(problem, UncheckedModel) or file not in problem.what:  # a dataset needs none
            problem.rule = f"as a folder it was {looked_for_in(*folders)}"
            raise


def read_column(source: Dataset, *folders: Path) -> Iterator[str]:
    """Yield a column's values, from the first folder of that name or the hub."""
    folder = next(filter(Path.is_dir, places_of(source.dataset, *folders)), Path(source.dataset))
    table = load_split(str(folder), source.split, folders[-1], config=source.config, revision=source.revision)
    where = f"dataset {source.dataset}"
    if source.column not in table.column_names:
        remedy = did_you_mean(source.column, table.column_names)
        raise InputError(f"no column {source.column!r}", where=where, remedy=remedy)
    if getattr(table.features[source.column], "dtype", "") not in ("string", "large_string"):
        rule = "the column of a corpus must hold strings"
        raise InputError(
            f"column {source.column!r} holds {table.features[source.column]}", where=where, rule=rule
        )
    return (value or "" for value in table[source.column])


def _prepared_config(name: str, config: str, revision: str) -> str:
    """Return the configuration that `datasets` finds in its cache, which is the newest, if of this revision."""
    from datasets import config as settings
    from datasets.naming import camelcase_to_snakecase
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    repository = Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=name, repo_type="dataset")
    named = repository / "refs" / revision
    commit = named.read_text(encoding="utf-8").strip() if named.is_file() else revision
    *owner, last = name.split("/")
    folder = Path(settings.HF_DATASETS_CACHE) / "___".join([*owner, camelcase_to_snakecase(last)])
    places = sorted(folder.glob(f"{config or '*'}/*/*/"), key=os.path.getmtime)
    configs = {place.parts[-3] for place in places}
    found = config or ("default" if "default" in configs else "".join(configs) if len(configs) == 1 else "")
    newest = [place.name for place in places if place.parts[-3] == found][-1:]
    return found if newest == [commit] else ""


def load_split(name: str, split: str, data_dir: Path, *, config: str = "", revision: str = "main") -> Any:
    """Read a split, or a slice such as train[:1000], of a folder or a name on the hub."""
    import datasets
    from huggingface_hub import constants

    folder = data_dir / os.path.expanduser(name)
    is_local = folder.is_dir()
    settings: dict[str, Any] = {} if is_local else {"revision": revision}
    where = f"dataset {name}"
    before = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    prepared = "" if is_local else _prepared_config(name, config, revision)
    if prepared:  # at each load, `datasets` would ask the hub for what it has
        constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
        datasets.logging.set_verbosity_error()  # it would say that the hub does not have it
    try:
        if not prepared:
            check_dataset(name, revision, data_dir, file=OF_EACH)  # a README in the cache is no answer
        return datasets.load_dataset(
            str(folder) if is_local else name, prepared or config or None, split=split, **settings
        )
    except (datasets.exceptions.DatasetsError, ConnectionError, FileNotFoundError, UncheckedModel) as error:
        raise InputError(
            f"cannot be loaded ({first_line(error)})", where=where, remedy=_OFFLINE_REMEDY
        ) from None
    except ValueError as error:  # unknown split or configuration
        remedy = "Check split and config"
        raise InputError(f"cannot be loaded ({first_line(error)})", where=where, remedy=remedy) from None
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = before
