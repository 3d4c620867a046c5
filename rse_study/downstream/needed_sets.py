"""Sets of the catalogue that an evaluation reads, by its name."""

from rse_study.data.attack_sets import ATTACK_SETS, OF_GLUE, OF_TRANSFER
from rse_study.data.catalogue import catalogue
from rse_study.data.tasks import HUB_NAME
from rse_study.downstream.registry import ADVERSARIAL_STS, ATTACKED, FINE_TUNED, SYNONYMS, WEAKENED, Settings
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.registry import INVARIANCE
from rse_study.results.records import PLANE

STAND_INS = {
    **{f"STS{year}": f"STS{year}-orig" for year in range(12, 17)},
    "snli": "snli-subset",
    "mnli": "snli-subset",
    "imdb": "review-polarity",
    "yelp": "uci-labelled",
}
"""Sets in whose place another one is read if it is the one that is there."""
MASKED_LM_TEXTS = ("wiki1m-head", "wikitext2")
"""what minilm-mlm is made of"""
_LISTS = {
    Resource.WORDNET: "wordnet",
    Resource.STOP_WORDS: "wordnet",
    Resource.SYNONYM_LISTS: "counter-fitting",
    Resource.LOOK_ALIKES: "homoglyph",
    Resource.KEYBOARD: "typo",
}
_CHANGES = ("wordnet", "typo", "homoglyph")  # of the texts whose vectors should stay where they are
_GLUE = {name: f"GLUE-{task}" for name, task in OF_GLUE.items()}
_TASKS = {
    **{task: (task.lower(),) for task in ("SNLI", "MNLI", "FEVER", "IMDB", "YELP", "SQuAD")},
    "ANLI": ("anli", "mnli", "snli", "fever"),
}


def sets_of(name: str, settings: Settings) -> tuple[str, ...]:
    """Return the sets that an evaluation reads; none for one on generated data."""
    task, _, preset = name.partition("/")
    attacked = task.removeprefix("attack-")
    if attacked in ATTACKED and task != attacked:
        inputs = {**OF_TRANSFER, **_GLUE}.get(attacked, task)
        texts = (inputs, _victim(attacked))
        own = () if attacked in _GLUE and settings.tasks.glue != HUB_NAME else texts
        return (*own, *sets_of_recipe(preset, settings.attacks.masked_lm))
    if task in ADVERSARIAL_STS:
        return (task.removeprefix("Adv"), *sets_of_recipe(preset, settings.attacks.masked_lm))
    if preset in (FINE_TUNED, SYNONYMS):
        words = ("wordnet",) if preset == SYNONYMS else ()
        return (*_TASKS.get(task, (task,) if settings.tasks.glue == HUB_NAME else ()), *words)
    words = ("wordnet",) if preset in (WEAKENED, PLANE) else ()
    changes = _CHANGES if name == INVARIANCE else words
    return (task, *changes) if task in catalogue() else ()


def sets_of_recipe(recipe: str, masked_lm: str = "") -> tuple[str, ...]:
    """Return the sets that hold the word lists of an attack."""
    needs = RECIPES.get(recipe).needs
    texts = MASKED_LM_TEXTS if Resource.MASKED_LM in needs and masked_lm == "minilm-mlm" else ()
    return (*(_LISTS[need] for need in needs if need in _LISTS), *texts)


def _victim(attacked: str) -> str:
    """Return the set of texts on which the attacked classifier is trained."""
    if attacked in _GLUE:
        return _GLUE[attacked]
    task, _ = ATTACK_SETS.get(attacked)[0]
    return task if task in catalogue() else task.lower()
