"""What a recipe is given, and its fingerprints: other words find other texts."""

import shutil
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.minilm import minilm_folder
from rse_study.assets.sentence_similarity import sentence_similarity
from rse_study.assets.store import build, write_meta
from rse_study.data import wordnet
from rse_study.data.text_files import find_file
from rse_study.data.typos import KEYBOARD, LOOKALIKES, lookalikes
from rse_study.data.wordnet import wordnet_fingerprint
from rse_study.evaluation.attacks.lexicons import stopwords
from rse_study.evaluation.attacks.lexicons.lookalikes import keyboard
from rse_study.evaluation.attacks.lexicons.ppdb import FILE, SynonymList
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.resources import AttackResources, Resource
from rse_study.spec import fingerprint_of, hash_file


def resources_of(recipe: str, data_dir: Path) -> AttackResources:
    """What the recipe takes from outside, a masked LM apart.

    The sentence encoder is loaded where the recipe needs one. Raises InputError for a recipe that is not known.
    """
    compares = Resource.SENTENCE_SIMILARITY in RECIPES.get(recipe).needs
    return AttackResources(data_dir, encoder=sentence_similarity() if compares else None)


def fingerprints_of(recipe: str, data_dir: Path) -> dict[str, str]:
    """sha256 (hex) of everything the recipe needs, by name, a masked LM apart.

    Raises InputError where some of it is missing, and for a recipe that is not known.
    """
    needs = RECIPES.get(recipe).needs
    return {need.value: _BY_CONTENT[need](data_dir) for need in needs if need != Resource.MASKED_LM}


def word_lists(root: Path, recipe: str, data_dir: Path) -> Path:
    """A folder with what the recipe reads of the data folder, in the same places.

    Parameters
    ----------
    root
        The folder of all assets.
    recipe
        Its name.
    data_dir
        The data folder.
    """

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
    return _synonym_lists_of(data_dir, hash_file(find_file(FILE, data_dir)))


@lru_cache(maxsize=2)
def _synonym_lists_of(data_dir: Path, content: str) -> str:
    """Read once for as long as the file holds the same: tens of thousands of pairs, and several recipes ask."""
    return fingerprint_of(SynonymList.open(data_dir).synonyms)


_FILES: dict[Resource, tuple[str | Path, ...]] = {
    Resource.WORDNET: (wordnet.FOLDER / wordnet.ARCHIVE,),
    Resource.STOP_WORDS: (stopwords.ARCHIVE,),
    Resource.SYNONYM_LISTS: (FILE,),
    Resource.LOOK_ALIKES: (LOOKALIKES,),
    Resource.KEYBOARD: (KEYBOARD,),
}
"""Files of the data folder; a model is no file of it."""
_BY_CONTENT: dict[Resource, Callable[[Path], str]] = {
    Resource.WORDNET: wordnet_fingerprint,
    Resource.STOP_WORDS: lambda data_dir: fingerprint_of(sorted(english_stopwords(data_dir))),
    Resource.SYNONYM_LISTS: _synonym_lists,
    Resource.LOOK_ALIKES: lambda data_dir: fingerprint_of(lookalikes(data_dir)),
    Resource.KEYBOARD: lambda data_dir: fingerprint_of(keyboard(data_dir)),
    Resource.SENTENCE_SIMILARITY: lambda data_dir: fingerprint_of_model(str(minilm_folder())),
}
