"""The resources an attack recipe needs, and their fingerprints."""

import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.store import build, write_meta
from rse_study.assets.tiny import minilm_folder
from rse_study.data.lexicons import (
    ARCHIVE,
    FOLDER,
    KEYBOARD,
    LOOKALIKES,
    PPDB,
    STOP_WORDS,
    SynonymList,
    english_stopwords,
    keyboard,
    lookalikes,
    wordnet_fingerprint,
)
from rse_study.data.text_files import find_file
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack_recipe import AttackResources, NamedModel, Resource
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.spec import fingerprint_of, hash_file


def sentence_similarity(device: str = "cpu") -> NamedModel[Embed] | None:
    """Load MiniLM onto a device; None if not installed, which its recipes report."""
    try:
        folder = minilm_folder()
    except InputError:
        return None
    encoder, tokenizer = load_encoder(folder)
    embed: Embed = Embedder(encoder.to(device), tokenizer)
    return NamedModel("minilm", embed)


def resources_of(recipe: str, data_dir: Path, device: str = "cpu") -> AttackResources:
    """Return the recipe's resources, with an encoder on `device` but no masked LM."""
    compares = Resource.SENTENCE_SIMILARITY in RECIPES.get(recipe).needs
    return AttackResources(data_dir, encoder=sentence_similarity(device) if compares else None)


def fingerprints_of(recipe: str, data_dir: Path) -> dict[str, str]:
    """Return the sha256 (hex) of each resource the recipe needs, except a masked LM."""
    needs = RECIPES.get(recipe).needs
    return {need.value: _BY_CONTENT[need](data_dir) for need in needs if need != Resource.MASKED_LM}


def word_lists(root: Path, recipe: str, data_dir: Path) -> Path:
    """Copy the files that the recipe reads from the data folder into an asset."""

    def copy(draft: Path) -> None:
        for need in needs:
            for path in _FILES.get(need, ()):
                found = find_file(path, data_dir)
                target = draft / found.relative_to(data_dir)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(found, target)
        draft.mkdir(parents=True, exist_ok=True)
        write_meta(draft, {"recipe": recipe})

    needs = RECIPES.get(recipe).needs
    return build(root, "word-lists", fingerprints_of(recipe, data_dir), copy)


def _synonym_lists(data_dir: Path) -> str:
    return _synonym_lists_of(data_dir, hash_file(find_file(PPDB, data_dir)))


@lru_cache(maxsize=2)
def _synonym_lists_of(data_dir: Path, content: str) -> str:
    """Fingerprint tens of thousands of synonym pairs, once per file content."""
    return fingerprint_of(SynonymList.open(data_dir).synonyms)


_FILES: dict[Resource, tuple[str | Path, ...]] = {
    Resource.WORDNET: (FOLDER / ARCHIVE,),
    Resource.STOP_WORDS: (STOP_WORDS,),
    Resource.SYNONYM_LISTS: (PPDB,),
    Resource.LOOK_ALIKES: (LOOKALIKES,),
    Resource.KEYBOARD: (KEYBOARD,),
}
"""Files in the data folder; models are not among them."""
_BY_CONTENT: dict[Resource, Callable[[Path], str]] = {
    Resource.WORDNET: wordnet_fingerprint,
    Resource.STOP_WORDS: lambda data_dir: fingerprint_of(sorted(english_stopwords(data_dir))),
    Resource.SYNONYM_LISTS: _synonym_lists,
    Resource.LOOK_ALIKES: lambda data_dir: fingerprint_of(lookalikes(data_dir)),
    Resource.KEYBOARD: lambda data_dir: fingerprint_of(keyboard(data_dir)),
    Resource.SENTENCE_SIMILARITY: lambda data_dir: fingerprint_of_model(str(minilm_folder())),
}
