"""A model's files, checked before a library opens them, and their records."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from transformers.utils import cached_file

from rse_study.data.hub_models import MODULES, hub_arguments
from rse_study.errors import InputError, first_line
from rse_study.models.pooling import PoolingKind
from rse_study.spec import Spec

AGAIN = "Download or save it again"
CONFIGS = ("config.json", "tokenizer_config.json", "generation_config.json")
READ = (*CONFIGS, "tokenizer.json", "vocab.*", "merges.txt", "*_tokens*.json", "*.model", "*.index.json")
WEIGHTS = ("model*.safetensors", "pytorch_model*.bin")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model", "*.tiktoken")
MOST_BYTES = 64 << 20  # NLLB's tokenizer.json, among the largest, has 33 MB
MOST_OF_CONFIG = 4 << 20
PARTS = re.compile("num_(?!labels|buckets).*|.*layers?|n_heads?")
MOST_PARTS, MOST_SIZE = 1_000, 1 << 24  # of layers, heads and experts; of widths, positions and vocabularies
LFS = b"version https://git-lfs"


def check_files(folder: Path) -> None:
    """Raise InputError for a file of a model's folder that no loader should open."""
    for path in sorted(folder.iterdir()):
        if any(map(path.match, READ + WEIGHTS)):
            _check_file(path)
    for path in (folder / name for name in CONFIGS if (folder / name).exists()):
        _check_sizes(read_json(path, dict), str(path))
    if (folder / "adapter_config.json").exists():
        rule = "its weights are an adapter's, which change another model's"
        remedy = "Merge it (peft: merge_and_unload) and save the result"
        raise InputError("holds a PEFT adapter", where=str(folder), rule=rule, remedy=remedy)


def read_json(path: Path, kind: type) -> Any:
    """Read a JSON object or list in UTF-8; raise InputError that names the file."""
    with reading(str(path), what="cannot be read"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, kind):
            raise TypeError(f"a {type(content).__name__} where a {kind.__name__} is expected")
        return content


def require_regular(path: Path) -> None:
    """Raise InputError for a device, a folder or a broken link."""
    if not path.is_file():
        rule = "folders, devices and broken links are not read"
        raise InputError("is no regular file", where=str(path), rule=rule, remedy=AGAIN)


def require_tokenizer_files(folder: Path) -> None:
    """Raise InputError for a folder without a vocabulary.

    transformers would make an empty one, to which every word is unknown.
    """
    if not any(any(folder.glob(pattern)) for pattern in TOKENIZERS):
        rule, remedy = f"a tokenizer has one of {', '.join(TOKENIZERS)}", "Save the tokenizer there, too"
        raise InputError("no tokenizer is here", where=str(folder), rule=rule, remedy=remedy)


@contextmanager
def reading(where: str, remedy: str = AGAIN, what: str = "cannot be loaded") -> Iterator[None]:
    """Turn every failure of a library's loader inside into an InputError."""
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # anything: a panic of tokenizers is not even an Exception
        said = f"{what} ({type(error).__name__}: {first_line(error).rstrip(':')})"
        raise InputError(said, where=where, remedy=remedy) from error


def _check_file(path: Path) -> None:
    require_regular(path)
    size, most = path.stat().st_size, MOST_OF_CONFIG if path.name == "config.json" else MOST_BYTES
    if size > most and not any(map(path.match, WEIGHTS)):
        what, rule = f"has {size:,} bytes", f"at most {most:,} are read"
        raise InputError(what, where=str(path), rule=rule, remedy=AGAIN)
    with path.open("rb") as stream:
        if stream.read(len(LFS)) == LFS:
            what, remedy = "is a pointer of Git LFS, not the file itself", "Fetch the file: git lfs pull"
            raise InputError(what, where=str(path), remedy=remedy)


def _check_sizes(value: Any, where: str, key: str = "") -> None:
    """Raise InputError for a number that would take minutes or all memory to build."""
    for name, one in value.items() if isinstance(value, dict) else ():
        _check_sizes(one, where, name)
    for one in value if isinstance(value, list) else ():
        _check_sizes(one, where, key)
    most = MOST_PARTS if PARTS.fullmatch(key) else MOST_SIZE
    if isinstance(value, int) and abs(value) > most and "length" not in key:
        what, rule = f"{key} = {value}", f"no encoder has more than {most:,}"
        raise InputError(what, where=where, rule=rule, remedy=AGAIN)


FILE_NAME, MODEL = "sentence_pooling.json", "config_sentence_transformers.json"
FAMILIES = ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
"""in the names of the files of its Transformer's settings"""
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
    prompt: str = ""
    """what stands before every sentence"""


def store_pooling(directory: Path, pooling: StoredPooling) -> None:
    """Write the pooling beside the weights in `directory`."""
    without = set() if pooling.prompt else {"prompt"}  # as the files of models that have none always were
    written = pooling.model_dump_json(indent=2, exclude=without)
    (directory / FILE_NAME).write_text(written + "\n", encoding="utf-8")


@dataclass(frozen=True)
class Recorded:
    """Record of how a model reads a text, in its folder or repository on the hub."""

    name: str
    revision: str = "main"

    @cached_property
    def ours(self) -> StoredPooling | None:
        content = self._read(FILE_NAME)
        try:
            return StoredPooling(**content) if content else None
        except (ValidationError, TypeError) as error:
            where = f"{self.name}/{FILE_NAME}"
            raise InputError(f"is damaged ({first_line(error)})", where=where, remedy=AGAIN) from None

    @cached_property
    def modules(self) -> list[tuple[str, str, Any]]:
        """Kind, path and arguments of sentence-transformers' modules; empty without them."""
        with reading(f"{self.name}/{MODULES}"):
            listed = self._read(MODULES, list)
            return [(one["type"].split(".")[-1], "" + one["path"], one.get("kwargs")) for one in listed or ()]

    @cached_property
    def transformer(self) -> dict[str, Any]:
        """Settings of its Transformer; empty without modules."""
        files = (f"sentence_{family}_config.json" for family in FAMILIES if self.modules)
        return next(filter(None, map(self._read, files)), {})

    @cached_property
    def prompt(self) -> str:
        """The text before every sentence; of sentence-transformers' the one by default."""
        if self.ours:
            return self.ours.prompt
        with reading(f"{self.name}/{MODEL}"):
            model = (self.modules and self._read(MODEL)) or {}
            name = model.get("default_prompt_name")
            return "" if name is None else "" + (model["prompts"][name] or "")

    @property
    def max_length(self) -> int | None:
        """The limit in tokens, if there is one."""
        return self.transformer.get("max_seq_length") or None

    @cached_property
    def poolings(self) -> list[str]:
        """The modes of its Pooling, as versions before and after 6 write them."""
        config = self._pooling
        given = config.get("pooling_mode") or [
            key.removeprefix("pooling_mode_").removesuffix("_token").removesuffix("_tokens")
            for key, value in config.items()
            if key.startswith("pooling_mode_") and value
        ]
        return [given] if isinstance(given, str) else list(given)

    @property
    def _pooling(self) -> dict[str, Any]:
        paths = [path for kind, path, _ in self.modules if kind == "Pooling"]
        return (self._read(f"{paths[0]}/config.json") if paths else None) or {}

    @property
    def is_whole(self) -> bool:
        """Whether the record is sentence-transformers' own."""
        return not self.ours and bool(self.modules)

    @property
    def pooling_text(self) -> str:
        """The pooling that our encoder has, too, else the names of all modules."""
        if not any(self._beyond()):
            return self.poolings[0]
        modes = {"Pooling": f" ({' + '.join(self.poolings)})"}
        return ", ".join(f"{path or kind}{modes.get(kind, '')}" for kind, path, _ in self.modules)

    def check_expressible(self) -> None:
        """Raise InputError that names what our encoder would leave out."""
        with reading(self.name):
            problem = next(self._beyond(), "")
        if problem:
            rule = (
                "our encoder is a Transformer with one cls or mean Pooling, whose vectors may be normalised"
            )
            remedy = "`rse-study evaluate` can score this model as it is; train another one"
            raise InputError(problem, where=self.name, rule=rule, remedy=remedy)

    def check_modules(self) -> None:
        """Raise InputError for another kind of model, or a damaged file of a module."""
        kind = (self._read(MODEL) or {}).get("model_type", DENSE)
        if kind != DENSE:
            rule, remedy = f"a model of sentences is a {DENSE}", "Name one that was saved as such"
            raise InputError(f"is a {kind}", where=self.name, rule=rule, remedy=remedy)
        for kind, path, _ in self.modules if Path(self.name).is_dir() else ():
            if (folder := Path(self.name) / path).is_dir():
                check_files(folder)
            if kind == "Transformer":
                require_tokenizer_files(folder)

    def _beyond(self) -> Iterator[str]:
        """Yield what sentence-transformers would do to a text and our encoder does not."""
        if not self.modules:
            return
        for i, (kind, path, arguments) in enumerate(self.modules):
            if kind != ("Transformer", "Pooling", "Normalize")[min(i, 2)] or arguments:
                yield f"its module {path or kind} ({kind}{' with arguments' if arguments else ''})"
            elif kind == "Transformer" and path:
                yield f"its Transformer lies in {path}/, not beside {MODULES}"
        if self.poolings not in [[kind] for kind in POOLINGS]:
            yield f"its pooling {' + '.join(self.poolings) or 'is not recorded'}"
        if not self._pooling.get("include_prompt", True):
            yield "its pooling leaves out the prompt (include_prompt)"
        for key, value in self.transformer.items():
            if value and key not in APPLIED and value != NEUTRAL.get(key):
                yield f"its Transformer's {key} = {value!r}"
        model = self._read(MODEL) or {}
        for key, neutral in (("truncate_dim", None), ("model_type", DENSE)):
            if model.get(key, neutral) != neutral:
                yield f"{key} = {model[key]!r} of its {MODEL}"

    def _read(self, file: str, kind: type = dict) -> Any:
        """Read a JSON file of a folder or hub repository; None if there is none."""
        with reading(f"{self.name}/{file}"):
            path = cached_file(
                self.name,
                file,
                **hub_arguments(self.name, self.revision, file),
                _raise_exceptions_for_gated_repo=False,
                _raise_exceptions_for_missing_entries=False,
            )
        return read_json(Path(path), kind) if path else None


def stored_pooling(path_or_name: str | Path, revision: str = "main") -> StoredPooling:
    """Read the pooling from our own record, else from sentence-transformers'."""
    recorded = Recorded(str(path_or_name), revision)
    if recorded.ours:
        return recorded.ours
    recorded.check_expressible()
    if not recorded.modules:
        what = "no pooling is recorded beside the weights"
        rule, remedy = "each pooling gives different vectors", "Say which one is meant."
        raise InputError(what, where=str(path_or_name), rule=rule, remedy=remedy)
    return StoredPooling(pooling=recorded.poolings[0])
