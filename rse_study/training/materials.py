"""Data and models of a trial, ready on this machine."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from rse_study.data.hub_models import lacks_masked_lm_head, local_name
from rse_study.data.labelled import StsPairs
from rse_study.errors import InputError
from rse_study.results.files.atomic import write_whole
from rse_study.spec import fingerprint_of
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Materials:
    """Folders, pairs, and fingerprints of all that goes into a cell's identity.

    Folders are absolute, since Ray's workers have another working directory than the process that prepared them.
    """

    corpus: Path
    """folder of a tokenised corpus"""
    num_sentences: int = 0
    """of that corpus; 0: not counted"""
    base: str
    """folder or hub name of the base encoder"""
    dev: StsPairs
    generator: str = ""
    """masked LM, a folder or hub name; empty if RTD is off"""
    generator_revision: str = "main"
    synonyms: str = ""
    replayed: str = ""
    replayed_texts: str = ""
    optimizer: str = ""
    """source of the module of an optimizer by class, if it lies beside the study"""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """sha256 of each part that decides a cell's numbers, by name"""

    @cached_property
    def file_name(self) -> str:
        """Name of their file, by their content; hashed once, for each cell is handed it."""
        return f"{fingerprint_of(self._content())[:16]}.json"

    def save(self, folder: Path) -> Path:
        """Write a JSON file named by its content, unless it is there already."""
        path = folder / self.file_name
        if not path.exists():
            write_whole(path, json.dumps(self._content(), ensure_ascii=False))
        return path

    @classmethod
    def load(cls, path: Path) -> "Materials":
        return cls.from_json(path.read_text(encoding="utf-8"))

    def _content(self) -> dict[str, Any]:
        """Return everything for JSON: the dev pairs themselves, folders by their names."""
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        content = {name: one for name, one in content.items() if one or name != "optimizer"}
        return content | {"corpus": str(self.corpus), "dev": self.dev.to_json()}

    @classmethod
    def from_json(cls, text: str) -> "Materials":
        content = json.loads(text)
        dev = StsPairs.from_json(content.pop("dev"))
        return cls(**{**content, "corpus": Path(content["corpus"])}, dev=dev)

    def relocated(self, move: Callable[[str], str]) -> "Materials":
        """Return the same materials in other folders, with each name mapped by `move`."""
        names = ("base", "generator", "synonyms", "replayed", "replayed_texts")
        folders: dict[str, Any] = {name: move(getattr(self, name)) for name in names if getattr(self, name)}
        return replace(self, **folders, corpus=Path(move(str(self.corpus))))


PrepareMaterials = Callable[[Trial], Materials]


def identity_of(trial: Trial, seed: int, materials: Materials) -> str:
    """Identify a cell by the sha256 of trial, seed and fingerprints.

    Fingerprints stand for names and paths, so that a cell is the same on another machine. Settings that only
    report or select stay in: they decide which model is kept and what the history holds.
    """
    num_steps = trial.num_steps(materials.num_sentences // trial.batch_size)
    return identity_on(trial, seed, materials.fingerprints, num_steps)


def identity_on(trial: Trial, seed: int, fingerprints: Mapping[str, str], num_steps: int) -> str:
    """Identify a cell by the fingerprints of materials that need not be here."""
    content = trial.identity()
    del content["corpus"], content["encoder"]["name"], content["encoder"]["revision"]
    content.pop("views", None)  # their texts are the corpus', too
    content["report_every"] = trial.cadence(num_steps)
    content["method"].get("rtd", {}).pop("generator", None)  # of the one method that has it
    content.get("replayed", {}).pop("reference", None)  # absent where nothing is replayed
    return fingerprint_of({"trial": content, "seed": seed, "materials": dict(fingerprints)})


def other_materials(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Say of each part that differs, such as the base, what it was and is."""
    parts = [part for part in {**before, **now} if before.get(part) != now.get(part)]
    return [f"{part} was {_short(before.get(part))} and is {_short(now.get(part))}" for part in parts]


def _short(fingerprint: str | None) -> str:
    return fingerprint[:12] if fingerprint else "absent"


WHERE = "method.rtd.generator"
MASKED_LM_ASSETS = ("tiny", "tiny-vectors", "minilm", "minilm-mlm")


def require_generator(trial: Trial, *folders: Path) -> None:
    """Raise InputError if the generator cannot serve or has no masked-LM head."""
    wanted, encoder = trial.method.generator, trial.encoder
    if wanted == "tiny" and encoder.name != "tiny":
        rule = "its tokenizer is the encoder's only where the encoder is tiny too"
        raise InputError("tiny", where=WHERE, rule=rule, remedy="Use generator: base, or encoder.name: tiny")
    if wanted == "minilm":
        rule, remedy = "MiniLM itself has no masked-LM head", "Use generator: minilm-mlm"
        raise InputError("minilm", where=WHERE, rule=rule, remedy=remedy)
    is_base = wanted == "base"
    name, revision = (encoder.name, encoder.revision) if is_base else (wanted, "main")
    if not wanted or name in MASKED_LM_ASSETS:
        return
    if lacks_masked_lm_head(local_name(name, *folders), revision):
        what = f"{name!r} was saved without a masked-LM head"
        rule = "replaced tokens come from a masked language model" + ", by default the encoder" * is_base
        remedy = "Name a checkpoint saved with its head (method.rtd.generator), or set lambda2: 0"
        raise InputError(what, where=WHERE, rule=rule, remedy=remedy)
