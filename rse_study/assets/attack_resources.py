"""What a recipe of replayed attacks is given, and what that is by content: other words find other texts."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from rse_study.assets.fingerprint import fingerprint_of_model
from rse_study.assets.minilm import minilm_folder
from rse_study.assets.similarity import sentence_similarity
from rse_study.data.text_files import find_file
from rse_study.data.typos import lookalikes
from rse_study.data.wordnet import wordnet_fingerprint
from rse_study.evaluation.attacks.lexicons.lookalikes import keyboard
from rse_study.evaluation.attacks.lexicons.ppdb import FILE, SynonymList
from rse_study.evaluation.attacks.lexicons.stopwords import english_stopwords
from rse_study.evaluation.attacks.resources import AttackResources
from rse_study.spec import fingerprint_of, hash_file


def _of_synonym_lists(data_dir: Path) -> str:
    return _of_these_synonym_lists(data_dir, hash_file(find_file(FILE, data_dir)))


@lru_cache(maxsize=2)
def _of_these_synonym_lists(data_dir: Path, content: str) -> str:
    """Read once for as long as the file holds the same: tens of thousands of pairs, and several recipes ask."""
    return fingerprint_of(SynonymList.open(data_dir).synonyms)


SIMILARITY = "sentence similarity"
_BY_CONTENT: dict[str, Callable[[Path], str]] = {
    "WordNet": wordnet_fingerprint,
    "stop words": lambda data_dir: fingerprint_of(sorted(english_stopwords(data_dir))),
    "synonym lists": _of_synonym_lists,
    "look-alikes": lambda data_dir: fingerprint_of(lookalikes(data_dir)),
    "keyboard": lambda data_dir: fingerprint_of(keyboard(data_dir)),
    SIMILARITY: lambda data_dir: fingerprint_of_model(str(minilm_folder())),
}
USED: dict[str, tuple[str, ...]] = {
    "pwws": ("WordNet", "stop words"),
    "textfooler": ("stop words", "synonym lists", SIMILARITY),
    "textbugger": ("stop words", "synonym lists", "look-alikes", "keyboard", SIMILARITY),
}
"""What each of the recipes whose texts are replayed asks for, and nothing else."""
_BESIDE_A_MASKED_LM = ("stop words", SIMILARITY)  # bae and bert_attack, which take their words from one


def used_by(recipe: str) -> tuple[str, ...]:
    """Names of everything a recipe uses, a masked LM apart."""
    return USED.get(recipe, _BESIDE_A_MASKED_LM)


def resources_of(recipe: str, data_dir: Path) -> AttackResources:
    """For the recipe; the sentence encoder is loaded where it asks for one."""
    return AttackResources(data_dir, encoder=sentence_similarity() if SIMILARITY in used_by(recipe) else None)


def fingerprints_of(recipe: str, data_dir: Path) -> dict[str, str]:
    """sha256 (hex) of everything the recipe uses, by name. Raises InputError where some of it is missing."""
    return {name: _BY_CONTENT[name](data_dir) for name in used_by(recipe)}
