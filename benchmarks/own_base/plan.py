"""Which rows there are, what decides all of them, and the file that says so."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rse_study.errors import InputError
from rse_study.results.atomic import read_sealed, write_sealed
from rse_study.spec import Spec

PLAN = "plan.json"
COMMAND = "python -m benchmarks.own_base"
EncoderKind = Literal["own", "untrained"]


class TextAmount(Spec):
    """A beginning of the text that a base is trained on."""

    num_sentences: int
    num_words: int
    """separated by blanks"""
    num_wikipedia: int
    """sentences that are Wikipedia's; the others are WordNet's"""
    text: str
    """fingerprint of the sentences in their order"""


class TextSummary(Spec):
    """All of the text, and what was left out of it."""

    whole: TextAmount
    num_duplicates: int
    """repetitions of an earlier sentence"""
    num_excluded: int
    """distinct sentences that occur in STS-B"""


@dataclass(frozen=True)
class BaseRun:
    """The masked-LM training of one base."""

    num_sentences: int
    seed: int

    @property
    def name(self) -> str:
        """Of its row's file."""
        return f"base-{self.num_sentences}-seed{self.seed}"


@dataclass(frozen=True)
class ScoreRun:
    """SimCSE on one encoder, scored before and after it."""

    encoder: EncoderKind
    num_sentences: int
    """of its base; of the vocabulary alone where it is untrained"""
    seed: int
    """of its weights"""
    simcse_seed: int

    @property
    def name(self) -> str:
        """Of its row's file."""
        return f"{self.encoder}-{self.num_sentences}-seed{self.seed}-simcse{self.simcse_seed}"


class OwnBasePlan(Spec):
    """Which rows there will be, and what decides all of them alike."""

    recipe: dict[str, Any]
    """sizes, trainings and fingerprints; rows of another recipe may not stand in the folder"""
    text: TextSummary
    token_overlap: float
    """Spearman x100 on the dev pairs, of the cosine of word counts"""
    amounts: tuple[TextAmount, ...]
    """from the smallest to the largest"""
    seeds: tuple[int, ...]
    """of masked LMs; smaller amounts have the first one alone"""
    simcse_seeds: tuple[int, ...]

    @property
    def largest(self) -> TextAmount:
        """The amount that the decision is about."""
        return self.amounts[-1]

    def runs(self) -> Iterator[BaseRun | ScoreRun]:
        """Every row's run in its order: floors first, then from little text to all."""
        for seed in self.seeds:
            yield from self.scores("untrained", self.largest.num_sentences, seed)
        for amount in self.amounts:
            for seed in self.seeds if amount == self.largest else self.seeds[:1]:
                yield BaseRun(amount.num_sentences, seed)
                yield from self.scores("own", amount.num_sentences, seed)

    def scores(self, encoder: EncoderKind, num_sentences: int, seed: int) -> list[ScoreRun]:
        """The runs of one encoder, one for each seed of SimCSE.

        Parameters
        ----------
        encoder
            A base of our own, or the untrained encoder.
        num_sentences
            Of its text.
        seed
            Of its weights.
        """
        return [ScoreRun(encoder, num_sentences, seed, simcse_seed) for simcse_seed in self.simcse_seeds]

    def joined(self, earlier: "OwnBasePlan") -> "OwnBasePlan":
        """Return this plan and an earlier one of the same recipe."""
        amounts = {one.num_sentences: one for one in (*earlier.amounts, *self.amounts)}
        return self.model_copy(
            update={
                "amounts": tuple(amounts[number] for number in sorted(amounts)),
                "seeds": tuple(dict.fromkeys((*earlier.seeds, *self.seeds))),
                "simcse_seeds": tuple(dict.fromkeys((*earlier.simcse_seeds, *self.simcse_seeds))),
            }
        )


def write_plan(folder: Path, plan: OwnBasePlan) -> Path:
    """Write the plan, beside whose rows those of an earlier plan stay."""
    return write_sealed(folder / PLAN, "plan", plan.model_dump(mode="json"))


def read_plan(folder: Path) -> OwnBasePlan:
    """Read the plan of a folder. Raises InputError where it is missing or damaged."""
    return read_sealed(
        folder / PLAN,
        "plan",
        OwnBasePlan.model_validate,
        missing=f"Measure first: {COMMAND} --out {folder}",
        remedy="Remove it and give the command again that wrote it",
    )


def require_recipe(folder: Path, plan: OwnBasePlan) -> OwnBasePlan:
    """Return the plan with what an earlier command planned in this folder.

    Raises InputError where that had another recipe: its rows cannot stand beside these.
    """
    if not (folder / PLAN).exists():
        return plan
    earlier = read_plan(folder)
    for name, (before, now) in _differences(earlier.recipe, plan.recipe):
        raise InputError(
            f"holds rows with {name} = {before}, not {now}",
            where=f"--out {folder}",
            rule="the rows of a folder differ in text, encoder and seeds alone",
            remedy="Choose another folder, or the settings of the first command",
        )
    return plan.joined(earlier)


def _differences(one: Any, other: Any, name: str = "") -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Dotted path and both values, wherever two JSON objects differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted({*one, *other}):
            below = f"{name}.{key}" if name else key
            yield from _differences(one.get(key), other.get(key), below)
    elif one != other:
        yield name, (one, other)
