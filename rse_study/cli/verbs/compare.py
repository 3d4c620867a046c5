"""The body of `compare`: rows, or the rows that studies share, side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from rse_study.cli.arguments.study import study_folder
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.json_output import json_of
from rse_study.cli.terminal.next_step import command, in_store, suggest
from rse_study.cli.terminal.screen import announce
from rse_study.errors import InputError, InputErrors
from rse_study.registry import did_you_mean
from rse_study.results.comparing.comparisons import (
    MIN_SEEDS,
    ComparedContrast,
    compare,
    compare_all,
    row_scores,
)
from rse_study.results.comparing.criterion import LEVEL, Criterion
from rse_study.results.comparing.verdicts import verdict_of
from rse_study.results.reader import Reader
from rse_study.results.row_names import find_cells_row
from rse_study.results.statistics import EXACT_UP_TO, welch_interval

FIRST, SECOND = "first", "second"
NamedPair = tuple[str, pd.DataFrame, Criterion]


@dataclass(frozen=True)
class GivenRows:
    """Rows of a study that a user named, with their scores."""

    name: str
    table: pd.DataFrame
    """[rows, seeds]"""
    label: str
    """the measure, for readers"""
    question: str
    criterion: Criterion


@dataclass(frozen=True)
class ComparedPair:
    """A row minus another, in words and in numbers."""

    name: str
    text: str
    numbers: dict[str, Any]


def compare_rows(
    given: Sequence[str], metric: str, unpaired: bool, store: Path, out: Path | None, *, as_json: bool = False
) -> None:
    """Print a line for each pair of rows; raise together what cannot be compared."""
    _check(given, unpaired, out)
    first, *others = [_read(name, metric, store) for name in given]
    for other in others:
        _require_same_measure(first, other)
    criterion = _strictest([first, *others])
    pairs = [pair for other in others for pair in _pairs(first, other, criterion, is_named=len(others) > 1)]
    if out:
        _write_page([first, *others], pairs, out)
    problems, level, found = [], 1 - (1 - LEVEL) / len(pairs), []
    for name, pair, rule in pairs:
        try:
            found.append(_unpaired(name, pair, level) if unpaired else _paired(name, pair, level, rule))
        except InputError as problem:
            problems.append(problem)
    said = (criterion.sentence(len(pairs)), *sorted({one.criterion.assumption for one in (first, *others)}))
    sentence = "" if unpaired or not found else " ".join(filter(None, said))
    if as_json:
        rows = {"first": first.name, "others": [other.name for other in others]}
        compared = [{"name": one.name, **one.numbers} for one in found]
        print(json_of({"measure": first.label, **rows, "criterion": sentence, "compared": compared}))
    else:
        at_once = f"; intervals hold for all {len(pairs)} rows at once" if len(pairs) > 1 else ""
        announce(f"{first.label}: {first.name} minus {', '.join(other.name for other in others)}{at_once}")
        for one in found:
            announce(f"{one.name}: {one.text}")
        if sentence:
            announce(sentence)
        if out:
            print(out)
    if problems:
        raise InputErrors(problems)
    if not as_json:
        suggest("" if out else command("report", first.name.partition(":")[0], *in_store(store)))


def _check(given: Sequence[str], unpaired: bool, out: Path | None) -> None:
    if len(given) < 2:
        remedy = f"Name another one: rse-study compare {' '.join(given)} OTHER"
        raise InputError("nothing to compare with", where="STUDY[:ROW]", rule="two are needed", remedy=remedy)
    if out:
        require_file(out, where="--out")
        if unpaired:
            remedy = "Leave out --out, or --unpaired"
            raise InputError("--unpaired", where="--out", rule="the page pairs by seed", remedy=remedy)


def _require_same_measure(first: GivenRows, other: GivenRows) -> None:
    if first.label != other.label:
        rule = f"{first.label!r} is not {other.label!r}"
        remedy = "Name an evaluation both have: --metric STS-B/test"
        raise InputError(
            "not the same measure", where=f"{first.name}, {other.name}", rule=rule, remedy=remedy
        )


def _strictest(chosen: Sequence[GivenRows]) -> Criterion:
    """Return what decides if any study needs it, and the smallest margin."""
    least = min((one.criterion for one in chosen), key=lambda one: (one.margin, not one.margins_seen))
    rules = {one.name.partition(":")[0]: one.criterion for one in chosen if one.criterion.is_anytime}
    why = next((f"of {study}, {rule.why}" for study, rule in rules.items()), chosen[0].criterion.why)
    waiting = frozenset().union(*(one.criterion.waiting for one in chosen))
    return replace(least, is_anytime=bool(rules), why=why, waiting=waiting)


def _write_page(chosen: Sequence[GivenRows], pairs: Sequence[NamedPair], out: Path) -> None:
    from analysis.chosen import ChosenPair, ChosenRows, write_chosen

    found = compare_all(
        [(pair, {FIRST: 1.0, SECOND: -1.0}) for _, pair, _ in pairs], criteria=[rule for *_, rule in pairs]
    )
    shown = [
        ChosenPair(name, one, "" if one else f"they share fewer than {MIN_SEEDS} seeds")
        for (name, *_), one in zip(pairs, found, strict=True)
    ]
    rows = [ChosenRows(one.name, one.question, one.table) for one in chosen]
    write_chosen(out, chosen[0].label, rows, shown)


def _read(given: str, metric: str, store: Path) -> GivenRows:
    study, _, row = given.partition(":")
    with Reader(study_folder(study, store)) as reader:
        record = reader.study()
        label = metric or record.objective.label or record.objective.metric
        named = {measure.name: measure.metric for measure in record.shown_measures}
        found = row_scores(reader, named.get(metric, metric))
        scores = found.table.dropna(how="all")
        known = [*named, *reader.evaluations()["metric"].unique()]
        row = find_cells_row(reader.study(), row, reader.cells()) or row
    if scores.empty:
        rule = f"no row has a score of {label!r}" if metric else "no row has a score yet"
        remedy = did_you_mean(metric, known) if metric else "See its progress: rse-study status"
        raise InputError("nothing to compare", where=study, rule=rule, remedy=remedy)
    if row and row not in scores.index:
        raise InputError(
            f"no row {row!r} with a score", where=study, remedy=did_you_mean(row, list(scores.index))
        )
    table = scores.loc[[row]] if row else scores
    troubles = {name: text for name, text in found.criterion.troubles.items() if name in table.index}
    return GivenRows(given, table, label, record.question, replace(found.criterion, troubles=troubles))


def _pairs(first: GivenRows, second: GivenRows, rule: Criterion, *, is_named: bool) -> Iterator[NamedPair]:
    """Yield the name of each pair of rows, its frame [first and second, seeds], and what decides it."""
    one, other = first.table, second.table
    if len(one) == len(other) == 1:
        names = [(one.index[0], other.index[0])]
    else:
        names = [(row, row) for row in one.index if row in other.index]
    if not names:
        where = f"{first.name}, {second.name}"
        remedy = "Name the rows: STUDY:ROW"
        raise InputError("no row in common", where=where, rule="rows are matched by name", remedy=remedy)
    for here, there in names:
        both = pd.DataFrame({FIRST: one.loc[here], SECOND: other.loc[there]}).T
        name = here if here == there else f"{here} minus {there}"
        name = f"{name} ({first.name} minus {second.name})" if is_named and here == there else name
        ends = (rule, first.criterion.on([here]), second.criterion.on([there]))
        is_anytime, is_lost = (any(getattr(end, name) for end in ends) for name in ("is_anytime", "is_lost"))
        yield name, both, replace(rule, is_anytime=is_anytime, is_lost=is_lost)


def _paired(name: str, pair: pd.DataFrame, level: float, criterion: Criterion) -> ComparedPair:
    pair = pair.dropna(axis="columns", how="all")
    known = pair.dropna(axis="columns")
    alone = [str(seed) for seed in pair.columns if seed not in known.columns]
    if known.shape[1] < MIN_SEEDS:
        rule = f"pairs need {MIN_SEEDS} seeds that both rows have; they share {known.shape[1]}"
        remedy = "Run the missing seeds, or compare means of unrelated seeds: --unpaired"
        raise InputError("cannot be paired", where=name, rule=rule, remedy=remedy)
    (found,) = compare(known, [{FIRST: 1.0, SECOND: -1.0}], level, criterion)
    assert found is not None
    left_out = f"; without seeds {', '.join(alone)}, which only one has" if alone else ""
    each = ", ".join(f"{seed}: {value:+.2f}" for seed, value in found.by_seed.items())
    numbers = {
        "mean": found.mean,
        "low": found.deciding.low,
        "high": found.deciding.high,
        "verdict": verdict_of(found),
        "sd": found.sd,
        "p_sign_flip": found.p_exact,
        "p_wilcoxon": found.p_wilcoxon,
        "hedges_g": found.effect,
        "by_seed": found.by_seed,
    }
    return ComparedPair(name, f"{_shown(found)}{left_out}\n    by seed: {each}", numbers)


def _shown(found: ComparedContrast) -> str:
    verdict = verdict_of(found)
    words = f"the same{found.criterion.within}" if verdict == "same" else verdict
    low, high = found.deciding.low, found.deciding.high
    exact = f"p = {found.p_exact:.4f} (sign-flip), {found.p_wilcoxon:.4f} (Wilcoxon), "
    return (
        f"{found.mean:+.2f}, 95% [{low:+.2f}, {high:+.2f}], {words}, {found.n} seeds paired, SD {found.sd:.2f}, "
        f"{exact if found.n <= EXACT_UP_TO else ''}g {found.effect:+.2f}"
    )


def _unpaired(name: str, pair: pd.DataFrame, level: float) -> ComparedPair:
    one, other = (pair.loc[name].dropna() for name in (FIRST, SECOND))
    if min(len(one), len(other)) < 2:
        rule = "an interval of unrelated seeds needs 2 of each"
        raise InputError("too few seeds", where=name, rule=rule, remedy="Run more seeds")
    found = welch_interval(one, other, level)
    difference = one.mean() - other.mean()
    text = (
        f"{difference:+.2f}, 95% [{found.low:+.2f}, {found.high:+.2f}], unpaired, "
        f"{len(one)} and {len(other)} seeds (Welch)"
    )
    return ComparedPair(name, text, {"mean": float(difference), "low": found.low, "high": found.high})
