"""Every query of PWWS on one input, whoever ran it: to see where two traces part."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from rse_study.evaluation.attacks.attack import Attack
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
class QueryTrace:
    """Every query, the clean text aside. `options` rank the words, `visits` try them; none is empty."""

    clean: str
    words: tuple[str, ...]
    unknown: tuple[Step, ...] = ()  # [UNK] in each word's place
    options: tuple[Step, ...] = ()
    visits: tuple[Step, ...] = ()


def our_trace(attack: Attack, victim: Victim, target: Target, seed: int) -> QueryTrace:
    """That of our attack on one text, asked without engine, memory or budget."""
    going = attack_one(attack, target, Streams(seed))
    queries: list[Sequence[AttackedText]] = [next(going)]
    with suppress(StopIteration):
        while True:
            texts = [attacked.text for attacked in queries[-1]]
            queries.append(going.send(list(victim(texts)) if texts else []))
    unknown, options, *visits = [*queries[1:], (), ()]
    seen: set[int] = set()
    found = []
    for tried in visits:
        # A word that was tried in vain is not changed now: what is changed and was never tried is tried here.
        placed = [({place for place, _ in attacked.changes} - seen, attacked.text[0]) for attacked in tried]
        found += _steps((place, text) for (place,), text in placed)
        seen |= {place for places, _ in placed for place in places}
    ranking = unknown, options
    first = (_steps((each.changes[0][0], each.text[0]) for each in texts) for texts in ranking)
    return QueryTrace(target.text[0], tuple(queries[0][0].words), *map(tuple, first), tuple(found))


def their_trace(clean: str, answer: dict[str, Any]) -> QueryTrace:
    """That of TextAttack. Words are ranked from left to right; the first visit is to one of them, so it goes back."""
    unknown, *rest = answer["steps"] or [[]]
    steps = [step for query in rest for step in _steps(map(tuple, query))]
    falls = (i for i in range(1, len(steps)) if steps[i].place <= steps[i - 1].place)
    first_visit = next(falls, len(steps))
    ranked = map(tuple, (_steps(map(tuple, unknown)), steps[:first_visit]))
    return QueryTrace(clean, tuple(answer["words"]), *ranked, tuple(steps[first_visit:]))


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
