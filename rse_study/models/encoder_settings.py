"""Records in a model's folder: our pooling, or sentence-transformers' modules."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from transformers.utils import cached_file

from rse_study.errors import InputError, first_line
from rse_study.models.model_files import AGAIN, check_files, reading, require_tokenizer_files
from rse_study.models.pooling import PoolingKind
from rse_study.spec import Spec

FILE_NAME = "sentence_pooling.json"
MODULES, PROMPTS = "modules.json", "config_sentence_transformers.json"
FAMILIES = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
APPLIED = ("max_seq_length", "do_lower_case", "unpad_inputs")
"""settings of its Transformer that our encoder applies, refuses elsewhere, or that change no vector"""
NEUTRAL = {
    "transformer_task": "feature-extraction",
    "module_output_name": "token_embeddings",
    "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
}
POOLINGS = ("cls", "mean")
DENSE = "SentenceTransformer"


class StoredPooling(Spec):
    """The record beside the weights: how token vectors become a sentence vector."""

    pooling: PoolingKind
    template: str = ""


def store_pooling(directory: Path, pooling: StoredPooling) -> None:
    """Write the pooling beside the weights in `directory`."""
    (directory / FILE_NAME).write_text(pooling.model_dump_json(indent=2) + "\n", encoding="utf-8")


def stored_pooling(path_or_name: str | Path, revision: str = "main") -> StoredPooling:
    """Read the pooling from our own record, else from sentence-transformers'."""
    name = str(path_or_name)
    ours = _ours(name, revision)
    if ours:
        return ours
    check_expressible(name, revision)
    for module in _modules(name, revision):
        if module["type"] == "Pooling":
            return StoredPooling(pooling=_poolings(_read(name, f"{module['path']}/config.json", revision))[0])
    raise InputError(
        "no pooling is recorded beside the weights",
        where=name,
        rule="cls, mean, first_last and prompt give different vectors",
        remedy="Say which one is meant.",
    )


def stored_template(path_or_name: str | Path, revision: str = "main") -> str:
    """Read the template of prompt pooling; empty if none is recorded."""
    ours = _ours(str(path_or_name), revision)
    return ours.template if ours else ""


def is_whole_model(path_or_name: str | Path, revision: str = "main") -> bool:
    """Whether the record of how it reads a text is sentence-transformers' own."""
    name = str(path_or_name)
    return not _read(name, FILE_NAME, revision) and bool(_modules(name, revision))


def pooling_text(name: str) -> str:
    """Return the pooling of a model of ours to be, else the names of all its modules."""
    try:
        return stored_pooling(name).pooling
    except InputError:
        return ", ".join(_module_text(name, module) for module in _modules(name, "main"))


def _module_text(name: str, module: dict[str, Any]) -> str:
    config = _read(name, f"{module['path']}/config.json", "main") if module["type"] == "Pooling" else {}
    modes = f" ({' + '.join(_poolings(config))})" if config else ""
    return f"{module['path'] or module['type']}{modes}"


def check_modules(name: str) -> None:
    """Raise InputError for another kind of model, or a damaged file of a module."""
    kind = _read(name, PROMPTS, "main").get("model_type", DENSE)
    if kind != DENSE:
        rule, remedy = f"a model of sentences is a {DENSE}", "Name one that was saved as such"
        raise InputError(f"is a {kind}", where=name, rule=rule, remedy=remedy)
    for module in _modules(name, "main") if Path(name).is_dir() else ():
        folder = Path(name) / module["path"]
        if folder.is_dir():
            check_files(folder)
        if module["type"] == "Transformer":
            require_tokenizer_files(str(folder), folder)


def stored_max_length(path_or_name: str | Path, revision: str = "main") -> int | None:
    """Read sentence-transformers' own limit in tokens, if there is one."""
    length = _transformer(str(path_or_name), revision).get("max_seq_length")
    return int(length) if length else None


def lowers_case(path_or_name: str | Path, revision: str = "main") -> bool:
    """Whether sentence-transformers lowers every text before it is tokenised."""
    return bool(_transformer(str(path_or_name), revision).get("do_lower_case"))


def check_expressible(path_or_name: str | Path, revision: str = "main") -> None:
    """Raise InputError that names what our encoder would leave out."""
    name = str(path_or_name)
    with reading(name):
        problems = list(_beyond(name, revision))
    for what in problems:
        raise InputError(
            what,
            where=name,
            rule="our encoder is a Transformer with one cls or mean Pooling, whose vectors may be normalised",
            remedy="`rse-study evaluate` can score this model as it is; train another one",
        )


def _beyond(name: str, revision: str) -> Iterator[str]:
    """Yield what sentence-transformers would do to a text and our encoder does not."""
    modules = _modules(name, revision)
    if not modules:
        return
    for module, wanted in zip(
        modules, ("Transformer", "Pooling", *["Normalize"] * len(modules)), strict=False
    ):
        if module["type"] != wanted:
            yield f"its module {module['path'] or module['type']} ({module['type']})"
        if module.get("kwargs"):
            yield f"{module['type']} is called with {', '.join(module['kwargs'])}"
    if modules[0]["path"]:
        yield f"its Transformer lies in {modules[0]['path']}/, not beside {MODULES}"
    if len(modules) > 1:
        pooling = _read(name, f"{modules[1]['path']}/config.json", revision)
        if len(_poolings(pooling)) != 1 or _poolings(pooling)[0] not in POOLINGS:
            yield f"its pooling {' + '.join(_poolings(pooling)) or 'is not recorded'}"
        if not pooling.get("include_prompt", True):
            yield "its pooling leaves out the prompt (include_prompt)"
    for key, value in _transformer(name, revision).items():
        if value and key not in APPLIED and value != NEUTRAL.get(key):
            yield f"its Transformer's {key} = {value!r}"
    config = _read(name, PROMPTS, revision)
    prompt = (config.get("prompts") or {}).get(config.get("default_prompt_name"))
    if prompt:
        yield f"its prompt {prompt!r} before every text (default_prompt_name)"
    for key, neutral in (("truncate_dim", None), ("model_type", DENSE)):
        if config.get(key, neutral) != neutral:
            yield f"{key} = {config[key]!r} of its {PROMPTS}"


def _poolings(config: dict[str, Any]) -> list[str]:
    """Return the modes of a Pooling, as versions before and after 6 write them."""
    mode = config.get("pooling_mode")
    if mode:
        return [mode] if isinstance(mode, str) else list(mode)
    flags = (key for key, value in config.items() if key.startswith("pooling_mode_") and value)
    return [key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens") for key in flags]


def _modules(name: str, revision: str) -> list[dict[str, Any]]:
    """Return path and class name of each module; empty for other folders."""
    with reading(f"{name}/{MODULES}"):
        modules = _read(name, MODULES, revision, [])
        return [{**one, "path": "" + one["path"], "type": one["type"].split(".")[-1]} for one in modules]


def _transformer(name: str, revision: str) -> dict[str, Any]:
    files = (f"sentence_{family}_config.json" for family in FAMILIES)
    found = (_read(name, file, revision) for file in (files if _modules(name, revision) else ()))
    return next(filter(None, found), {})


def _ours(name: str, revision: str) -> StoredPooling | None:
    content = _read(name, FILE_NAME, revision)
    try:
        return StoredPooling(**content) if content else None
    except (ValidationError, TypeError) as error:
        what = f"is damaged ({first_line(error)})"
        raise InputError(what, where=f"{name}/{FILE_NAME}", remedy=AGAIN) from None


def _read(name: str, file: str, revision: str, absent: dict[str, Any] | list[Any] | None = None) -> Any:
    """Read a JSON file of a folder or hub repository; `absent`, or {}, if there is none."""
    absent = {} if absent is None else absent
    with reading(f"{name}/{file}"):
        path = cached_file(
            name,
            file,
            revision=revision,
            _raise_exceptions_for_gated_repo=False,
            _raise_exceptions_for_missing_entries=False,
            _raise_exceptions_for_connection_errors=False,
        )
        content = json.loads(Path(path).read_text(encoding="utf-8")) if path else absent
        if not isinstance(content, type(absent)):
            raise TypeError(f"a {type(content).__name__} where a {type(absent).__name__} is expected")
        return content
