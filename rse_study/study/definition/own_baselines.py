"""Encoders of a user's own as baselines: settings, materials, and vectors."""

import logging
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, model_validator

from rse_study.data import hub_models
from rse_study.data.text_files import find_file, number_of, read_lines
from rse_study.errors import InputError, first_line
from rse_study.registry import ClassPath, class_of, construct, source_of_class
from rse_study.results.records import ALWAYS_SHOWN, BASELINES
from rse_study.spec import Spec, field, fingerprint_of, hash_file
from rse_study.storage.folders import fingerprint_of_folder
from rse_study.training.materials import Materials


def as_list(given: Any) -> Any:
    """Return baselines as a list with names of shipped ones; a mapping adds to them."""
    if isinstance(given, dict):
        given = [*ALWAYS_SHOWN, *({key: own} for key, own in given.items() if own or key not in ALWAYS_SHOWN)]
    if not isinstance(given, list | tuple):
        return given
    return [next((name for name in BASELINES if one in ({name: None}, {name: {}})), one) for one in given]


class OwnBaseline(Spec):
    """An encoder of a user's own, which is measured as shipped baselines are."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)
    encoder: str = ""
    """folder or hub name that sentence-transformers loads whole, with all its modules and its own max length"""
    prompt: str | None = None
    """text before every sentence, of an encoder; by default the one that it was saved with"""
    class_: ClassPath | None = field(None, alias="class")
    """instead, `module:Class`, made without arguments: called with a list of n texts, it returns an array [n d]"""
    vectors: str = ""
    """instead, a text file of GloVe or word2vec, perhaps .gz: a text has the mean of its words' vectors, lower-cased"""

    @model_validator(mode="after")
    def _is_of_one_kind(self) -> "OwnBaseline":
        kinds = [one for one in (self.encoder, self.class_, self.vectors) if one]
        if len(kinds) != 1 or (self.prompt is not None and not self.encoder):
            raise ValueError(
                "must have one of `encoder`, `class` and `vectors`; `prompt` is an encoder's. Write one"
            )
        return self

    def needs(self) -> str:
        """Return the key by which its materials are kept, as those of a trial are."""
        return self.fingerprint()

    def _source(self, folder: Path) -> str:
        """Return the source of its class if that lies beside the study."""
        what, bases = f"baseline by class {self.class_!r}", ["collections.abc.Callable"]
        return source_of_class(self.class_, what=what, folder=folder, bases=bases) if self.class_ else ""

    def check(self, *folders: Path) -> None:
        """Raise InputError for what is missing or malformed; load nothing."""
        self._source(folders[0])
        if self.vectors:
            WordVectors(find_file(self.vectors, *folders))
        folder = hub_models.described_folder((self.encoder, "main"), *folders) if self.encoder else None
        if self.encoder in hub_models.OUR_OWN or (folder and not (folder / hub_models.MODULES).is_file()):
            what, rule = "is no model of sentence-transformers", f"it has no {hub_models.MODULES}"
            remedy = "Save it by sentence-transformers; of a cell, `rse-study export` does so"
            raise InputError(what, where=self.encoder, rule=rule, remedy=remedy)

    def materials(self, base: Materials, *folders: Path) -> Materials:
        """Return its materials, with its folder or file in the base's place.

        The source of its class is in the optimizer's.
        """
        from rse_study.assets.store import fingerprint_of_model  # transformers

        name, source = hub_models.local_name(self.encoder, *folders), self._source(folders[0])
        if self.class_:
            module = sys.modules[self.class_.partition(":")[0]]
            content = fingerprint_of(source) if source else hash_file(Path(str(module.__file__)))
        elif self.vectors:
            name = str(find_file(self.vectors, *folders))
            content = hash_file(Path(name))
        else:
            folder = Path(name) if Path(name).is_dir() else None
            content = fingerprint_of_folder(folder) if folder else fingerprint_of_model(name)
        whole = fingerprint_of([content, self.prompt, self.semantics])
        # "model" is name@commit of one on the hub, by which a storage gets its revision.
        return replace(base, base=name, optimizer=source, fingerprints={"base": whole, "model": content})

    def embed(self, materials: Materials, device: str) -> Any:
        """Return what makes vectors [n d] of n texts."""
        if self.class_:
            return OwnClass(self.class_, materials.optimizer)
        if self.vectors:
            return WordVectors(Path(materials.base))
        from rse_study.models.export import WholeModel  # torch

        return WholeModel(materials.base, device, prompt=self.prompt)


class OwnClass:
    """Vectors of a user's own class: list[str] -> array [n d].

    Raises InputError for anything else, and for vectors of another length than before.
    """

    def __init__(self, path: str, source: str) -> None:
        self._what, self._size = f"baseline by class {path!r}", 0
        cls = class_of(source, path, what=self._what)
        self._made = construct(cls, settings={}, named=path, what=self._what)

    def __call__(self, texts: list[str]) -> np.ndarray:
        try:
            given = self._made(list(texts))
            is_tensor = hasattr(given, "detach")  # of torch, on any device
            vectors = np.asarray(given.detach().float().cpu() if is_tensor else given, np.float64)
            said = f"returns an array {[*vectors.shape]} for {len(texts):,} texts"
            said += "" if (known := np.isfinite(vectors)).all() else f", {np.sum(~known):,} values not finite"
        except (Exception, SystemExit) as error:
            vectors, said = np.zeros(0), f"fails ({type(error).__name__}: {first_line(error)})"
        self._size = self._size or vectors.size // max(1, len(texts))
        if vectors.shape != (len(texts), self._size) or not np.isfinite(vectors).all():
            remedy = "For n texts it must return n finite vectors, always of one length: an array [n d]"
            raise InputError(self._what, rule=said, remedy=remedy)
        return vectors


MOST_BYTES = 20_000_000_000  # GloVe's largest, 840B, has 5.7 GB
# Words and punctuation apart, and clitics as in the Penn Treebank's tokens, of which GloVe was made: do n't, it 's.
_TOKEN = re.compile(r"\w+?(?=n't\b)|n't\b|'(?:s|m|d|ll|re|ve)\b|\w+|[^\w\s]")
logger = logging.getLogger(__name__)


class WordVectors:
    """Mean of the vectors of a text's known words: list[str] -> array [n d].

    Texts are lower-cased; one without a known word has a zero vector. Words of the file may contain blanks; of a
    word's lines the first counts. Only words that were met are kept. Raises InputError with the number of a malformed
    line; of other words than these, numbers are counted and not read.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._known = path, dict[str, np.ndarray | None]()
        first = next(read_lines(path, MOST_BYTES), "").split()
        self._has_header = len(first) == 2 and all(map(str.isdecimal, first))
        self._size = int(first[1]) if self._has_header else len(first) - 1
        next(self._read(None), None)

    def __call__(self, texts: list[str]) -> np.ndarray:
        tokens = [_TOKEN.findall(text.lower()) for text in texts]
        if new := {token for own in tokens for token in own} - self._known.keys():
            self._known |= dict.fromkeys(new) | dict(reversed([*self._read(new)]))
        known = [[vector for one in own if (vector := self._known[one]) is not None] for own in tokens]
        if lost := known.count([]):
            said = "%s: %d of %d texts have no known word, and a zero vector"
            logger.warning(said, self._path, lost, len(texts))
        none = [np.zeros(self._size, np.float32)]
        return np.stack([np.mean(own or none, axis=0) for own in known])

    def _read(self, wanted: set[str] | None) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the wanted words, or all, with their vectors; of other lines the numbers are only counted."""
        lines = read_lines(self._path, MOST_BYTES) if self._size > 0 else [""]
        for number, line in enumerate(lines, start=1):
            if number <= self._has_header:
                continue
            word, *cells = line.rstrip(" ").rsplit(" ", self._size)
            is_read = wanted is None or word in wanted
            vector = np.array([number_of(cell) for cell in cells if is_read], np.float32)
            if len(cells) != self._size or not cells or not np.isfinite(vector).all():
                rule = "a line is a word and as many numbers as the first one has, with blanks between"
                remedy = "Mend the line, or fetch the file again; `n d` may stand above the vectors"
                what = f"is no word with {max(1, self._size)} numbers"
                raise InputError(what, where=f"{self._path}:{number}", rule=rule, remedy=remedy)
            if is_read:
                yield word, vector
