"""Meanings in the generated corpus, and the sentences that express them."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

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
        action, patient = (
            draw.pick(words.people),
            draw.pick([other for other in topic.agents if other != agent]),
        )
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
