"""The resources and models that attack recipes need, and their fingerprints."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path

from rse_study.assets.store import build, fingerprint_of_model, write_meta
from rse_study.assets.tiny import MiniLMGenerator, minilm_folder, minilm_generator
from rse_study.data import cache_dir, lexicons
from rse_study.data.corpus import Corpus, read_corpus
from rse_study.data.hub_models import Model, UnknownModel, check_model, local_name
from rse_study.data.text_files import find_file
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack_recipe import AttackResources, NamedModel, Resource
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.transformations import MaskedLM
from rse_study.evaluation.evaluations import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.generators import WordPredictor, load_generator
from rse_study.models.loading import load_encoder
from rse_study.spec import fingerprint_of, hash_file
from rse_study.storage.folders import is_stored


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


@lru_cache(maxsize=2)
def _synonym_lists_of(data_dir: Path, content: str) -> str:
    """Fingerprint tens of thousands of synonym pairs, once per file content."""
    return fingerprint_of(lexicons.SynonymList.open(data_dir).synonyms)


_FILES: dict[Resource, tuple[str | Path, ...]] = {
    Resource.WORDNET: (lexicons.FOLDER / lexicons.ARCHIVE,),
    Resource.STOP_WORDS: (lexicons.STOP_WORDS,),
    Resource.SYNONYM_LISTS: (lexicons.PPDB,),
    Resource.LOOK_ALIKES: (lexicons.LOOKALIKES,),
    Resource.KEYBOARD: (lexicons.KEYBOARD,),
}
"""Files in the data folder; models are not among them."""
_BY_CONTENT: dict[Resource, Callable[[Path], str]] = {
    Resource.WORDNET: lexicons.wordnet_fingerprint,
    Resource.STOP_WORDS: lambda data_dir: fingerprint_of(sorted(lexicons.english_stopwords(data_dir))),
    Resource.SYNONYM_LISTS: lambda data_dir: _synonym_lists_of(
        data_dir, hash_file(find_file(lexicons.PPDB, data_dir))
    ),
    Resource.LOOK_ALIKES: lambda data_dir: fingerprint_of(lexicons.lookalikes(data_dir)),
    Resource.KEYBOARD: lambda data_dir: fingerprint_of(lexicons.keyboard(data_dir)),
    Resource.SENTENCE_SIMILARITY: lambda data_dir: fingerprint_of_model(str(minilm_folder())),
}


MINILM_MLM = "minilm-mlm"
_WIKI = ("wiki/wiki1m_head/wiki1m_for_simcse.head.txt", "wiki/wikitext2/sentences.txt")


def needs_masked_lm(recipe: str) -> bool:
    """Whether the recipe uses a masked language model, which the study must then name."""
    return Resource.MASKED_LM in RECIPES.get(recipe).needs


def fingerprint_resources(recipe: str, data_dir: Path, masked_lm: str) -> str:
    """Return the fingerprint of a recipe's resources without loading them."""
    if needs_masked_lm(recipe) and not masked_lm:
        rule, remedy = "its candidates are a masked language model's", f"Name one: {MINILM_MLM}, a folder"
        raise InputError("no masked language model", where=f"recipe {recipe}", rule=rule, remedy=remedy)
    of_lists = fingerprints_of(recipe, data_dir)
    of_masked_lm = _fingerprint_of_masked_lm(masked_lm, data_dir) if needs_masked_lm(recipe) else ""
    return fingerprint_of([of_lists, of_masked_lm])


@dataclass(frozen=True)
class ResourceLoader:
    """A loader of a recipe's resources elsewhere and later, with the masked LM pinned."""

    recipe: str
    data_dir: Path
    masked_lm: str
    resolved: Model | None = None
    """its folder, or its hub name and commit; None where the recipe uses no masked LM"""

    def __call__(self, device: str = "cpu") -> AttackResources:
        """Load the resources onto a device; build MiniLM's masked LM if missing."""
        resources = resources_of(self.recipe, self.data_dir, device)
        if self.resolved is None:
            return resources
        name, revision = self._folder_of(self.resolved)
        model: MaskedLM = WordPredictor(load_generator(name, revision).to(device))
        return replace(resources, masked_lm=NamedModel(self.masked_lm, model))

    def relocated(self, move: Callable[[str], str]) -> "ResourceLoader":
        """Return a copy that reads each of its folders where `move` puts it."""
        folder = str(self.data_dir)
        moved = Path(
            move(folder if is_stored(folder) else str(word_lists(_assets(), self.recipe, self.data_dir)))
        )
        if self.resolved is None:
            return replace(self, data_dir=moved)
        name, revision = self._folder_of(self.resolved)
        return replace(self, data_dir=moved, resolved=(move(name), revision))

    def _folder_of(self, model: Model) -> Model:
        return (_minilm_mlm(self.data_dir) if model[0] == MINILM_MLM else model[0]), model[1]


def resources_for(recipe: str, data_dir: Path, masked_lm: str) -> ResourceLoader:
    """Return a loader of the recipe's resources, for later and elsewhere."""
    resolved = find_masked_lm(masked_lm) if needs_masked_lm(recipe) else None
    return ResourceLoader(recipe, data_dir.resolve(), masked_lm, resolved)


def find_masked_lm(masked_lm: str) -> Model:
    """Return a folder with its absolute path, or a hub name with its current commit."""
    if masked_lm == MINILM_MLM:
        return masked_lm, "main"
    folder = Path(local_name(masked_lm))
    if folder.is_dir():
        return str(folder.resolve()), "main"
    return masked_lm, fingerprint_of_model(masked_lm).rpartition("@")[2]


def _fingerprint_of_masked_lm(name: str, data_dir: Path) -> str:
    if name == MINILM_MLM:
        return _what_minilm_mlm_is_made_of(data_dir)
    problem = _problem_of(name)
    if problem is not None:
        where, remedy = f"masked language model {name!r}", f"{problem.remedy}; another one is {MINILM_MLM}"
        raise type(problem)(problem.what, where=where, rule=problem.rule, remedy=remedy)
    return fingerprint_of_model(local_name(name))


@cache
def _problem_of(name: str) -> UnknownModel | None:
    """Ask for a model once, since a hub that does not answer is slow."""
    try:
        check_model(name)
    except UnknownModel as problem:
        return problem
    return None


@cache
def _what_minilm_mlm_is_made_of(data_dir: Path) -> str:
    texts = [hash_file(find_file(path, data_dir)) for path in _WIKI]
    return fingerprint_of([MiniLMGenerator().identity(), fingerprint_of_model(str(minilm_folder())), texts])


def _minilm_mlm(data_dir: Path) -> str:
    sentences = read_corpus(Corpus.model_validate({"source": list(_WIKI), "limit": 0}), data_dir).sentences
    return str(minilm_generator(_assets(), sentences))


def _assets() -> Path:
    return cache_dir().absolute() / "assets"
