"""What PWWS asked of an input from the first text to the last, whoever ran it: to see where two courses part."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rse_study.evaluation.attacks.attack import Recipe
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.single_input import Target, attack_one
from rse_study.evaluation.attacks.victim import Victim
from rse_study.streams import Streams

Score = Callable[[str], float]
"""How near the goal a text is: 1 - p(gold)."""

Placed = tuple[int, str]
"""A text and which word in it is another than before."""


@dataclass(frozen=True)
class Step:
    """Texts that differ from the one before in the word at `place`, counted from 0."""

    place: int
    texts: tuple[str, ...]


@dataclass(frozen=True)
class Course:
    """All that was asked, the clean text aside. `options` rank the words, `visits` try them; none is empty."""

    clean: str
    words: tuple[str, ...]
    unknown: tuple[Step, ...] = ()  # [UNK] in each word's place
    options: tuple[Step, ...] = ()
    visits: tuple[Step, ...] = ()


def our_course(recipe: Recipe, victim: Victim, target: Target, seed: int) -> Course:
    """That of our recipe on one text, asked without engine, memory or budget."""
    going = attack_one(recipe, target, Streams(seed))
    asked: list[Sequence[AttackedText]] = [next(going)]
    with suppress(StopIteration):
        while True:
            texts = [worded.text for worded in asked[-1]]
            asked.append(going.send(list(victim(texts)) if texts else []))
    unknown, options, *visits = [*asked[1:], (), ()]
    seen: set[int] = set()
    found = []
    for tried in visits:
        # A word that was tried in vain is not changed now: what is changed and was never tried is tried here.
        placed = [({place for place, _ in worded.changes} - seen, worded.text[0]) for worded in tried]
        found += _steps((place, text) for (place,), text in placed)
        seen |= {place for places, _ in placed for place in places}
    first = (_steps((worded.changes[0][0], worded.text[0]) for worded in each) for each in (unknown, options))
    return Course(target.text[0], tuple(asked[0][0].words), *map(tuple, first), tuple(found))


def their_course(clean: str, told: dict[str, Any]) -> Course:
    """That of TextAttack. Words are ranked from left to right; the first visit is to one of them, so it goes back."""
    unknown, *rest = told["steps"] or [[]]
    steps = [step for asked in rest for step in _steps(map(tuple, asked))]
    falls = (i for i in range(1, len(steps)) if steps[i].place <= steps[i - 1].place)
    first_visit = next(falls, len(steps))
    ranked = map(tuple, (_steps(map(tuple, unknown)), steps[:first_visit]))
    return Course(clean, tuple(told["words"]), *ranked, tuple(steps[first_visit:]))


def parted(mine: Sequence[Step], others: Sequence[Step]) -> int | None:
    """The first step that differs, the order of its texts aside; where one ends, the step behind its last."""
    for i, (one, other) in enumerate(zip(mine, others, strict=False)):
        if one.place != other.place or set(one.texts) != set(other.texts):
            return i
    return None if len(mine) == len(others) else min(len(mine), len(others))


def _steps(placed: Iterable[Placed]) -> list[Step]:
    """Neighbours of one place together."""
    found: list[Step] = []
    for place, text in placed:
        if found and found[-1].place == place:
            found[-1] = Step(place, (*found[-1].texts, text))
        else:
            found.append(Step(place, (text,)))
    return found
