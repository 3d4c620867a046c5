"""What a trial is trained on and judged by, ready on this machine: made by `assets`, read by the loop."""

from dataclasses import dataclass, field
from pathlib import Path

from rse_study.data.pairs import StsPairs
from rse_study.spec import fingerprint_of
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Materials:
    """Folders and pairs, and fingerprints of all that goes into a cell's identity."""

    corpus: Path  # a tokenised corpus
    base: str  # folder or hub name of the base encoder
    dev: StsPairs
    generator: str = ""  # folder or hub name of the masked LM; empty where RTD is off
    generator_revision: str = "main"  # of a hub name
    synonyms: str = ""  # folder of the table; empty where nothing is replaced
    replayed: str = ""  # folder of the adversarial pairs; empty where none are
    replayed_texts: str = ""  # folder of the adversarial labelled texts; empty where none are
    watched: dict[str, str] = field(default_factory=dict)  # folders of watched evaluations, by name
    fingerprints: dict[str, str] = field(default_factory=dict)


def identity_of(trial: Trial, seed: int, materials: Materials) -> str:
    """sha256 of trial, seed and fingerprints: the same identity is never run twice.

    Names and paths of corpus, base, generator and replayed reference are left out: the fingerprints of what they
    hold stand for them, so that a cell is the same cell in another folder and on another machine. What only reports
    or selects (dev cadence, points of the history) stays in: it decides which model is kept and what the history
    holds.
    """
    content = trial.identity()
    del content["corpus"], content["encoder"]["name"], content["encoder"]["revision"]
    content["method"].get("rtd", {}).pop("generator", None)  # of the one method that has it
    content.get("replayed", {}).pop("reference", None)  # absent where nothing is replayed
    return fingerprint_of({"trial": content, "seed": seed, "materials": materials.fingerprints})
