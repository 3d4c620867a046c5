"""Attacks on many inputs at once: each is a generator that asks, and what they ask is merged into full batches."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.evaluation.attacks.attack import Asking, Recipe
from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import VictimOutput
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.single_input import Target, attack_one
from rse_study.evaluation.attacks.victim import CountedVictim, Victim
from rse_study.streams import Streams


def attack(
    recipe: Recipe,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    *,
    batch_size: int = 64,
    max_queries: int,
    seed: int,
    done: Mapping[int, AttackOutcome] = MappingProxyType({}),
    num_in_flight: int = 32,
) -> Iterator[AttackOutcome]:
    """An outcome for each input that is not in `done`, as they finish. At most `max_queries` queries an input.

    Texts and counts depend on recipe, victim and seed alone: not on `batch_size` (texts a forward pass), nor on
    `num_in_flight` (inputs at work at once), nor on which inputs are done.
    """
    targets = _targets(examples) if isinstance(examples, Labelled) else examples
    assert len({target.index for target in targets}) == len(targets), "two inputs of one index"
    waiting = [target for target in targets if target.index not in done]
    counted = CountedVictim(victim, batch_size=batch_size, max_queries=max_queries)
    courses = ((target.index, attack_one(recipe, target, Streams(seed))) for target in waiting)
    return _Traffic(counted, courses, num_in_flight).run()


def _targets(examples: Labelled) -> list[Target]:
    pairs = zip(examples.texts, examples.labels.tolist(), strict=True)
    return [Target(index, text, label) for index, (text, label) in enumerate(pairs)]


@dataclass(eq=False)
class _Flight:
    """One input on its way: what it asked last, how much of that is on its way to the victim, which answers came."""

    index: int
    course: Asking[AttackOutcome]
    asked: Sequence[AttackedText] = ()
    num_sent: int = 0
    num_answered: int = 0
    rows: list[VictimOutput] = field(default_factory=list)


class _Traffic:
    """Inputs in flight. A further one starts only when those under way cannot fill a batch."""

    def __init__(
        self, victim: CountedVictim, courses: Iterable[tuple[int, Asking[AttackOutcome]]], num_in_flight: int
    ) -> None:
        assert num_in_flight > 0
        self.victim, self.courses, self.room = victim, iter(courses), num_in_flight
        self.asking: deque[_Flight] = deque()  # those with texts that are not sent yet
        self.landed: list[AttackOutcome] = []

    def run(self) -> Iterator[AttackOutcome]:
        while batch := self._gather():
            rows = self.victim.forward(list(batch))
            for row, askers in zip(rows, batch.values(), strict=True):
                for flight, place in askers:
                    self._answer(flight, place, row)
            yield from self._take_landed()
        yield from self._take_landed()

    def _gather(self) -> dict[Text, list[tuple[_Flight, int]]]:
        """Distinct texts, never asked before, and who waits for each: a full batch where there are as many."""
        batch: dict[Text, list[tuple[_Flight, int]]] = {}
        while len(batch) < self.victim.batch_size and (self.asking or self._start()):
            if not self.asking:
                continue
            flight, place, text = self._next()
            answer = self.victim.remembered(text)
            if answer is None:
                batch.setdefault(text, []).append((flight, place))
            else:
                self._answer(flight, place, answer)
        return batch

    def _start(self) -> bool:
        """Let one more input off; whether there was one and room for it."""
        if not self.room:
            return False
        for index, generator in self.courses:
            self.room -= 1
            flight = _Flight(index, generator)
            self._ask(flight, next(generator))
            return True
        return False

    def _next(self) -> tuple[_Flight, int, Text]:
        """The next text of whoever has waited longest; only now is it written out."""
        flight = self.asking[0]
        place = flight.num_sent
        flight.num_sent += 1
        if flight.num_sent == len(flight.asked):
            self.asking.popleft()
        return flight, place, flight.asked[place].text

    def _answer(self, flight: _Flight, place: int, row: VictimOutput) -> None:
        flight.rows[place] = row
        flight.num_answered += 1
        if flight.num_answered == len(flight.asked):
            self._go_on(flight, flight.rows)

    def _go_on(self, flight: _Flight, rows: list[VictimOutput]) -> None:
        """Send answers until the input asks something its budget allows, or has landed."""
        try:
            while not self._ask(flight, flight.course.send(rows)):
                rows = []
        except StopIteration as end:
            self.room += 1
            self.landed.append(replace(end.value, num_queries=self.victim.num_queries[flight.index]))

    def _ask(self, flight: _Flight, wanted: Sequence[AttackedText]) -> bool:
        flight.asked = wanted[: self.victim.admit(flight.index, len(wanted))]
        flight.num_sent = flight.num_answered = 0
        flight.rows = [np.empty(0)] * len(flight.asked)
        if flight.asked:
            self.asking.append(flight)
        return bool(flight.asked)

    def _take_landed(self) -> Iterator[AttackOutcome]:
        while self.landed:
            yield self.landed.pop(0)
