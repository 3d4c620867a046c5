"""Attacks on many inputs at once; queries are counted and share full batches."""

import hashlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import numpy as np

from rse_study.data.labelled import Labelled, Text
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import (
    Attack,
    AttackOutcome,
    QueryGenerator,
    SearchResult,
    SingleInput,
    Target,
    VictimOutput,
)
from rse_study.evaluation.attacks.attack_recipe import greedy
from rse_study.streams import Streams
from rse_study.tensors import Float

Victim = Callable[[Sequence[Text]], Float[np.ndarray, "n c"]]
"""Maps texts to probabilities or scores; a row depends on its own text alone."""

_MAX_CACHED = 2**17  # outputs; the oldest are dropped first


class CountedVictim:
    """Counts queries per input, up to `max_queries`; cached answers count, too."""

    def __init__(self, victim: Victim, *, batch_size: int, max_queries: int) -> None:
        assert batch_size > 0 and max_queries > 0
        self.batch_size, self.max_queries = batch_size, max_queries
        self.num_queries: Counter[int] = Counter()
        self._victim, self._answers = victim, dict[bytes, VictimOutput]()

    def admit(self, index: int, wanted: int) -> int:
        """Return how many of the wanted queries the input may still make, and count them."""
        admitted = min(wanted, self.max_queries - self.num_queries[index])
        self.num_queries[index] += admitted
        return admitted

    def cached(self, text: Text) -> VictimOutput | None:
        return self._answers.get(_key(text))

    def forward(self, texts: Sequence[Text]) -> list[VictimOutput]:
        """Run one forward pass, or raise InputError for rows that are not finite."""
        assert 0 < len(texts) <= self.batch_size
        rows = np.asarray(self._victim(texts), np.float64)
        if rows.ndim != 2 or len(rows) != len(texts) or not np.isfinite(rows).all():
            rule = f"{len(texts)} texts need as many rows of finite numbers"
            oddity = "all finite" if np.isfinite(rows).all() else "NaN or infinities among them"
            raise InputError(f"shape {rows.shape}, {oddity}", where="the victim", rule=rule)
        for text, row in zip(texts, rows, strict=True):
            self._answers[_key(text)] = row.copy()
        while len(self._answers) > _MAX_CACHED:
            del self._answers[next(iter(self._answers))]
        return list(rows)


def _key(text: Text) -> bytes:
    # A hash: ten thousand variants of a text of ten thousand words would fill the memory.
    digest = hashlib.blake2b(digest_size=16)
    for part in text:
        digest.update(part.encode("utf-8", "surrogatepass") + b"\xff")  # a byte that UTF-8 never contains
    return digest.digest()


def attack_one(attack: Attack, target: Target, streams: Streams) -> QueryGenerator[AttackOutcome]:
    """Attack one input; the caller sends the victim's outputs and counts queries."""
    original = AttackedText.of(target.text)
    (clean,) = yield [original]
    best, is_skipped = SearchResult(original, clean), attack.goal.skips(clean, target.gold)
    if not is_skipped:
        best = yield from greedy(SingleInput(attack, target, streams, original, clean))
    is_success = attack.goal.succeeds(best.row, clean, target.gold)
    return AttackOutcome(
        index=target.index,
        original=target.text,
        adversarial=best.text.text,
        outcome="skipped" if is_skipped else "succeeded" if is_success else "failed",
        label=target.gold,
        original_scores=tuple(clean.tolist()),
        adversarial_scores=tuple(best.row.tolist()),
        num_queries=0,
        num_words=len(best.text),
        changed=best.text.changed,
    )


ASKED_AT_ONCE = 512
"""Texts per call to the victim, sorted by length: padding is 8% of the positions of MR, 20% with 64 texts."""


def attack_all(
    attack: Attack,
    victim: Victim,
    examples: Labelled | Sequence[Target],
    *,
    batch_size: int = ASKED_AT_ONCE,
    max_queries: int,
    seed: int,
    done: Mapping[int, AttackOutcome] = MappingProxyType({}),
    num_in_flight: int = 32,
) -> Iterator[AttackOutcome]:
    """Attack each input that is not in `done`, and yield outcomes as they finish.

    Outcomes depend on attack, victim and seed alone. `max_queries` counts an input's victim outputs, cached
    ones included.
    """
    targets = _targets(examples) if isinstance(examples, Labelled) else examples
    assert len({target.index for target in targets}) == len(targets), "two inputs of one index"
    waiting = [target for target in targets if target.index not in done]
    counted = CountedVictim(victim, batch_size=batch_size, max_queries=max_queries)
    generators = ((target.index, attack_one(attack, target, Streams(seed))) for target in waiting)
    return _Batching(counted, generators, num_in_flight).run()


def _targets(examples: Labelled) -> list[Target]:
    pairs = zip(examples.texts, examples.labels.tolist(), strict=True)
    return [Target(index, text, label) for index, (text, label) in enumerate(pairs)]


@dataclass(eq=False)
class _InFlight:
    index: int
    generator: QueryGenerator[AttackOutcome]
    query: Sequence[AttackedText] = ()
    num_sent: int = 0
    num_answered: int = 0
    rows: list[VictimOutput] = field(default_factory=list)


class _Batching:
    """Inputs in flight; another one starts only when those cannot fill a batch."""

    def __init__(
        self,
        victim: CountedVictim,
        generators: Iterable[tuple[int, QueryGenerator[AttackOutcome]]],
        num_in_flight: int,
    ) -> None:
        assert num_in_flight > 0
        self.victim, self.generators, self.num_free = victim, iter(generators), num_in_flight
        self.unsent: deque[_InFlight] = deque()  # inputs with texts that are not sent yet
        self.finished: list[AttackOutcome] = []

    def run(self) -> Iterator[AttackOutcome]:
        while batch := self._gather():
            rows = self.victim.forward(list(batch))
            for row, readers in zip(rows, batch.values(), strict=True):
                for flight, number in readers:
                    self._answer(flight, number, row)
            yield from self._take_finished()
        yield from self._take_finished()

    def _gather(self) -> dict[Text, list[tuple[_InFlight, int]]]:
        batch: dict[Text, list[tuple[_InFlight, int]]] = {}
        while len(batch) < self.victim.batch_size and (self.unsent or self._start()):
            if not self.unsent:
                continue
            flight, number, text = self._next()
            row = self.victim.cached(text)
            if row is None:
                batch.setdefault(text, []).append((flight, number))
            else:
                self._answer(flight, number, row)
        return batch

    def _start(self) -> bool:
        """Start one more input; return False if there is none or too many are in flight."""
        if not self.num_free:
            return False
        for index, generator in self.generators:
            self.num_free -= 1
            flight = _InFlight(index, generator)
            self._ask(flight, next(generator))
            return True
        return False

    def _next(self) -> tuple[_InFlight, int, Text]:
        flight = self.unsent[0]
        number = flight.num_sent
        flight.num_sent += 1
        if flight.num_sent == len(flight.query):
            self.unsent.popleft()
        return flight, number, flight.query[number].text

    def _answer(self, flight: _InFlight, number: int, row: VictimOutput) -> None:
        flight.rows[number] = row
        flight.num_answered += 1
        if flight.num_answered == len(flight.query):
            self._go_on(flight, flight.rows)

    def _go_on(self, flight: _InFlight, rows: list[VictimOutput]) -> None:
        """Send outputs until the input makes a query within its budget, or ends."""
        try:
            while not self._ask(flight, flight.generator.send(rows)):
                rows = []
        except StopIteration as end:
            self.num_free += 1
            self.finished.append(replace(end.value, num_queries=self.victim.num_queries[flight.index]))

    def _ask(self, flight: _InFlight, wanted: Sequence[AttackedText]) -> bool:
        flight.query = wanted[: self.victim.admit(flight.index, len(wanted))]
        flight.num_sent = flight.num_answered = 0
        flight.rows = [np.empty(0)] * len(flight.query)
        if flight.query:
            self.unsent.append(flight)
        return bool(flight.query)

    def _take_finished(self) -> Iterator[AttackOutcome]:
        while self.finished:
            yield self.finished.pop(0)
