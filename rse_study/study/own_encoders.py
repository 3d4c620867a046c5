"""Encoders of a user's own: what identifies them, and what gives their vectors."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.assets.store import fingerprint_of_model
from rse_study.data.hub_models import local_name
from rse_study.data.text_files import find_file
from rse_study.data.word_vectors import WordVectors
from rse_study.errors import InputError, first_line
from rse_study.evaluation.evaluations import Embed
from rse_study.models.export import WholeModel
from rse_study.registry import class_of, construct
from rse_study.spec import fingerprint_of, hash_file
from rse_study.storage.folders import fingerprint_of_folder
from rse_study.study.definition.own_baselines import OwnBaseline
from rse_study.training.materials import Materials


def own_materials(name: str, own: OwnBaseline, base: Materials, *folders: Path) -> Materials:
    """Return the materials of an own baseline: its folder or file is in the base's place.

    The source of its class is in the optimizer's. Raises InputError where something is missing.
    """
    place, source, content = "", "", ""
    if own.encoder:
        place = local_name(own.encoder, *folders)
        is_folder = Path(place).is_dir()
        content = (
            fingerprint_of_folder(Path(place)) if is_folder else fingerprint_of_model(place, own.revision)
        )
    elif own.vectors:
        place = str(find_file(own.vectors, *folders))
        content = hash_file(Path(place))
    elif own.class_:
        source = own.source(name, folders[0])
        file = Path(str(getattr(sys.modules[own.class_.partition(":")[0]], "__file__", None)))
        content = source or (hash_file(file) if file.is_file() else "")
    decides = [own.class_, own.prompt, own.semantics, content]
    # A hub name's commit, name@commit, is what a storage gets of it.
    fingerprints = {"base": fingerprint_of(decides), "encoder": content if "@" in content else ""}
    return replace(base, base=place, optimizer=source, fingerprints=fingerprints)


def own_embed(name: str, own: OwnBaseline, materials: Materials, device: str) -> Embed:
    """Return what gives the vectors of an own baseline."""
    if own.encoder:
        return WholeModel(materials.base, device, revision=own.revision, prompt=own.prompt)
    if own.vectors:
        return WordVectors(Path(materials.base))
    assert own.class_ is not None, "a baseline of none of the three kinds"
    what = own.class_named(name)
    made = construct(
        class_of(materials.optimizer, own.class_, what=what), settings={}, named=own.class_, what=what
    )
    return OwnClass(made, what)


class OwnClass:
    """Vectors of a user's own object: list[str] -> array [n d]; InputError for other ones."""

    def __init__(self, made: Any, what: str) -> None:
        self._made, self._what, self._size = made, what, 0

    def __call__(self, texts: list[str]) -> np.ndarray:
        try:
            given = self._made(texts)
            vectors = np.asarray(
                given.detach().float().cpu() if hasattr(given, "detach") else given, np.float64
            )
        except (Exception, SystemExit) as error:
            raise self._refusal(
                f"fails on {len(texts):,} texts ({type(error).__name__}: {first_line(error)})"
            ) from error
        self._size = self._size or vectors.shape[-1]
        if vectors.shape != (len(texts), self._size):
            raise self._refusal(f"returns an array {[*vectors.shape]} for {len(texts):,} texts")
        if not np.isfinite(vectors).all():
            row = int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])
            raise self._refusal(f"returns a NaN or infinite vector for {texts[row]!r:.80}")
        return vectors

    def _refusal(self, rule: str) -> InputError:
        remedy = (
            "Called with a list of n texts, it must return n finite vectors of one length: an array [n d]"
        )
        return InputError(self._what, rule=rule, remedy=remedy)
