"""Materials: what a trial is trained on and judged by, ready on this machine."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from rse_study.data.pairs import StsPairs
from rse_study.results.atomic import write_whole
from rse_study.spec import fingerprint_of
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Materials:
    """Folders and pairs, and fingerprints of all that goes into a cell's identity.

    `assets` makes them, the training loop reads them. Folders have absolute paths: workers of Ray have another
    working directory than the process that prepared their materials.
    """

    corpus: Path
    """folder of a tokenised corpus"""
    base: str
    """folder or hub name of the base encoder"""
    dev: StsPairs
    """pairs that training is judged by"""
    generator: str = ""
    """folder or hub name of the masked LM; empty where RTD is off"""
    generator_revision: str = "main"
    """branch, tag or commit of a hub name"""
    synonyms: str = ""
    """folder of the table of synonyms; empty where nothing is replaced"""
    replayed: str = ""
    """folder of the adversarial pairs; empty where none are replayed"""
    replayed_texts: str = ""
    """folder of the adversarial labelled texts; empty where none are replayed"""
    watched: dict[str, str] = field(default_factory=dict)
    """folders of watched evaluations, by name"""
    fingerprints: dict[str, str] = field(default_factory=dict)
    """sha256 of each part that decides a cell's numbers, by name"""

    def save(self, folder: Path) -> Path:
        """Write a JSON file named by its content; one that is there already is left alone."""
        path = folder / f"{fingerprint_of(self._content())[:16]}.json"
        if not path.exists():
            write_whole(path, json.dumps(self._content(), ensure_ascii=False))
        return path

    @classmethod
    def load(cls, path: Path) -> "Materials":
        """Read a file that `save` wrote."""
        return cls.from_json(path.read_text(encoding="utf-8"))

    def _content(self) -> dict[str, Any]:
        """Everything for JSON: the dev pairs themselves, folders by their names."""
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        return content | {"corpus": str(self.corpus), "dev": self.dev.to_json()}

    @classmethod
    def from_json(cls, text: str) -> "Materials":
        """The materials that a file of `save` holds."""
        content = json.loads(text)
        dev = StsPairs.from_json(content.pop("dev"))
        return cls(**{**content, "corpus": Path(content["corpus"])}, dev=dev)

    def relocated(self, move: Callable[[str], str]) -> "Materials":
        """The same materials in other folders.

        Parameters
        ----------
        move : callable
            Is given the name of each folder, or a hub's name of a model; gives the new one.
        """
        names = ("base", "generator", "synonyms", "replayed", "replayed_texts")
        folders: dict[str, Any] = {name: move(getattr(self, name)) for name in names if getattr(self, name)}
        watched = {name: move(folder) for name, folder in self.watched.items()}
        return replace(self, **folders, corpus=Path(move(str(self.corpus))), watched=watched)


PrepareMaterials = Callable[[Trial], Materials]
"""Makes the materials of a trial, or finds those made before."""


def identity_of(trial: Trial, seed: int, materials: Materials) -> str:
    """Identify a cell: sha256 of trial, seed and fingerprints; none is run twice.

    Names and paths of corpus, base, generator and replayed reference are left out: the fingerprints of what they
    hold stand for them, so that a cell is the same cell in another folder and on another machine. What only reports
    or selects (dev cadence, points of the history) stays in: it decides which model is kept and what the history
    holds.

    Parameters
    ----------
    trial : Trial
        The cell's whole configuration.
    seed : int
        Of every random draw of the cell.
    materials : Materials
        Only their fingerprints are read.
    """
    content = trial.identity()
    del content["corpus"], content["encoder"]["name"], content["encoder"]["revision"]
    content["method"].get("rtd", {}).pop("generator", None)  # of the one method that has it
    content.get("replayed", {}).pop("reference", None)  # absent where nothing is replayed
    return fingerprint_of({"trial": content, "seed": seed, "materials": materials.fingerprints})
