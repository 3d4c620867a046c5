"""Generated data of the quickstart, told by a seeded grammar."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from operator import add
from pathlib import Path
from typing import Literal, TypeVar

import numpy as np

from rse_study.data.labelled import Labelled, StsPairs
from rse_study.spec import fingerprint_of
from rse_study.yaml12 import read_yaml

T = TypeVar("T")
Concept = tuple[str, ...]  # its synonyms; for a verb each is "base/past"; () = not mentioned
SLOTS = ("agent", "action", "patient", "quality", "place", "time")
NUM_FORMS = 4


class Draw:
    """Seeded choices by `random()` alone, which Python promises never to change."""

    def __init__(self, *key: object) -> None:
        self._random = random.Random(int(fingerprint_of([str(part) for part in key])[:16], 16))

    def index(self, count: int) -> int:
        return int(self._random.random() * count)

    def pick(self, options: Sequence[T]) -> T:
        return options[int(self._random.random() * len(options))]

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability


@dataclass(frozen=True)
class Topic:
    """A small world: who does what to which things, and where."""

    name: str
    agents: tuple[Concept, ...]
    actions: tuple[tuple[Concept, tuple[Concept, ...]], ...]
    """verbs and what they apply to"""
    things: tuple[Concept, ...]
    places: tuple[Concept, ...]


@dataclass(frozen=True)
class Vocabulary:
    """All words of the grammar."""

    topics: tuple[Topic, ...]
    people: tuple[Concept, ...]
    qualities: tuple[Concept, ...]
    times: tuple[Concept, ...]
    opinions: tuple[tuple[Concept, ...], tuple[Concept, ...]]
    """bad, good"""


@dataclass(frozen=True)
class GrammarEvent:
    """The meaning of a sentence."""

    topic: Topic
    agent: Concept
    action: Concept
    patient: Concept
    quality: Concept = ()
    place: Concept = ()
    time: Concept = ()
    is_negated: bool = False


@dataclass(frozen=True)
class Wording:
    """The synonym of each slot and the form of sentence, as indices that wrap around."""

    synonyms: tuple[int, ...]
    form: int


@lru_cache(maxsize=1)
def vocabulary() -> Vocabulary:
    """Read vocabulary.yaml."""
    content = read_yaml(Path(__file__).with_name("vocabulary.yaml"))
    return Vocabulary(
        topics=tuple(_topic(name, entry) for name, entry in content["topics"].items()),
        people=_concepts(content["people"]),
        qualities=_concepts(content["qualities"]),
        times=tuple(tuple(entry.split("/")) for entry in content["times"]),
        opinions=(_concepts(content["opinions"]["bad"]), _concepts(content["opinions"]["good"])),
    )


def draw_event(draw: Draw, topic: Topic | None = None) -> GrammarEvent:
    """Draw an event; in one of five an agent acts on another agent."""
    words = vocabulary()
    topic = topic or draw.pick(words.topics)
    agent = draw.pick(topic.agents)
    if draw.chance(0.2):
        action = draw.pick(words.people)
        patient = draw.pick([other for other in topic.agents if other != agent])
    else:
        action, patients = draw.pick(topic.actions)
        patient = draw.pick(patients)
    return GrammarEvent(
        topic,
        agent,
        action,
        patient,
        quality=draw.pick(words.qualities) if draw.chance(0.3) else (),
        place=draw.pick(topic.places) if draw.chance(0.6) else (),
        time=draw.pick(words.times) if draw.chance(0.6) else (),
        is_negated=draw.chance(0.15),
    )


def draw_wording(draw: Draw) -> Wording:
    """Draw a way to say an event."""
    return Wording(tuple(draw.index(6) for _ in SLOTS), draw.index(NUM_FORMS))


def say(event: GrammarEvent, wording: Wording) -> str:
    """Return the sentence: lower case, blanks around commas, no full stop."""
    word = {
        slot: concept[synonym % len(concept)] if (concept := getattr(event, slot)) else ""
        for slot, synonym in zip(SLOTS, wording.synonyms, strict=True)
    }
    base, past = word["action"].split("/")
    agent, patient = f"the {word['agent']}", _join("the", word["quality"], word["patient"])
    place, time = word["place"], word["time"]
    if wording.form == 1:
        verb = f"was not {past} by" if event.is_negated else f"was {past} by"
        return _join(patient, verb, agent, place, time)
    active = f"did not {base}" if event.is_negated else past
    if wording.form == 2 and time:
        return _join(time, ",", agent, f"never {past}" if event.is_negated else past, patient, place)
    if wording.form == 3:
        return _join("it was", agent, "who", active, patient, time, place)
    return _join(agent, active, patient, place, time)


def change(event: GrammarEvent, slot: str, draw: Draw) -> GrammarEvent:
    """Replace one slot of an event by another concept of the same topic."""
    topic = event.topic
    if slot == "agent":
        return replace(
            event, agent=draw.pick([x for x in topic.agents if x not in (event.agent, event.patient)])
        )
    if event.patient in topic.agents:
        if slot == "action":
            return replace(event, action=draw.pick([x for x in vocabulary().people if x != event.action]))
        return replace(
            event, patient=draw.pick([x for x in topic.agents if x not in (event.agent, event.patient)])
        )
    if slot == "patient":
        allowed = dict(topic.actions)[event.action]
        return replace(event, patient=draw.pick([x for x in allowed if x != event.patient]))
    others = [(action, patients) for action, patients in topic.actions if action != event.action]
    same = [action for action, patients in others if event.patient in patients]
    if same:
        return replace(event, action=draw.pick(same))
    action, patients = draw.pick(others)
    return replace(event, action=action, patient=draw.pick(patients))


def _topic(name: str, entry: dict) -> Topic:
    things = {concept[0]: concept for concept in _concepts(entry["things"])}
    return Topic(
        name,
        agents=_concepts(entry["agents"]),
        actions=tuple(
            (tuple(action["verbs"].split()), tuple(things[on] for on in action["on"]))
            for action in entry["actions"]
        ),
        things=tuple(things.values()),
        places=tuple(tuple(place.split("/")) for place in entry["places"]),
    )


def _concepts(entries: list[str]) -> tuple[Concept, ...]:
    return tuple(tuple(entry.split()) for entry in entries)


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


NUM_PAIRS = 400
OPINIONS = "builtin-opinions"  # not the pairs' name, since scores of both are shown together
_WEIGHTS = {"agent": 1.0, "action": 1.4, "patient": 1.4, "quality": 0.4, "place": 0.4, "time": 0.4}
_SIBLING = 0.35  # similarity of two concepts in the same slot and topic (or list)
_CONTRARY = 0.45  # factor if only one of two events is negated


def corpus(seed: int = 0, num_sentences: int = 8000) -> list[str]:
    """Generate distinct sentences: four of five tell an event, one gives an opinion."""
    draw = Draw("corpus", seed)
    found: dict[str, None] = {}
    while len(found) < num_sentences:
        is_event = draw.chance(0.8)
        found[say(draw_event(draw), draw_wording(draw)) if is_event else _opinion(draw)[0]] = None
    return list(found)


def graded_pairs(split: Literal["dev", "test"]) -> StsPairs:
    """Generate pairs with a gold similarity 0..5, computed from the two meanings.

    Similar meanings are worded differently and dissimilar ones alike, so token overlap is a poor guide.
    """
    first, second, gold = zip(*_pairs(split), strict=True)
    return StsPairs("builtin", split, list(first), list(second), np.array(gold))


def opinions(split: Literal["train", "test"] = "train") -> Labelled:
    """Generate good and bad opinions: 800 to train on, 400 others to test on."""
    draw = Draw("labelled")
    found: dict[str, int] = {}
    while len(found) < 1200:
        sentence, label = _opinion(draw)
        found[sentence] = label
    chosen = list(found.items())[:800] if split == "train" else list(found.items())[800:]
    labels = np.array([label for _, label in chosen], np.int64)
    return Labelled(OPINIONS, split, [(text,) for text, _ in chosen], labels, ("bad", "good"))


def similarity(one: GrammarEvent, other: GrammarEvent) -> float:
    """Return the similarity of two events, 0..1: the weighted share of equal slots."""
    agreement = {slot: _agreement(one, other, slot) for slot in _WEIGHTS}
    told = {slot: weight for slot, weight in _WEIGHTS.items() if getattr(one, slot) or getattr(other, slot)}
    # `sum` rounds floats in another way since Python 3.12, and some scores would be others.
    share = reduce(add, (weight * agreement[slot] for slot, weight in told.items())) / reduce(
        add, told.values()
    )
    if one.topic != other.topic:
        share *= 0.3  # a shared time or quality hardly makes two events similar
    return share if one.is_negated == other.is_negated else share * _CONTRARY


def _agreement(one: GrammarEvent, other: GrammarEvent, slot: str) -> float:
    mine, theirs = getattr(one, slot), getattr(other, slot)
    if mine == theirs:
        return 1.0
    return _SIBLING if one.topic == other.topic or not (mine and theirs) else 0.0


@cache
def _pairs(split: str) -> tuple[tuple[str, str, float], ...]:
    """Draw NUM_PAIRS pairs, the kinds in turn, without any sentence twice or from dev."""
    seen = set[str]() if split == "dev" else {text for pair in _pairs("dev") for text in pair[:2]}
    draw, found = Draw("pairs", split), list[tuple[str, str, float]]()
    kinds = _kinds(draw)
    while len(found) < NUM_PAIRS:
        one, other, kept = next(kinds)
        wording = draw_wording(draw)
        first, second = say(one, wording), say(other, _reword(wording, kept, draw))
        if first != second and not {first, second} & seen:
            seen |= {first, second}
            found.append((first, second, round(5 * similarity(one, other), 1)))
    return tuple(found)


def _kinds(draw: Draw) -> Iterator[tuple[GrammarEvent, GrammarEvent, float]]:
    """Yield two events and the share of wording kept, from similar to dissimilar."""
    core = ("agent", "action", "patient")
    while True:
        event = draw_event(draw)
        yield event, event, 0.45
        event = draw_event(draw)
        yield event, replace(event, time=(), quality=()), 0.5
        event = draw_event(draw)
        yield event, change(event, draw.pick(core), draw), 0.5
        event = draw_event(draw)
        yield event, change(change(event, draw.pick(core), draw), draw.pick(core), draw), 0.55
        event = draw_event(draw)
        yield event, _contrary(event), 0.55
        event = draw_event(draw)
        yield event, replace(draw_event(draw, event.topic), time=event.time), 0.7
        event = draw_event(draw)
        yield event, replace(draw_event(draw), time=event.time, quality=event.quality), 0.8
        yield draw_event(draw), draw_event(draw), 0.7


def _contrary(event: GrammarEvent) -> GrammarEvent:
    """Swap agent and patient if both are agents, else negate the event."""
    if event.patient in event.topic.agents:
        return replace(event, agent=event.patient, patient=event.agent)
    return replace(event, is_negated=not event.is_negated)


def _reword(wording: Wording, kept: float, draw: Draw) -> Wording:
    """Keep each synonym, and the form, with the given probability; change the rest."""
    synonyms = tuple(old if draw.chance(kept) else old + 1 for old in wording.synonyms)
    form = wording.form if draw.chance(kept) else (wording.form + 1 + draw.index(NUM_FORMS - 1)) % NUM_FORMS
    return Wording(synonyms, form)


def _opinion(draw: Draw) -> tuple[str, int]:
    """Draw a sentence that judges a thing, and its label, which `not` inverts."""
    topic = draw.pick(vocabulary().topics)
    is_good_word, is_negated = draw.chance(0.5), draw.chance(0.25)
    thing, person = draw.pick(draw.pick(topic.things)), draw.pick(draw.pick(topic.agents))
    word = draw.pick(draw.pick(vocabulary().opinions[is_good_word]))
    place = draw.pick(draw.pick(topic.places))
    denial = "not " if is_negated else ""
    sentence = draw.pick(
        [
            f"the {person} found the {thing} {denial}{word}",
            f"the {thing} {place} was {denial}{word}",
            f"the {person} said the {thing} was {denial}{word}",
            f"{place} , the {person} called the {thing} {denial}{word}",
        ]
    )
    return sentence, int(is_good_word != is_negated)
