"""Models by name: whether there is one, its files from the hub; without torch."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from rse_study.activity import ProgressCallback
from rse_study.data.download import RemoteFile, download_from_hub, on_hub
from rse_study.errors import InputError, first_line

Model = tuple[str, str]
"""a hub name or a folder, and the revision"""
OUR_OWN = ("base", "tiny", "tiny-vectors", "minilm", "minilm-mlm")
"""names of the encoder itself, of assets and of the installed package"""
LIKE_A_PATH = ("/", "./", "../", "~")
"""beginnings that no name on the hub has"""
SECONDS = 3.0
"""wait for the hub; whoever waits longer works without it"""
CONFIG = "config.json"
DESCRIPTIONS = (".json", ".txt", ".model")
WEIGHTS = (".safetensors", ".bin")
"""kinds of weights, of which the first that a repository has is fetched"""


class UnknownModel(InputError):
    """A name that is no model on this machine or on the hub."""


class UncheckedModel(UnknownModel):
    """A model on the hub that is not in its cache, while the hub does not answer."""


def local_name(name: str) -> str:
    """Expand `~`; other names are what they are."""
    return os.path.expanduser(name)


def check_models(models: Iterable[Model]) -> dict[Model, UnknownModel]:
    """Return what is wrong with each model; UncheckedModel where nobody can say."""
    problems: dict[Model, UnknownModel] = {}
    for name, revision in models:
        unanswered = next((found for found in problems.values() if isinstance(found, UncheckedModel)), None)
        try:
            check_model(name, revision, is_reachable=unanswered is None)
        except UnknownModel as problem:
            problems[name, revision] = problem
    return problems


def has_weights(model: Model) -> bool:
    """Whether a model's weights are on this machine, in a folder or the hub's cache."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    name, revision = model
    kinds = ("model.safetensors", "pytorch_model.bin")
    paths = [path for kind in kinds for path in (kind, f"{kind}.index.json")]
    if Path(local_name(name)).is_dir():
        return True
    try:
        return any(isinstance(try_to_load_from_cache(name, path, revision=revision), str) for path in paths)
    except HFValidationError:  # no name that the hub could have
        return False


def check_model(name: str, revision: str = "main", *, is_reachable: bool = True) -> None:
    """Raise UnknownModel unless it is a folder, in the hub's cache, or on the hub."""
    folder = Path(local_name(name))
    if name in OUR_OWN or (folder / CONFIG).is_file():
        return
    if folder.is_dir() or name.startswith(LIKE_A_PATH) or name.count("/") > 1:
        what = "no config.json in this folder" if folder.is_dir() else "no such folder"
        rule = "" if folder.is_absolute() else "looked for in the working folder"
        remedy = "Check the path; a name on the hub does not begin so"
        raise UnknownModel(what, where=str(folder.absolute()), rule=rule, remedy=remedy)
    _ask_hub(name, revision, is_reachable)


def _ask_hub(name: str, revision: str, is_reachable: bool) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError, HTTPError

    try:
        if isinstance(try_to_load_from_cache(name, CONFIG, revision=revision), str):
            return
        if not is_reachable:
            raise ConnectionError("the hub has just not answered")
        get_hf_file_metadata(hf_hub_url(name, CONFIG, revision=revision), timeout=SECONDS)
    except (HTTPError, HFValidationError, OSError) as error:
        raise _verdict(name, revision, error) from None


def _verdict(name: str, revision: str, error: Exception) -> UnknownModel:
    """Say what the hub's answer means; no answer is no verdict."""
    from huggingface_hub import errors

    check = "Check the name, or name a local folder"
    known: tuple[tuple[type[Exception], str, str], ...] = (
        (errors.HFValidationError, "is neither a folder nor a name on the hub", check),
        (errors.GatedRepoError, "is not open to all on the hub", "Ask there for access, then: hf auth login"),
        (
            errors.RepositoryNotFoundError,
            "no such folder, and no such model on the hub",
            f"{check}; a private one needs a token (hf auth login)",
        ),
        (errors.RevisionNotFoundError, f"has no revision {revision!r} on the hub", "Check the revision"),
        (errors.EntryNotFoundError, "has no config.json on the hub", check),
    )
    for kind, what, remedy in known:
        if isinstance(error, kind):
            return UnknownModel(what, where=name, remedy=remedy)
    what = f"cannot be checked offline ({first_line(error)})"
    return UncheckedModel(
        what, where=name, remedy="It is not cached here; with a connection: rse-study data fetch --for STUDY"
    )


def fetch_model(model: Model, on_progress: ProgressCallback = lambda done, total: None) -> list[Path]:
    """Download configuration, tokenizer and weights of a model into the hub's cache."""
    name, revision = model
    return [download_from_hub(name, path, on_progress, "model", revision) for path in _files_of(model)]


def describe_model(model: Model) -> list[RemoteFile]:
    """Ask the hub for the files that would be downloaded, with their sizes."""
    return [on_hub(model[0], path, "model", model[1]) for path in _files_of(model)]


def _files_of(model: Model) -> list[str]:
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HTTPError

    name, revision = model
    try:
        paths = HfApi().list_repo_files(name, revision=revision)
    except (HTTPError, OSError) as error:
        what, remedy = f"cannot be fetched ({first_line(error)})", "Check name and connection"
        raise InputError(what, where=name, remedy=remedy) from None
    top = [path for path in paths if "/" not in path]
    weights: Iterator[list[str]] = ([path for path in top if path.endswith(kind)] for kind in WEIGHTS)
    described = [
        path
        for path in paths
        if path.endswith(DESCRIPTIONS) and ("/" not in path or path.startswith("1_Pooling/"))
    ]
    return [*described, *next(filter(None, weights), [])]
