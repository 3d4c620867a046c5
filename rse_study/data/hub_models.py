"""Models by name: whether there is one, its files from the hub; without torch."""

import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from rse_study.activity import ProgressCallback
from rse_study.data.download import RemoteFile, download_from_hub, on_hub
from rse_study.data.text_files import looked_for_in, places_of
from rse_study.errors import InputError, first_line

Model = tuple[str, str]
"""a hub name or a folder, and the revision"""
OUR_OWN = ("base", "tiny", "tiny-vectors", "minilm", "minilm-mlm")
"""names of the encoder itself, of assets and of the installed package"""
LIKE_A_PATH = ("/", "./", "../", "~")
"""beginnings that no name on the hub has"""
SECONDS = 3.0
"""wait for the hub; whoever waits longer works without it"""
CONFIG, MODULES, TOKENIZER = "config.json", "modules.json", "tokenizer_config.json"
CARD = "README.md"
OF_EACH = ".gitattributes"
"""file of each repository, which is fetched last: all others that are read are in the cache then"""
KINDS = ("model.safetensors", "pytorch_model.bin")
PARTS_OF_HEADS = ("predictions", "lm_head", "vocab_", "decoder", "head.")
"""in the names of a masked-LM head's weights, one of which each family of encoders has"""
DESCRIPTIONS = (".json", ".txt", ".model")
MODULE_FOLDER = r"\d+_\w+"
"""folder of a module of sentence-transformers, such as 1_Pooling"""
WEIGHTS = (".safetensors", ".bin")
"""kinds of weights, of which the first that a repository has is fetched"""


class UnknownModel(InputError):
    """A name that is no model on this machine or on the hub."""


class UncheckedModel(UnknownModel):
    """A model on the hub that is not in its cache, while the hub does not answer."""


def is_model(folder: Path) -> bool:
    """Whether a folder is in the layout of transformers or of sentence-transformers."""
    return any((folder / file).is_file() for file in (CONFIG, MODULES))


def local_name(name: str, *folders: Path) -> str:
    """Return a model's path in the first folder that has it; else expand `~`."""
    places = {} if name in ("", *OUR_OWN) else places_of(name, *folders)
    return next((str(place) for place in places if is_model(place)), os.path.expanduser(name))


def check_models(models: Iterable[Model], *folders: Path) -> dict[Model, UnknownModel]:
    """Return what is wrong with each model; UncheckedModel if nobody can say."""
    problems: dict[Model, UnknownModel] = {}
    for name, revision in models:
        unanswered = next((found for found in problems.values() if isinstance(found, UncheckedModel)), None)
        try:
            check_model(name, revision, *folders, is_reachable=unanswered is None)
        except UnknownModel as problem:
            problems[name, revision] = problem
    return problems


LONGEST_HEADER = 100_000_000  # bytes, that of safetensors itself


def is_on_machine(model: Model, *folders: Path) -> bool:
    """Whether all that is read of a model is in a folder or the hub's cache."""
    return not missing_file(local_name(model[0], *folders), model[1])


def missing_file(name: str, revision: str = "main", *files: str) -> str:
    """Return the first file that is read of a model and unknown to the hub's cache.

    Empty if there is none. The cache also knows what a repository lacks, if it was asked for.
    """
    if Path(name).is_dir():
        return ""
    stored = [kind for kind in KINDS if model_file(name, kind, revision)]
    index = next(filter(None, (model_file(name, f"{kind}.index.json", revision) for kind in KINDS)), None)
    weights = stored[:1] or (_shards(index) if index else KINDS[:1])
    described = [TOKENIZER, OF_EACH if model_file(name, MODULES, revision) else MODULES, *files]
    needed = [CONFIG, *weights, *([] if _cached(name, OF_EACH, revision) else described)]
    return next((file for file in needed if not _cached(name, file, revision)), "")


def hub_arguments(name: str, revision: str = "main", *files: str) -> dict[str, Any]:
    """Return a loader's arguments, by which it asks the hub only if it must.

    A model that is whole in the cache is loaded from there; so is what there is, if the hub does not answer.
    """
    asks = False
    if missing := missing_file(name, revision, *files):
        try:
            ask_hub(name, revision, missing)
            asks = True
        except UnknownModel as problem:
            asks = not isinstance(problem, UncheckedModel)
    return {"revision": revision, "local_files_only": not asks}


def _shards(index: Path) -> list[str]:
    try:
        return sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
    except (ValueError, KeyError, AttributeError, TypeError):  # damaged, which its loader says
        return []


def described_folder(model: Model, *folders: Path) -> Path | None:
    """Return the folder of a model that is on this machine, or in the hub's cache."""
    name, revision = ("", "") if model[0] in OUR_OWN else (local_name(model[0], *folders), model[1])
    weights = (model_file(name, file, revision) for file in KINDS)
    if name and is_model(Path(name)):
        return Path(name)
    return next((path.parent for path in weights if path and (path.parent / CONFIG).is_file()), None)


def lacks_masked_lm_head(name: str, revision: str = "main") -> bool:
    """Whether a model that is on this machine was saved without a masked-LM head."""
    config, weights = (model_file(name, file, revision) for file in (CONFIG, "model.safetensors"))
    if not (config and weights):
        return False
    classes = json.loads(config.read_text(encoding="utf-8")).get("architectures") or []
    if any(one.endswith(("ForMaskedLM", "ForPreTraining")) for one in classes):
        return False
    names = weight_names(weights)
    return bool(names) and not any(part in key for key in names for part in PARTS_OF_HEADS)


def weight_names(weights: Path) -> list[str]:
    """Return the names of a file of tensors; none if it is damaged."""
    with weights.open("rb") as stream:  # a length of 8 bytes, then as much JSON
        length = int.from_bytes(stream.read(8), "little")
        try:
            return list(json.loads(stream.read(min(length, LONGEST_HEADER))))
        except (ValueError, TypeError, RecursionError):
            return []


def model_file(name: str, file: str, revision: str) -> Path | None:
    """Return a model's file in its folder or the hub's cache, if it is there."""
    if (Path(name) / file).is_file():
        return Path(name) / file
    found = _cached(name, file, revision)
    return Path(found) if isinstance(found, str) else None


def _cached(name: str, file: str, revision: str) -> Any:
    """Return a file's path in the hub's cache, an object if its repository lacks it, None if unknown."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return try_to_load_from_cache(name, file, revision=revision)
    except HFValidationError:  # no name that the hub could have
        return None


def check_model(name: str, revision: str = "main", *folders: Path, is_reachable: bool = True) -> None:
    """Raise UnknownModel unless it is a folder, in the hub's cache, or on the hub.

    A relative path is looked for in `folders`, by default in the working folder.
    """
    folders = folders or (Path.cwd(),)
    places, rule = places_of(name, *folders), looked_for_in(*folders)
    if name in OUR_OWN or any(map(is_model, places)):
        return
    found = next(filter(Path.is_dir, places), None)
    if found or name.startswith(LIKE_A_PATH) or name.count("/") > 1:
        what = "no config.json in this folder" if found else "no such folder"
        where = found or (next(iter(places)) if len(places) == 1 else name)
        is_absolute = os.path.isabs(os.path.expanduser(name))
        remedy = "Check the path; a name on the hub does not begin so"
        raise UnknownModel(what, where=str(where), rule="" if found or is_absolute else rule, remedy=remedy)
    try:
        ask_hub(name, revision, is_reachable=is_reachable)
    except UnknownModel as problem:
        problem.rule = f"as a folder it was {rule}"
        raise


def ask_hub(
    name: str, revision: str, file: str = CONFIG, kind: str = "model", *, is_reachable: bool = True
) -> None:
    """Raise UnknownModel unless a file is in the hub's cache or on the hub."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_url, try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError, HTTPError

    try:
        if isinstance(try_to_load_from_cache(name, file, revision=revision, repo_type=kind), str):
            return
        if not is_reachable:
            raise ConnectionError("the hub has just not answered")
        get_hf_file_metadata(hf_hub_url(name, file, revision=revision, repo_type=kind), timeout=SECONDS)
    except (HTTPError, HFValidationError, OSError) as error:
        raise _verdict(name, revision, file, kind, error) from None


def _verdict(name: str, revision: str, file: str, kind: str, error: Exception) -> UnknownModel:
    """Say what the hub's answer means; no answer is no verdict."""
    from huggingface_hub import errors

    check = "Check the name, or name a local folder"
    known: tuple[tuple[type[Exception], str, str], ...] = (
        (errors.HFValidationError, "is neither a folder nor a name on the hub", check),
        (errors.GatedRepoError, "is not open to all on the hub", "Ask there for access, then: hf auth login"),
        (
            errors.RepositoryNotFoundError,
            f"no such folder, and no such {kind} on the hub",
            f"{check}; a private one needs a token (hf auth login)",
        ),
        (errors.RevisionNotFoundError, f"has no revision {revision!r} on the hub", "Check the revision"),
        (errors.EntryNotFoundError, f"has no {file} on the hub", check),
    )
    for known_error, what, remedy in known:
        if isinstance(error, known_error):
            return UnknownModel(what, where=name, remedy=remedy)
    what = f"cannot be checked offline ({first_line(error)})"
    return UncheckedModel(
        what, where=name, remedy="It is not cached here; with a connection: rse-study data fetch --for STUDY"
    )


def fetch_model(model: Model, on_progress: ProgressCallback = lambda done, total: None) -> list[Path]:
    """Download configuration, tokenizer and weights of a model into the hub's cache."""
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError

    name, revision = model
    paths = [download_from_hub(name, path, on_progress, "model", revision) for path in _files_of(model)]
    with suppress(EntryNotFoundError):  # the cache then knows that as well
        hf_hub_download(name, OF_EACH, revision=revision)
    return paths


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
    read = [path for path in paths if re.fullmatch(rf"({MODULE_FOLDER}/)?[^/]+", path)]
    described = [path for path in read if path.endswith(DESCRIPTIONS)]
    chosen = list[str]()
    for folder in dict.fromkeys(path.rpartition("/")[0] for path in read):
        own = [path for path in read if path.rpartition("/")[0] == folder]
        kinds: Iterator[list[str]] = ([path for path in own if path.endswith(kind)] for kind in WEIGHTS)
        chosen += next(filter(None, kinds), [])
    return [*described, *chosen]


def leave_client_to_its_process() -> None:
    """Let forked children drop the hub's client without closing it.

    To be called before other threads ask the hub. huggingface_hub closes its client in every forked child. To close it
    takes the lock of its connections, and where another thread held that at the fork nobody ever lets go of it: the
    child hangs, and with it whoever started it.
    """
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils._http import default_client_factory

    def make() -> Any:
        client, owner = default_client_factory(), os.getpid()
        close = client.close
        client.close = lambda: close() if os.getpid() == owner else None  # type: ignore[method-assign]
        return client

    set_client_factory(make)
